#!/usr/bin/env python3
"""Measures a daemon at rest: its resident memory, and how often its threads wake up.

    Benchmarks/idle.py [--seconds 60] PROGRAM          PROGRAM is a lecturectl, best one as Tools/package makes it

It has an empty store, no course list and no watchdog. A wake-up is a voluntary context switch (proc(5)): a thread that had
nothing to do and was scheduled again.
"""
import argparse
import os
import pathlib
import re
import subprocess
import tempfile
import time


def switches(process):
    """The voluntary context switches of each thread, by its number."""
    found = {}
    for status in pathlib.Path(f"/proc/{process}/task").glob("*/status"):
        text = status.read_text()
        name = re.search(r"^Name:\s*(.*)$", text, re.M)[1]
        found[status.parent.name] = (name, int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)$", text, re.M)[1]))
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--seconds", type=int, default=60)
    arguments.add_argument("program")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "LECTURE_STORE": f"{home}/store"}
        daemon = subprocess.Popen([options.program, "daemon", "--json"], stdout=subprocess.PIPE, env=environment)
        while b'"ready"' not in daemon.stdout.readline():
            pass
        # The library sleeps five seconds after its last work, and threads without work end five seconds later.
        time.sleep(12)
        before = switches(daemon.pid)
        time.sleep(options.seconds)
        after = switches(daemon.pid)
        memory = pathlib.Path(f"/proc/{daemon.pid}/status").read_text()
        for name in ("VmRSS", "RssAnon", "RssFile"):
            kibibytes = int(re.search(rf"^{name}:\s*(\d+)", memory, re.M)[1])
            print(f"{name}: {kibibytes / 1024:.1f} MiB")
        for number, (name, count) in after.items():
            print(f"thread {number} {name}: {count - before.get(number, (name, 0))[1]} wake-ups")
        daemon.terminate()
        print(f"status {daemon.wait()}")


main()
