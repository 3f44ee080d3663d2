#!/usr/bin/env python3
"""Compares lecturectl with curl and aria2c: the same bytes from nginx on loopback, the tools in turn.

Absolute figures belong to one machine on one day; the ratios within one run are the result. Every tool's output is
compared with the source before a figure counts. Everything lies in one directory on the disk (--dir), which is removed
at the end.

  Benchmarks/compare.py large  [--gib 4] [--rounds 3]      one large file
  Benchmarks/compare.py small  [--files 2000] [--mib 2]    many files, 16 at once
  Benchmarks/compare.py kills  [--mib 1024] [--kills 100]  kill -9 at random times
  Benchmarks/compare.py queue  [--items 100000]            memory with a long queue
  Benchmarks/compare.py lists  [--items 100000] [--rounds 11]  lists beside the sqlite3 shell, and how long a process starts
"""
import argparse, hashlib, json, os, random, shutil, signal, socket, subprocess, sys, tempfile, threading, time

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LECTURECTL = os.environ.get("LECTURECTL", os.path.join(REPOSITORY, ".build/release/lecturectl"))


class Nginx:
    """Debian's nginx in the foreground, ended by its process id."""

    def __init__(self, root, work, prefix=(), address="127.0.0.1", certificate=None, http2=False):
        """Serves root over http, or over https with (certificate, key).

        `prefix` is a command that starts it elsewhere, such as in another network namespace.
        """
        self.port = 8080
        if not prefix:
            with socket.socket() as probe:
                probe.bind((address, 0))
                self.port = probe.getsockname()[1]
        self.url = f"{'https' if certificate else 'http'}://{address}:{self.port}"
        self.log = os.path.join(work, "access.log")
        configuration = os.path.join(work, "nginx.conf")
        how = ""
        if certificate:
            how = f"ssl_certificate {certificate[0]}; ssl_certificate_key {certificate[1]}; ssl_protocols TLSv1.2 TLSv1.3;"
        with open(configuration, "w") as file:
            file.write(f"""daemon off; master_process off; pid {work}/nginx.pid; error_log {work}/error.log;
events {{ worker_connections 1024; }}
http {{ log_format own '$status $body_bytes_sent'; access_log {self.log} own; sendfile on;
        client_body_temp_path {work}/t1; proxy_temp_path {work}/t2; fastcgi_temp_path {work}/t3;
        uwsgi_temp_path {work}/t4; scgi_temp_path {work}/t5; {how}
        server {{ listen {address}:{self.port}{" ssl" if certificate else ""}{" http2" if http2 else ""};
                  root {root}; location /missing {{ return 404; }} }} }}
""")
        nginx = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen([*prefix, nginx, "-c", configuration, "-p", work], stderr=subprocess.DEVNULL)
        # It writes the file after it listens.
        for _ in range(200):
            if os.path.exists(f"{work}/nginx.pid") and os.path.getsize(f"{work}/nginx.pid"):
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        self.stop()
        sys.exit("nginx does not start: run Tools/setup")

    def bytes_served(self):
        with open(self.log) as file:
            return sum(int(line.split()[1]) for line in file if line.strip())

    def stop(self):
        self.process.terminate()
        self.process.wait()


def run(arguments, kill_after=None, **options):
    """Runs a command, kills it after this many seconds; returns wall seconds, CPU seconds, peak MiB, exit status."""
    begin = time.monotonic()
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **options}
    process = subprocess.Popen(arguments, **options)
    # The kernel's ru_maxrss also counts this script, which the child was before exec; VmHWM does not.
    peak, ended = [0], threading.Event()

    def watch():
        while not ended.wait(0.01):
            if kill_after is not None and time.monotonic() - begin >= kill_after:
                # Not process.kill(), which would reap the status before wait4.
                os.kill(process.pid, signal.SIGKILL)
                return
            try:
                with open(f"/proc/{process.pid}/status") as file:
                    peak[0] = max([peak[0]] + [int(line.split()[1]) for line in file if line.startswith("VmHWM")])
            except OSError:
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
    except BaseException:
        # Interrupted: the command ends with this script.
        process.kill()
        process.wait()
        raise
    finally:
        ended.set()
        watcher.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    return {
        "wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "mib": max(peak[0] / 1024, 0.01),
        "status": process.returncode,
    }


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make_file(path, size):
    with open(path, "wb") as file:
        left = size
        while left:
            piece = os.urandom(min(left, 1 << 22))
            file.write(piece)
            left -= len(piece)


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


def clear(path):
    """Makes an empty directory. What was there is cut to nothing and kept beside it until the end of the run: for a
    minute after many files were deleted ext4 is slow to create others, and the next contender would pay for that."""
    if os.path.isdir(path):
        for folder, _, names in os.walk(path):
            for name in names:
                if os.path.isfile(f"{folder}/{name}") and not os.path.islink(f"{folder}/{name}"):
                    os.truncate(f"{folder}/{name}", 0)
        os.rename(path, f"{path}.former-{time.monotonic_ns()}")
    os.makedirs(path)
    os.sync()


def table(title, rows, base):
    """Prints medians and the ratio to the first peer, round by round."""
    print(f"\n{title}")
    for name, samples in rows.items():
        line = f"  {name:<28}"
        for figure, unit in (("wall", "s"), ("cpu", "CPU s"), ("mib", "MiB")):
            ratio = median([ours[figure] / theirs[figure] for ours, theirs in zip(samples, rows[base])])
            line += f"  {median([s[figure] for s in samples]):8.2f} {unit} (x{ratio:.2f})"
        print(line)
    print(json.dumps({"title": title, "rows": rows}))


def hold(what, figures):
    """Compares figures with thresholds.json; ends the run with status 1 when one exceeds its limit."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "thresholds.json")) as file:
        limits = json.load(file)[what]
    beyond = [f"{name}: {figures[name]:.2f}, the limit is {limit}"
              for name, limit in limits.items() if figures[name] > limit]
    print("\n".join(beyond) if beyond else "within thresholds.json")
    if beyond:
        sys.exit(1)


def ratios(rows, ours, peers):
    """The medians of our figures divided by each peer's in the same round, under the names of thresholds.json."""
    return {
        f"{figure}: {ours} / {peer}": median([a[figure] / b[figure] for a, b in zip(rows[ours], rows[peer])])
        for peer in peers for figure in ("wall", "cpu", "mib")
    }


def curl_posts(path, url, requests, at_once=16):
    """A command that has curl send these bodies, each with its own header lines, this many at once.

    All in one process with kept connections, and nothing stored: what POSTs cost that are only sent.
    """
    with open(path, "w") as file:
        for number, (body, headers) in enumerate(requests):
            with open(f"{path}.{number}", "wb") as data:
                data.write(body)
            lines = [f'url = "{url}"', f'data-binary = "@{path}.{number}"', 'output = "/dev/null"']
            file.write("next\n" * (number > 0) + "\n".join(lines + [f'header = "{header}"' for header in headers]) + "\n")
    return ["curl", "--silent", "--parallel", "--parallel-immediate", "--parallel-max", str(at_once), "--config", path]


def large(options, work, site):
    size = int(options.gib * (1 << 30))
    make_file(f"{site}/large.mp4", size)
    digest = sha256(f"{site}/large.mp4")
    nginx = Nginx(site, work)
    url = f"{nginx.url}/large.mp4"
    out = f"{work}/out"
    tools = {
        "curl -o": lambda: (["curl", "-s", "-o", f"{out}/f", url], f"{out}/f"),
        "aria2c -x4 -s4": lambda: (
            ["aria2c", "-q", "-x4", "-s4", "-d", out, "-o", "f", "--file-allocation=falloc", url], f"{out}/f"),
        "lecturectl": lambda: (
            [LECTURECTL, "--store", f"{out}/store", "--quiet", "precache", "--key", "k", url], None),
        "lecturectl --sha256": lambda: (
            [LECTURECTL, "--store", f"{out}/store", "--quiet", "precache", "--key", "k", "--sha256", digest, url], None),
        "lecturectl --connections 4": lambda: (
            [LECTURECTL, "--store", f"{out}/store", "--quiet", "precache", "--key", "k", "--connections", "4", url], None),
    }
    rows = {name: [] for name in tools}
    try:
        for _ in range(options.rounds):
            for name, make in tools.items():
                clear(out)
                arguments, path = make()
                sample = run(arguments)
                if path is None:
                    path = subprocess.check_output(
                        [LECTURECTL, "--store", f"{out}/store", "path", "k"], text=True).strip()
                if sample["status"] != 0 or sha256(path) != digest:
                    sys.exit(f"{name}: wrong bytes or status {sample['status']}")
                rows[name].append(sample)
    finally:
        nginx.stop()
    table(f"{options.gib} GiB from nginx on loopback, medians of {options.rounds}, hashing and journal included", rows,
          "curl -o")
    hold("large", ratios(rows, "lecturectl", ["curl -o", "aria2c -x4 -s4"]))


def small(options, work, site):
    names = [f"f{index:05}.mp4" for index in range(options.files)]
    digests = {}
    for name in names:
        make_file(f"{site}/{name}", options.mib << 20)
        digests[name] = sha256(f"{site}/{name}")
    nginx = Nginx(site, work)
    out = f"{work}/out"
    with open(f"{work}/aria2.txt", "w") as file:
        file.writelines(f"{nginx.url}/{name}\n" for name in names)
    with open(f"{work}/curl.txt", "w") as file:
        file.writelines(f'url = "{nginx.url}/{name}"\noutput = "{out}/{name}"\n' for name in names)
    with open(f"{work}/course.jsonl", "w") as file:
        for name in names:
            file.write(json.dumps({"url": f"{nginx.url}/{name}", "key": name}) + "\n")
    with open(f"{work}/course-sha256.jsonl", "w") as file:
        for name in names:
            file.write(json.dumps({"url": f"{nginx.url}/{name}", "key": name, "sha256": digests[name]}) + "\n")

    def ours(course):
        return [LECTURECTL, "--store", f"{out}/store", "--quiet", "precache", "--jobs", "16", course]

    tools = {
        "curl --parallel 16": ["curl", "-s", "--parallel", "--parallel-max", "16", "-K", f"{work}/curl.txt"],
        "aria2c -j16": ["aria2c", "-q", "-j16", "-d", out, "-i", f"{work}/aria2.txt"],
        "lecturectl --jobs 16": ours(f"{work}/course.jsonl"),
        "lecturectl --jobs 16, sha256": ours(f"{work}/course-sha256.jsonl"),
    }
    rows = {name: [] for name in tools}
    try:
        for _ in range(options.rounds):
            for name, arguments in tools.items():
                clear(out)
                sample = run(arguments)
                if sample["status"] != 0:
                    sys.exit(f"{name}: status {sample['status']}")
                if name.startswith("lecturectl"):
                    listed = subprocess.check_output(
                        [LECTURECTL, "--store", f"{out}/store", "--json", "list", "--state", "completed"], text=True)
                    assert len(listed.splitlines()) == options.files, "not all are complete"
                    for key in random.sample(names, 20):
                        path = subprocess.check_output(
                            [LECTURECTL, "--store", f"{out}/store", "path", key], text=True).strip()
                        assert sha256(path) == digests[key], key
                else:
                    assert all(sha256(f"{out}/{name}") == digests[name] for name in random.sample(names, 20))
                rows[name].append(sample)
    finally:
        nginx.stop()
    table(f"{options.files} x {options.mib} MiB, 16 at once, medians of {options.rounds}", rows, "curl --parallel 16")
    for name, samples in rows.items():
        print(f"  {name:<28}  {options.files / median([s['wall'] for s in samples]):8.0f} files/s")
    hold("small", ratios(rows, "lecturectl --jobs 16", ["curl --parallel 16", "aria2c -j16"]))


def kills(options, work, site):
    size = options.mib << 20
    make_file(f"{site}/large.mp4", size)
    digest = sha256(f"{site}/large.mp4")
    nginx = Nginx(site, work)
    command = [LECTURECTL, "--store", f"{work}/store", "--quiet", "precache", "--key", "k", f"{nginx.url}/large.mp4"]
    done, rounds, refetched, wrong = 0, 0, [], 0
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    try:
        while done < options.kills:
            shutil.rmtree(f"{work}/store", ignore_errors=True)
            before, killed = nginx.bytes_served(), 0
            rounds += 1
            while True:
                process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    status = process.wait(dice.uniform(0.02, 0.35) if done < options.kills else None)
                    break
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                    killed += 1
                    done += 1
            path = subprocess.check_output([LECTURECTL, "--store", f"{work}/store", "path", "k"], text=True).strip()
            if status != 0 or sha256(path) != digest:
                wrong += 1
            time.sleep(0.3)  # nginx writes its log line when it has noticed the closed connection.
            if killed:
                refetched.append(((nginx.bytes_served() - before) - size) / killed / (1 << 20))
    finally:
        nginx.stop()
    print(f"seed {seed}: {done} kills in {rounds} downloads of {options.mib} MiB, {wrong} wrong files")
    print(f"sent again by the server a kill: median {median(refetched):.1f} MiB, most {max(refetched):.1f} MiB")
    print("(what the server sent into a socket that was killed counts as sent again)")
    hold("kills", {"wrong files": wrong, "median MiB sent again a kill": median(refetched)})


def queue(options, work, site):
    with open(f"{work}/course.jsonl", "w") as file:
        for index in range(options.items):
            file.write(json.dumps({"url": f"http://127.0.0.1:9/lectures/{index:06}.mp4", "title": f"Lecture {index}"}) + "\n")
    command = [LECTURECTL, "--store", f"{work}/store", "--quiet", "precache", "--max-attempts", "1", "--deadline", "20s",
               f"{work}/course.jsonl"]
    sample = run(command)
    print(f"{options.items} items: {sample['mib']:.0f} MiB at the peak, {sample['wall']:.1f} s, {sample['cpu']:.1f} CPU s, "
          f"status {sample['status']}")
    peak = sample["mib"]
    for arguments in (["list", "--limit", "50"], ["list", "--limit", "50", "--sort", "title"], ["status"]):
        sample = run([LECTURECTL, "--store", f"{work}/store", *arguments])
        print(f"  {' '.join(arguments)}: {sample['wall'] * 1000:.0f} ms as a process, {sample['mib']:.0f} MiB")
    hold("queue", {"peak MiB": peak})


# What a list shows, in its order; the shell needs neither a join nor a file's state.
SORTED = ("SELECT key, state, stop_reason, bytes_proven, bytes_total, priority, title, error_code, error_detail, error_cause "
          "FROM content ORDER BY priority DESC, position, id;")


def measure_lists(items, rounds, work):
    """Samples of lists of a long queue and of the sqlite3 shell on the same store, in turn."""
    with open(f"{work}/course.jsonl", "w") as file:
        for index in range(items):
            file.write(json.dumps({"url": f"http://127.0.0.1:9/lectures/{index:06}.mp4", "title": f"Lecture {index}"}) + "\n")
    store = f"{work}/store"
    run([LECTURECTL, "--store", store, "--quiet", "precache", "--max-attempts", "1", "--deadline", "1s",
         f"{work}/course.jsonl"])
    shell = ["sqlite3", "-readonly", f"{store}/lecturekit.db"]
    ours = [LECTURECTL, "--store", store]
    tools = {
        "sqlite3, sorted": [*shell, SORTED], "list": [*ours, "list"], "list --json": [*ours, "list", "--json"],
        "list --limit 50": [*ours, "list", "--limit", "50"], "status": [*ours, "status"],
        "--version": [LECTURECTL, "--version"],
    }
    due = subprocess.check_output([*shell, "SELECT key FROM content ORDER BY priority DESC, position, id;"], text=True)
    listed = subprocess.check_output([*ours, "list"], text=True)
    if len(due.splitlines()) != items or [line.split("\t")[0] for line in listed.splitlines()] != due.splitlines():
        sys.exit("list: other lectures, or in another order, than the sqlite3 shell finds")
    rows = {name: [] for name in tools}
    for _ in range(rounds):
        for name, arguments in tools.items():
            sample = run(arguments)
            if sample["status"] != 0:
                sys.exit(f"{name}: status {sample['status']}")
            rows[name].append(sample)
    return rows


def lists(options, work, site):
    """Lists of a long queue beside the sqlite3 shell."""
    rows = measure_lists(options.items, options.rounds, work)
    table(f"a list of {options.items}, medians of {options.rounds}", rows, "sqlite3, sorted")
    figures = {f"cpu: {name} / sqlite3, sorted": median([a["cpu"] / b["cpu"] for a, b in zip(rows[name], rows["sqlite3, sorted"])])
               for name in ("list", "list --json")}
    for name in ("list --limit 50", "status", "--version"):
        milliseconds = {figure: median([sample[figure] for sample in rows[name]]) * 1000 for figure in ("wall", "cpu")}
        figures[f"cpu ms: {name}"] = milliseconds["cpu"]
        print(f"  {name:<28}  {milliseconds['wall']:8.1f} ms  {milliseconds['cpu']:8.1f} CPU ms")
    hold("lists", figures)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["large", "small", "kills", "queue", "lists"])
    parser.add_argument("--gib", type=float, default=4)
    parser.add_argument("--mib", type=int)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--dir", help="where files are made; the current directory unless given", default=".")
    options = parser.parse_args()
    options.rounds = options.rounds or {"lists": 11}.get(options.what, 3)
    options.mib = options.mib or {"small": 2, "kills": 1024}.get(options.what)
    work = tempfile.mkdtemp(prefix="lecture-benchmark-", dir=options.dir)
    site = f"{work}/site"
    os.makedirs(site)
    try:
        {"large": large, "small": small, "kills": kills, "queue": queue, "lists": lists}[options.what](
            options, os.path.abspath(work), os.path.abspath(site))
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
