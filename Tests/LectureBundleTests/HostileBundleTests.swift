import Foundation
import LectureArchive
import LectureBundle
import LectureModel
import LectureTestSupport
import Testing

/// Archives that are made to do harm: each is refused before anything of it is used.
@Suite(.timeLimit(.minutes(3))) struct HostileBundleTests {
    /// Names that lead elsewhere, or are the same as another for some file system.
    static let names: [String] = {
        let good = "lecturekit-bundle/000001/00.000"
        var names = [
            "", ".", "..", "/", "../etc/passwd", "/etc/passwd", "lecturekit-bundle", "lecturekit-bundle/",
            "lecturekit-bundle/../x", "lecturekit-bundle/../../x", "./\(good)", "/\(good)", "\(good)/", "\(good)/.",
            "lecturekit-bundle//000001/00.000", "lecturekit-bundle/./000001/00.000",
            "lecturekit-bundle/000001/../000002/00.000", "lecturekit-bundle/000001", "lecturekit-bundle/000000/00.000",
            "lecturekit-bundle/1/00.000", "lecturekit-bundle/0000001/00.000", "lecturekit-bundle/000001/0.000",
            "lecturekit-bundle/000001/00.00", "lecturekit-bundle/000001/00.0000", "lecturekit-bundle/000001/00.000.1",
            "lecturekit-bundle/000001/00,000", "lecturekit-bundle/000001/DIGESTS", "lecturekit-bundle/000001/Digests",
            "Lecturekit-bundle/000001/00.000", "LECTUREKIT-BUNDLE/000001/00.000", "lecturekit-bundle\\000001\\00.000",
            "lecturekit-bundle/catalogue.JSONL", "lecturekit-bundle/manifest.jws ", " lecturekit-bundle/manifest.jws",
            "lecturekit-bundle/manifest.jws\t", "lecturekit-bundle/manifest.jws\n",
            "lecturekit-bundle/manifest.jws\u{7}",
            "lecturekit-bundle/con", "lecturekit-bundle/000001/nul", "C:\\windows\\x", "\\\\host\\share", "~/x", "-rf",
            "lecturekit-bundle/000001/00.000\u{200B}", "lecturekit-bundle/000001/digests\u{301}",
            "lecturekit\u{2010}bundle/manifest.jws", "lecturekit-bundle/\u{FF10}00001/00.000",
            "lecturekit-bundle/٠٠٠٠٠١/00.000", "lecturekıt-bundle/manifest.jws",
            "lecturekit-bundle/mani\u{FB01}est.jws",
            "lecturekit-bundle/e\u{301}", "lecturekit-bundle/\u{E9}", "lecturekit-bundle/000001/00.000\u{202E}",
        ]
        // Every byte that is no part of the grammar, in three places.
        for byte in UInt8(1)...126 where !"0123456789./".utf8.contains(byte) && !(0x61...0x7A).contains(byte) {
            let letter = String(UnicodeScalar(byte))
            names += ["\(letter)\(good)", "lecturekit-bundle/00000\(letter)/00.000", "\(good)\(letter)"]
        }
        return names
    }()

    @Test func `a name is in the grammar or is none`() {
        for name in Self.names { #expect(BundleName(name) == nil, "\(name.debugDescription)") }
        for name in [
            BundleName.part(lecture: 1, file: 0, part: 0), .part(lecture: 999_999, file: 99, part: 999),
            .digests(lecture: 20), .catalogue, .manifest,
        ] {
            #expect(BundleName(name.text) == name && name.text.utf8.count < 64)
        }
    }

    @Test func `an archive with such a name is refused, wherever it stands`() throws {
        let files = try LooseFile.files(of: try MemoryBundle(sizes: [10]).bytes)
        #expect(BundleArchiveTests.refusal(LooseFile.archive(files)) == nil)
        for name in Self.names where name.utf8.count <= 100 {
            for place in [0, 1, files.count - 1, files.count] {
                var changed = files
                changed.insert(LooseFile(name: name, bytes: [1, 2, 3]), at: place)
                let error = BundleArchiveTests.refusal(LooseFile.archive(changed))
                #expect(error?.code == .bundleRefused, "\(name.debugDescription) at \(place)")
            }
        }
    }

    /// Entries that are no regular files, or pretend to be others.
    static let entries: [(what: String, file: LooseFile)] = {
        let name = "lecturekit-bundle/000009/00.000"
        var entries: [(String, LooseFile)] = []
        for type in UInt8(0)...127 where type != UInt8(ascii: "0") {
            entries.append(("type \(type)", LooseFile(name: name, bytes: [], type: type, link: "/etc/passwd")))
            entries.append(("type \(type) with bytes", LooseFile(name: name, bytes: [1, 2], type: type)))
        }
        entries.append(("a file with a link", LooseFile(name: name, bytes: [], link: "/etc/passwd")))
        entries.append(("GNU magic", LooseFile(name: name, bytes: [], magic: Array("ustar  \0".utf8))))
        entries.append(("no magic", LooseFile(name: name, bytes: [], magic: [UInt8](repeating: 0, count: 8))))
        for (type, text) in [
            ("x", "30 path=../../etc/passwd12345\n"), ("g", "30 path=../../etc/passwd12345\n"),
            ("x", "19 size=9999999999\n"), ("x", "22 GNU.sparse.major=1\n"), ("L", "../../etc/passwd\0"),
            ("K", "/etc/passwd\0"), ("x", "999999999 a=b\n"), ("x", "-1 a=b\n"),
        ] {
            entries.append(
                (
                    "extended header \(type) \(text)",
                    LooseFile(name: "x", bytes: Array(text.utf8), type: Array(type.utf8)[0])
                ))
        }
        return entries
    }()

    @Test func `whatever is no regular file is refused, wherever it stands`() throws {
        let files = try LooseFile.files(of: try MemoryBundle(sizes: [10]).bytes)
        for (what, file) in Self.entries {
            for place in [0, 2, files.count - 1, files.count] {
                var changed = files
                changed.insert(file, at: place)
                let error = BundleArchiveTests.refusal(LooseFile.archive(changed))
                #expect(error?.code == .bundleRefused, "\(what) at \(place): \(error?.message ?? "accepted")")
            }
            // In place of a file that belongs there.
            for place in files.indices {
                var changed = files
                let name = file.type == UInt8(ascii: "x") || file.type == UInt8(ascii: "g") ? "x" : files[place].name
                changed[place] = file
                changed[place].name = name
                #expect(BundleArchiveTests.refusal(LooseFile.archive(changed)) != nil, "\(what) for \(name)")
            }
        }
    }

    @Test func `files that are missing, doubled, moved, longer or shorter are refused`() throws {
        let files = try LooseFile.files(of: try MemoryBundle(sizes: [10, 20]).bytes)
        for place in files.indices {
            var changed = files
            changed.remove(at: place)
            #expect(BundleArchiveTests.refusal(LooseFile.archive(changed))?.code == .bundleRefused, "no \(place)")
            changed = files
            changed.insert(files[place], at: place)
            #expect(BundleArchiveTests.refusal(LooseFile.archive(changed))?.code == .bundleRefused, "two \(place)")
            changed = files
            changed[place].bytes.append(0)
            let codes: [LectureError.Code] = [.bundleRefused, .bundleSignature]
            #expect(codes.contains { $0 == BundleArchiveTests.refusal(LooseFile.archive(changed))?.code })
            changed = files
            changed[place].bytes.removeLast()
            #expect(codes.contains { $0 == BundleArchiveTests.refusal(LooseFile.archive(changed))?.code })
            for other in files.indices where other != place {
                changed = files
                changed.swapAt(place, other)
                #expect(BundleArchiveTests.refusal(LooseFile.archive(changed)) != nil, "\(place) for \(other)")
            }
        }
        #expect(BundleArchiveTests.refusal(LooseFile.archive([]))?.code == .bundleRefused)
    }

    @Test func `bombs and lies about lengths cost no memory`() throws {
        let files = try LooseFile.files(of: try MemoryBundle(sizes: [10]).bytes)
        // A header that claims up to 8 GiB.
        for size in [1, 512, 1 << 20, (1 << 33) - 4096] {
            for place in files.indices {
                var changed = files
                changed[place].size = changed[place].bytes.count + size
                #expect(BundleArchiveTests.refusal(LooseFile.archive(changed)) != nil, "\(size) more at \(place)")
            }
        }
        // More files than a bundle has; at length as many as the format allows.
        var limits = BundleLimits()
        #expect(limits.entries == 250_000)
        if !RunSize.isSoak { limits.entries = 5000 }
        let many = (0..<limits.entries + 100).map { number in
            LooseFile(name: BundleName.part(lecture: number / 100 + 1, file: number % 100, part: 0).text, bytes: [])
        }
        let error = BundleArchiveTests.refusal(LooseFile.archive(many), limits: limits)
        #expect(error?.cause.contains("more than \(limits.entries) files") == true, "\(error?.message ?? "")")
        // A catalogue and a manifest beyond their limits.
        for place in [files.count - 2, files.count - 1] {
            var changed = files
            changed[place].bytes = [UInt8](repeating: 0x20, count: 17 << 20)
            #expect(BundleArchiveTests.refusal(LooseFile.archive(changed))?.code == .bundleRefused)
        }
        // What another program compressed, and what is no archive at all.
        for bytes in [
            [0x1F, 0x8B, 8, 0], [0x28, 0xB5, 0x2F, 0xFD], Array("PK\u{3}\u{4}".utf8), [0x37, 0x7A, 0xBC, 0xAF],
        ] {
            let junk = bytes + MemoryBundle.sample(4096, seed: 3)
            #expect(BundleArchiveTests.refusal(junk.map { UInt8($0) })?.code == .bundleRefused)
        }
    }

    @Test func `archives of Python's tarfile are refused, each for its reason`() async throws {
        let directory = try TemporaryDirectory()
        let script = #"""
            import io, sys, tarfile
            base = "lecturekit-bundle/000001/00.000"
            cases = []
            def case(name, fill, format=tarfile.USTAR_FORMAT):
                cases.append(name)
                with tarfile.open(f"{sys.argv[1]}/{name}.tar", "w", format=format) as t: fill(t)
            def file(name=base, size=3, **more):
                info = tarfile.TarInfo(name); info.size = size
                for key, value in more.items(): setattr(info, key, value)
                return info
            body = lambda n=3: io.BytesIO(b"x" * n)
            for kind, letter in [("SYMTYPE", "link"), ("LNKTYPE", "hard"), ("DIRTYPE", "directory"),
                                 ("CHRTYPE", "device"),
                                 ("BLKTYPE", "block"), ("FIFOTYPE", "fifo"), ("CONTTYPE", "contiguous")]:
                for fmt in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
                    case(f"{letter}-{fmt}", lambda t: t.addfile(
                        file(size=0, type=getattr(tarfile, kind), linkname="../../etc/passwd")), fmt)
            case("gnu", lambda t: t.addfile(file(), body()), tarfile.GNU_FORMAT)
            case("pax-time", lambda t: t.addfile(file(mtime=1.5), body()), tarfile.PAX_FORMAT)
            case("pax-name", lambda t: t.addfile(file("lecturekit-bundle/é" * 20), body()), tarfile.PAX_FORMAT)
            case("gnu-long", lambda t: t.addfile(file("a" * 300), body()), tarfile.GNU_FORMAT)
            case("prefix", lambda t: t.addfile(file("a" * 90 + "/" + "b" * 90), body()))
            case("pax-headers", lambda t: t.addfile(
                file(pax_headers={"comment": "x" * 100000}), body()), tarfile.PAX_FORMAT)
            case("empty", lambda t: None)
            print("\n".join(cases))
            """#
        let made = try await ChildProcess.run(
            try Places.command("python3"), ["-c", script, directory.path])
        try #require(made.status == 0, "\(made.errorText)")
        let cases = made.text.split(separator: "\n")
        #expect(cases.count == 28)
        for name in cases {
            #expect(throws: LectureError(.bundleRefused), "\(name)") {
                try BundleReader(path: directory.file("\(name).tar"))
            }
        }
        #expect(throws: LectureError(.readFile)) { try BundleReader(path: directory.file("missing")) }
        #expect(throws: LectureError(.readFile)) { try BundleReader(path: directory.path) }
        #expect(throws: LectureError(.readFile)) { try BundleReader(path: "/dev/null") }
    }
}
