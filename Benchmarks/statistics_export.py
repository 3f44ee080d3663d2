#!/usr/bin/env python3
"""Measures exports of learning reports: time and peak memory of each format, and reading them back.

The store is filled by importing a file that this script makes, so that is measured as well. Everything lies in one
directory on the disk (--dir), which is removed at the end. Other programs check what was written: gzip, zstd, python.

  Benchmarks/statistics_export.py [--count 1000000] [--dir /var/tmp]
"""
import argparse, csv, hashlib, json, os, shutil, subprocess, sys, tempfile

sys.dont_write_bytecode = True
from compare import LECTURECTL, run  # noqa: E402

FORMATS = ["out.jsonl", "out.jsonl.gz", "out.jsonl.zst", "out.csv", "out.csv.zst", "out.xapi", "out.xapi.zst"]
STATES = ["pending", "delivered", "delivered", "delivered", "dead"]


def make(path, count):
    """An export as another store could have written it: 1,000 learners with sessions of ten reports."""
    digest, states = hashlib.sha256(), {}
    with open(path, "wb") as file:
        for number in range(count):
            learner, session = f"learner-{number // 10 % 1000}", 1_700_000_000 + number // 10
            state = STATES[number % len(STATES)]
            states[state] = states.get(state, 0) + 1
            values = {"client_user_id": learner, "PLAY_STATUS": "play", "DURATION": "3600", "JSON_DATA": {
                "content_info": {"duration": 3600, "showtime": number % 3600, "playtime_percent": number % 100},
                "user_info": {"client_user_id": learner, "device": "linux"}, "uservalues": {"course": "c-1"}}}
            row = {"record": "report", "id": f"018f{number:08x}-0000-7000-8000-000000000000"[:36],
                   "content": f"lecture-{number % 50}", "course": f"course-{number % 7}", "user": learner,
                   "session": f"{learner}{session}", "seq": number % 10, "wall_ms": session * 1000,
                   "state": state, "attempts": 1, "values": values}
            if state == "dead":
                row["reason"] = "refused"
            line = json.dumps(row, separators=(",", ":")).encode() + b"\n"
            digest.update(line)
            file.write(line)
        summary = {"record": "summary", "reports": count, "states": states, "digest": digest.hexdigest()}
        file.write(json.dumps(summary).encode() + b"\n")


def expect(sample, what):
    if sample["status"] != 0:
        sys.exit(f"{what}: status {sample['status']}")
    return sample


def report(what, sample, count, size=None):
    rate = count / sample["wall"]
    bytes_text = f"{size / 1e6:9.1f} MB" if size is not None else " " * 12
    print(f"{what:24} {sample['wall']:8.1f} s {sample['cpu']:8.1f} CPU s {sample['mib']:7.1f} MiB {rate:10.0f}/s {bytes_text}",
          flush=True)


def plain(path):
    """The bytes of a file, expanded by third-party programs."""
    tool = {".gz": ["gzip", "-dc"], ".zst": ["zstd", "-dcq"]}.get(os.path.splitext(path)[1], ["cat"])
    return subprocess.Popen([*tool, path], stdout=subprocess.PIPE)


def check(path, count):
    process = plain(path)
    if ".csv" in path:
        text = (line.decode() for line in process.stdout)
        rows = sum(1 for _ in csv.reader(text, strict=True)) - 1
    else:
        rows = sum(1 for _ in process.stdout) - (1 if ".jsonl" in path else 2)
    if process.wait() != 0 or rows != count:
        sys.exit(f"{path}: {rows} rows instead of {count}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--dir", default="/var/tmp")
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix="lecture-export-", dir=options.dir)
    try:
        first = f"{work}/in.jsonl"
        make(first, options.count)
        environment = dict(os.environ, LECTURE_STORE=f"{work}/store", HOME=work)
        print(f"{options.count} reports, load {os.getloadavg()[0]:.1f}")
        sample = expect(run([LECTURECTL, "lms", "import", first], env=environment), "import")
        report("import", sample, options.count, os.path.getsize(first))
        os.unlink(first)
        for name in FORMATS:
            path = f"{work}/{name}"
            words = ["lms", "export", "--output", path] + (["--format", "xapi"] if "xapi" in name else [])
            report(name, expect(run([LECTURECTL, *words], env=environment), name), options.count, os.path.getsize(path))
            check(path, options.count)
            if ".zst" not in name:
                os.unlink(path)
        with open(f"{work}/key", "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(os.urandom(32))
        words = ["lms", "export", "--output", f"{work}/p.jsonl", "--pseudonymise", f"{work}/key"]
        report("pseudonymised jsonl", expect(run([LECTURECTL, *words], env=environment), "key"), options.count)
        os.unlink(f"{work}/p.jsonl")
        for name in ("out.jsonl.zst", "out.csv.zst"):
            other = dict(environment, LECTURE_STORE=f"{work}/other-{name}")
            for what in ("import", "again"):
                sample = expect(run([LECTURECTL, "lms", "import", f"{work}/{name}"], env=other), what)
                report(f"{what} {name}", sample, options.count)
            shutil.rmtree(f"{work}/other-{name}")
        words = ["lms", "erase", "--user", "learner-500"]
        # The id of one learner is no prefix of another's, only of its own sessions: status 0.
        report("erase one learner", expect(run([LECTURECTL, *words], env=environment), "erase"), options.count)
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
