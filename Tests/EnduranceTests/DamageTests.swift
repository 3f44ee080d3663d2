import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A disk that does not keep what was written: no damaged byte is taken for a fetched one.
@Suite(.timeLimit(.minutes(5))) struct DamageNetTests {
    /// One chunk and less, a chunk boundary, many.
    private static let sizes = [
        1, 4095, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20, (5 << 20) + 17, (7 << 20) - 1, 48 << 20, (9 << 20) + 1,
    ]

    /// A bit that was changed.
    private struct Flip {
        let lecture: DamageScene.Lecture
        let chunk: Int
        let byte: Int
        let bit: Int
    }

    /// 300 bits, with `Tools/soak` a thousand.
    @Test func `each of many single bit flips is found in its chunk`() async throws {
        let scene = try await DamageScene()
        let (seed, count) = (RunSize.seed, RunSize.count(300, soak: 1000))
        var random = SeededGenerator(seed: seed)
        let lectures = try await scene.fetch(Self.sizes)
        let chunks = lectures.flatMap { lecture in (0..<lecture.chunks).map { (lecture, $0) } }
        var flipped = 0
        var round = 0
        while flipped < count {
            // One bit per chunk, so that every single one has to be named. The first rounds flip the chunks' first and
            // last bytes, which include those of the files.
            let flips = chunks.map { lecture, chunk in
                let range = lecture.range(of: chunk)
                let byte =
                    switch round {
                    case 0: range.lowerBound
                    case 1: range.upperBound - 1
                    default: Int.random(in: range, using: &random)
                    }
                return Flip(lecture: lecture, chunk: chunk, byte: byte, bit: Int.random(in: 0..<8, using: &random))
            }.shuffled(using: &random).prefix(
                round < 2 ? chunks.count : Int.random(in: 1...chunks.count, using: &random))
            for flip in flips { try scene.flip(flip.lecture.file, byte: flip.byte, bit: flip.bit) }
            let ending = try await scene.me("verify", "--all", "--json")
            #expect(ending.status == 65, "seed \(seed): \(ending.errorText)")
            let reports = try DamageScene.Report.all(ending.text)
            for lecture in lectures {
                let due = flips.filter { $0.lecture.key == lecture.key }.map { lecture.range(of: $0.chunk) }
                let report = try #require(reports[lecture.key])
                #expect(report.chunks == lecture.chunks)
                #expect(
                    report.damaged.map(\.range) == due.sorted { $0.lowerBound < $1.lowerBound },
                    "seed \(seed), round \(round), \(lecture.key)")
                #expect(
                    ending.errorText.contains("\(lecture.key): media file damaged at ") == !due.isEmpty,
                    "seed \(seed): \(ending.errorText)")
            }
            let repair = try await scene.me("verify", "--all", "--repair")
            #expect(repair.status == 0, "seed \(seed): \(repair.errorText)")
            flipped += flips.count
            round += 1
        }
        RunSize.report("\(flipped) bits in \(round) rounds over \(chunks.count) chunks, seed \(seed)")
        #expect(try await scene.me("verify", "--all").status == 0)
        try await scene.expectRight(lectures, "seed \(seed)")
    }

    @Test(arguments: [false, true])
    func `a repair fetches the damaged ranges and nothing else`(withDigests: Bool) async throws {
        let scene = try await DamageScene()
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let lectures = try await scene.fetch(Self.sizes, digests: withDigests)
        var due: [String: RangeSet<Int>] = [:]
        for lecture in lectures {
            // A lecture of one chunk loses all it has.
            for _ in 0..<Int.random(in: 0...4, using: &random) + (lecture.chunks == 1 ? 1 : 0) {
                let byte = Int.random(in: 0..<lecture.size, using: &random)
                // Each byte is flipped once, since flipping twice restores it.
                let chunk = lecture.range(of: byte / DamageScene.chunkBytes)
                guard due[lecture.path]?.contains(byte) != true else { continue }
                try scene.flip(lecture.file, byte: byte, bit: Int.random(in: 0..<8, using: &random))
                due[lecture.path, default: RangeSet()].insert(contentsOf: chunk)
            }
        }
        let ending = try await scene.me("verify", "--all", "--repair", "--json")
        #expect(ending.status == 0, "seed \(seed): \(ending.errorText)")
        let (asked, sent) = try await scene.asked()
        #expect(asked == due, "seed \(seed)")
        let bytes = due.values.reduce(0) { $0 + $1.ranges.reduce(0) { $0 + $1.count } }
        #expect(sent == bytes, "seed \(seed)")
        let after = try await scene.me("verify", "--all", "--json")
        #expect(after.status == 0, "seed \(seed): \(after.errorText)")
        #expect(try DamageScene.Report.all(after.text).count == lectures.count)
        try await scene.expectRight(lectures, "seed \(seed)")
        try await scene.me.expectSound()
    }

    /// What takes the place of a finished file.
    enum Replacement: String, CaseIterable {
        case truncated, emptied, grown, missing, directory, link, pipe, zeroes
    }

    @Test(arguments: Replacement.allCases)
    func `another object in place of a finished file is damage and is repaired`(kind: Replacement) async throws {
        let scene = try await DamageScene()
        let lectures = try await scene.fetch([16, 700, (3 << 20) + 5])
        let files = FileManager.default
        for lecture in lectures {
            let url = URL(filePath: lecture.file)
            switch kind {
            case .truncated:
                // An empty file cannot be truncated.
                guard lecture.size > 0 else { continue }
                try FileHandle(forWritingTo: url).truncate(atOffset: UInt64(lecture.size - 1))
            case .emptied:
                guard lecture.size > 0 else { continue }
                try FileHandle(forWritingTo: url).truncate(atOffset: 0)
            case .grown: try FileHandle(forWritingTo: url).truncate(atOffset: UInt64(lecture.size + 1))
            case .zeroes:
                guard lecture.size > 0 else { continue }
                try Data(count: lecture.size).write(to: url)
            case .missing: try files.removeItem(at: url)
            case .directory:
                try files.removeItem(at: url)
                try files.createDirectory(at: url, withIntermediateDirectories: false)
            case .link:
                let elsewhere = scene.me.home.file(lecture.key)
                try files.moveItem(atPath: lecture.file, toPath: elsewhere)
                try files.createSymbolicLink(atPath: lecture.file, withDestinationPath: elsewhere)
            case .pipe:
                try files.removeItem(at: url)
                let made = unsafe mkfifo(lecture.file, 0o600)
                #expect(made == 0)
            }
        }
        let spoilt = lectures.filter { $0.size > 0 || ![.truncated, .emptied, .zeroes].contains(kind) }
        let found = try await scene.me("verify", "--all", "--json")
        #expect(found.status == 65, "\(found.errorText)")
        let reports = try DamageScene.Report.all(found.text)
        for lecture in spoilt { #expect(reports[lecture.key]?.damaged.isEmpty == false, "\(lecture.key)") }
        let repair = try await scene.me("verify", "--all", "--repair")
        #expect(repair.status == 0, "\(repair.errorText)")
        let after = try await scene.me("verify", "--all")
        #expect(after.status == 0, "\(after.errorText)")
        // A lecture whose file was gone is downloaded under another name.
        var repaired = lectures
        for number in repaired.indices {
            let path = try await scene.me("path", lectures[number].key).text.trimmingCharacters(in: .newlines)
            repaired[number].file = path
            let type = try files.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            #expect(type == .typeRegular, "\(lectures[number].key)")
            guard path != lectures[number].file else { continue }
            // A foreign directory stays.
            let isOld = files.fileExists(atPath: lectures[number].file)
            #expect(isOld == (kind == .directory), "\(lectures[number].key)")
        }
        try await scene.expectRight(repaired)
        try await scene.me.expectSound()
    }

    @Test func `an unreadable file is reported and not repaired, and the others are verified`() async throws {
        let scene = try await DamageScene()
        let lectures = try await scene.fetch([700, 800])
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: lectures[0].file)
        // Without these capabilities root is subject to file permissions.
        let words = ["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", BuiltProgram.url.path]
        let program = geteuid() == 0 ? ["/usr/bin/setpriv"] + words : [BuiltProgram.url.path]
        let ending = try await ChildProcess.run(
            program[0], Array(program.dropFirst()) + ["verify", "--all", "--json", "--store", scene.me.store],
            environment: ["HOME": scene.me.home.path])
        #expect(ending.status == 1, "\(ending.errorText)")
        #expect(ending.errorText.contains("a file cannot be read"))
        #expect(ending.errorText.contains("1 sound, 0 repaired, 0 damaged, 1 not verified."))
    }

    /// What happened to the row of a chunk.
    enum Row: String, CaseIterable { case nonce, tag, gone, renumbered }

    @Test(arguments: Row.allCases)
    func `a damaged chunk row counts as damage, and its bytes are not returned`(kind: Row) async throws {
        let scene = try await DamageScene()
        let lectures = try await scene.fetch([(3 << 20) + 5])
        let change =
            switch kind {
            case .nonce, .tag:
                """
                proof = bytearray(db.execute("SELECT proof FROM chunk WHERE idx = 1").fetchone()[0])
                proof[\(kind == .nonce ? 3 : 20)] ^= 16
                db.execute("UPDATE chunk SET proof = ? WHERE idx = 1", (bytes(proof),))
                """
            case .gone: #"db.execute("DELETE FROM chunk WHERE idx = 1")"#
            case .renumbered: #"db.execute("UPDATE chunk SET idx = 65 WHERE idx = 1")"#
            }
        try await scene.database(change)
        let shown = try await scene.me("cat", "lecture-0")
        #expect(shown.status == 65, "\(shown.errorText)")
        #expect(shown.output.count <= DamageScene.chunkBytes)
        let found = try await scene.me("verify", "--all", "--json")
        #expect(found.status == 65, "\(found.errorText)")
        let damaged = try #require(try DamageScene.Report.all(found.text)["lecture-0"]).damaged.map(\.range)
        #expect(damaged.contains(lectures[0].range(of: 1)), "\(damaged)")
        let repair = try await scene.me("verify", "--all", "--repair")
        #expect(repair.status == 0, "\(repair.errorText)")
        let asked = try await scene.asked().ranges
        #expect(
            asked == [lectures[0].path: RangeSet(lectures[0].range(of: 1))],
            "\(asked) \(found.text) \(repair.errorText)")
        #expect(try await scene.me("verify", "--all").status == 0)
        try await scene.expectRight(lectures)
        try await scene.me.expectSound()
        #expect(try await scene.database(#"print(db.execute("SELECT count(*) FROM chunk").fetchone()[0])"#) == "4")
    }

    @Test func `damage in two files of one lecture is repaired in one run`() async throws {
        let scene = try await DamageScene()
        let link = try await scene.sandbox.link(key: "bytes-3M-4")
        let picture = "&set.snapshot_url=\(scene.sandbox.http)/media/bytes-5000-6.mp4"
        let first = try await scene.me("precache", link + picture)
        try #require(first.status == 0, "\(first.errorText)")
        let key = try #require(try await scene.me.list().first?.key)
        let files = try await scene.database(
            #"for row in db.execute("SELECT file_path FROM resource ORDER BY role"): print(row[0])"#
        ).split(separator: "\n").map { "\(scene.me.store)/\($0)" }
        try #require(files.count == 2)
        try scene.flip(files[0], byte: 2 << 20, bit: 0)
        try scene.flip(files[1], byte: 0, bit: 7)
        let found = try await scene.me("verify", key, "--json")
        let report = try #require(try DamageScene.Report.all(found.text)[key])
        #expect(report.damaged.map(\.role) == ["media", "snapshot"])
        let repair = try await scene.me("verify", key, "--repair")
        #expect(repair.status == 0, "\(repair.errorText)")
        let after = try await scene.me("verify", key, "--json")
        #expect(after.status == 0, "\(after.errorText)")
        #expect(try DamageScene.Report.all(after.text)[key]?.chunks == 4)
        for (file, path) in zip(files, ["/media/bytes-3M-4.mp4", "/media/bytes-5000-6.mp4"]) {
            let digest = try await ChildProcess.run("/usr/bin/sha256sum", [file]).text.prefix(64)
            #expect(try await digest == scene.sandbox.sha256(of: path))
        }
        try await scene.me.expectSound()
    }
}
