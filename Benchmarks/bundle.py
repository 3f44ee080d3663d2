#!/usr/bin/env python3
"""Compares bundles with tar: `bundle create` beside `tar | zstd -1`, `bundle import` beside `tar x`, in turn.

An office keeps lectures of random bytes, which do not compress, as media do not. Each round writes them as an archive by
tar and zstd and as a bundle, and unpacks that bundle by tar and into an empty store; the order changes from round to
round. What a program reads was written to the disk and dropped from the page cache before. tar and zstd end with the
bytes in the page cache; lecturectl syncs, and compares every byte with its proof: so both are measured once more with
sync(1) behind them. The lectures that were imported are compared with the source before a figure counts.

  Benchmarks/bundle.py [--gib 20] [--lectures N] [--rounds 3] [--seal licensed|always] [--dir DIR]

It needs three times the bytes on the disk, and one GiB more. A speed is the seconds of the other program divided by ours;
the medians over the rounds are the result. Ends with status 1 when one is beyond its limit (thresholds.json).
"""
import argparse, json, os, shutil, subprocess, sys, tempfile

sys.dont_write_bytecode = True
from compare import LECTURECTL, Nginx, clear, hold, make_file, median, run, sha256, table  # noqa: E402

LECTURE_MIB = 256


class Device:
    """A store of lecturectl with its device."""

    def __init__(self, work, name, seal):
        self.home = f"{work}/{name}"
        self.seal = seal
        self.make()

    def make(self):
        clear(self.home)
        settings = f"{self.home}/config.json"
        with open(os.open(settings, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            json.dump({"storage": {"seal": self.seal}}, file)
        self.environment = {"PATH": os.environ["PATH"], "HOME": self.home, "LECTURE_STORE": f"{self.home}/store",
                            "LECTURE_CONFIG": settings, "LECTURE_RESERVE": "1M"}
        self.key = f"{self.home}/device.jwk"
        with open(self.key, "w") as file:
            file.write(self.read("device", "show", "--json"))

    def read(self, *words):
        return subprocess.check_output([LECTURECTL, *words], env=self.environment, text=True)

    def digest(self, key):
        with subprocess.Popen([LECTURECTL, "cat", key], env=self.environment, stdout=subprocess.PIPE) as process:
            return subprocess.check_output(["sha256sum"], stdin=process.stdout, text=True)[:64]


def drop(*paths):
    """Writes files to the disk and drops them from the page cache, so that the next program reads the disk."""
    for path in paths:
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def stock(office, work, lectures, size):
    """The office downloads its lectures; what nginx has served is removed. Returns digests by key."""
    site = f"{work}/site"
    os.makedirs(site)
    digests = {}
    nginx = Nginx(site, work)
    try:
        with open(f"{work}/course.jsonl", "w") as course:
            for number in range(lectures):
                key, path = f"lecture-{number:04}", f"{site}/{number}.mp4"
                make_file(path, size)
                with open(path, "r+b") as file:
                    file.write(bytes([0, 0, 0, 24]) + b"ftypmp42" + bytes(4) + b"mp42isom")
                digests[key] = sha256(path)
                line = {"url": f"{nginx.url}/{number}.mp4", "key": key, "sha256": digests[key]}
                # One at a time, so that the bytes are on the disk only twice at any time.
                course.seek(0)
                course.truncate()
                course.write(json.dumps(line) + "\n")
                course.flush()
                subprocess.run([LECTURECTL, "--quiet", "precache", course.name], env=office.environment, check=True)
                os.remove(path)
    finally:
        nginx.stop()
    shutil.rmtree(site)
    return digests


def measure(options, work):
    lectures = options.lectures or max(1, round(options.gib * 1024 / LECTURE_MIB))
    size = int(options.gib * (1 << 30)) // lectures
    office, room = Device(work, "office", options.seal), Device(work, "room", options.seal)
    digests = stock(office, work, lectures, size)
    media = [os.path.join(folder, name) for folder, _, names in os.walk(f"{office.home}/store") for name in names
             if os.path.getsize(os.path.join(folder, name)) >= size]
    assert len(media) == lectures, f"{len(media)} files"
    names, out, bundle = f"{work}/names", f"{work}/out", f"{work}/bundle.tar"
    with open(names, "w") as file:
        file.write("".join(f"{path}\n" for path in media))
    tar = f"set -o pipefail; tar -c -P -T '{names}' | zstd -q -1 -o '{out}/archive.tar.zst'"
    untar = f"tar -x -f '{bundle}' -C '{out}'"
    writers = {
        "tar | zstd -1": ["bash", "-c", tar],
        "tar | zstd -1, sync": ["bash", "-c", f"{tar} && sync '{out}/archive.tar.zst'"],
        "bundle create": [LECTURECTL, "--quiet", "bundle", "create", bundle, "--for", room.key],
    }
    readers = {
        "tar x": ["bash", "-c", untar],
        "tar x, sync": ["bash", "-c", f"{untar} && sync -f '{out}'"],
        "bundle import": [LECTURECTL, "--quiet", "bundle", "import", bundle, "--trust", office.key],
    }
    written, imported = {name: [] for name in writers}, {name: [] for name in readers}

    def one(name, words, device, rows, inputs):
        drop(*inputs)
        sample = run(words, env=device.environment)
        if sample["status"] != 0:
            sys.exit(f"{name}: status {sample['status']}")
        rows[name].append(sample)
        print(f"{name}: {sample['wall']:.1f} s, CPU {sample['cpu']:.1f} s, {sample['mib']:.0f} MiB", flush=True)

    for number in range(options.rounds):
        order = list(writers)[:: -1 if number % 2 else 1]
        for name in order:
            clear(out)
            if name == "bundle create" and os.path.exists(bundle):
                os.remove(bundle)
            one(name, writers[name], office, written, media)
        for name in list(readers)[:: -1 if number % 2 else 1]:
            clear(out)
            if name == "bundle import":
                # The bundle is for this device: its store is new in each round, and its key is not.
                shutil.rmtree(f"{room.home}/store", ignore_errors=True)
            one(name, readers[name], room, imported, [bundle])
        clear(out)
        for former in [entry.path for entry in os.scandir(work) if ".former-" in entry.name]:
            shutil.rmtree(former)
        for key, digest in digests.items():
            if room.digest(key) != digest:
                sys.exit(f"{key}: other bytes")
        # Or the next round would need four times the bytes.
        shutil.rmtree(f"{room.home}/store")
    rate = lectures * size / (1 << 20)
    for title, rows, base in (("written", written, "tar | zstd -1"), ("imported", imported, "tar x")):
        table(f"{options.gib:g} GiB in {lectures} lectures, {title}", rows, base)
        for name, samples in rows.items():
            print(f"  {name:<28}  {rate / median([s['wall'] for s in samples]):8.0f} MiB/s")

    def slower(ours, theirs):
        return median([own["wall"] / other["wall"] for own, other in zip(ours, theirs)])

    hold("bundle", {
        "wall: bundle create / tar | zstd -1": slower(written["bundle create"], written["tar | zstd -1"]),
        "wall: bundle import / tar x": slower(imported["bundle import"], imported["tar x"]),
        "peak MiB: bundle create": max(s["mib"] for s in written["bundle create"]),
        "peak MiB: bundle import": max(s["mib"] for s in imported["bundle import"]),
    })


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gib", type=float, default=20)
    parser.add_argument("--lectures", type=int, help=f"how many there are; one for each {LECTURE_MIB} MiB unless given")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seal", choices=["licensed", "always"], default="licensed")
    parser.add_argument("--dir", help="where files are made; the current directory unless given", default=".")
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix="lecture-benchmark-", dir=options.dir)
    try:
        measure(options, os.path.abspath(work))
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
