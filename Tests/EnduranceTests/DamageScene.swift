import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A store of finished lectures whose files a test damages, and the server they came from.
struct DamageScene {
    /// A lecture of the store.
    struct Lecture {
        let key: String
        let size: Int
        /// On the server.
        let path: String
        /// On the disk; empty until it was asked for.
        var file = ""

        /// How many chunks it has.
        var chunks: Int { (size + chunkBytes - 1) / chunkBytes }

        /// The bytes of one chunk.
        func range(of chunk: Int) -> Range<Int> { chunk * chunkBytes..<min(size, (chunk + 1) * chunkBytes) }
    }

    /// What `verify` reported of a lecture.
    struct Report: Decodable {
        /// A damaged chunk.
        struct Damage: Decodable {
            let role: String
            let firstByte: Int
            let byteCount: Int

            var range: Range<Int> { firstByte..<firstByte + byteCount }
        }

        let key: String
        let chunks: Int
        let damaged: [Damage]
        let isRepairQueued: Bool

        static func all(_ text: String) throws -> [String: Report] {
            _ = try Line.all(text)
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            let reports = try text.split(separator: "\n").map { try decoder.decode(Report.self, from: Data($0.utf8)) }
            return Dictionary(uniqueKeysWithValues: reports.map { ($0.key, $0) })
        }
    }

    /// The length of a chunk of a file that has at most 65,536 of them.
    static let chunkBytes = 1 << 20

    let me: BadDay
    let sandbox: SandboxOrigin

    init() async throws {
        me = try BadDay()
        sandbox = try await SandboxOrigin.start(["--no-https"])
    }

    /// Fetches lectures of these sizes and clears the server's request log.
    func fetch(_ sizes: [Int], digests: Bool = false) async throws -> [Lecture] {
        var lectures = sizes.enumerated().map { number, size in
            Lecture(key: "lecture-\(number)", size: size, path: "/media/bytes-\(size)-\(number).mp4")
        }
        var lines: [String] = []
        for lecture in lectures {
            var line = #"{"url": "\#(sandbox.http)\#(lecture.path)", "key": "\#(lecture.key)""#
            if digests { line += #", "sha256": "\#(try await sandbox.sha256(of: lecture.path))""# }
            lines.append(line + "}")
        }
        let list = try me.home.write(lines.joined(separator: "\n"), to: "course.jsonl")
        // Some lectures are empty or of one byte, which is no media file.
        let ending = try await me("precache", "--accept-any", list)
        try #require(ending.status == 0, "\(ending.errorText)")
        for number in lectures.indices {
            lectures[number].file = try await me("path", lectures[number].key).text
                .trimmingCharacters(in: .newlines)
        }
        try await sandbox.reset()
        return lectures
    }

    /// Changes one bit of a file.
    func flip(_ file: String, byte: Int, bit: Int) throws {
        let handle = try FileHandle(forUpdating: URL(filePath: file))
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64(byte))
        let old = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: UInt64(byte))
        try handle.write(contentsOf: [old ^ (1 << UInt8(bit))])
    }

    /// Runs a few lines of Python on the store's database, `db`.
    @discardableResult
    func database(_ lines: String) async throws -> String {
        let script = "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\n\(lines)\ndb.commit()\n"
        let ending = try await ChildProcess.run(
            Places.command("python3"), ["-c", script, "\(me.store)/lecturekit.db"])
        try #require(ending.status == 0, "\(ending.errorText)")
        return ending.text.trimmingCharacters(in: .newlines)
    }

    /// What was requested from the server: the bytes of each path, joined, and how many it sent.
    func asked() async throws -> (ranges: [String: RangeSet<Int>], sent: Int) {
        var ranges: [String: RangeSet<Int>] = [:]
        var sent = 0
        for request in try await sandbox.requests() {
            let size = try #require(Int(request.path.split(separator: "-")[1]))
            var range = 0..<size
            if let field = request.range {
                let ends = field.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
                range = try #require(ends.first)..<(ends.count > 1 ? ends[1] + 1 : size)
            }
            ranges[request.path, default: RangeSet()].insert(contentsOf: range)
            sent += request.bytes
        }
        return (ranges, sent)
    }

    /// Every lecture must match the server's, by a digest that is not the program's own.
    func expectRight(_ lectures: [Lecture], _ about: String = "") async throws {
        for lecture in lectures {
            let words = ["dgst", "-sha256", "-r", lecture.file]
            let digest = try await ChildProcess.run("/usr/bin/openssl", words).text.prefix(64)
            #expect(try await digest == sandbox.sha256(of: lecture.path), "\(about) \(lecture.key)")
        }
    }
}

/// The length of a chunk, for ``DamageScene/Lecture``.
private let chunkBytes = DamageScene.chunkBytes
