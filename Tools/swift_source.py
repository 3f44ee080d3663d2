"""Reads Swift source as far as the checks need."""
import functools
import re


def blanked(text):
    """The text with comments and the inside of string literals replaced by spaces, line ends kept."""
    return separated(text)[0]


def literals(text):
    """The inside of string literals, everything else replaced by spaces, line ends kept.

    A backslash stands where an interpolation starts.
    """
    return separated(text)[1]


def spaces(text):
    """As many spaces as the text is long, line ends kept."""
    return re.sub(r"[^\n]", " ", text)


@functools.cache
def separated(text):
    """The text once with nothing but code, and once with nothing but the inside of string literals."""
    code, inside, index, stack = [], [], 0, []

    def add(rest, literal=""):
        code.append(rest)
        inside.append(literal or spaces(rest))

    # The stack holds, for each open literal, its closing quotes; and for each interpolation, its open parentheses.
    while index < len(text):
        if stack and isinstance(stack[-1], str):
            quotes = stack[-1]
            hashes = quotes.lstrip('"')
            if text.startswith(quotes, index):
                stack.pop()
                add(" " * len(quotes))
                index += len(quotes)
            elif text.startswith("\\" + hashes + "(", index):
                stack.append(1)
                add(" " * (2 + len(hashes)), "\\" + " " * (1 + len(hashes)))
                index += 2 + len(hashes)
            elif text.startswith("\\" + hashes, index) and index + 1 + len(hashes) < len(text):
                add(" " * (1 + len(hashes)) + ("\n" if text[index + 1 + len(hashes)] == "\n" else " "))
                index += 2 + len(hashes)
            else:
                add(spaces(text[index]), text[index])
                index += 1
            continue
        opening = re.compile(r'(#*)("""|")').match(text, index)
        if text.startswith("//", index):
            end = text.find("\n", index)
            end = len(text) if end < 0 else end
            add(" " * (end - index))
            index = end
        elif opening:
            stack.append(opening[2] + opening[1])
            add(" " * len(opening[0]))
            index = opening.end()
        else:
            character = text[index]
            if stack and character in "()":
                stack[-1] += 1 if character == "(" else -1
                if stack[-1] == 0:
                    stack.pop()
                    character = " "
            add(character)
            index += 1
    return "".join(code), "".join(inside)


TYPE = re.compile(
    r"^[ \t]*(?:@\w+(?:\([^)\n]*\))?\s+)*"
    r"(?:(?:package|public|open|private|fileprivate|internal|final|indirect|nonisolated|unsafe|distributed)\s+)*"
    r"(class|struct|enum|actor|protocol|extension)\s+(?!func\b|var\b|let\b)([\w.]+)",
    re.M,
)
STORED = re.compile(
    r"^[ \t]*(?:@\w+(?:\([^)\n]*\))?\s+)*"
    r"(?:(?:package|public|open|private|fileprivate|internal|final|nonisolated|unowned|weak|lazy|unsafe|override"
    r"|\w+\(set\)|nonisolated\(unsafe\)|unowned\(unsafe\))\s+)*(?:var|let)\s+(\([^)]*\)|\w+)(.*)$",
    re.M,
)


def closing_brace(code, index):
    """Where the block that opens at a brace ends."""
    depth = 0
    for place in range(index, len(code)):
        depth += {"{": 1, "}": -1}.get(code[place], 0)
        if depth == 0:
            return place
    return len(code) - 1


def parts_of_types(code):
    """The parts of every type in a file, extensions included: full name, lines without nested types, stored properties.

    The code is blanked. A property with a body is computed, unless it has a value as well.
    """
    spans = []
    for match in TYPE.finditer(code):
        opening = code.find("{", match.end())
        if opening >= 0:
            spans.append((match.start(), opening, closing_brace(code, opening), match[1], match[2]))
    for start, opening, end, kind, name in spans:
        outer = sorted(span for span in spans if span[1] < start and span[2] > end)
        inside = [span for span in spans if span[0] > opening and span[2] < end]
        nested = [span for span in inside if not any(other[1] < span[0] and other[2] > span[2] for other in inside)]
        lines = code.count("\n", start, end) + 1 - sum(code.count("\n", span[0], span[2]) + 1 for span in nested)
        stored = 0
        if kind in ("class", "struct", "actor"):
            stored = sum(
                found[1].count(",") + 1 if found[1].startswith("(") else 1
                for found in STORED.finditer(surface(code[opening : end + 1]))
                if "static " not in found[0] and not ("{" in found[2] and "=" not in found[2].split("{")[0])
            )
        yield ".".join([span[4] for span in outer] + [name]), lines, stored


def surface(body):
    """A type's body with everything inside its members' braces replaced by spaces."""
    depth, out = 0, []
    for character in body:
        depth -= character == "}"
        out.append(character if depth <= 1 or character == "\n" else " ")
        depth += character == "{"
    return "".join(out)
