#!/usr/bin/env python3
"""How many readers a live server serves: chat over event streams, and viewers of HLS, on this machine.

Everybody joins first, then all streams are open, then messages are sent at a steady pace. What is measured is when each
message is at each reader, whether one is missing, doubled or out of order, how late viewers get fragments, and the
processor time and the memory of the server. Needs what Tools/setup installs, and a program:

  swift build -c release --product lecture-live-server
  Benchmarks/live_load.py --program .build/release/lecture-live-server [--readers 2000] [--viewers 500] [--seconds 30]
"""
import argparse, asyncio, base64, json, os, pathlib, resource, secrets, signal, subprocess, tempfile, time

SECRET = "academy:" + secrets.token_hex(16)


async def request(port, method, path, authorization, body=None):
    """One exchange on a connection of its own: status, body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    data = json.dumps(body).encode() if body is not None else b""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\nConnection: close\r\n"
    writer.write(head.encode() + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(data) + data)
    answer = await reader.read(-1)
    writer.close()
    top, _, rest = answer.partition(b"\r\n\r\n")
    return int(top.split(b" ", 2)[1]), rest


async def call(port, method, path, authorization, body=None):
    """The same for JSON; anything but success ends the program."""
    status, text = await request(port, method, path, authorization, body)
    if status >= 300:
        raise SystemExit(f"{method} {path}: {status} {text[:200]}")
    return json.loads(text) if text else {}


async def in_parts(work, size=50):
    """Awaits many coroutines, some at a time."""
    results = []
    for start in range(0, len(work), size):
        results += await asyncio.gather(*work[start:start + size])
    return results


class Reader:
    """A reader of the event stream, which notes when each message came."""

    def __init__(self, token):
        self.token, self.numbers, self.delays = token, [], []

    async def open(self, port):
        self.stream, self.writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
        head = f"GET /v2/members/me/event-sources HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.token}\r\n\r\n"
        self.writer.write(head.encode())
        answer = await self.stream.readuntil(b"\r\n\r\n")
        if b" 200 " not in answer.split(b"\r\n")[0]:
            raise SystemExit(f"an event stream is refused: {answer[:200]}")

    async def read(self, sent):
        try:
            while True:
                line = await self.stream.readline()
                if not line:
                    return
                mark = line.find(b'"message":"load ')
                if mark < 0:
                    continue
                number = int(line[mark + 16:line.index(b'"', mark + 16)])
                self.numbers.append(number)
                self.delays.append(time.monotonic() - sent[number])
        except (asyncio.CancelledError, ConnectionError):
            pass


class Viewer:
    """A viewer of HLS: the playlist each second, and each new fragment, on one connection."""

    def __init__(self, path):
        self.path, self.fragments, self.bytes, self.waits, self.failures = path, 0, 0, [], 0

    async def get(self, path):
        start = time.monotonic()
        self.writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = await self.stream.readuntil(b"\r\n\r\n")
        length = int([line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")][0][15:])
        body = await self.stream.readexactly(length)
        self.waits.append(time.monotonic() - start)
        if b" 200 " not in head.split(b"\r\n")[0]:
            self.failures += 1
        return body

    async def watch(self, port, delay):
        seen = None
        try:
            await asyncio.sleep(delay)
            self.stream, self.writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
            while True:
                playlist = (await self.get(self.path)).decode()
                names = [line for line in playlist.splitlines() if line.endswith(".ts")]
                new = names[-1:] if seen is None or seen not in names else names[names.index(seen) + 1:]
                for name in new:
                    self.bytes += len(await self.get(self.path.rsplit("/", 1)[0] + "/" + name))
                    self.fragments += 1
                    seen = name
                await asyncio.sleep(1)
        except asyncio.CancelledError:
            pass
        except (OSError, asyncio.IncompleteReadError):
            self.failures += 1


def processor_seconds(process):
    """User and system time of a process so far."""
    words = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def peak_memory(process):
    """MiB."""
    lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    return int([line for line in lines if line.startswith("VmHWM")][0].split()[1]) / 1024


def at(values, part):
    """A quantile in milliseconds."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))] * 1000 if values else float("nan")


async def measure(arguments, directory):
    credentials = f"{directory}/credentials"
    pathlib.Path(credentials).write_text(SECRET + "\n")
    os.chmod(credentials, 0o600)
    server = subprocess.Popen(
        [arguments.program, "--state", f"{directory}/state", "--credentials", credentials, "--listen", "127.0.0.1:0",
         "--rtmp-port", "0"], stdout=subprocess.PIPE)
    encoder = None
    try:
        facts = json.loads(server.stdout.readline())
        port, basic = facts["port"], "Basic " + base64.b64encode(SECRET.encode()).decode()

        async def login(name):
            return (await call(port, "POST", "/v2/apps/me/members/login", basic, {"appUserId": name}))["accessToken"]

        host = await login("host")
        bearer = f"Bearer {host}"
        key = await call(port, "GET", "/v2/members/me/stream-key", bearer)
        body = {"type": "BROADCAST_RTMP", "title": "Load", "scheduledAt": "2026-01-01T00:00:00Z"}
        room = (await call(port, "POST", "/v2/members/me/video-rooms", bearer, body))["id"]
        url = f"{key['ingestUrl']}/{key['streamKey']}"
        encoder = subprocess.Popen(
            ["ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=30", "-f", "lavfi", "-i",
             "sine", "-c:v", "libx264", "-preset", "ultrafast", "-b:v", "600k", "-maxrate", "600k", "-bufsize", "300k",
             "-g", "60", "-pix_fmt", "yuv420p", "-c:a", "aac", "-f", "flv", url], stdin=subprocess.DEVNULL)
        while (await call(port, "GET", "/v2/members/me/stream-key", bearer))["streamKeyState"] != "ACTIVE":
            await asyncio.sleep(0.2)
        await call(port, "POST", f"/v2/members/me/video-rooms/{room}/start", bearer, {})

        started, cpu = time.monotonic(), processor_seconds(server.pid)
        tokens = await in_parts([login(f"reader-{number}") for number in range(arguments.readers)])
        joins = [call(port, "POST", f"/v2/members/me/video-rooms/{room}/channel/join", f"Bearer {token}", {})
                 for token in tokens]
        await in_parts(joins)
        print(f"{len(tokens)} members logged in and joined: {time.monotonic() - started:.1f} s, "
              f"{processor_seconds(server.pid) - cpu:.1f} s of processor time")

        readers = [Reader(token) for token in tokens]
        await in_parts([reader.open(port) for reader in readers])
        links = await in_parts(
            [call(port, "GET", f"/v2/members/me/video-rooms/{room}", f"Bearer {token}")
             for token in tokens[:arguments.viewers]])
        viewers = [Viewer("/" + link["playUrl"].split("/", 3)[3]) for link in links]
        sent = {}
        tasks = [asyncio.create_task(reader.read(sent)) for reader in readers]
        tasks += [asyncio.create_task(viewer.watch(port, 2 * n / max(1, len(viewers)))) for n, viewer in enumerate(viewers)]
        await asyncio.sleep(3)
        cpu, own, began = processor_seconds(server.pid), time.process_time(), time.monotonic()
        count = int(arguments.seconds * arguments.rate)
        for number in range(count):
            await asyncio.sleep(max(0, began + number / arguments.rate - time.monotonic()))
            token = tokens[number % min(60, len(tokens))]
            sent[number] = time.monotonic()
            await call(port, "POST", f"/v2/members/me/channels/{room}/messages", f"Bearer {token}",
                       {"message": f"load {number}"})
        await asyncio.sleep(3)
        passed = time.monotonic() - began
        cpu, own = processor_seconds(server.pid) - cpu, time.process_time() - own
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

        wrong = sum(reader.numbers != list(range(count)) for reader in readers)
        delays = [delay for reader in readers for delay in reader.delays]
        print(f"chat: {count} messages in {passed:.0f} s to {len(readers)} readers: {len(delays)} events, "
              f"{wrong} readers with a loss, a doubling or disorder")
        print(f"  delay: median {at(delays, 0.5):.0f} ms, 95 % {at(delays, 0.95):.0f} ms, longest {at(delays, 1):.0f} ms")
        if viewers:
            waits = [wait for viewer in viewers for wait in viewer.waits]
            fragments = [viewer.fragments for viewer in viewers]
            print(f"viewers: {len(viewers)}, {sum(viewer.bytes for viewer in viewers) / passed / 1e6:.1f} MB/s, "
                  f"fragments each {min(fragments)} to {max(fragments)}, failures {sum(v.failures for v in viewers)}")
            print(f"  answer: median {at(waits, 0.5):.0f} ms, 95 % {at(waits, 0.95):.0f} ms, longest {at(waits, 1):.0f} ms")
        print(f"server: {cpu / passed:.2f} cores, {peak_memory(server.pid):.0f} MiB; this program: {own / passed:.2f} cores")
        return wrong == 0 and not sum(viewer.failures for viewer in viewers)
    finally:
        for process in [encoder, server]:
            if process:
                process.send_signal(signal.SIGTERM)
                process.wait(20)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    for name, value in [("readers", 2000), ("viewers", 500), ("seconds", 30)]:
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--rate", type=float, default=2, help="messages a second")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with tempfile.TemporaryDirectory() as directory:
        if not asyncio.run(measure(arguments, directory)):
            raise SystemExit("something was lost")


main()
