#!/usr/bin/env python3
"""Measures how an adaptive lecture is kept, beside yt-dlp and ffmpeg, and what kills cost.

A lecture of two hours: 1,200 segments of 6 s, three variants, of which the best has about 750 KiB a segment; nginx serves
it over HTTP/1.1. Each round measures every program in turn, so ratios within one run are the result. lecturectl is
measured with everything that it promises: each segment has its proof and is on the disk when it is reported. The others
end with one joined file in the page cache. The segments have the headers of transport streams and nothing to decode, so
ffmpeg, which parses what it copies, gets a real film made for this.

  Benchmarks/adaptive.py [--rounds 3] [--segments 1200] [--delay-ms 20] [--dir DIR]   with a delay: as root
  Benchmarks/adaptive.py --kills 20                                                   bytes again after kills

Needs yt-dlp (from PyPI, in PATH or at $YTDLP), aria2 and ffmpeg.
"""
import argparse, json, os, shutil, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
from compare import LECTURECTL, Nginx, median, run  # noqa: E402

YTDLP = os.environ.get("YTDLP", "yt-dlp").split()
# How large a segment of each variant is, in KiB.
VARIANTS = {"low": 120, "middle": 350, "high": 750}


def make_site(root, segments):
    """The lecture: one real segment for each variant, which all others are copies of, with clocks that go on."""
    lines = ["#EXTM3U"]
    for number, (name, kib) in enumerate(VARIANTS.items()):
        os.makedirs(f"{root}/{name}")
        rate = kib * 1024 * 8 // 6
        height = (360, 540, 720)[number]
        subprocess.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=size={height * 16 // 9 // 2 * 2}x{height}:rate=25",
             "-t", "6", "-c:v", "libx264", "-preset", "ultrafast", "-x264-params", "nal-hrd=cbr:force-cfr=1", "-b:v", str(rate),
             "-minrate", str(rate), "-maxrate", str(rate), "-bufsize", str(rate), "-g", "50", "-f", "mpegts",
             f"{root}/{name}/0.ts"], check=True)
        for segment in range(1, segments):
            shutil.copyfile(f"{root}/{name}/0.ts", f"{root}/{name}/{segment}.ts")
        with open(f"{root}/{name}.m3u8", "w") as file:
            file.write("#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n")
            for segment in range(segments):
                file.write(f"{'#EXT-X-DISCONTINUITY' + chr(10) if segment else ''}#EXTINF:6,\n{name}/{segment}.ts\n")
            file.write("#EXT-X-ENDLIST\n")
        lines += [f"#EXT-X-STREAM-INF:BANDWIDTH={rate},RESOLUTION={height * 16 // 9 // 2 * 2}x{height}", f"{name}.m3u8"]
    with open(f"{root}/master.m3u8", "w") as file:
        file.write("\n".join(lines) + "\n")
    return sum(os.path.getsize(f"{root}/high/{segment}.ts") for segment in range(segments))


def programs(url, out):
    """The commands, by name; each writes below out."""
    best = url.replace("master", "high")
    yt = [*YTDLP, "--quiet", "--no-progress", "--no-cache-dir", "-f", "best", "-o", f"{out}/y.mp4", "--fixup", "never"]
    return {
        "lecturectl": ["env", f"LECTURE_DEVICE={out}/device", LECTURECTL, "--store", f"{out}/store", "precache",
                       "--progress", "none", "--reserve", "1M", url],
        "yt-dlp": [*yt, "-N", "8", url],
        "yt-dlp with aria2": [*yt, "--downloader", "aria2c", "--downloader-args", "aria2c:-j 16 -x 4", url],
        "ffmpeg -c copy": ["ffmpeg", "-nostdin", "-v", "quiet", "-i", best, "-c", "copy", "-f", "mpegts", f"{out}/f.ts"],
    }


def measure(server, runner, work, rounds):
    """Runs all programs in turn; returns their figures.

    What they wrote stays until the end: ext4 without a journal looks at every inode that was freed within the last minute
    before it makes a file, so the next program would pay for the files of the one before (an eighth of lecturectl's time,
    which makes a file for each segment).
    """
    figures = {}
    for number in range(rounds):
        for name in programs("", ""):
            out = f"{work}/out/{number}-{name}"
            os.makedirs(out)
            os.sync()
            one = runner(programs(f"{server.url}/master.m3u8", out)[name])
            if one["status"] != 0:
                print(f"{name} ended with {one['status']}", file=sys.stderr)
                continue
            figures.setdefault(name, []).append(one)
            print(f"round {number + 1}, {name}: {one['wall']:.2f} s, CPU {one['cpu']:.2f} s, {one['mib']:.0f} MiB", flush=True)
    return figures


def report(figures):
    own = figures["lecturectl"]
    others = {name: rounds for name, rounds in figures.items() if name != "lecturectl"}
    for value, unit in (("wall", "s"), ("cpu", "CPU s"), ("mib", "MiB")):
        best = min(others, key=lambda name: median([one[value] for one in others[name]]))
        mine, theirs = median([one[value] for one in own]), median([one[value] for one in others[best]])
        print(f"{value}: {mine:.2f} {unit}; the least of the others is {best} with {theirs:.2f}: {mine / theirs:.2f}")


def kills(server, work, count, total, segments):
    """Kills a download again and again; how many bytes came twice."""
    shutil.rmtree(f"{work}/out", ignore_errors=True)
    os.makedirs(f"{work}/out")
    command = programs(f"{server.url}/master.m3u8", f"{work}/out")["lecturectl"]
    done = 0
    for number in range(count):
        one = run([*command[:-1], "--limit-rate", f"{max(1, total // count // (1 << 20))}M", command[-1]], kill_after=0.7)
        if one["status"] == 0:
            break
        done += 1
    last = run(command)
    again = server.bytes_served() - total
    print(f"{done} kills, then status {last['status']}: {again / (1 << 20):.1f} MiB again; "
          f"8 segments a kill would be {done * 8 * total / segments / (1 << 20):.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--segments", type=int, default=1200)
    parser.add_argument("--delay-ms", type=int, default=0)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--dir", default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.dir) as work:
        os.makedirs(f"{work}/site")
        total = make_site(f"{work}/site", options.segments)
        print(f"{options.segments} segments, {total / (1 << 20):.0f} MiB in the best variant", flush=True)
        network = None
        if options.delay_ms:
            from far_network import FarNetwork
            network = FarNetwork(work, delay_ms=options.delay_ms, rate=1000)
        server = network.nginx(f"{work}/site", work) if network else Nginx(f"{work}/site", work)
        try:
            if options.kills:
                kills(server, work, options.kills, total, options.segments)
            else:
                report(measure(server, network.run if network else run, work, options.rounds))
        finally:
            server.stop()
            if network:
                network.stop()


if __name__ == "__main__":
    main()
