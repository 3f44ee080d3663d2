"""The measurements of goals.py: one function for each group of goals, each with its contenders in turn in every round.

A figure counts only after its exit status and its bytes were right; anything else ends the measurement.
"""
import json, os, shutil, signal, socket, subprocess, sys, time

sys.dont_write_bytecode = True
import compare, far_network, licences, statistics  # noqa: E402
from compare import LECTURECTL, Nginx, clear, make_file, run, sha256  # noqa: E402
from licences import environment  # noqa: E402

MIB = 1 << 20
FULL = {"large_mib": 4096, "tiny": 20_000, "lectures": 2000, "far": 400, "far_mib": 256, "listed": 100_000,
        "reports": 20_000, "renewals": 10_000, "tokens": 40_000, "started": 1000, "million": 1_000_000}
QUICK = {"large_mib": 64, "tiny": 200, "lectures": 20, "far": 64, "far_mib": 16, "listed": 2000,
         "reports": 500, "renewals": 200, "tokens": 2000, "started": 1000, "million": 20_000}
# A far server: a round trip of 50 ms on a link of 400 Mbit/s.
DELAY_MS, RATE_MBIT = 50, 400


class Samples:
    """The figures of goals by their names in goals.json, a value for each round."""

    def __init__(self):
        self.values = {}

    def add(self, goal, name, value):
        self.values.setdefault(f"{goal}: {name}", []).append(value)

    def add_ratios(self, goal, rows, figure, ours, theirs, name, inverted=False):
        """Ours divided by theirs, or inverted for rates, round by round."""
        for our, their in zip(rows[ours], rows[theirs]):
            self.add(goal, name, their[figure] / our[figure] if inverted else our[figure] / their[figure])


# The contenders


def curl(*arguments):
    """Nothing of the user's own configuration takes part."""
    return ["curl", "-q", "-s", *arguments]


def aria2(*arguments):
    return ["aria2c", "--no-conf=true", "-q", *arguments]


def ours(work, *arguments, sealed=False):
    return [LECTURECTL, "--store", f"{work}/out/store", "--quiet", "--progress", "none", "precache",
            "--seal" if sealed else "--no-seal", *arguments]


def turn(tools, number):
    """The contenders in turn; each round begins with the next one."""
    names = list(tools)
    first = number % len(names)
    return names[first:] + names[:first]


def require(sample, name, statuses=(0,)):
    if sample["status"] not in statuses:
        sys.exit(f"{name}: status {sample['status']}")


def durable(paths):
    """Seconds until files that another program wrote are on the disk."""
    begin = time.monotonic()
    for path in paths:
        file = os.open(path, os.O_RDONLY)
        os.fsync(file)
        os.close(file)
    return time.monotonic() - begin


def configure(work):
    with open(f"{work}/config.json", "w") as file:
        file.write("{}")


def make_certificate(work):
    """An authority of its own, and a certificate for the addresses that servers here have: CA, certificate, key."""
    place = f"{work}/tls"
    os.makedirs(place)
    key = ["-newkey", "rsa:2048", "-nodes", "-days", "30"]
    for arguments in (
        [*key, "-subj", "/CN=benchmark authority", "-keyout", f"{place}/ca.key", "-out", f"{place}/ca.pem"],
        [*key, "-subj", "/CN=benchmark server", "-keyout", f"{place}/server.key", "-out", f"{place}/server.pem",
         "-CA", f"{place}/ca.pem", "-CAkey", f"{place}/ca.key", "-addext", "basicConstraints=critical,CA:FALSE",
         "-addext", f"subjectAltName=IP:127.0.0.1,IP:{far_network.SERVER}"],
    ):
        subprocess.run(["openssl", "req", "-x509", *arguments], check=True, capture_output=True)
    return f"{place}/ca.pem", (f"{place}/server.pem", f"{place}/server.key")


# One large file


def make_large(work, mib):
    """Makes site/large.mp4 of random bytes; returns its SHA-256."""
    clear(f"{work}/site")
    make_file(f"{work}/site/large.mp4", mib * MIB)
    return sha256(f"{work}/site/large.mp4")


def measure_file(work, tools, digest, rounds):
    """Rows of contenders that each put the same file to out/f."""
    rows = {name: [] for name in tools}
    for number in range(rounds):
        for name in turn(tools, number):
            clear(f"{work}/out")
            sample = run(tools[name], env=environment(work))
            require(sample, name)
            sample["durable"] = sample["wall"] + durable([f"{work}/out/f"])
            if sha256(f"{work}/out/f") != digest:
                sys.exit(f"{name}: other bytes")
            rows[name].append(sample)
    return rows


def large(work, sizes, rounds, samples):
    """Goals 1 to 3."""
    site, out = f"{work}/site", f"{work}/out"
    digest = make_large(work, sizes["large_mib"])
    nginx = Nginx(site, work)
    url = f"{nginx.url}/large.mp4"
    four = ["--connections", "4"]

    def fetch(*arguments):
        return ours(work, "--key", "k", "--output", f"{out}/f", *arguments, url)

    tools = {
        "curl": curl("-o", f"{out}/f", url),
        "aria2": aria2("-x4", "-s4", "-d", out, "-o", "f", "--file-allocation=falloc", url),
        "ours": fetch(), "ours, 4": fetch(*four),
        "ours, digest": fetch("--sha256", digest), "ours, digest, 4": fetch("--sha256", digest, *four),
    }
    try:
        rows = measure_file(work, tools, digest, rounds)
    finally:
        nginx.stop()
    for name, label in (("ours", ""), ("ours, 4", ", 4 connections")):
        samples.add_ratios(1, rows, "cpu", name, "curl", f"CPU / curl{label}")
        samples.add_ratios(3, rows, "wall", name, "curl", f"wall / curl{label}")
        # Ours is durable when it ends.
        for our, their in zip(rows[name], rows["aria2"]):
            samples.add(3, f"wall until durable / aria2 -x4{label}", our["wall"] / their["durable"])
    for name, label in (("ours, digest", ""), ("ours, digest, 4", ", 4 connections")):
        samples.add_ratios(2, rows, "cpu", name, "curl", f"CPU / curl{label}")
    return rows


def tls(work, sizes, rounds, samples):
    """Goal 4."""
    site, out = f"{work}/site", f"{work}/out"
    digest = make_large(work, sizes["large_mib"])
    authority, certificate = make_certificate(work)
    nginx = Nginx(site, work, certificate=certificate)
    url = f"{nginx.url}/large.mp4"
    fetch = ["--ca-file", authority, "--key", "k", "--output", f"{out}/f"]
    tools = {
        "curl": curl("--cacert", authority, "-o", f"{out}/f", url), "ours": ours(work, *fetch, url),
        "ours, digest": ours(work, *fetch, "--sha256", digest, url),
    }
    try:
        rows = measure_file(work, tools, digest, rounds)
    finally:
        nginx.stop()
    samples.add_ratios(4, rows, "cpu", "ours", "curl", "CPU / curl")
    samples.add_ratios(4, rows, "cpu", "ours, digest", "curl", "CPU / curl, SHA-256")
    return rows


def seal(work, sizes, rounds, samples):
    """Goal 5."""
    site = f"{work}/site"
    digest = make_large(work, sizes["large_mib"])
    nginx = Nginx(site, work)
    tools = {name: ours(work, "--key", "k", f"{nginx.url}/large.mp4", sealed=name == "sealed")
             for name in ("plain", "sealed")}
    rows = {name: [] for name in tools}
    try:
        for number in range(rounds):
            for name in turn(tools, number):
                clear(f"{work}/out")
                sample = run(tools[name], env=environment(work))
                require(sample, name)
                cat = subprocess.Popen([LECTURECTL, "--store", f"{work}/out/store", "--quiet", "cat", "k"],
                                       env=environment(work), stdout=subprocess.PIPE)
                found = subprocess.run(["sha256sum"], stdin=cat.stdout, capture_output=True, text=True).stdout.split()[0]
                if cat.wait() != 0 or found != digest:
                    sys.exit(f"{name}: other bytes")
                kept = [os.path.join(place, file) for place, _, files in os.walk(f"{work}/out/store") for file in files]
                same = any(os.path.getsize(path) == sizes["large_mib"] * MIB and sha256(path) == digest for path in kept)
                if same == (name == "sealed"):
                    sys.exit(f"{name}: the file on the disk is{'' if same else ' not'} the server's")
                rows[name].append(sample)
    finally:
        nginx.stop()
    for plain, sealed in zip(rows["plain"], rows["sealed"]):
        samples.add(5, "extra CPU s/GiB", (sealed["cpu"] - plain["cpu"]) / (sizes["large_mib"] / 1024))
    return rows


# Many files


class Files:
    """Files of one size, and the lists with which each contender is asked for all of them."""

    def __init__(self, work, count, size):
        self.work, self.count, self.digests = work, count, {}
        clear(f"{work}/site")
        for number in range(count):
            name = f"f{number:05}.mp4"
            make_file(f"{work}/site/{name}", size)
            self.digests[name] = sha256(f"{work}/site/{name}")

    def write_lists(self, url):
        place = f"{self.work}/out/files"
        with open(f"{self.work}/urls.txt", "w") as file:
            file.writelines(f"{url}/{name}\n" for name in self.digests)
        with open(f"{self.work}/curl.txt", "w") as file:
            file.writelines(f'url = "{url}/{name}"\noutput = "{place}/{name}"\n' for name in self.digests)
        with open(f"{self.work}/course.jsonl", "w") as file:
            file.writelines(json.dumps({"url": f"{url}/{name}", "key": name}) + "\n" for name in self.digests)

    def curl(self, *arguments):
        return curl("--parallel", "--parallel-max", "16", *arguments, "-K", f"{self.work}/curl.txt")

    def aria2(self):
        return aria2("-j16", "--file-allocation=none", "-d", f"{self.work}/out/files", "-i", f"{self.work}/urls.txt")

    def wget2(self):
        return ["wget2", "--no-config", "-q", "--max-threads=16", "-P", f"{self.work}/out/files", "-i",
                f"{self.work}/urls.txt"]

    def ours(self, *arguments, jobs=16):
        """Without a number of jobs it chooses one itself."""
        number = [] if jobs is None else ["--jobs", str(jobs)]
        return ours(self.work, *number, "--output-dir", f"{self.work}/out/files", *arguments,
                    f"{self.work}/course.jsonl")

    def measure(self, tools, rounds, run=run):
        """Rows of contenders that each put all files to out/files."""
        rows = {name: [] for name in tools}
        for number in range(rounds):
            for name in turn(tools, number):
                clear(f"{self.work}/out/files")
                if os.path.isdir(f"{self.work}/out/store"):
                    clear(f"{self.work}/out/store")
                sample = run(tools[name], env=environment(self.work))
                require(sample, name)
                self.require_all(name)
                rows[name].append(sample)
        return rows

    def require_all(self, contender):
        place = f"{self.work}/out/files"
        found = sorted(os.listdir(place))
        if found != sorted(self.digests):
            sys.exit(f"{contender}: {len(found)} files instead of {self.count}")
        for name, digest in self.digests.items():
            if sha256(f"{place}/{name}") != digest:
                sys.exit(f"{contender}: other bytes in {name}")


def tiny(work, sizes, rounds, samples):
    """Goal 6, and goal 8 for small files."""
    files = Files(work, sizes["tiny"], 64 << 10)
    nginx = Nginx(f"{work}/site", work)
    files.write_lists(nginx.url)
    try:
        rows = files.measure({"curl": files.curl(), "aria2": files.aria2(), "ours": files.ours()}, rounds)
    finally:
        nginx.stop()
    samples.add_ratios(6, rows, "wall", "ours", "aria2", "files/s / aria2", inverted=True)
    samples.add_ratios(6, rows, "cpu", "ours", "curl", "CPU / curl -Z")
    for sample in rows["ours"]:
        samples.add(8, "MiB, files of 64 KiB", sample["mib"])
    return rows


def lectures(work, sizes, rounds, samples):
    """Goal 7, and goal 8 for lectures."""
    files = Files(work, sizes["lectures"], 2 * MIB)
    nginx = Nginx(f"{work}/site", work)
    files.write_lists(nginx.url)
    tools = {"curl": files.curl(), "aria2": files.aria2(), "wget2": files.wget2(), "ours": files.ours()}
    try:
        rows = files.measure(tools, rounds)
    finally:
        nginx.stop()
    samples.add_ratios(7, rows, "wall", "ours", "aria2", "files/s / aria2", inverted=True)
    samples.add_ratios(7, rows, "wall", "ours", "wget2", "files/s / wget2", inverted=True)
    samples.add_ratios(7, rows, "cpu", "ours", "curl", "CPU / curl -Z")
    for sample in rows["ours"]:
        samples.add(8, "MiB, files of 2 MiB", sample["mib"])
    return rows


# Far servers


def across(work, body, loss=0, control=None, **server):
    """Calls body(network, url) with a server far away, and makes sure that the link was what it was asked to be."""
    network = far_network.FarNetwork(work, DELAY_MS, loss, RATE_MBIT, control)
    nginx = counts = None
    try:
        nginx = network.nginx(f"{work}/site", work, **server)
        network.require_delay(nginx.url)
        result = body(network, nginx.url)
    finally:
        if nginx:
            nginx.stop()
        counts = network.stop()
    network.require_loss(counts)
    return result


def far(work, sizes, rounds, samples):
    """Goal 9."""
    files = Files(work, sizes["far"], 64 << 10)
    authority, certificate = make_certificate(work)
    found = {}
    # Without loss Reno does what the usual CUBIC does, and every kernel permits it in a namespace of its own.
    # HTTP/2 is compared with 16 connections, as the other rows are: what a user of curl has without it.
    links = {
        "no loss": ({"control": "reno"}, [], []),
        "1 % loss, BBR": ({"loss": 1, "control": "bbr"}, [], []),
        "1 % loss, Reno": ({"loss": 1, "control": "reno"}, [], []),
        "HTTP/2": ({"control": "reno", "certificate": certificate, "http2": True}, ["--http1.1", "--cacert", authority],
                   ["--ca-file", authority]),
    }
    for name, (link, theirs, own) in links.items():

        def body(network, url):
            files.write_lists(url)
            # 100 streams are one connection. Without HTTP/2 the number of requests at once is its own choice.
            tools = {"curl": files.curl(*theirs), "ours": files.ours(*own, jobs=100 if "http2" in link else None)}
            return files.measure(tools, rounds, network.run)

        rows = across(work, body, **link)
        samples.add_ratios(9, rows, "wall", "ours", "curl", f"files/s / curl -Z 16, {name}", inverted=True)
        found.update({f"{contender}, {name}": samples_ for contender, samples_ in rows.items()})
    return found


def far_file(work, sizes, rounds, samples):
    """Goal 10."""
    digest, rows = make_large(work, sizes["far_mib"]), {"curl": [], "ours": []}

    def body(network, url):
        out = f"{work}/out"
        tools = {"curl": curl("-o", f"{out}/f", f"{url}/large.mp4"),
                 "ours": ours(work, "--key", "k", "--output", f"{out}/f", f"{url}/large.mp4")}
        for number in range(rounds):
            for name in turn(tools, number):
                clear(out)
                sample = network.run(tools[name], env=environment(work))
                require(sample, name)
                if sha256(f"{out}/f") != digest:
                    sys.exit(f"{name}: other bytes")
                rows[name].append(sample)

    across(work, body, loss=1, control="bbr")
    for sample in rows["ours"]:
        samples.add(10, "share of the link", sizes["far_mib"] * MIB * 8 / sample["wall"] / (RATE_MBIT * 1e6))
    return rows


# What other scripts measure, too


def lists(work, sizes, rounds, samples):
    """Goal 11."""
    rows = compare.measure_lists(sizes["listed"], 2 * rounds + 1, work)
    samples.add_ratios(11, rows, "cpu", "list", "sqlite3, sorted", "CPU / sqlite3")
    for sample in rows["list --limit 50"]:
        samples.add(11, "ms, first page of 50", sample["wall"] * 1000)
    return rows


def reports(work, sizes, rounds, samples):
    """Goal 12."""
    rows, found = statistics.measure_posts(sizes["reports"], rounds, work, limits=[200])
    for row in rows:
        samples.add(12, "requests/s / curl", row["wall: curl / lms send"])
        samples.add(12, "CPU µs a report, batches of 100", row["CPU us a report, batches of 100"])
    samples.add(12, "used of a server's limit of 200/s", 1 - found["limit:200: unused share"])
    return {"rounds": rows, "limits": found}


def renewals(work, sizes, rounds, samples):
    """Goal 13."""
    rows = licences.measure_posts(sizes["renewals"], rounds, work)
    for place, name in (("here", "requests/s / curl"), ("50 ms away", "requests/s / curl, 50 ms away")):
        for row in rows[place]:
            samples.add(13, name, row["ratio"])
    return rows


def signatures(work, sizes, rounds, samples):
    """Goal 14."""
    names = {"ES256": "P-256", "EdDSA": "Ed25519", "RS256": "RSA"}
    rows = licences.measure_verify(rounds, work, sizes["tokens"], names)
    for name, label in names.items():
        for theirs, _, batch, _, _ in rows[name]:
            samples.add(14, f"{label}, a core / openssl speed", batch / theirs)
    for kinds in zip(*rows.values()):
        samples.add(14, "share of all cores", sum(kind[3] for kind in kinds) / len(kinds) / os.cpu_count())
    return rows


# Start


class Listener:
    """A server that never answers: it only sees when the first byte of a request arrives."""

    def __init__(self):
        # Bound, it refuses connections, and no other program gets its port.
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.socket.listen(64)
        self.socket.settimeout(30)

    def first_request(self, arguments, env):
        """Milliseconds from the start of a process until its first request is here."""
        begin = time.monotonic()
        process = subprocess.Popen(arguments, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        connections = []
        try:
            connection, _ = self.socket.accept()
            connections.append(connection)
            connection.settimeout(30)
            if not connection.recv(1):
                sys.exit("a connection without a request")
            return (time.monotonic() - begin) * 1000
        except TimeoutError:
            sys.exit("no request arrives")
        finally:
            # It ends before its connections do: what is not answered is no failure that the next run would wait for.
            process.send_signal(signal.SIGTERM)
            process.wait()
            self.socket.setblocking(False)
            try:
                while True:
                    connections.append(self.socket.accept()[0])
            except BlockingIOError:
                self.socket.settimeout(30)
            for connection in connections:
                connection.close()

    def stop(self):
        self.socket.close()


class Queue:
    """A store with many lectures of one server that wait to be downloaded."""

    def __init__(self, work, count, url):
        self.work, self.store = work, [LECTURECTL, "--store", f"{work}/out/store", "--quiet"]
        clear(f"{work}/out")
        with open(f"{work}/course.jsonl", "w") as file:
            for number in range(count):
                file.write(json.dumps({"url": f"{url}/lectures/{number:07}.mp4", "title": f"Lecture {number}"}) + "\n")
        # Nothing is downloaded at this time; the deadline ends the run as soon as everything is queued.
        self.filled = run([*self.store, "precache", "--timetable", "else=off", "--deadline", "1s",
                           f"{work}/course.jsonl"], env=environment(work))
        require(self.filled, "precache", (75,))
        count_found = subprocess.check_output(
            ["sqlite3", "-readonly", f"{work}/out/store/lecturekit.db", "SELECT count(*) FROM content"], text=True)
        if int(count_found) != count:
            sys.exit(f"{count_found.strip()} lectures instead of {count}")

    def run(self, *arguments):
        sample = run([*self.store, *arguments], env=environment(self.work))
        require(sample, " ".join(arguments))
        return sample

    def first_request(self, listener):
        return listener.first_request([*self.store, "precache"], environment(self.work))


def start(work, sizes, rounds, samples):
    """Goal 15."""
    listener = Listener()
    try:
        queue = Queue(work, sizes["started"], listener.url)
        for _ in range(2 * rounds + 1):
            sample = run([LECTURECTL, "--version"])
            require(sample, "--version")
            samples.add(15, "ms, --version", sample["wall"] * 1000)
            samples.add(15, "ms, first request", queue.first_request(listener))
    finally:
        listener.stop()


def million(work, sizes, rounds, samples):
    """Goal 16. The lectures are queued once a run, since that takes long."""
    listener = Listener()
    try:
        queue = Queue(work, sizes["million"], listener.url)
        samples.add(16, "s, enqueue", queue.filled["wall"])
        peak = queue.filled["mib"]
        for _ in range(2 * rounds + 1):
            status, page = queue.run("status"), queue.run("list", "--limit", "50")
            samples.add(16, "ms, status", status["wall"] * 1000)
            samples.add(16, "ms, first page", page["wall"] * 1000)
            samples.add(16, "ms, first request", queue.first_request(listener))
            peak = max(peak, status["mib"], page["mib"])
        samples.add(16, "MiB", peak)
    finally:
        listener.stop()
    return {"enqueue": [queue.filled]}


# Each measurement with the goals that it gives figures for.
MEASUREMENTS = [
    (large, {1, 2, 3}), (tls, {4}), (seal, {5}), (tiny, {6, 8}), (lectures, {7, 8}), (far, {9}), (far_file, {10}),
    (lists, {11}), (reports, {12}), (renewals, {13}), (signatures, {14}), (start, {15}), (million, {16}),
]
