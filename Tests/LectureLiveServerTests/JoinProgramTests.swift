import Foundation
import Glibc
import LectureCrypto
import LectureFiles
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureLiveServer

/// The word `join` of the built program, by itself: what it writes, and what a kill at any moment leaves.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct JoinProgramTests {
    private static let program = Places.builtProduct("lecture-live-server")

    /// A directory with recordings, and an order for them.
    private struct Shelf {
        let directory = TemporaryDirectoryHolder()
        let inputs: [String]
        let key: SecretBytes
        let order: JoinOrder

        init(_ recordings: [TestRecording]) async throws {
            let place = try directory.directory()
            var inputs: [String] = []
            for (number, recording) in recordings.enumerated() {
                inputs.append(place.file("\(number).flv"))
                try await recording.write(to: inputs[number])
            }
            try FileManager.default.createDirectory(
                atPath: place.file("archive"), withIntermediateDirectories: false)
            (self.inputs, key) = (inputs, try SecretBytes.random(32))
            order = JoinOrder(
                content: "live-1", directory: place.file("archive"), name: "1.sealed", inputs: inputs, key: key)
        }

        /// Starts the process; the order is a file, as good as a connection.
        func start(_ words: [String] = []) throws -> ChildProcess {
            let place = try directory.directory()
            let file = try place.write(try order.encoded().exposed(), to: "order")
            let line = words.joined(separator: " ") + " exec \(JoinProgramTests.program) join < \(file)"
            return try ChildProcess("/bin/sh", ["-c", line])
        }

        func files() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: order.directory).sorted()
        }

        func media(_ lecture: JoinedLecture) throws -> SealedMedia {
            let cipher = try SealedContent(key, content: "live-1")
            return try SealedMedia("\(order.directory)/1.sealed", byteCount: lecture.byteCount, cipher)
        }
    }

    /// Makes a directory once.
    private final class TemporaryDirectoryHolder: Sendable {
        private let made = Guarded<TemporaryDirectory?>(nil)

        func directory() throws -> TemporaryDirectory {
            try made.withLock { made in
                let directory = try made ?? TemporaryDirectory.inMemory()
                made = directory
                return directory
            }
        }
    }

    private func lecture(_ ending: ChildProcess.Ending) throws -> JoinedLecture {
        guard ending.status == 0, case .joined(let lecture) = JoinReport([UInt8](ending.output)) else {
            throw StageFailure(description: "\(ending.status) \(ending.text) \(ending.errorText)")
        }
        return lecture
    }

    private func read(_ media: SealedMedia) throws -> [UInt8] {
        var (all, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 100_000))
        while all.count < media.byteCount {
            let count = try unsafe buffer.withUnsafeMutableBytes { try unsafe media.read($0, at: all.count) }
            all += buffer[..<count]
        }
        return all
    }

    @Test func `it seals what it joins, reports it, and runs with a low priority`() async throws {
        let recordings = [1, 3].map { TestRecording(seconds: $0, isLarge: true) }
        let shelf = try await Shelf(recordings)
        let ending = try await shelf.start().ending()
        let lecture = try lecture(ending)
        #expect(lecture.parts.count == 2 && lecture.width == 160 && lecture.height == 90)
        #expect(lecture.frames == 40 && abs(lecture.duration.milliseconds - 4000) < 300)
        let sum = lecture.parts.reduce(Duration.zero) { $0 + $1.duration }
        #expect(abs((sum - lecture.duration).milliseconds) <= 2)
        #expect(lecture.parts.allSatisfy { $0.skipped >= .zero && $0.skipped < .milliseconds(100) })
        #expect(try shelf.files() == ["1.sealed"])
        let media = try shelf.media(lecture)
        let bytes = try read(media)
        #expect(try Disk.sha256(bytes) == lecture.sha256)
        #expect(Data(bytes.prefix(16)).range(of: Data("ftyp".utf8)) != nil)
        // The index is in front, so that playing can begin before everything is there.
        let index = try #require(Data(bytes).range(of: Data("moov".utf8)))
        #expect(index.lowerBound < 10_000)
        #expect(throws: LectureError(.damaged)) {
            var none: [UInt8] = [0]
            _ = try unsafe none.withUnsafeMutableBytes { try unsafe media.read($0, at: media.byteCount) }
        }
        // Another key, another lecture, another length.
        let other = try SealedMedia(
            "\(shelf.order.directory)/1.sealed", byteCount: lecture.byteCount,
            SealedContent(SecretBytes.random(32), content: "live-1"))
        #expect(throws: LectureError(.damaged)) { try read(other) }
        #expect(throws: LectureError(.damaged)) {
            try SealedMedia(
                "\(shelf.order.directory)/1.sealed", byteCount: lecture.byteCount - 1,
                SealedContent(shelf.key, content: "live-1"))
        }
        #expect(throws: LectureError(.readFile)) {
            try SealedMedia(
                "\(shelf.order.directory)/2.sealed", byteCount: 5, SealedContent(shelf.key, content: "live-1"))
        }
    }

    /// Starts the program, and kills it at a share of its part in hundredths; at 0 while it joins.
    private static func killed(
        _ shelf: Shelf, _ share: Int, _ length: Int, _ part: String
    ) async throws -> ChildProcess.Ending {
        let process = try shelf.start()
        if share > 0 {
            try await waitUntil { process.hasEnded || Self.length(part) >= length / 100 * share }
        } else {
            try await waitUntil {
                process.hasEnded || openBytes(process.identifier, shelf.order.directory) >= length / 4
            }
            #expect(try priority(process.identifier) == 10)
        }
        process.send(SIGKILL)
        return await process.ending()
    }

    @Test func `a kill at any moment leaves nothing in clear and no half lecture`() async throws {
        let shelf = try await Shelf([TestRecording(size: "640x360", isLarge: true, repeated: 12)])
        let length = try #require(
            try FileManager.default.attributesOfItem(atPath: shelf.inputs[0])[.size] as? Int)
        let part = "\(shelf.order.directory)/1.sealed.part"
        // While it joins, and while it seals: at several lengths of the part.
        for share in [0, 0, 10, 50, 90] {
            var ending = try await Self.killed(shelf, share, length, part)
            // On a busy machine it may have ended before the kill.
            for _ in 1...5 where ending.status == 0 {
                try FileManager.default.removeItem(atPath: "\(shelf.order.directory)/1.sealed")
                ending = try await Self.killed(shelf, share, length, part)
            }
            #expect(ending.status == 137 && ending.output.isEmpty)
            let files = try shelf.files()
            #expect(files == [] || files == ["1.sealed.part"], "\(share): \(files)")
            #expect(share == 0 || files == ["1.sealed.part"])
            for file in files {
                let place = URL(filePath: "\(shelf.order.directory)/\(file)")
                let bytes = try Data(contentsOf: place, options: .alwaysMapped)
                #expect(bytes.prefix(1 << 20).range(of: Data("ftyp".utf8)) == nil)
            }
        }
        let lecture = try lecture(try await shelf.start().ending())
        #expect(try shelf.files() == ["1.sealed"] && lecture.byteCount > length / 2)
        let bytes = try read(try shelf.media(lecture))
        #expect(try Disk.sha256(bytes) == lecture.sha256)
    }

    private static func length(_ path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }

    /// How long the file without a name is that a process has open in a directory.
    private static func openBytes(_ process: Int32, _ directory: String) -> Int {
        let descriptors = "/proc/\(process)/fd"
        for name in (try? FileManager.default.contentsOfDirectory(atPath: descriptors)) ?? [] {
            let path = "\(descriptors)/\(name)"
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path),
                target.hasPrefix(directory), target.hasSuffix(" (deleted)")
            else { continue }
            var facts = stat()
            if unsafe stat(path, &facts) == 0 { return Int(facts.st_size) }
        }
        return 0
    }

    /// The nice value of a process (proc(5), field 19).
    private static func priority(_ process: Int32) throws -> Int? {
        let line = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        return line.split(separator: " ").dropFirst(18).first.flatMap { Int($0) }
    }

    /// By which limit of the file size, in blocks of 512 bytes; the first fails while joining, the second while sealing
    /// what no limit of the first kind could stop.
    @Test(arguments: [8, 100])
    func `a file that cannot grow is an error, and nothing is left`(_ blocks: Int) async throws {
        let shelf = try await Shelf([TestRecording(isLarge: true)])
        let ending = try await shelf.start(["ulimit -f \(blocks);"]).ending()
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(JoinReport([UInt8](ending.output)) == .failed("The media cannot be written."))
        #expect(try shelf.files().isEmpty)
    }

    @Test func `a disk that is full is an error, and nothing is left`() async throws {
        let shelf = try await Shelf([TestRecording(size: "320x180", isLarge: true)])
        let length = Self.length(shelf.inputs[0])
        // Enough for the media, and not for the sealed file beside it; then for neither.
        for size in [length / 1024 + length / 2048, length / 2048] {
            let words = "mount -t tmpfs -o size=\(size)k tmpfs \(shelf.order.directory)"
            let file = try shelf.directory.directory().write(try shelf.order.encoded().exposed(), to: "order")
            // In a mount namespace of its own, which ends with it.
            let line = "\(words) && \(Self.program) join < \(file) && ls -A \(shelf.order.directory)"
            let ending = try await ChildProcess.run("/usr/bin/unshare", ["-rm", "/bin/sh", "-c", line])
            #expect(ending.status == 0, "\(ending.errorText)")
            guard case .failed(let message) = JoinReport([UInt8](ending.output)) else {
                Issue.record("\(ending.text)")
                continue
            }
            let isFull = message.contains(LectureError(.storageFull).code.summary)
            #expect(isFull || message == "The media cannot be written.", "\(message)")
        }
    }

    @Test func `hostile recordings end in a report or in a death, never in a lecture`() async throws {
        let shelf = try await Shelf([TestRecording()])
        let whole = try [UInt8](Data(contentsOf: URL(filePath: shelf.inputs[0])))
        var random = SplitMix(state: 7)
        let noise = (0..<5000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let cases: [[UInt8]] = [[], [0x46], Array("FLV".utf8), Array(whole.prefix(13)), noise]
        for bytes in cases {
            try Data(bytes).write(to: URL(filePath: shelf.inputs[0]))
            let ending = try await shelf.start().ending()
            #expect(JoinReport([UInt8](ending.output)).map { if case .failed = $0 { true } else { false } } ?? true)
            #expect(try shelf.files().isEmpty)
        }
        // Bytes changed in the middle: whatever it makes of them, the end is orderly and nothing half is left.
        for _ in 0..<8 {
            var bytes = whole
            for _ in 0..<40 {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            try Data(bytes).write(to: URL(filePath: shelf.inputs[0]))
            let ending = try await shelf.start().ending()
            let report = JoinReport([UInt8](ending.output))
            let isJoined = report.map { if case .joined = $0 { true } else { false } } ?? false
            #expect(try shelf.files() == (isJoined ? ["1.sealed"] : []))
            if isJoined { try Disk.delete("\(shelf.order.directory)/1.sealed") }
        }
    }

    @Test func `an order that is not whole does nothing`() async throws {
        for input in ["", "short", String(repeating: "x", count: 32) + "{}"] {
            let process = try ChildProcess("/bin/sh", ["-c", "printf %s '\(input)' | \(Self.program) join"])
            let ending = await process.ending()
            #expect(ending.status == 64 && ending.output.isEmpty && ending.errorText.contains("not whole"), "\(input)")
        }
        #expect(!LiveServerProgram.help.contains("join"))
    }

    /// A generator with a seed (SplitMix64).
    private struct SplitMix {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }
}
