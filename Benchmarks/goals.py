#!/usr/bin/env python3
"""Measures every goal of goals.json beside Debian's tools, and shows which are met.

Contenders run in turn in every round; a figure is the median over the rounds of what one round gave. Absolute figures
belong to one machine on one day, ratios much less so. Everything lies in one directory (--dir), which is removed at the
end. Rows 9 and 10 need root: their server is in a network namespace. Tools/bench installs and builds what is needed.

  --rows 1,6,9      only these goals
  --rounds N        5 unless given; quick commands run 2 N + 1 times
  --quick           small sizes and 2 rounds: a trial of the script, whose figures say nothing
  --dir DIR         where files are made; the current directory unless given. 4 GiB need 10 GiB of space
  --save FILE       adds the samples of this run to FILE, a line of JSON for each run
  --from FILE       measures nothing: combines the runs in FILE
  --write           writes docs/performance.md and docs/performance.svg
  --check           ends with 1 and names what is beyond `must`, or beyond its entry in `limits` of goals.json
"""
import argparse, datetime, json, os, platform, shutil, signal, subprocess, sys, tempfile, traceback

sys.dont_write_bytecode = True
import goals_page  # noqa: E402
from compare import LECTURECTL, REPOSITORY, median  # noqa: E402
from goals_measure import FULL, MEASUREMENTS, QUICK, Samples, configure  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def versions():
    """The machine and the programs that are compared."""

    def first(*command):
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            return "not installed"
        return (done.stdout or done.stderr).strip().splitlines()[0]

    def version(place, *command):
        """A word of the first line that a program writes."""
        return first(*command).split()[place] if shutil.which(command[0]) else "not installed"

    with open("/proc/cpuinfo") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), platform.machine())
    nginx = first(shutil.which("nginx") or "/usr/sbin/nginx", "-v").rsplit("/", 1)[-1]
    return {
        "processor": f"{os.cpu_count()} x {model}", "kernel": f"Linux {platform.release()}",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "tools": ", ".join([
            "curl " + version(1, "curl", "--version"), "aria2 " + version(-1, "aria2c", "--version"),
            "wget2 " + version(2, "wget2", "--version"), "nginx " + nginx.split()[0],
            "OpenSSL " + version(1, "openssl", "version"), "SQLite " + version(0, "sqlite3", "--version")]),
        "lecturectl": first(LECTURECTL, "--version").split()[-1],
        "commit": first("git", "-C", REPOSITORY, "rev-parse", "--short", "HEAD"),
    }


def measure(options, wanted):
    """Runs the measurements that these goals need; returns the record of the run."""
    sizes = QUICK if options.quick else FULL
    samples, failures, details = Samples(), {}, {}
    # The tools must not go through a proxy on their way to servers of this machine.
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]
    begun = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    load = os.getloadavg()[0]
    for function, numbers in MEASUREMENTS:
        if not numbers & wanted:
            continue
        name = function.__name__
        print(f"\n== {name}", file=sys.stderr, flush=True)
        work = os.path.abspath(tempfile.mkdtemp(prefix="lecture-benchmark-", dir=options.dir))
        try:
            configure(work)
            details[name] = function(work, sizes, options.rounds, samples)
        # One failure is no reason to lose the hours before it. It is shown at the end, with status 1.
        except (SystemExit, Exception) as error:
            if not isinstance(error, SystemExit):
                traceback.print_exc()
            failures[name] = str(error)
            print(f"{name}: {error}", file=sys.stderr, flush=True)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    numbers = {f"{number}: " for number in wanted}
    values = {name: found for name, found in samples.values.items() if any(name.startswith(start) for start in numbers)}
    return {"date": begun, "load": load, "quick": options.quick, "rounds": options.rounds, "sizes": sizes,
            "machine": versions(), "failures": failures, "samples": values, "details": details}


def combine(records):
    """The figures of several runs: median of their medians, lowest and highest round, and how many runs."""
    found = {}
    for record in records:
        for name, values in record["samples"].items():
            found.setdefault(name, []).append(values)
    return {name: {"median": median([median(values) for values in runs]), "low": min(map(min, runs)),
                   "high": max(map(max, runs)), "runs": len(runs)} for name, runs in found.items()}


def read(path):
    """The runs in a file, which must be of one kind to be combined."""
    with open(path) as file:
        records = [json.loads(line) for line in file if line.strip()]
    if not records:
        sys.exit(f"{path}: there is no run")
    for record in records:
        if record["sizes"] != records[0]["sizes"]:
            sys.exit(f"{path}: the runs have different sizes")
    return records


def load_goals():
    """Goals, and limits that take the place of `must` where it is known not to be met."""
    with open(os.path.join(HERE, "goals.json")) as file:
        document = json.load(file)
    names = {f"{goal['number']}: {figure['name']}" for goal in document["goals"] for figure in goal["figures"]}
    for name, limit in document["limits"].items():
        if name not in names or not limit.get("reason") or "value" not in limit:
            sys.exit(f"goals.json: limits: {name}: is no figure, or has no value or no reason")
    return document["goals"], document["limits"]


def beyond(goals, limits, figures, wanted):
    """What exceeds its limit, or was not measured."""
    for goal in goals:
        if goal["number"] not in wanted:
            continue
        for figure in goal["figures"]:
            name = f"{goal['number']}: {figure['name']}"
            bound = limits.get(name, {}).get("value", figure["must"])
            if bound is None:
                continue
            if name not in figures:
                yield f"{name}: was not measured"
                continue
            value = figures[name]["median"]
            if value > bound if figure["better"] == "lower" else value < bound:
                words = "the limit is" if name in limits else "it must be"
                yield f"{name}: {goals_page.number(value)}, {words} {goals_page.bound(bound)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage="%(prog)s [options]")
    parser.add_argument("--rows", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--dir", default=".", help=argparse.SUPPRESS)
    parser.add_argument("--save", help=argparse.SUPPRESS)
    parser.add_argument("--from", dest="source", help=argparse.SUPPRESS)
    for name in ("--quick", "--write", "--check"):
        parser.add_argument(name, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    # Ends the servers, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options.rounds = options.rounds or (2 if options.quick else 5)
    goals, limits = load_goals()
    every = {goal["number"] for goal in goals}
    try:
        wanted = {int(word) for word in options.rows.split(",")} if options.rows else every
    except ValueError:
        parser.error("--rows needs numbers, separated by commas")
    if not wanted <= every:
        parser.error(f"there are goals {min(every)} to {max(every)}")
    if options.source:
        records = read(options.source)
    else:
        records = [measure(options, wanted)]
        if options.save:
            with open(options.save, "a") as file:
                file.write(json.dumps(records[0]) + "\n")
    figures = combine(records)
    print(goals_page.text(goals, figures, wanted))
    failures = [f"{name}: {error}" for record in records for name, error in record["failures"].items()]
    if options.write:
        goals_page.write(os.path.join(REPOSITORY, "docs"), goals, limits, figures, records)
    if options.check:
        failures += beyond(goals, limits, figures, wanted)
        if not failures:
            print("every figure is within goals.json")
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
