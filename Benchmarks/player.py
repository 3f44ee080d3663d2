#!/usr/bin/env python3
"""Measures `lecturectl play` beside bare mpv: the first picture, seeking, processor time and memory.

Everything runs on an X display of its own (Xvfb) without sound, with the first video output of lecturectl's list that
works; of its own list mpv takes a slower one there. The lecture is made by mpv: 1080p at 30 pictures a second, H.264. Each round measures every player in turn; ratios
within one run are the result. A jump is a press of the right arrow key, five seconds ahead, exact in both players.

  Benchmarks/player.py [--rounds 7] [--seconds 20] [--dir DIR]
  Benchmarks/player.py --memory [--seconds 3700]    resident memory of a ten-hour lecture, sealed, at ten times its speed
"""
import argparse, json, os, shutil, socket, struct, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
from compare import LECTURECTL, Nginx, median  # noqa: E402

MPV = ["mpv", "--no-config", "--load-scripts=no", "--ytdl=no", "--vo=gpu,xv,x11,wlshm", "--ao=null", "--fullscreen", "--hr-seek=yes",
       "--input-ipc-server={socket}", "{file}"]


def make_lecture(path, seconds):
    """A test picture with a running counter and a tone."""
    video = f"av://lavfi:testsrc2=size=1920x1080:rate=30:duration={seconds}"
    audio = f"av://lavfi:sine=frequency=440:duration={seconds}"
    subprocess.run(
        ["mpv", "--no-config", "--really-quiet", video, f"--audio-file={audio}", f"--o={path}", "--ovc=libx264",
         "--ovcopts=preset=veryfast,g=60,crf=23", "--oac=aac", "--of=mp4", "--ofopts=movflags=+faststart"], check=True)


class Display:
    """An X server without a screen."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "1920x1080x24", "-nolisten", "tcp", "-noreset"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.name = ":" + self.process.stdout.readline().strip()

    def stop(self):
        self.process.terminate()
        self.process.wait()


def usage_of(process):
    """Ends a process; returns its processor seconds and its largest memory in MiB."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def play_mpv(path, environment, work, seconds):
    """Bare mpv: seconds to the first picture, processor seconds and MiB for a play of some seconds."""
    socket = f"{work}/mpv.socket"
    words = [word.format(socket=socket, file=path) for word in MPV] + ["-v", f"--length={seconds}"]
    start = time.monotonic()
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    first = None
    for line in process.stdout:
        if first is None and "first video frame after restart shown" in line:
            first = time.monotonic() - start
    cpu, memory = usage_of(process)
    if process.returncode != 0 or first is None:
        sys.exit(f"mpv ended with {process.returncode}, first picture {first}")
    return {"first": first, "cpu": cpu, "memory": memory}


def play_ours(what, environment, seconds, *more):
    """The same with lecturectl. A play is prepared when its first picture is there."""
    words = [LECTURECTL, "--json", "play", what, "--fullscreen", "--audio-output", "null", "--section",
             f"0-{seconds}", *more]
    start = time.monotonic()
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)
    first = None
    for line in process.stdout:
        event = json.loads(line)
        if first is None and event["state"] == "prepared":
            first = time.monotonic() - start
    cpu, memory = usage_of(process)
    if process.returncode != 0 or first is None:
        sys.exit(f"lecturectl play {what} ended with {process.returncode}, first picture {first}")
    return {"first": first, "cpu": cpu, "memory": memory}


def on_new_display(environment, measure):
    """Measures on a display of its own: without a window manager no window after the first one gets the keys."""
    display = Display()
    try:
        return measure(dict(environment, DISPLAY=display.name))
    finally:
        display.stop()


def jump(environment, arrived):
    """Presses a key; seconds until the picture is there."""
    start = time.monotonic()
    subprocess.run(["xdotool", "key", "Right"], env=environment, check=True)
    arrived()
    return time.monotonic() - start


def jumps_mpv(path, environment, work, count):
    """Seconds of each jump in bare mpv."""
    address = f"{work}/mpv.socket"
    words = [word.format(socket=address, file=path) for word in MPV] + ["--really-quiet"]
    process = subprocess.Popen(words, env=environment)
    control = socket.socket(socket.AF_UNIX)
    while control.connect_ex(address) != 0:
        time.sleep(0.01)
    lines = control.makefile()

    def arrived():
        for line in lines:
            if json.loads(line).get("event") == "playback-restart":
                return

    arrived()
    time.sleep(1)
    taken = [jump(environment, arrived) for _ in range(count)]
    if process.poll() is not None:
        sys.exit("the lecture ended before the jumps did")
    process.terminate()
    usage_of(process)
    return taken


def jumps_ours(what, environment, count, *more):
    """The same with lecturectl."""
    words = [LECTURECTL, "--json", "play", what, "--fullscreen", "--audio-output", "null", "--start", "0", *more]
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)

    def until(activity):
        for line in process.stdout:
            if json.loads(line).get("activity") == activity:
                return

    def arrived():
        until("seeking")
        until("steady")

    until("steady")
    time.sleep(1)
    taken = [jump(environment, arrived) for _ in range(count)]
    if process.poll() is not None:
        sys.exit("the lecture ended before the jumps did")
    process.terminate()
    usage_of(process)
    return taken


def resident(pid):
    """Resident memory in MiB."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024


def make_tone(path, seconds):
    """A tone of 8 kHz, one channel, 8 bits."""
    second = bytes(128 + (sample * 440 * 256 // 8000) % 64 for sample in range(8000))
    length = seconds * 8000
    with open(path, "wb") as file:
        file.write(b"RIFF" + struct.pack("<I", 36 + length) + b"WAVEfmt " + struct.pack(
            "<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8) + b"data" + struct.pack("<I", length))
        for _ in range(seconds):
            file.write(second)


def memory(options, work):
    """Plays a ten-hour lecture for a while and reads its memory each second."""
    os.mkdir(f"{work}/web")
    make_tone(f"{work}/web/tone.wav", 36_000)
    nginx = Nginx(f"{work}/web", work)
    environment = dict(os.environ, LECTURE_STORE=f"{work}/store", LECTURE_DEVICE=f"{work}/device")
    try:
        subprocess.run([LECTURECTL, "precache", "--progress", "none", "-q", "--seal", "--key", "tone",
                        f"{nginx.url}/tone.wav"], env=environment, check=True)
    finally:
        nginx.stop()
    process = subprocess.Popen(
        [LECTURECTL, "play", "tone", "--no-video", "--audio-output", "null", "--speed", "10", "--progress", "none"],
        env=environment)
    samples = []
    while len(samples) < options.seconds and process.poll() is None:
        samples.append(resident(process.pid))
        time.sleep(1)
    if process.poll() is None:
        process.terminate()
        usage_of(process)
    tenth = max(1, len(samples) // 10)
    first, last = median(samples[tenth:2 * tenth]), median(samples[-tenth:])
    print(f"resident MiB after {tenth} s: {first:.1f}, after {len(samples)} s: {last:.1f} (most {max(samples):.1f})")
    print(json.dumps({"player memory": samples}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=20, help="how much of the lecture is played in a round")
    parser.add_argument("--memory", action="store_true", help="resident memory over a long play")
    parser.add_argument("--dir", default=".")
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix="lecture-player-", dir=options.dir)
    if options.memory:
        try:
            return memory(options, work)
        finally:
            shutil.rmtree(work)
    display, nginx = Display(), None
    try:
        os.mkdir(f"{work}/web")
        make_lecture(f"{work}/web/lecture.mp4", max(90, options.seconds + 10))
        nginx = Nginx(f"{work}/web", work)
        base = dict(os.environ, DISPLAY=display.name, WAYLAND_DISPLAY="")
        stores = {}
        for name, flag in [("plain", "--no-seal"), ("sealed", "--seal")]:
            stores[name] = dict(base, LECTURE_STORE=f"{work}/{name}", LECTURE_DEVICE=f"{work}/device")
            subprocess.run([LECTURECTL, "precache", "--progress", "none", "-q", flag, "--key", "lecture",
                            f"{nginx.url}/lecture.mp4"], env=stores[name], check=True)
        jumps = {name: [] for name in ["mpv", "plain", "sealed"]}
        samples = {name: [] for name in ["mpv", "plain", "sealed", "streamed"]}
        for _ in range(options.rounds):
            samples["mpv"].append(play_mpv(f"{work}/web/lecture.mp4", base, work, options.seconds))
            for name in ["plain", "sealed"]:
                samples[name].append(play_ours("lecture", stores[name], options.seconds))
            jumps["mpv"] += on_new_display(base, lambda where: jumps_mpv(f"{work}/web/lecture.mp4", where, work, 4))
            for name in ["plain", "sealed"]:
                jumps[name] += on_new_display(stores[name], lambda where: jumps_ours("lecture", where, 4))
            # The first round fills the cache, the others read from it.
            samples["streamed"].append(
                play_ours(f"{nginx.url}/lecture.mp4", stores["plain"], options.seconds, "--stream"))
        report(samples, jumps)
    finally:
        if nginx:
            nginx.stop()
        display.stop()
        shutil.rmtree(work)


def report(samples, jumps):
    def figure(name, kind):
        return median([sample[kind] for sample in samples[name]])

    def ratio(one, other, kind):
        return median([a[kind] / b[kind] for a, b in zip(samples[one], samples[other])])

    print(f"{'':10} {'first picture s':>16} {'/ mpv':>6} {'CPU s':>7} {'/ plain':>8} {'MiB':>6}")
    for name in samples:
        print(f"{name:10} {figure(name, 'first'):16.3f} {ratio(name, 'mpv', 'first'):6.2f} "
              f"{figure(name, 'cpu'):7.2f} {ratio(name, 'plain', 'cpu'):8.2f} {figure(name, 'memory'):6.0f}")
    print(f"{'':10} {'jump s':>16} {'/ mpv':>6}")
    for name in jumps:
        print(f"{name:10} {median(jumps[name]):16.3f} {median(jumps[name]) / median(jumps['mpv']):6.2f}")
    print(json.dumps({"player": samples, "jumps": jumps}))


if __name__ == "__main__":
    main()
