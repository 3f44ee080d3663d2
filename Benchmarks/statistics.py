#!/usr/bin/env python3
"""Measures learning reports: storing them, sending them, and that none is lost or recorded twice.

Absolute figures belong to one machine on one day; the ratios within one run are the result. The server is
lecture-sandbox's LMS on loopback. Everything lies in one directory on the disk (--dir), which is removed at the end.

  Benchmarks/statistics.py kills  [--count 1000000] [--kills 100]  over a receiver that loses 30 % of its answers
  Benchmarks/statistics.py add    [--count 20000]  one commit a report, beside batches and beside plain fsync
  Benchmarks/statistics.py send   [--count 200000] beside a plain client that sends the same bytes
  Benchmarks/statistics.py posts  [--count 10000]  one report a request beside curl, batches of 100, and servers with a limit
  Benchmarks/statistics.py poison [--count 500]    one report that the server refuses
"""
import argparse, http.client, json, os, random, shutil, signal, subprocess, sys, tempfile, threading, time
import urllib.request

sys.dont_write_bytecode = True
from compare import LECTURECTL, curl_posts, hold, median, run  # noqa: E402

SANDBOX = os.path.join(os.path.dirname(LECTURECTL), "lecture-sandbox")
LMS = "/lms/json"


class Receiver:
    """A lecture-sandbox whose LMS accepts reports, ended when its standard input closes."""

    def __init__(self, work, **target):
        self.work = work
        self.process = subprocess.Popen(
            [SANDBOX, "--no-https", "--stdin-watch", "--root", f"{work}/sandbox"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = json.loads(self.process.stdout.readline())["http"]
        self.configure(rate=10_000, **target)

    def configure(self, **target):
        """The rule for the target; without a rate the program has to find the server's limit."""
        with open(f"{self.work}/config.json", "w") as file:
            json.dump({"lms": {"url": self.url + LMS, "format": "json", "targets": [{"url": self.url, **target}]}}, file)

    def habits(self, text):
        body = json.dumps({"path": LMS, "habits": text}).encode()
        urllib.request.urlopen(f"{self.url}/_lms", body).read()

    def summary(self):
        with urllib.request.urlopen(f"{self.url}/_lms/summary?path={LMS}") as answer:
            return json.load(answer)

    def effects(self):
        """How often each report took effect, for the received ids."""
        with urllib.request.urlopen(f"{self.url}/_lms?path={LMS}") as answer:
            for line in answer:
                event = json.loads(line)
                yield event["id"], event["effects"]

    def reset(self):
        urllib.request.urlopen(f"{self.url}/_reset", b"").read()

    def peak(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def environment(work):
    return dict(os.environ, LECTURE_STORE=f"{work}/store", LECTURE_DEVICE=f"{work}/device",
                LECTURE_CONFIG=f"{work}/config.json")


def write_lines(path, count, session=20):
    """Reports r0, r1, …, a number of them per session, as large as a small player's."""
    with open(path, "w") as file:
        for number in range(count):
            report = {"PLAY_TIME": number % session * 30, "DURATION": 3600, "MEDIA_CONTENT_KEY": f"lecture-{number % 97}",
                      "PLAY_STATUS": "play", "START_AT": 1_700_000_000 + number // session}
            file.write(json.dumps({
                "id": f"r{number}", "user": f"user-{number // session % 5000}", "session": f"s{number // session}",
                "seq": number % session, "content": f"lecture-{number % 97}", "report": report}) + "\n")


def acknowledged(path):
    """The ids after ACK, without a line that a kill cut off."""
    with open(path) as file:
        return {line[4:-1] for line in file if line.startswith("ACK ") and line.endswith("\n")}


def account(work):
    text = subprocess.run([LECTURECTL, "lms", "list", "--summary", "--json"], env=environment(work), check=True,
                          capture_output=True, text=True).stdout
    return json.loads(text.splitlines()[0])


def command(arguments, work, lines=None, output=None, kill_after=None):
    """Runs a command to its end, or kills it after this many seconds, and measures it; status -9 is killed."""
    with open(lines or os.devnull) as source, open(output or os.devnull, "w") as results:
        return run([LECTURECTL, *arguments], kill_after, env=environment(work), stdin=source, stdout=results)


# Kills


def kills(options, work):
    dice, lines, acks = random.Random(options.seed), f"{work}/lines", f"{work}/acks"
    write_lines(lines, options.count)
    receiver = Receiver(work, batch=options.batch, batch_bytes=16 << 20)
    figures, stored, peak = {"seed": options.seed, "count": options.count}, set(), 0
    try:
        receiver.habits("lose:30")
        # A tenth of the kills hit the storing: each time the whole file is read again and known reports are skipped.
        done, begin = 0, time.monotonic()
        while True:
            moment = dice.uniform(0.2, 8) if done < options.kills // 10 else None
            sample = command(["lms", "add", "--batch"], work, lines, acks, moment)
            stored |= acknowledged(acks)
            peak, status = max(peak, sample["mib"]), sample["status"]
            if status != -signal.SIGKILL:
                break
            done += 1
        figures.update({"add: status": status, "add: seconds": time.monotonic() - begin, "add: peak MiB": peak,
                        "add: kills": done, "acknowledged": len(stored)})
        print(json.dumps(figures), flush=True)
        done, begin, peak, runs = 0, time.monotonic(), 0, 0
        # The kills are spread over the work: a run lasts as long as about a hundredth of it takes.
        while True:
            moment = dice.uniform(0.1, options.moment) if done < options.kills - figures["add: kills"] else None
            sample = command(["--quiet", "lms", "send"], work, kill_after=moment)
            done, runs, peak = done + (sample["status"] == -signal.SIGKILL), runs + 1, max(peak, sample["mib"])
            if sample["status"] == 0:
                break
            if runs > 50 * options.kills:
                sys.exit(f"never done: status {sample['status']}")
        sums, law = receiver.summary(), account(work)
        ids = {f"r{number}" for number in range(options.count)}
        taken = {name for name, effects in receiver.effects() if effects}
        figures.update({
            "send: seconds": time.monotonic() - begin, "send: peak MiB": peak, "send: kills": done, "send: runs": runs,
            "receiver: peak MiB": receiver.peak(), "lost": len(ids & stored - taken), "unknown": len(taken - ids),
            "more than once": sums["more"], "once": sums["once"], "out of order": sums["out_of_order"],
            "key violations": sums["key_violations"], "content violations": sums["content_violations"],
            "law broken": int(not law["conserved"] or law["created"] != options.count
                              or law["delivered"] + law["pruned"] != options.count),
            "requests": sums["requests"], "unheard": sums["lost"], "repeated": sums["replayed"]})
        print(json.dumps(figures), flush=True)
        print(json.dumps(law))
    finally:
        receiver.stop()
    hold("reports", {name: figures[name] for name in (
        "lost", "unknown", "more than once", "out of order", "key violations", "content violations", "law broken",
        "add: peak MiB", "send: peak MiB")})


# Storing


def fsyncs(work, seconds=2):
    """Overwrites and fdatasyncs per second on the same disk: the upper bound for one commit per report. SQLite's log is
    also overwritten, and does not grow."""
    count, begin = 0, time.monotonic()
    with open(f"{work}/synced", "wb", buffering=0) as file:
        file.write(bytes(4 << 20))
        os.fsync(file.fileno())
        while time.monotonic() - begin < seconds:
            os.pwrite(file.fileno(), b"x" * 4096, count % 1024 * 4096)
            os.fdatasync(file.fileno())
            count += 1
    return count / (time.monotonic() - begin)


def one_by_one(work, lines, count):
    """Stores reports so that each is acknowledged before the next is written: one commit each, one process."""
    process = subprocess.Popen([LECTURECTL, "lms", "add", "--batch"], env=environment(work), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    waits = []
    with open(lines, "rb") as file:
        begin = time.monotonic()
        for _, line in zip(range(count), file):
            sent = time.monotonic()
            process.stdin.write(line)
            process.stdin.flush()
            if not process.stdout.readline().startswith(b"ACK "):
                sys.exit("a report was not acknowledged")
            waits.append(time.monotonic() - sent)
        seconds = time.monotonic() - begin
    process.stdin.close()
    process.wait()
    return count / seconds, median(waits) * 1000


def add(options, work):
    lines, rows = f"{work}/lines", []
    write_lines(lines, options.count)
    receiver = Receiver(work)
    try:
        for _ in range(options.rounds):
            shutil.rmtree(f"{work}/store", ignore_errors=True)
            disk = fsyncs(work)
            alone, wait = one_by_one(work, lines, min(2000, options.count))
            shutil.rmtree(f"{work}/store", ignore_errors=True)
            sample = command(["lms", "add", "--batch"], work, lines, f"{work}/acks")
            if sample["status"] != 0 or len(acknowledged(f"{work}/acks")) != options.count:
                sys.exit(f"add: status {sample['status']}")
            rows.append({"fdatasync, 1/s": disk, "one by one, 1/s": alone, "one by one, median ms": wait,
                         "grouped, 1/s": options.count / sample["wall"], "CPU us a report": sample["cpu"] / options.count * 1e6,
                         "peak MiB": sample["mib"], "ratio": disk / alone})
            print(json.dumps(rows[-1]), flush=True)
    finally:
        receiver.stop()
    print(json.dumps({name: median([row[name] for row in rows]) for name in rows[0]}))


# Sending


def plain(receiver, bodies, connections):
    """The same bodies by Python's http.client over this many kept connections, which stores nothing."""
    host, waiting, lock = receiver.url.removeprefix("http://"), iter(bodies), threading.Lock()

    def work():
        connection = http.client.HTTPConnection(host)
        while True:
            with lock:
                body = next(waiting, None)
            if body is None:
                return
            key = json.loads(body)["batch_id"] if len(body) < 4096 else body[13:body.index(b'"', 14)].decode()
            connection.request("POST", LMS, body, {"Content-Type": "application/json", "Idempotency-Key": key})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                sys.exit(f"the plain client got {answer.status}")

    threads = [threading.Thread(target=work) for _ in range(connections)]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - begin


def batches(lines, size):
    """The bodies that the program makes from the same reports, in the same form."""
    with open(lines) as file:
        reports = [json.loads(line) for line in file]
    for start in range(0, len(reports), size):
        events = [{"event_id": report["id"], "user": report["user"], "session": report["session"], "seq": report["seq"],
                   "time_ms": 1_795_000_000_000, "report": report["report"]} for report in reports[start:start + size]]
        yield json.dumps({"batch_id": f"b{start}", "events": events}, separators=(",", ":")).encode()


def send(options, work):
    lines, rows = f"{work}/lines", []
    write_lines(lines, options.count)
    receiver = Receiver(work, batch=options.batch, batch_bytes=16 << 20)
    bodies = list(batches(lines, options.batch))
    try:
        for _ in range(options.rounds):
            receiver.reset()
            theirs = plain(receiver, bodies, 4)
            if receiver.summary()["once"] != options.count:
                sys.exit("the plain client lost reports")
            receiver.reset()
            shutil.rmtree(f"{work}/store", ignore_errors=True)
            if command(["lms", "add", "--batch"], work, lines)["status"] != 0:
                sys.exit("the reports could not be stored")
            sample = command(["--quiet", "lms", "send"], work)
            sums = receiver.summary()
            if sample["status"] != 0 or sums["once"] != options.count or sums["more"]:
                sys.exit(f"send: status {sample['status']}, {sums}")
            rows.append({"plain, 1/s": options.count / theirs, "lms send, 1/s": options.count / sample["wall"],
                         "ratio": sample["wall"] / theirs, "CPU us a report": sample["cpu"] / options.count * 1e6,
                         "peak MiB": sample["mib"], "requests": sums["requests"]})
            print(json.dumps(rows[-1]), flush=True)
    finally:
        receiver.stop()
    print(json.dumps({name: median([row[name] for row in rows]) for name in rows[0]}))
    hold("reports-send", {"peak MiB": median([row["peak MiB"] for row in rows])})


# Posts


def store(receiver, work, lines):
    """Stores reports in a new store."""
    receiver.reset()
    shutil.rmtree(f"{work}/store", ignore_errors=True)
    if command(["lms", "add", "--batch"], work, lines)["status"] != 0:
        sys.exit("the reports could not be stored")


def sent(receiver, work, count):
    """Sends the stored reports, and measures that."""
    sample = command(["--quiet", "lms", "send"], work)
    sums = receiver.summary()
    if sample["status"] != 0 or sums["once"] != count or sums["more"]:
        sys.exit(f"send: status {sample['status']}, {sums}")
    return {**sample, "requests": sums["requests"]}


def measure_posts(count, rounds, work, limits=(20, 200)):
    """Samples of reports that are sent one by one, beside curl, and in batches; shares of servers' limits."""
    lines, rows, found = f"{work}/lines", [], {}
    # A session for each report: none waits for another.
    write_lines(lines, count, session=1)
    receiver = Receiver(work)
    bodies = list(batches(lines, 1))
    requests = [(body, ["Content-Type: application/json", f"Idempotency-Key: {json.loads(body)['batch_id']}"])
                for body in bodies]
    os.mkdir(f"{work}/posts")
    theirs = curl_posts(f"{work}/posts/config", receiver.url + LMS, requests)
    try:
        for _ in range(rounds):
            receiver.reset()
            peer = run(theirs)
            if peer["status"] != 0 or receiver.summary()["once"] != count:
                sys.exit(f"curl: status {peer['status']}, {receiver.summary()}")
            receiver.configure(batch=1)
            store(receiver, work, lines)
            ours = sent(receiver, work, count)
            receiver.configure(batch=100)
            store(receiver, work, lines)
            batch = sent(receiver, work, count)
            rows.append({
                "curl, 1/s": count / peer["wall"], "lms send, 1/s": count / ours["wall"],
                "wall: curl / lms send": peer["wall"] / ours["wall"], "wall: lms send / curl": ours["wall"] / peer["wall"],
                "CPU us, curl": peer["cpu"] / count * 1e6, "CPU us, single": ours["cpu"] / count * 1e6,
                "CPU us a report, batches of 100": batch["cpu"] / count * 1e6, "peak MiB": ours["mib"]})
            print(json.dumps(rows[-1]), flush=True)
        # What a server permits, and how much of that is used; what is refused shows the price of finding it.
        for limit in limits:
            receiver.configure(batch=1)
            part = min(count, limit * 15)
            with open(lines) as source, open(f"{lines}.part", "w") as file:
                file.writelines(line for line, _ in zip(source, range(part)))
            store(receiver, work, f"{lines}.part")
            receiver.habits(f"limit:{limit}")
            sample = sent(receiver, work, part)
            found[f"limit:{limit}: unused share"] = 1 - part / sample["wall"] / limit
            found[f"limit:{limit}: refused share"] = sample["requests"] / part - 1
            print(json.dumps(found), flush=True)
    finally:
        receiver.stop()
    return rows, found


def posts(options, work):
    rows, found = measure_posts(options.count, options.rounds, work)
    figures = {name: median([row[name] for row in rows]) for name in rows[0]}
    print(json.dumps({**figures, **found}))
    hold("reports-posts", {**figures, **found})


# Poison


def poison(options, work):
    lines = f"{work}/lines"
    write_lines(lines, options.count, session=1)
    receiver = Receiver(work, batch=10_000, batch_bytes=16 << 20)
    most = 0
    try:
        for place in sorted({0, 1, options.count // 3, options.count // 2, options.count - 1}):
            receiver.reset()
            receiver.habits(f"poison:r{place}")
            shutil.rmtree(f"{work}/store", ignore_errors=True)
            command(["lms", "add", "--batch"], work, lines)
            sample, sums = command(["--quiet", "lms", "send"], work), receiver.summary()
            if sample["status"] != 1 or sums["once"] != options.count - 1:
                sys.exit(f"poison r{place}: status {sample['status']}, {sums}")
            print(f"  r{place}: {sums['requests']} requests", flush=True)
            most = max(most, sums["requests"])
    finally:
        receiver.stop()
    bound = 2 * (options.count - 1).bit_length() + 1
    print(json.dumps({"reports": options.count, "most requests": most, "2 log2 n + 1": bound}))
    hold("reports-poison", {"requests beyond 2 log2 n + 1": max(0, most - bound)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kills", "add", "send", "posts", "poison"])
    parser.add_argument("--count", type=int)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--moment", type=float, default=4, help="a run is killed within so many seconds")
    parser.add_argument("--batch", type=int, default=1000, help="reports a request")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="of the moments of the kills")
    parser.add_argument("--dir", help="where files are made; the current directory unless given", default=".")
    options = parser.parse_args()
    options.count = options.count or {
        "kills": 1_000_000, "add": 20_000, "send": 200_000, "posts": 10_000, "poison": 500}[options.what]
    work = os.path.abspath(tempfile.mkdtemp(prefix="lecture-benchmark-", dir=options.dir))
    try:
        {"kills": kills, "add": add, "send": send, "posts": posts, "poison": poison}[options.what](options, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
