"""The table of the goals as text, and docs/performance.md with its drawing."""
import html, math, os, textwrap


def number(value):
    """Three digits that count."""
    if value and abs(value) < 100:
        return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}" if abs(value) >= 1 else f"{value:.2f}"
    return f"{value:,.0f}"


def bound(value):
    """A goal as it is written in goals.json."""
    return "–" if value is None else f"{value:g}"


def score(figure, value, base):
    """How many times better than the base: above 1 is met."""
    value, base = max(value, 1e-9), max(base, 1e-9)
    return base / value if figure["better"] == "lower" else value / base


def state(figure, value):
    """Whether the aim or only `must` is met."""
    if figure["aim"] is not None and score(figure, value, figure["aim"]) >= 1:
        return "aim"
    if figure["must"] is None:
        return "–"
    return "yes" if score(figure, value, figure["must"]) >= 1 else "no"


def rows(goals, figures, wanted=None):
    """(goal, figure, what was measured or None), in order."""
    for goal in goals:
        if wanted is None or goal["number"] in wanted:
            for figure in goal["figures"]:
                yield goal, figure, figures.get(f"{goal['number']}: {figure['name']}")


def cells(goal, figure, found):
    """The cells of one line of the table."""
    sign = "≤" if figure["better"] == "lower" else "≥"
    bounds = [f"{sign} {bound(figure[name])}" if figure[name] is not None else "–" for name in ("must", "aim")]
    if found is None:
        return [figure["name"], *bounds, "not measured", "", ""]
    return [figure["name"], *bounds, number(found["median"]), f"{number(found['low'])}–{number(found['high'])}",
            state(figure, found["median"])]


HEAD = ["figure", "must", "aim", "median", "lowest–highest", "met"]


def text(goals, figures, wanted):
    """The table for a terminal."""
    lines, last = [], None
    for goal, figure, found in rows(goals, figures, wanted):
        if goal is not last:
            lines.append((f"\n{goal['number']}. {goal['scenario']}", None))
            last = goal
        lines.append((None, cells(goal, figure, found)))
    widths = [max(len(row[column]) for _, row in [*lines, (None, HEAD)] if row) for column in range(len(HEAD))]

    def line(row):
        return "  " + row[0].ljust(widths[0]) + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:]))

    return "\n".join([line(HEAD)] + [title if title else line(row) for title, row in lines])


# The drawing

WIDTH, LEFT, RIGHT, STEP, TITLE_STEP, TOP, BAR = 880, 290, 140, 20, 28, 64, 11
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328 } .goal { font-weight: 600 } .small { fill: #59636e }
.grid { stroke: #d1d9e0 } .must { stroke: #1f2328; stroke-width: 1.5 } .aim { stroke: #8250df; stroke-width: 3 }
.met { fill: #1a7f37 } .missed { fill: #bc4c00 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .small { fill: #9198a1 } .grid { stroke: #3d444d } .must { stroke: #f0f6fc }
.aim { stroke: #ab7df8 } .met { fill: #3fb950 } .missed { fill: #db6d28 }
}"""


def drawing(goals, figures):
    """The SVG: one bar for each figure with a `must`, from there to what was measured."""
    drawn = [(goal, figure, found) for goal, figure, found in rows(goals, figures) if found and figure["must"] is not None]
    scores = [score(figure, found["median"], figure["must"]) for _, figure, found in drawn]
    aims = [score(figure, figure["aim"], figure["must"]) for _, figure, _ in drawn if figure["aim"] is not None]
    # Octaves to both sides, at least one; what is beyond four is drawn with an arrow's head.
    most = min(4, max(1, math.ceil(max((abs(math.log2(value)) for value in scores + aims), default=1))))
    half = (WIDTH - LEFT - RIGHT) / 2

    def place(value):
        return LEFT + half + half * max(-most, min(most, math.log2(value))) / most

    parts, height, last = [], TOP, None
    for (goal, figure, found), value in zip(drawn, scores):
        if goal is not last:
            height += TITLE_STEP
            parts.append(f'<text class="goal" x="8" y="{height - 6}">{goal["number"]}. {plain(goal["scenario"])}</text>')
            last = goal
        met, middle = value >= 1, height + STEP / 2
        first, end = sorted([place(1), place(value)])
        words = (f"goal {goal['number']}, {figure['name']}: {number(found['median'])}, must {bound(figure['must'])}"
                 + (f", aim {bound(figure['aim'])}" if figure["aim"] is not None else "") + f": {'met' if met else 'not met'}")
        parts.append(f'<g><title>{plain(words)}</title><text x="20" y="{middle + 4}">{plain(figure["name"])}</text>')
        parts.append(f'<rect class="{"met" if met else "missed"}" x="{first:.1f}" y="{middle - BAR / 2}" '
                     f'width="{max(1, end - first):.1f}" height="{BAR}"/>')
        if abs(math.log2(value)) > most:
            tip, back = (end + 7, end) if met else (first - 7, first)
            parts.append(f'<path class="{"met" if met else "missed"}" d="M{back:.1f} {middle - 8}L{tip:.1f} {middle}L'
                         f'{back:.1f} {middle + 8}Z"/>')
        if figure["aim"] is not None:
            x = place(score(figure, figure["aim"], figure["must"]))
            parts.append(f'<path class="aim" d="M{x:.1f} {middle - 8}V{middle + 8}"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 16}" y="{middle + 4}">{number(found["median"])} {"✓" if met else "✗"}'
                     f' <tspan class="small">must {bound(figure["must"])}</tspan></text></g>')
        height += STEP
    grid = []
    for octave in range(-most, most + 1):
        x = place(2.0 ** octave)
        label = "must" if octave == 0 else f"x {2 ** octave}" if octave > 0 else f"1/{2 ** -octave}"
        grid.append(f'<path class="{"must" if octave == 0 else "grid"}" d="M{x:.1f} {TOP}V{height}"/>'
                    f'<text class="small" x="{x:.1f}" y="{TOP - 6}" text-anchor="middle">{label}</text>')
    met = sum(value >= 1 for value in scores)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height + 12}" width="{WIDTH}" \
height="{height + 12}" role="img" aria-labelledby="title text">
<title id="title">Measured figures beside the goals</title>
<desc id="text">{len(drawn)} bars on a logarithmic scale, one for each figure, from what it must be to what was measured: \
to the right is better. {met} are met. The table has the same figures.</desc>
<style>{STYLE}
</style>
<text x="8" y="20">Bars begin at what must be reached; to the right is better, on a logarithmic scale. \
✓ met, ✗ not met; the short mark is the aim.</text>
{chr(10).join(grid + parts)}
</svg>
"""


def plain(words):
    """Text of the goals without the marks of Markdown."""
    return html.escape(words.replace("`", ""))


# The page


def page(goals, limits, figures, records):
    """docs/performance.md."""
    machine = records[-1]["machine"]
    commits = ", ".join(dict.fromkeys(record["machine"]["commit"] for record in records))
    measured = [(figure, found) for _, figure, found in rows(goals, figures) if found and figure["must"] is not None]
    met = sum(state(figure, found["median"]) != "no" for figure, found in measured)
    rounds = " and ".join(dict.fromkeys(f"{record['rounds']}" for record in records))
    dates = ", ".join(sorted({record["date"][:10] for record in records}))
    loads = ", ".join(f"{record['load']:.1f}" for record in records)
    trial = "**A trial with small sizes: these figures say nothing.**\n\n" if records[-1]["quick"] else ""
    lines = [
        "# Performance", "", "<!-- Written by Tools/bench --write. -->", "",
        trial + paragraph(f"""`Tools/bench` measures lecturectl beside curl, aria2, wget2, `openssl speed` and the sqlite3
            shell of Debian: {met} of {len(measured)} figures are what they must be. lecturectl is measured with everything
            that it promises: each chunk has its proof, the journal is on, and a lecture that is reported as complete is on
            the disk. curl, aria2 and wget2 end with the bytes in the page cache, except where a figure says "until
            durable"."""), "",
        f"![{met} of {len(measured)} figures are what they must be; the table below has each of them](performance.svg)", "",
        "| goal | " + " | ".join(HEAD) + " |", "|" + " --- |" * (len(HEAD) + 1)]
    last = None
    for goal, figure, found in rows(goals, figures):
        title = f"{goal['number']}. {goal['scenario']}" if goal is not last else ""
        last = goal
        lines.append(f"| {title} | " + " | ".join(cells(goal, figure, found)) + " |")
    lines += ["", paragraph(""""x / y" is lecturectl's figure divided by that of y in the same round. *met* is "aim" when the
        aim is reached, too."""), ""]
    if limits:
        lines += ["## What is known not to be met", "", "| figure | limit | reason |", "| --- | --- | --- |"]
        lines += [f"| {name} | {bound(limit['value'])} | {limit['reason']} |" for name, limit in limits.items()]
        lines.append("")
    lines += [
        "## How it is measured", "",
        *bullets(
            """Contenders run in turn, and each round begins with the next one. A figure of a round is a ratio within that
            round or a value of lecturectl; the table has the median of the runs' medians, and the lowest and highest round.""",
            f"""{len(records)} run{"s" if len(records) > 1 else ""} ({dates}) of {rounds}
            round{"" if rounds == "1" else "s"}{shares(goals, records)}; the load
            before: {loads}. Lists, starts and pages run twice in a round and once more, queueing a million lectures and
            the server's limit once a run.""",
            """Every exit status and every byte of every download is compared before a figure counts; lists with the rows of
            the database, reports and renewals with what the server accepted once.""",
            """Servers are Debian's nginx and lecture-sandbox on the same machine; clients, servers and the disk share its
            processors. lecturectl runs with `--quiet`, a new store, and `--output` or `--output-dir` beside it.""",
            f"""A far server is in a network namespace of its own, behind a link of
            [far-network.c](../Benchmarks/far-network.c): 50 ms for a round trip, 400 Mbit/s, a queue as long as a round
            trip, packets of 1,500 bytes, loss on the way to the client. Before each measurement the time to connect, and
            after it the share of lost packets are compared with what was asked for. Without loss the congestion control is
            Reno.
            lecturectl chooses itself how many files it fetches at once, up to 48; for HTTP/2 it uses `--jobs 100`, over one
            connection, where curl uses 16 connections of HTTP/1.1, both over TLS.""",
            """"First request" is the time from the start of the process until the first byte of its first request is at a
            server, in a store with 1,000 lectures, or a million, that wait to be downloaded."""),
        "", "## Machine", "",
        *bullets(f"{machine['processor']}, {machine['memory']}, {machine['kernel']}", machine["tools"],
                 f"lecturectl {machine['lecturectl']}, commit {commits}"), ""]
    return "\n".join(lines)


def shares(goals, records):
    """What was not part of every run."""
    goals_in = {}
    for goal in goals:
        number = sum(any(name.startswith(f"{goal['number']}: ") for name in record["samples"]) for record in records)
        goals_in.setdefault(number, []).append(str(goal["number"]))
    return "".join(f"; goals {', '.join(found)}: {number} of them"
                   for number, found in sorted(goals_in.items()) if 0 < number < len(records))


def paragraph(words):
    return textwrap.fill(" ".join(words.split()), 120, break_long_words=False, break_on_hyphens=False)


def bullets(*texts):
    return [textwrap.fill("* " + " ".join(words.split()), 120, subsequent_indent="  ", break_long_words=False,
                          break_on_hyphens=False) for words in texts]


def write(directory, goals, limits, figures, records):
    """Writes the page and the drawing."""
    for name, words in (("performance.md", page(goals, limits, figures, records)),
                        ("performance.svg", drawing(goals, figures))):
        with open(os.path.join(directory, name), "w") as file:
            file.write(words)
