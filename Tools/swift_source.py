"""Reads Swift source as far as the checks need."""
import re


def blanked(text):
    """The text with comments and the inside of string literals replaced by spaces, line ends kept."""
    out, index, stack = [], 0, []
    # The stack holds, for each open literal, its closing quotes; and for each interpolation, its open parentheses.
    while index < len(text):
        if stack and isinstance(stack[-1], str):
            quotes = stack[-1]
            hashes = quotes.lstrip('"')
            if text.startswith(quotes, index):
                stack.pop()
                out.append(" " * len(quotes))
                index += len(quotes)
            elif text.startswith("\\" + hashes + "(", index):
                stack.append(1)
                out.append(" " * (2 + len(hashes)))
                index += 2 + len(hashes)
            elif text.startswith("\\" + hashes, index) and index + 1 + len(hashes) < len(text):
                out.append(" " * (1 + len(hashes)) + ("\n" if text[index + 1 + len(hashes)] == "\n" else " "))
                index += 2 + len(hashes)
            else:
                out.append("\n" if text[index] == "\n" else " ")
                index += 1
            continue
        opening = re.compile(r'(#*)("""|")').match(text, index)
        if text.startswith("//", index):
            end = text.find("\n", index)
            end = len(text) if end < 0 else end
            out.append(" " * (end - index))
            index = end
        elif opening:
            stack.append(opening[2] + opening[1])
            out.append(" " * len(opening[0]))
            index = opening.end()
        else:
            character = text[index]
            if stack and character in "()":
                stack[-1] += 1 if character == "(" else -1
                if stack[-1] == 0:
                    stack.pop()
                    character = " "
            out.append(character)
            index += 1
    return "".join(out)
