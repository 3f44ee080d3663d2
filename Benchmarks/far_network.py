#!/usr/bin/env python3
"""A server that is far away: two network namespaces with a link between them that delays, loses and limits.

far-network.c is the link. Everything ends with the processes that are started here; nothing of the system's own network
is changed. Needs root, TUN devices and a C compiler.

  Benchmarks/far_network.py [--delay-ms 50] [--loss 1] [--rate 400] [--control reno] [--mib 64]

measures that a link is what it was asked to be: round trips by ping, lost packets by the link's own counts and by ping,
the rate by curl.
"""
import argparse, json, os, re, shutil, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
from compare import Nginx, clear, make_file, run, sha256  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENT, SERVER = "10.77.0.1", "10.77.0.2"
# The same windows on every machine: large enough for one connection to fill the link.
SYSCTLS = {"tcp_rmem": "4096 131072 33554432", "tcp_wmem": "4096 65536 16777216", "tcp_no_metrics_save": "1"}


def missing():
    """Why there can be no far network on this machine, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not os.path.exists("/dev/net/tun"):
        return "there is no /dev/net/tun"
    return None


def require_control(name):
    """Ends the run unless a namespace of its own may use this congestion control."""
    with open("/proc/sys/net/ipv4/tcp_allowed_congestion_control") as file:
        allowed = file.read().split()
    if name not in allowed:
        sys.exit(f"congestion control {name}: run modprobe tcp_{name}, and "
                 f"sysctl -w net.ipv4.tcp_allowed_congestion_control='{' '.join([*allowed, name])}'")


def build(work):
    """Compiles the link."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        sys.exit("there is no C compiler")
    program = os.path.join(work, "far-network")
    subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-o", program, f"{HERE}/far-network.c"], check=True)
    return program


class Space:
    """A network namespace, which exists as long as a process in it."""

    def __init__(self):
        # Ended with the script, also when that is killed.
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sleep", "infinity"])
        self.path = f"/proc/{self.process.pid}/ns/net"
        own = os.readlink("/proc/self/ns/net")
        for _ in range(500):
            if os.readlink(self.path) != own:
                break
            time.sleep(0.01)
        else:
            sys.exit("unshare makes no network namespace")
        self.enter = ["nsenter", f"--net={self.path}"]

    def sh(self, text):
        subprocess.run([*self.enter, "sh", "-c", text], check=True)

    def stop(self):
        self.process.kill()
        self.process.wait()


class FarNetwork:
    """A client's namespace and a server's, `delay_ms` away there and back, `loss` percent lost on the way to the client.

    Both use the congestion control `control`, or the kernel's default.
    """

    def __init__(self, work, delay_ms=50, loss=0, rate=400, control=None, seed=1):
        if missing():
            sys.exit(missing())
        if control:
            require_control(control)
        self.work, self.delay_ms, self.loss, self.rate, self.control = work, delay_ms, loss, rate, control
        self.client, self.server, self.link = Space(), Space(), None
        try:
            self.connect(build(work), seed)
        except BaseException:
            self.stop()
            raise

    def connect(self, program, seed):
        # A queue as long as a round trip, which is what a router is advised to have.
        queue = max(64, int(self.delay_ms * self.rate / 8 * 1000 / 1024))
        self.link = subprocess.Popen(
            [program, self.client.path, self.server.path, "--delay-us", str(self.delay_ms * 500), "--loss-ppm",
             str(int(self.loss * 10_000)), "--rate-mbit", str(self.rate), "--queue-kib", str(queue), "--seed", str(seed)],
            stdout=subprocess.PIPE, text=True)
        if self.link.stdout.readline() != "ready\n":
            sys.exit("far-network does not start")
        for space, own in ((self.client, CLIENT), (self.server, SERVER)):
            settings = {**SYSCTLS, **({"tcp_congestion_control": self.control} if self.control else {})}
            values = [f"echo {value} >/proc/sys/net/ipv4/{name}" for name, value in settings.items()]
            # The device's own queue is long, so that only the link decides what is lost.
            space.sh(" && ".join([
                "ip link set lo up", f"ip addr add {own}/30 dev far", "ip link set far mtu 1500 txqueuelen 20000 up",
                *values]))

    def nginx(self, root, work, **options):
        """A server in the far namespace."""
        return Nginx(root, work, prefix=self.server.enter, address=SERVER, **options)

    def run(self, arguments, **options):
        """Runs and measures a command in the client's namespace."""
        return run([*self.client.enter, *arguments], **options)

    def round_trip(self, url):
        """The shortest of three times in ms that TCP needs to connect."""
        host = re.sub(r"^https?://", "", url)
        times = [float(subprocess.check_output(
            [*self.client.enter, "curl", "-s", "-o", "/dev/null", "-w", "%{time_connect}", f"http://{host}/missing"]))
            for _ in range(3)]
        return min(times) * 1000

    def require_delay(self, url):
        """Ends the run unless the server is as far away as was asked for."""
        found = self.round_trip(url)
        if not self.delay_ms <= found <= self.delay_ms + 5:
            sys.exit(f"the server is {found:.1f} ms away, not {self.delay_ms}")

    def dropped(self):
        """Packets that the devices lost themselves, which a fair link has none of."""
        text = ""
        for space in (self.client, self.server):
            text += subprocess.check_output([*space.enter, "cat", "/proc/net/dev"], text=True)
        return sum(int(line.split()[12]) for line in text.splitlines() if line.strip().startswith("far:"))

    def stop(self):
        """Ends everything; returns what the link counted."""
        counts = None
        if self.link is not None:
            dropped = self.dropped() if self.link.poll() is None else 0
            self.link.terminate()
            text = self.link.stdout.read()
            self.link.wait()
            if text.startswith("{"):
                counts = {**json.loads(text), "dropped": dropped}
        for space in (self.client, self.server):
            space.stop()
        return counts

    def require_loss(self, counts):
        """Ends the run unless as many packets were lost as was asked for, and by the link only."""
        down = counts["to_client"]
        due, share = self.loss / 100, down["lost"] / max(1, down["read"])
        # Four standard deviations: one of 16,000 right links is refused.
        deviation = 4 * (due * (1 - due) / max(1, down["read"])) ** 0.5
        if abs(share - due) > deviation or counts["dropped"]:
            sys.exit(f"the link lost {share:.4f} of {down['read']} packets, and the devices {counts['dropped']}: not {due}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay-ms", type=int, default=50)
    parser.add_argument("--loss", type=float, default=1)
    parser.add_argument("--rate", type=int, default=400)
    parser.add_argument("--control", help="congestion control; the kernel's default unless given")
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir", help="where files are made; the current directory unless given", default=".")
    options = parser.parse_args()
    work = os.path.abspath(tempfile.mkdtemp(prefix="lecture-benchmark-", dir=options.dir))
    clear(f"{work}/site")
    make_file(f"{work}/site/large.mp4", options.mib << 20)
    try:
        network = FarNetwork(work, options.delay_ms, options.loss, options.rate, options.control, options.seed)
        server = None
        try:
            server = network.nginx(f"{work}/site", work)
            network.require_delay(server.url)
            print(f"connect by curl: {network.round_trip(server.url):.2f} ms")
            if shutil.which("ping"):
                text = subprocess.run([*network.client.enter, "ping", "-q", "-i", "0.01", "-c", "500", SERVER],
                                      capture_output=True, text=True).stdout
                print("\n".join(text.strip().splitlines()[-2:]))
            for count in (1, 4, 16):
                size = (options.mib << 20) // count
                ranges = [word for index in range(count) for word in (
                    *(["--next"] if index else []), "-s", "-r", f"{size * index}-{size * (index + 1) - 1}", "-o",
                    f"{work}/{index}", f"{server.url}/large.mp4")]
                sample = network.run(["curl", "--parallel", "--parallel-immediate", *ranges])
                with open(f"{work}/whole", "wb") as whole:
                    for index in range(count):
                        with open(f"{work}/{index}", "rb") as piece:
                            shutil.copyfileobj(piece, whole)
                if sample["status"] != 0 or sha256(f"{work}/whole") != sha256(f"{work}/site/large.mp4"):
                    sys.exit(f"curl: status {sample['status']}, or other bytes")
                rate = (options.mib << 23) / sample["wall"] / 1e6
                print(f"curl, {count} at once: {rate:.0f} Mbit/s of payload, {rate / options.rate:.2f} of the link")
        finally:
            if server:
                server.stop()
            counts = network.stop()
        print(json.dumps(counts))
        network.require_loss(counts)
        print(f"lost on the way to the client: {counts['to_client']['lost'] / counts['to_client']['read']:.4f}")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
