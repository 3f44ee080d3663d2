#!/usr/bin/env python3
"""What a broadcast costs beside ffmpeg: 720p at 30 frames a second, 2 Mb/s, to nginx on this machine, in turn.

Both decode the same file and encode it with the same settings. Needs what Tools/setup installs, and Swift's clang in
the path.

  Benchmarks/live_media.py [--rounds 3] [--seconds 10]
"""
import argparse, os, pathlib, socket, statistics, subprocess, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = ["avdevice", "avfilter", "avformat", "avcodec", "swresample", "swscale", "avutil", "m", "pthread"]
NGINX = """load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
daemon off; master_process off; pid nginx.pid; error_log stderr warn;
events {{ worker_connections 64; }}
rtmp {{ server {{ listen 127.0.0.1:{port}; application live {{ live on; }} }} }}
"""


def compile_program(directory):
    """Compiles the C half with the program, and returns its path."""
    sources = sorted(str(path) for path in (ROOT / "Sources/CLectureMedia").glob("*.c"))
    program = f"{directory}/live-media"
    subprocess.run(
        ["clang", "-O2", "-D_GNU_SOURCE", "-o", program]
        + [f"-I{ROOT}/Sources/CLectureMedia/include", f"{ROOT}/Benchmarks/live-media.c", *sources]
        + [f"-l{name}" for name in LIBRARIES], check=True)
    return program


def start_nginx(directory):
    """Starts a server, and returns its process and its address."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    pathlib.Path(f"{directory}/nginx.conf").write_text(NGINX.format(port=port))
    server = subprocess.Popen(["/usr/sbin/nginx", "-e", "stderr", "-p", directory, "-c", f"{directory}/nginx.conf"])
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return server, f"rtmp://127.0.0.1:{port}/live"
        except OSError:
            time.sleep(0.05)
    raise SystemExit("nginx does not listen")


def ours(program, url, film, seconds):
    """Frames, dropped frames, processor time, memory of one run."""
    text = subprocess.run([program, url, film, str(seconds)], check=True, capture_output=True, text=True).stdout
    frames, dropped, cpu, memory = text.split()
    return int(frames), int(dropped), float(cpu), int(memory)


def theirs(url, film, seconds):
    """Processor time and memory of ffmpeg."""
    command = ["ffmpeg", "-v", "error", "-re", "-stream_loop", "-1", "-i", film, "-t", str(seconds)]
    command += ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-g", "60"]
    command += ["-b:v", "2048k", "-maxrate", "2048k", "-bufsize", "1024k", "-c:a", "aac", "-b:a", "128k", "-f", "flv", url]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("ffmpeg failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def main():
    """Prints a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        program, film = compile_program(directory), f"{directory}/film.mp4"
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=1280x720:r=30", "-f", "lavfi", "-i"]
            + ["sine=r=44100", "-t", "12", "-c:v", "libx264", "-preset", "veryfast", "-b:v", "4M", "-pix_fmt", "yuv420p"]
            + ["-c:a", "aac", "-ac", "2", film], check=True)
        server, url = start_nginx(directory)
        rows = []
        try:
            for number in range(options.rounds):
                rows.append((ours(program, f"{url}/a{number}", film, options.seconds),
                             theirs(f"{url}/b{number}", film, options.seconds)))
                print(rows[-1], flush=True)
        finally:
            server.kill()
            server.wait()
    mine, other = (statistics.median(row[0][2] for row in rows), statistics.median(row[1][0] for row in rows))
    print(f"CPU, medians of {len(rows)}: {mine:.2f} s beside {other:.2f} s of ffmpeg, {mine / other:.2f}")
    print(f"memory: {max(row[0][3] for row in rows) // 1024} MiB beside {max(row[1][1] for row in rows) // 1024} MiB")


if __name__ == "__main__":
    main()
