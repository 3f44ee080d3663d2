#!/usr/bin/env python3
"""From glass to glass: how long after it was on a lecturer's screen a picture is on a learner's.

A counter is drawn on one virtual screen, fifteen times a second. It is broadcast by 'lecture-live broadcast --source
screen' over lecture-live-server, and seen by 'lecture-live watch'; and, in turn, broadcast by ffmpeg (x11grab, the same
encoder with the same settings) over a plain nginx, and seen by mpv, for RTMP with its profile low-latency. What is on
the viewer's screen is read two hundred times a second in the memory of Xvfb: the same way for both. How late HLS is
depends on the moment at which a viewer comes: the moments are spread over a fragment, the same for both. Needs what
Tools/setup installs, mpv, xdotool, and built programs:

  Benchmarks/live_delay.py [--programs .build/release] [--over rtmp hls] [--rounds 4] [--seconds 12] [--fragment 2000]
"""
import argparse, base64, json, mmap, os, pathlib, re, secrets, signal, socket, struct, subprocess
import sys, tempfile, threading, time, urllib.request

WIDTH, HEIGHT, RATE, BITS = 640, 360, 15, 20
CELL = WIDTH // (BITS + 2)
SECRET = "academy:" + secrets.token_hex(16)
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
NGINX = """load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
daemon off; master_process off; pid nginx.pid; error_log stderr emerg;
events {{ worker_connections 64; }}
rtmp {{ server {{ listen 127.0.0.1:{rtmp}; application live {{
    live on; hls on; hls_path {root}/hls; hls_fragment {fragment}ms; hls_playlist_length {listed}ms;
}} }} }}
http {{
    access_log off;
    client_body_temp_path body; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
    server {{ listen 127.0.0.1:{http}; root {root}; }}
}}
"""


class Screen:
    """A virtual display, whose picture is a file in memory (Xvfb(1), -fbdir)."""

    def __init__(self, directory, width, height):
        os.mkdir(directory)
        reading, writing = os.pipe()
        self.process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{width}x{height}x24", "-fbdir", directory,
             "-nolisten", "tcp", "-noreset", "-ac"], pass_fds=[writing], stderr=subprocess.DEVNULL)
        os.close(writing)
        # The number and the end of its line are two writes: Xvfb dies of a pipe that is closed between them.
        with open(reading) as answer:
            self.name = ":" + answer.readline().strip()
        file = open(f"{directory}/Xvfb_screen0", "r+b")
        self.memory = mmap.mmap(file.fileno(), 0)
        # XWDFileHeader: 25 numbers, the name of the window, the colours, then the picture.
        head = struct.unpack(">25I", self.memory[:100])
        self.start, self.line = head[0] + head[19] * 12, head[12]

    def draw(self, number):
        """White on the left, bits, black on the right; the lower half is the same inverted, as a check."""
        bits = [1] + [number >> shift & 1 for shift in range(BITS - 1, -1, -1)] + [0]
        for top, flip in [(0, 0), (HEIGHT // 2, 1)]:
            row = b"".join((b"\xff\xff\xff\0" if bit ^ flip else b"\0\0\0\0") * CELL for bit in bits)
            row = row.ljust(self.line, b"\0")
            begin = self.start + top * self.line
            self.memory[begin:begin + self.line * (HEIGHT // 2)] = row * (HEIGHT // 2)

    def read(self):
        """The number that is shown in the upper left corner; None for none."""
        rows = []
        for top in (HEIGHT // 4, HEIGHT * 3 // 4):
            begin = self.start + top * self.line
            rows.append([self.memory[begin + (cell * CELL + CELL // 2) * 4 + 1] > 127 for cell in range(BITS + 2)])
        if rows[0] == [not bit for bit in rows[1]] and rows[0][0] and not rows[0][-1]:
            return sum(bit << (BITS - place) for place, bit in enumerate(rows[0][:-1]) if place)
        return None

    def place(self, environment):
        """Moves what windows there are into the corner: without a window manager they are where they were made."""
        words = ["xdotool", "search", "--onlyvisible", "--name", ".", "windowmove", "%@", "0", "0"]
        # A second at most, and again a second later: what it waits for may have gone.
        subprocess.run(["timeout", "1", *words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def close(self):
        self.process.kill()
        self.process.wait()


def median(values):
    """The middle; of two, what is between them. (A program beside this one has the name of Python's module.)"""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def start(words, environment=None):
    """Starts a program without input and output."""
    return subprocess.Popen(words, env=environment or os.environ, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def stop(process):
    """Ends a program; one that does not end in 20 seconds is killed, and that is said."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        print(f"killed: {process.args[0]} has not ended", file=sys.stderr, flush=True)
        process.kill()
        process.wait()


def until(what, question, patience=40):
    """Asks until there is an answer."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        answer = question()
        if answer:
            return answer
        time.sleep(0.05)
    raise SystemExit(f"{what}: not within {patience} s")


def newest(url):
    """The number of the newest fragment of a playlist, and how many there are; nothing without one."""
    try:
        text = OPENER.open(url, timeout=5).read().decode()
    except OSError:
        return None
    first = int((re.search(r"EXT-X-MEDIA-SEQUENCE:(\d+)", text) or [0, 0])[1])
    count = text.count("#EXTINF")
    return (first + count, count) if count else None


class Ours:
    """Our server, and its broadcaster and viewer."""

    name = "lecture-live"

    def __init__(self, programs, directory, fragment):
        self.programs, self.directory = programs, directory
        self.write("app.key", SECRET)
        self.process = subprocess.Popen(
            [f"{programs}/lecture-live-server", "--state", f"{directory}/state", "--credentials",
             f"{directory}/app.key", "--listen", "127.0.0.1:0", "--rtmp-port", "0", "--fragment", str(fragment),
             "--archive", "no"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = json.loads(self.process.stdout.readline())["url"]
        # Nothing else is read from it, and a full pipe would stop it.
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def write(self, name, text):
        """A file that only its owner may read."""
        path = f"{self.directory}/{name}"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text + "\n")
        return path

    def call(self, method, path, body=None, token=None):
        word = "Bearer " + token if token else "Basic " + base64.b64encode(SECRET.encode()).decode()
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data, {"Authorization": word}, method=method)
        return json.loads(OPENER.open(request, timeout=20).read())

    def member(self, user):
        token = self.call("POST", "/v2/apps/me/members/login", {"appUserId": user})["accessToken"]
        return token, self.write(user, token)

    def live(self, token):
        path = "/v2/members/me/video-rooms?sortBy=CREATED_AT_DESC&pageSize=1"
        rooms = self.call("GET", path, token=token)["content"]
        return rooms[0] if rooms and rooms[0].get("playUrl") else None

    def send(self, source, number):
        token, path = self.member(f"teacher{number}")
        environment = {**os.environ, "LECTURE_LIVE_SERVER": self.url}
        sender = start(
            [f"{self.programs}/lecture-live", "broadcast", "--source", f"screen:{source.name}", "--size",
             f"{WIDTH}x{HEIGHT}", "--fps", str(RATE), "--bitrate", "1M", "--token-file", path], environment)
        room = until("the room is live", lambda: self.live(token))
        self.room = room["id"]
        return sender, room["playUrl"]

    def watch(self, target, number, way):
        _, path = self.member(f"learner{number}")
        words = [f"{self.programs}/lecture-live", "watch", str(self.room), "--mute", "--token-file", path]
        environment = {**os.environ, "LECTURE_LIVE_SERVER": self.url, "DISPLAY": target.name}
        return start(words + ["--low-latency"] * (way == "rtmp"), environment)

    def close(self):
        stop(self.process)


class Theirs:
    """A plain nginx, ffmpeg and mpv."""

    name = "ffmpeg and mpv"

    def __init__(self, _, directory, fragment):
        with socket.socket() as one, socket.socket() as two:
            for reserved in (one, two):
                reserved.bind(("127.0.0.1", 0))
            self.rtmp, self.http = one.getsockname()[1], two.getsockname()[1]
        pathlib.Path(f"{directory}/nginx.conf").write_text(
            NGINX.format(root=directory, rtmp=self.rtmp, http=self.http, fragment=fragment, listed=10 * fragment))
        os.mkdir(f"{directory}/hls")
        if os.geteuid() == 0:
            # Its worker is another user then.
            os.chmod(directory, 0o755)
            os.chmod(f"{directory}/hls", 0o777)
        self.process = subprocess.Popen(
            ["/usr/sbin/nginx", "-e", "stderr", "-p", directory, "-c", f"{directory}/nginx.conf"])

    def send(self, source, number):
        self.stream = f"rtmp://127.0.0.1:{self.rtmp}/live/{number}"
        sender = start(
            ["ffmpeg", "-v", "error", "-f", "x11grab", "-draw_mouse", "0", "-framerate", str(RATE), "-video_size",
             f"{WIDTH}x{HEIGHT}", "-i", source.name, "-f", "lavfi", "-i", "anullsrc=r=44100:cl=stereo", "-pix_fmt",
             "yuv420p", "-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-g", str(2 * RATE),
             "-b:v", "1M", "-maxrate", "1M", "-bufsize", "500k", "-c:a", "aac", "-b:a", "128k", "-f", "flv",
             self.stream])
        self.playlist = f"http://127.0.0.1:{self.http}/hls/{number}.m3u8"
        return sender, self.playlist

    def watch(self, target, _, way):
        url = self.stream if way == "rtmp" else self.playlist
        words = ["mpv", "--no-config", "--no-osc", "--mute=yes", "--audio-fallback-to-null=yes", "--vo=gpu,xv,x11"]
        # With the profile alone it takes the stream for sound: a picture comes only with the next key frame.
        low = ["--profile=low-latency", "--demuxer-lavf-probe-info=yes", "--demuxer-lavf-analyzeduration=3"]
        return start(words + low * (way == "rtmp") + [url],
                     {**os.environ, "DISPLAY": target.name})

    def close(self):
        stop(self.process)


def measure(side, way, directory, options, number):
    """The delays of the pictures that were seen in the last two thirds, in milliseconds."""
    place = f"{side.name[0]}{way}{number}"
    source = Screen(f"{directory}/source-{place}", WIDTH, HEIGHT)
    target = Screen(f"{directory}/target-{place}", 2 * WIDTH, 2 * HEIGHT)
    drawn, seen, over = {}, {}, threading.Event()

    def draw():
        count, first = 0, time.monotonic()
        while not over.wait(max(0, first + count / RATE - time.monotonic())):
            count += 1
            source.draw(count)
            drawn[count] = time.monotonic()

    def look():
        while not over.wait(0.005):
            shown = target.read()
            if shown is not None and shown not in seen and shown in drawn:
                seen[shown] = time.monotonic()

    threads = [threading.Thread(target=draw), threading.Thread(target=look)]
    for thread in threads:
        thread.start()
    processes = []
    try:
        sender, playlist = side.send(source, place)
        processes.append(sender)
        until("five fragments", lambda: (newest(playlist) or (0, 0))[1] >= 5)
        before = newest(playlist)
        until("another fragment", lambda: newest(playlist) != before)
        time.sleep((number + 0.5) / options.rounds * options.fragment / 1000)
        processes.append(side.watch(target, place, way))
        for _ in range(options.seconds):
            time.sleep(1)
            target.place({**os.environ, "DISPLAY": target.name})
    finally:
        over.set()
        for thread in threads:
            thread.join()
        for process in reversed(processes):
            stop(process)
        target.close()
        source.close()
    numbers = sorted(seen)
    return [(seen[number] - drawn[number]) * 1000 for number in numbers[len(numbers) // 3:]]


def compare(way, options, programs, directory):
    """Prints a line for each run, and what they come to."""
    results, sides = {}, []
    try:
        for kind in (Ours, Theirs):
            place = f"{directory}/{way}{kind.__name__}"
            os.mkdir(place)
            sides.append(kind(programs, place, options.fragment))
        for number in range(options.rounds):
            for side in sides if number % 2 == 0 else sides[::-1]:
                delays = measure(side, way, directory, options, number)
                if not delays:
                    raise SystemExit(f"{way}, {side.name}: nothing was seen")
                results.setdefault(side.name, []).append(median(delays))
                print(f"{way}, {side.name}: {median(delays):.0f} ms, {min(delays):.0f} to "
                      f"{max(delays):.0f}, {len(delays)} pictures", flush=True)
    finally:
        for side in sides:
            side.close()
    mine, other = (median(results[side.name]) for side in sides)
    print(f"{way}: {mine:.0f} ms beside {other:.0f} ms, {mine / other:.2f}", flush=True)


def main():
    """Compares over the protocols that are asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", default=".build/release")
    parser.add_argument("--over", nargs="+", choices=["rtmp", "hls"], default=["rtmp", "hls"])
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=12)
    parser.add_argument("--fragment", type=int, default=2000)
    options = parser.parse_args()
    # Ends what it has started, also when it is ended itself.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        for way in options.over:
            compare(way, options, os.path.abspath(options.programs), directory)


if __name__ == "__main__":
    main()
