#!/usr/bin/env python3
"""Compares two builds of lecturectl, in turn within one run: what a change costs, or gives.

Wall and CPU seconds of the second build, divided by those of the first one in the same round; the medians are the
result. The order of the two changes from round to round. Results are compared before a figure counts. Ends with status
1 when a median of CPU seconds is above --limit.

  Benchmarks/versus.py OLD NEW [--rounds 5] [--limit 1.03] [--only NAME[,NAME…]]

OLD and NEW are release builds of lecturectl; lecture-sandbox and nginx serve both. Scenarios: large (one file with a
digest), tiny (64 KiB each), small (2 MiB each), each pre-cached and verified; list (of 20,000), reports (stored and sent
in batches), licences (pre-cached through the gateway, then renewed).
"""
import argparse, json, os, shutil, subprocess, sys, tempfile

sys.dont_write_bytecode = True
import licences, statistics  # noqa: E402
from compare import Nginx, make_file, median, run, sha256  # noqa: E402


class Build:
    """A lecturectl with a store of its own."""

    def __init__(self, program, work):
        self.program, self.work = os.path.abspath(program), work

    def clear(self):
        for name in ("store", "device"):
            shutil.rmtree(f"{self.work}/{name}", ignore_errors=True)

    def run(self, *arguments, lines=None, status=0):
        """Runs a command to its end and measures it."""
        with open(lines or os.devnull) as source:
            sample = run([self.program, *arguments], env=licences.environment(self.work), stdin=source)
        if sample["status"] != status:
            sys.exit(f"{self.program} {' '.join(arguments)}: status {sample['status']}")
        return sample

    def read(self, *arguments):
        """What a command prints."""
        return subprocess.check_output([self.program, *arguments], env=licences.environment(self.work), text=True)

    def require_complete(self, digests):
        """Every lecture is complete and has its bytes."""
        assert len(self.read("--json", "list", "--state", "completed").splitlines()) == len(digests)
        for key in list(digests)[:20]:
            assert sha256(self.read("path", key).strip()) == digests[key], key


class Files:
    """Files of one size from nginx."""

    def __init__(self, work, count, size, *options, names_digests=False):
        site = f"{work}/site"
        os.makedirs(site)
        self.digests = {}
        for number in range(count):
            make_file(f"{site}/f{number}.mp4", size)
            self.digests[f"f{number}"] = sha256(f"{site}/f{number}.mp4")
        self.server, self.options, self.course = Nginx(site, work), options, f"{work}/course.jsonl"
        with open(self.course, "w") as file:
            for key, digest in self.digests.items():
                line = {"url": f"{self.server.url}/{key}.mp4", "key": key}
                file.write(json.dumps({**line, "sha256": digest} if names_digests else line) + "\n")

    def measure(self, build):
        build.clear()
        sample = build.run("--quiet", "precache", *self.options, self.course)
        build.require_complete(self.digests)
        return {"precache": sample, "verify": build.run("--quiet", "verify", "--all")}

    def stop(self):
        self.server.stop()


class Listing:
    """Lists of many queued lectures."""

    def __init__(self, work, count):
        self.course, self.filled = f"{work}/course.jsonl", set()
        with open(self.course, "w") as file:
            for number in range(count):
                file.write(json.dumps({"url": f"http://127.0.0.1:9/{number:06}.mp4", "title": f"Lecture {number}"}) + "\n")

    def measure(self, build):
        if build.program not in self.filled:
            self.filled.add(build.program)
            build.run("--quiet", "precache", "--max-attempts", "1", "--deadline", "5s", self.course, status=75)
        return {"page": build.run("list", "--limit", "50"), "whole": build.run("--json", "list"),
                "status": build.run("status")}

    def stop(self):
        pass


class Reports:
    """Reports, stored and sent."""

    def __init__(self, work, count):
        self.count, self.lines = count, f"{work}/lines"
        statistics.write_lines(self.lines, count)
        self.receiver = statistics.Receiver(work, batch=1000, batch_bytes=16 << 20)
        self.configuration = f"{work}/config.json"

    def measure(self, build):
        build.clear()
        self.receiver.reset()
        shutil.copy(self.configuration, f"{build.work}/config.json")
        samples = {"add": build.run("lms", "add", "--batch", lines=self.lines), "send": build.run("--quiet", "lms", "send")}
        sums = self.receiver.summary()
        assert sums["once"] == self.count and not sums["more"], sums
        return samples

    def stop(self):
        self.receiver.stop()


class Licences:
    """Licensed lectures through the gateway, renewed."""

    def __init__(self, work, count):
        self.count, self.configuration = count, f"{work}/config.json"
        words = [word for number in range(count) for word in ("--bytes", f"2000-{number}?licensed")]
        self.sandbox = licences.Sandbox(work, *words)

    def measure(self, build):
        build.clear()
        self.sandbox.reset()
        shutil.copy(self.configuration, f"{build.work}/config.json")
        self.sandbox.drm(content="*", policy={"expiration_in": 86_400})
        grant = build.run("--quiet", "precache", "--jobs", "16", f"{self.sandbox.url}/course.jsonl")
        self.sandbox.drm(content="*", policy={"expiration_in": 172_800})
        renewal = build.run("--quiet", "licence", "renew", "--all", "--jobs", "16")
        granted, left = licences.renewals(build.work)
        assert len(granted) == self.count and not left and all(times for times, _ in granted.values())
        return {"precache": grant, "renew": renewal}

    def stop(self):
        self.sandbox.stop()


SCENARIOS = {
    "large": lambda work: Files(work, 1, 512 << 20, names_digests=True),
    "tiny": lambda work: Files(work, 2000, 64 << 10, "--jobs", "16"),
    "small": lambda work: Files(work, 200, 2 << 20, "--jobs", "16"),
    "list": lambda work: Listing(work, 20_000),
    "reports": lambda work: Reports(work, 50_000),
    "licences": lambda work: Licences(work, 1000),
}


def compare(name, builds, rounds, work):
    """Runs a scenario; the medians of NEW / OLD for each of its commands."""
    scenario, rows = SCENARIOS[name](work), []
    try:
        for number in range(rounds):
            samples = {}
            for place in (0, 1) if number % 2 == 0 else (1, 0):
                samples[place] = scenario.measure(builds[place])
            rows.append(samples)
    finally:
        scenario.stop()
    worst = 0
    for command in rows[0][0]:
        ratios = {
            figure: median([row[1][command][figure] / max(row[0][command][figure], 1e-9) for row in rows])
            for figure in ("wall", "cpu", "mib")
        }
        worst = max(worst, ratios["cpu"])
        old = median([row[0][command]["cpu"] for row in rows])
        print(f"  {name + ' ' + command:<20}  wall x{ratios['wall']:.3f}  CPU x{ratios['cpu']:.3f} (of {old:.3f} s)"
              f"  peak x{ratios['mib']:.3f}", flush=True)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=1.03)
    parser.add_argument("--only", help="scenarios, separated by commas")
    parser.add_argument("--dir", help="where files are made; the current directory unless given", default=".")
    options = parser.parse_args()
    names, worst = options.only.split(",") if options.only else list(SCENARIOS), 0
    for name in names:
        work = os.path.abspath(tempfile.mkdtemp(prefix="lecture-benchmark-", dir=options.dir))
        try:
            builds = []
            for place, program in enumerate((options.old, options.new)):
                os.makedirs(f"{work}/{place}")
                with open(f"{work}/{place}/config.json", "w") as file:
                    file.write("{}")
                builds.append(Build(program, f"{work}/{place}"))
            worst = max(worst, compare(name, builds, options.rounds, work))
        finally:
            shutil.rmtree(work)
    if worst > options.limit:
        sys.exit(f"the worst median is x{worst:.3f}, the limit x{options.limit}")


main()
