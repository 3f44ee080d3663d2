import Dispatch
import Foundation
import Glibc
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureFiles

/// What the kernel reports of files and of the network.
@Suite(.timeLimit(.minutes(1)))
struct ChangeWatchTests {
    private let place: TemporaryDirectory
    private let queue = DispatchQueue(label: "change-watch")
    private let changes: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation

    init() throws {
        place = try TemporaryDirectory()
        (changes, changed) = AsyncStream.makeStream(of: Void.self)
    }

    /// An event of inotify(7).
    private static func event(_ name: String?) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 12)
        let padded = name.map { Array($0.utf8) + [UInt8](repeating: 0, count: 16 - $0.utf8.count % 16) } ?? []
        let length = UInt32(padded.count)
        bytes += unsafe withUnsafeBytes(of: length) { unsafe Array($0) }
        return bytes + padded
    }

    /// Events, and whether one is about the log of the database.
    static let rows: [([String?], Bool)] = [
        ([], false), (["lecturekit.db-wal"], true), (["lecturekit.db"], false), (["lecturekit.db-shm"], false),
        (["owners.lock", "lecturekit.db-shm"], false), (["owners.lock", "lecturekit.db-wal"], true),
        // So many events that the kernel has dropped some.
        ([nil], true), (["x"], false), (["-wal"], false), (["lecturekit.db-wal.old"], false),
    ]

    @Test(arguments: rows)
    func `only events about the file count`(names: [String?], isNews: Bool) {
        let bytes = names.flatMap(Self.event)
        #expect(ChangeWatch.names(bytes, endIn: "lecturekit.db-wal") == isNews)
        // Half of an event is none, and harms nothing.
        for cut in [1, 15] where bytes.count > cut {
            _ = ChangeWatch.names(Array(bytes.dropLast(cut)), endIn: "lecturekit.db-wal")
        }
    }

    @Test(arguments: ["write", "append", "rename", "delete", "make"])
    func `what happens to a file of the directory is reported`(what: String) async throws {
        try place.write("x", to: "old.txt")
        let watch = try ChangeWatch.files(in: place.path, on: queue) { [changed] in changed.yield() }
        let files = FileManager.default
        switch what {
        case "write": try place.write("y", to: "old.txt")
        case "append":
            let file = try FileHandle(forWritingTo: URL(filePath: place.file("old.txt")))
            try file.seekToEnd()
            try file.write(contentsOf: Data("z".utf8))
            try file.close()
        case "rename": try files.moveItem(atPath: place.file("old.txt"), toPath: place.file("new.txt"))
        case "delete": try files.removeItem(atPath: place.file("old.txt"))
        default: try place.write("", to: "new.txt")
        }
        for await _ in changes { break }
        withExtendedLifetime(watch) {}
    }

    @Test func `a write to another file is not, and many writes are few reports`() async throws {
        let count = Guarded(0)
        let watch = try ChangeWatch.files(in: place.path, named: "-wal", isWriting: true, on: queue) {
            [changed, count] in
            count.withLock { $0 += 1 }
            changed.yield()
        }
        for number in 0..<200 { try place.write("\(number)", to: "other") }
        for number in 0..<200 { try place.write("\(number)", to: "store-wal") }
        for await _ in changes { break }
        #expect(count.withLock { $0 } < 100)
        withExtendedLifetime(watch) {}
    }

    @Test func `a directory that is not there, and a file, are refused`() throws {
        try place.write("x", to: "file")
        for name in ["missing", "file"] {
            let error = #expect(throws: LectureError.self) {
                _ = try ChangeWatch.files(in: place.file(name), on: queue) {}
            }
            #expect(error?.code == .readFile)
        }
    }

    @Test func `the directory itself is reported when it goes`() async throws {
        let inner = place.file("inner")
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
        let watch = try ChangeWatch.files(in: inner, on: queue) { [changed] in changed.yield() }
        try FileManager.default.removeItem(atPath: inner)
        for await _ in changes { break }
        withExtendedLifetime(watch) {}
    }

    @Test func `messages are drained, and a watch that is gone reports none`() async throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let seen = Guarded<[[UInt8]]>([])
        var watch: ChangeWatch? = ChangeWatch(
            Descriptor(takingOwnership: ends[0]), on: queue,
            isNews: { bytes in
                seen.withLock { $0.append(bytes) }
                return bytes != [0]
            }, changed: { [changed] in changed.yield() })
        for byte: UInt8 in [0, 1, 2] {
            var byte = byte
            _ = unsafe send(ends[1], &byte, 1, 0)
        }
        for await _ in changes { break }
        #expect(seen.withLock { $0 } == [[0], [1], [2]])
        watch = nil
        // What was scheduled on the queue is over, and its descriptor closed: the other end has no peer.
        while true {
            queue.sync {}
            var byte: UInt8 = 3
            if unsafe send(ends[1], &byte, 1, Int32(MSG_NOSIGNAL)) < 0 { break }
        }
        #expect(watch == nil && errno == ECONNREFUSED)
        close(ends[1])
    }

    @Test func `the network is watched, or the reason is named`() throws {
        do throws(ChangeWatch.Refusal) {
            _ = try ChangeWatch.network(on: queue) {}
        } catch {
            #expect(!error.cause.isEmpty)
        }
    }
}
