#!/usr/bin/env python3
"""Measures licences: a large ledger, batch renewals, verification, sealed files.

Absolute figures belong to one machine on one day; the ratios within one run are the result. Servers are lecture-sandbox
and Debian's nginx on loopback. Everything lies in one directory on the disk (--dir), which is removed at the end.

  Benchmarks/licences.py ledger [--count 100000]  lists, plans and plays in a store of many licences
  Benchmarks/licences.py renew  [--count 10000] [--kills 20]  batch renewals, without kills and with them
  Benchmarks/licences.py posts  [--count 10000]   renewals beside curl, on this machine and 50 ms away
  Benchmarks/licences.py verify                   verifications beside `openssl speed` of the same algorithm
  Benchmarks/licences.py seal   [--mib 1024] [--rounds 3]  sealed files beside plain ones
"""
import argparse, collections, glob, itertools, json, os, random, shutil, sqlite3, subprocess, sys, tempfile, time
import urllib.parse, urllib.request

sys.dont_write_bytecode = True
from compare import LECTURECTL, Nginx, clear, curl_posts, hold, make_file, median, run, sha256, table  # noqa: E402

BUILT = os.path.dirname(LECTURECTL)
SANDBOX = os.path.join(BUILT, "lecture-sandbox")
INSIDE = os.path.join(BUILT, "lecture-benchmarks")


class Sandbox:
    """A lecture-sandbox that grants licences, ended when its standard input closes."""

    def __init__(self, work, *arguments):
        self.process = subprocess.Popen(
            [SANDBOX, "--no-https", "--stdin-watch", "--root", f"{work}/sandbox", "--licensed", *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ready = json.loads(self.process.stdout.readline())
        self.url, self.secret = ready["http"], ready["secret_file"]
        key = {"id": ready["drm_key_id"], "algorithm": "HS256", "secret_file": ready["drm_key_file"]}
        with open(f"{work}/config.json", "w") as file:
            json.dump({"drm": {"keys": [key], "user_key": ready["user_key"]}, "network": {"timeout_s": 5}}, file)

    def drm(self, path="", **body):
        """Reads the callback's log, or changes its policy and habits."""
        data = json.dumps(body).encode() if body else None
        with urllib.request.urlopen(f"{self.url}/_drm{path}", data) as answer:
            return answer.read().decode()

    def reset(self):
        urllib.request.urlopen(f"{self.url}/_reset", b"").read()

    def link(self, key):
        return subprocess.check_output(
            [SANDBOX, "token", "--key", key, "--secret-file", self.secret, "--base", self.url], text=True).strip()

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def environment(work):
    return dict(os.environ, LECTURE_STORE=f"{work}/store", LECTURE_DEVICE=f"{work}/device",
                LECTURE_CONFIG=f"{work}/config.json")


def measured(arguments, work, rounds=5, statuses=(0,)):
    """The medians of a command in several runs."""
    samples = [run([LECTURECTL, *arguments], env=environment(work)) for _ in range(rounds)]
    for sample in samples:
        if sample["status"] not in statuses:
            sys.exit(f"{' '.join(arguments)}: status {sample['status']}")
    return {name: median([sample[name] for sample in samples]) for name in ("wall", "cpu", "mib")}


# A large ledger


def ledger(options, work):
    sandbox = Sandbox(work, "--bytes", "3000000-7")
    sandbox.drm(content="*", policy={"expiration_in": 86_400, "expiration_count": 1000})
    key = "bytes-3000000-7"
    try:
        subprocess.run([LECTURECTL, "--quiet", "precache", sandbox.link(key)], env=environment(work), check=True)
        begin = time.monotonic()
        subprocess.run([INSIDE, "fill", f"{work}/store", f"{work}/device", str(options.count),
                        f"{sandbox.url}/drm/callback"], check=True)
        print(f"{options.count} licences stored in {time.monotonic() - begin:.1f} s")
        figures = {}
        for arguments in (["licence", "list", "--expiring", "7d", "--limit", "50"], ["licence", "list", "--expiring", "7d"],
                          ["--json", "licence", "list", "--expiring", "7d"], ["licence", "list"],
                          ["licence", "renew", "--dry-run", "--within", "7d"],
                          ["licence", "renew", "--dry-run", "--all"], ["list", "--expiring", "7d"],
                          ["list", "--expiring", "7d", "--limit", "50"], ["licence", "show", key],
                          ["licence", "show", "lecture-7"], ["why", "lecture-7"], ["cat", key]):
            name = " ".join(arguments)
            figures[name] = measured(arguments, work)
            print(f"  {name:<40} {figures[name]['wall'] * 1000:6.0f} ms {figures[name]['cpu'] * 1000:6.0f} CPU ms "
                  f"{figures[name]['mib']:6.0f} MiB", flush=True)
        print(subprocess.check_output([INSIDE, "inspect", f"{work}/store", f"{work}/device", key], text=True))
    finally:
        sandbox.stop()
    print(json.dumps(figures))
    hold("ledger", {f"seconds: {name}": figure["wall"] for name, figure in figures.items()})


# Batch renewals


def renewals(work):
    """How often a renewal of each licence was permitted and committed, and which licences exist."""
    store = sqlite3.connect(f"file:{work}/store/lecturekit.db?mode=ro", uri=True)
    rows = store.execute("""SELECT content_key, (SELECT count(*) FROM licence_attempt WHERE licence_id = licence.id
        AND kind = 3 AND outcome IN ('permitted', 'reset')), coalesce(expires_ms, 0) FROM licence""").fetchall()
    left = store.execute("SELECT count(*) FROM renewal WHERE state <> 1").fetchone()[0]
    store.close()
    return {key: (applied, expires) for key, applied, expires in rows}, left


def renew_once(work, sandbox, kills, dice, before):
    command = [LECTURECTL, "--quiet", "licence", "renew", "--all", "--jobs", "16", "--rate", "200"]
    killed, begin, peak, cpu = 0, time.monotonic(), 0, 0
    while True:
        if killed < kills:
            process = subprocess.Popen(command, env=environment(work), stderr=subprocess.DEVNULL)
            try:
                status = process.wait(dice.uniform(0.3, 4))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                killed += 1
                continue
        else:
            sample = run(command, env=environment(work))
            status, peak, cpu = sample["status"], max(peak, sample["mib"]), cpu + sample["cpu"]
        # 75: something waits for the server; the next run continues.
        if status == 0 or status != 75:
            break
    wall = time.monotonic() - begin
    now, left = renewals(work)
    asked = collections.Counter()
    for line in sandbox.drm("/items").splitlines():
        item = json.loads(line)
        asked[item["key"]] += item["outcome"] == "granted"
    applied = {key: now[key][0] - before.get(key, (0, 0))[0] for key in now}
    figures = {
        "status": status, "kills": killed, "contents": len(now), "wall": wall, "last run's CPU": cpu, "last run's MiB": peak,
        "renewed": sum(count >= 1 for count in applied.values()),
        "doubled": sum(count > 1 for count in applied.values()),
        "granted again after a kill": sum(count > 1 for count in asked.values()),
        "lost": sum(count == 0 for count in applied.values()) + left,
        "shortened": sum(now[key][1] < before[key][1] for key in now if key in before),
    }
    sums = json.loads(sandbox.drm())
    figures["peak a second"] = sums["peak_per_second"]
    figures["requests"] = sums["requests"]
    return figures, now


def renew(options, work):
    dice = random.Random(options.seed)
    arguments = [word for index in range(options.count) for word in ("--bytes", f"2000-{index}?licensed")]
    sandbox = Sandbox(work, *arguments)
    try:
        sandbox.drm(content="*", policy={"expiration_in": 86_400})
        sample = run([LECTURECTL, "--quiet", "precache", "--jobs", "16", f"{sandbox.url}/course.jsonl"],
                     env=environment(work))
        print(f"{options.count} licensed lectures pre-cached through the gateway in {sample['wall']:.0f} s, "
              f"{sample['mib']:.0f} MiB, status {sample['status']}", flush=True)
        (before, _), found = renewals(work), {}
        for habits, kills in (("limit:200", 0), ("limit:200,busy:5,timeout:2", 0),
                              ("limit:200,busy:5,timeout:2", options.kills)):
            sandbox.reset()
            sandbox.drm(content="*", policy={"expiration_in": 172_800})
            sandbox.drm(habits=habits)
            figures, before = renew_once(work, sandbox, kills, dice, before)
            print(habits, json.dumps(figures), flush=True)
            name = "kills" if kills else habits
            found.update({f"{what}: {name}": figures[what] for what in ("lost", "doubled", "shortened", "peak a second")})
    finally:
        sandbox.stop()
    hold("renew", found)


# Renewals beside bare POSTs


def question(number):
    """The question about a licence that `licence renew` asks."""
    return {"kind": 3, "session_key": f"{number:032x}", "client_user_id": "learner", "player_id": "0" * 43,
            "device_name": "benchmark", "media_content_key": f"bytes-2000-{number}", "uservalues": {},
            "localtime": 1_795_000_000, "start_at": "1795000000", "content_expired": 0, "check_expired": 0, "reset_req": 1,
            "expiration_date": 1_795_086_400}


def measure_posts(count, rounds, work):
    """Samples of renewals beside the same POSTs by curl, in turn, on this machine and 50 ms away."""
    sandbox = Sandbox(work, *[word for index in range(count) for word in ("--bytes", f"2000-{index}?licensed")])
    rows = collections.defaultdict(list)
    groups = [range(first, min(first + 10, count)) for first in range(0, count, 10)]
    requests = [("items=" + urllib.parse.quote_plus(json.dumps([question(number) for number in group])), [])
                for group in groups]
    os.mkdir(f"{work}/posts")
    theirs = curl_posts(f"{work}/posts/config", f"{sandbox.url}/drm/callback",
                        [(body.encode(), headers) for body, headers in requests])
    try:
        sandbox.drm(content="*", policy={"expiration_in": 86_400})
        run([LECTURECTL, "--quiet", "precache", "--jobs", "16", f"{sandbox.url}/course.jsonl"], env=environment(work))
        before, _ = renewals(work)
        for place, habits in (("here", ""), ("50 ms away", "slow:50")):
            for _ in range(rounds):
                sandbox.reset()
                sandbox.drm(content="*", policy={"expiration_in": 172_800})
                sandbox.drm(habits=habits)
                peer = run(theirs)
                answered = json.loads(sandbox.drm())["requests"]
                ours = run([LECTURECTL, "--quiet", "licence", "renew", "--all"], env=environment(work))
                now, left = renewals(work)
                if peer["status"] != 0 or answered != len(groups):
                    sys.exit(f"curl: status {peer['status']}, {answered} requests")
                if ours["status"] != 0 or left or any(now[key][0] != before[key][0] + 1 for key in now):
                    sys.exit(f"renew: status {ours['status']}, {left} left")
                before = now
                rows[place].append({
                    "curl, requests/s": len(groups) / peer["wall"], "renew, requests/s": len(groups) / ours["wall"],
                    f"wall: renew / curl, {place}": ours["wall"] / peer["wall"], "ratio": peer["wall"] / ours["wall"],
                    f"CPU us a licence, {place}": ours["cpu"] / count * 1e6, "peak MiB": ours["mib"]})
                print(place, json.dumps(rows[place][-1]), flush=True)
    finally:
        sandbox.stop()
    return rows


def posts(options, work):
    rows, figures = measure_posts(options.count, options.rounds, work), {}
    for place in rows:
        figures.update({name: median([row[name] for row in rows[place]]) for name in rows[place][0] if place in name})
    print(json.dumps(figures))
    hold("renew-posts", figures)


# Verification

SPEED = {"HS256": None, "ES256": "ecdsap256", "EdDSA": "ed25519", "RS256": "rsa2048", "PS256": "rsa2048"}


def openssl(algorithm, length):
    """Verifications per second by `openssl speed`, over messages as long as what a token signs."""
    what = ["-bytes", str(length), "-hmac", "sha256"] if SPEED[algorithm] is None else [SPEED[algorithm]]
    text = subprocess.run(["openssl", "speed", "-seconds", "1", *what], capture_output=True, text=True, check=True).stdout
    last = text.strip().splitlines()[-1].split()[-1]
    # Thousands of bytes per second for HMAC, else verifications per second.
    return float(last.rstrip("k")) * 1000 / length if SPEED[algorithm] is None else float(last)


def measure_verify(rounds, work, count=40_000, only=None):
    """Samples of verifications beside `openssl speed`, in turn: theirs and ours per second, in the process and by
    `--batch` per CPU second, how many cores that kept busy, and its peak in MiB."""
    orders = {name: {"alg": alg, "by": by, "mck": "algebra-01", "policy": {"expiration_count": 3}, "expires_in": 86_400}
              for name, alg, by in (("HS256", "HS256", "secret"), ("ES256", "ES256", "kid"), ("EdDSA", "EdDSA", "kid"),
                                    ("RS256", "RS256", "kid"), ("PS256", "PS256", "kid"), ("ES256, x5c", "ES256", "x5c"),
                                    ("RS256, x5c", "RS256", "x5c"))}
    orders = {name: order for name, order in orders.items() if only is None or name in only}
    kinds = {"secret": "hs", "kid": "jwks", "x5c": "x5c"}
    tokens = subprocess.run([SANDBOX, "issue", "--dir", f"{work}/trust", "--batch"], text=True, check=True,
                            input="".join(json.dumps(order) + "\n" for order in orders.values()), capture_output=True)
    tokens = dict(zip(orders, tokens.stdout.split()))
    rows = collections.defaultdict(list)
    for _ in range(rounds):
        for name, order in orders.items():
            kind = kinds[order["by"]]
            theirs = openssl(order["alg"], len(tokens[name].rsplit(".", 1)[0]))
            inside = json.loads(subprocess.run([INSIDE, "verify", f"{work}/trust"], text=True, check=True,
                                               capture_output=True, input=f"{name.replace(', ', '-')} {kind} {tokens[name]}\n").stdout)
            with open(f"{work}/lines", "w") as file:
                for index in range(count):
                    file.write(json.dumps({"id": index, "token": tokens[name], "trust": kind, "ctx": {}}) + "\n")
            with open(f"{work}/lines") as lines, open(f"{work}/answers", "w") as answers:
                sample = run([LECTURECTL, "licence", "verify", "--batch", "--trust-dir", f"{work}/trust"], stdin=lines,
                             stdout=answers)
            with open(f"{work}/answers") as answers:
                due = ('{"id":%d,"verdict":"accept","reasons":[]}' % index for index in range(count))
                if sample["status"] != 0 or not all(line.rstrip("\n") == text for line, text in itertools.zip_longest(
                        answers, due, fillvalue="")):
                    sys.exit(f"{name}: status {sample['status']}, or answers that are missing, refused or out of order")
            rows[name].append((theirs, inside["per_cpu_second"], count / sample["cpu"], sample["cpu"] / sample["wall"],
                               sample["mib"]))
    return rows


def verify(options, work):
    rows, figures = measure_verify(options.rounds, work), {}
    for name, samples in rows.items():
        theirs, inside, batch, cores, mib = (median([sample[place] for sample in samples]) for place in range(5))
        # The cost of a token, in units of OpenSSL's cost for its signature alone.
        ratio = median([sample[0] / sample[1] for sample in samples])
        whole = median([sample[0] / sample[2] for sample in samples])
        extra = (1 / inside - 1 / theirs) * 1e6
        print(f"  {name:<12} openssl {theirs:9.0f}/s  inside {inside:8.0f}/s (x{ratio:.2f}, +{extra:.1f} us)"
              f"  batch {batch:8.0f}/s (x{whole:.2f}), {cores:.1f} cores, {mib:.0f} MiB", flush=True)
        figures[f"cpu: verify --batch / openssl speed, {name}"] = whole
        figures["peak MiB"] = max(figures.get("peak MiB", 0), mib)
    print(json.dumps(rows))
    hold("verify", figures)


# Sealed files


def seal(options, work):
    site = f"{work}/site"
    os.makedirs(site)
    make_file(f"{site}/large.mp4", options.mib << 20)
    digest = sha256(f"{site}/large.mp4")
    nginx = Nginx(site, work)
    rows = collections.defaultdict(list)
    try:
        for _ in range(options.rounds):
            for name in ("never", "always"):
                place = f"{work}/out"
                clear(place)
                with open(f"{place}/config.json", "w") as file:
                    json.dump({"storage": {"seal": name}}, file)
                for what, arguments in (("precache", ["precache", "--key", "k", f"{nginx.url}/large.mp4"]),
                                        ("verify", ["verify", "k"]), ("cat", ["cat", "k"])):
                    sample = run([LECTURECTL, "--quiet", *arguments], env=environment(place))
                    if sample["status"] != 0:
                        sys.exit(f"{what}, {name}: status {sample['status']}")
                    rows[f"{what}, {name}"].append(sample)
                cat = subprocess.Popen([LECTURECTL, "--quiet", "cat", "k"], env=environment(place), stdout=subprocess.PIPE)
                found = subprocess.run(["sha256sum"], stdin=cat.stdout, capture_output=True, text=True).stdout.split()[0]
                clear_text = glob.glob(f"{place}/store/**/*.mp4", recursive=True)
                if cat.wait() != 0 or found != digest or (name == "always" and any(sha256(path) == digest for path in clear_text)):
                    sys.exit(f"{name}: other bytes")
    finally:
        nginx.stop()
    figures = {}
    for what in ("precache", "verify", "cat"):
        pair = {f"{what}, {name}": rows[f"{what}, {name}"] for name in ("never", "always")}
        table(f"{what} of {options.mib} MiB, medians of {options.rounds}", pair, f"{what}, never")
        for figure in ("wall", "cpu"):
            figures[f"{figure}: {what} sealed / plain"] = median(
                [ours[figure] / theirs[figure] for ours, theirs in zip(pair[f"{what}, always"], pair[f"{what}, never"])])
    hold("seal", figures)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["ledger", "renew", "posts", "verify", "seal"])
    parser.add_argument("--count", type=int)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="of the moments of the kills")
    parser.add_argument("--dir", help="where files are made; the current directory unless given", default=".")
    options = parser.parse_args()
    options.count = options.count or {"ledger": 100_000, "renew": 10_000, "posts": 10_000}.get(options.what)
    work = os.path.abspath(tempfile.mkdtemp(prefix="lecture-benchmark-", dir=options.dir))
    try:
        {"ledger": ledger, "renew": renew, "posts": posts, "verify": verify, "seal": seal}[options.what](options, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
