import Foundation
import Glibc
import LectureCrypto
import LectureFiles
import LectureModel
import LectureTestSupport
import Testing

/// Files without a name, sealed as a whole, and read again in any pieces.
struct SealedMediaTests {
    private static let first = 1_048_520
    private static let other = 1_048_560

    private func cipher(_ byte: UInt8 = 1) throws -> SealedContent {
        try SealedContent(SecretBytes(copying: [UInt8](repeating: byte, count: 32)), content: "lecture")
    }

    /// Writes bytes into a file without a name, through its path as a library does.
    private func unnamed(_ bytes: Data, in directory: TemporaryDirectory) throws -> UnnamedFile {
        let file = try UnnamedFile(in: directory.path)
        try bytes.write(to: URL(filePath: "/proc/self/fd/\(file.number)"))
        return file
    }

    private func read(_ media: SealedMedia, from offset: Int, _ count: Int) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let done = try unsafe buffer.withUnsafeMutableBytes { try unsafe media.read($0, at: offset) }
        return Array(buffer.prefix(done))
    }

    private func names(_ directory: TemporaryDirectory) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }

    @Test(arguments: [1, 15, first - 1, first, first + 1, first + other - 1, first + other, first + other + 1])
    func `what is read is what was sealed, at every border of a segment`(_ count: Int) throws {
        let directory = try TemporaryDirectory.inMemory()
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: "/dev/urandom"), length: count))
        let file = try unnamed(Data(bytes), in: directory)
        #expect(try names(directory).isEmpty)
        let facts = try file.seal(as: "sealed", in: directory.path, cipher())
        #expect(try facts.byteCount == count && facts.sha256 == digest(bytes))
        #expect(try names(directory) == ["sealed"])
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.file("sealed"))
        let segments = 1 + (max(0, count - Self.first) + Self.other - 1) / Self.other
        #expect(attributes[.size] as? Int == 40 + count + 16 * segments)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let media = try SealedMedia(directory.file("sealed"), byteCount: count, cipher())
        var all: [UInt8] = []
        while all.count < count { all += try read(media, from: all.count, 300_007) }
        #expect(all == bytes)
        // Backwards, and over borders: a read ends with its segment.
        for border in [Self.first, Self.first + Self.other] where border < count {
            #expect(try read(media, from: border - 3, 10) == Array(bytes[border - 3..<border]))
            #expect(try read(media, from: border, 1) == [bytes[border]])
        }
        #expect(try read(media, from: count - 1, 10) == [bytes[count - 1]])
        for offset in [count, count + 1, -1] {
            #expect(throws: LectureError(.damaged), "\(offset)") { try read(media, from: offset, 1) }
        }
    }

    private func digest(_ bytes: [UInt8]) throws -> [UInt8] {
        try OpenSSLDigests(proofKey: SecureRandom.bytes(32)).sha256(of: bytes)
    }

    @Test func `what has the name is replaced, and what a killed process has left is removed`() throws {
        let directory = try TemporaryDirectory.inMemory()
        try directory.write("an older lecture", to: "sealed")
        try directory.write("half of one", to: "sealed.part")
        _ = try unnamed(Data("first".utf8), in: directory).seal(as: "sealed", in: directory.path, cipher())
        let one = try Data(contentsOf: URL(filePath: directory.file("sealed")))
        // The same bytes under the same key, and no byte of the file is the same by more than chance.
        _ = try unnamed(Data("first".utf8), in: directory).seal(as: "sealed", in: directory.path, cipher())
        let two = try Data(contentsOf: URL(filePath: directory.file("sealed")))
        #expect(one.count == two.count && one != two && one[33..<40] != two[33..<40])
        #expect(try names(directory) == ["sealed"])
        #expect(
            try read(SealedMedia(directory.file("sealed"), byteCount: 5, cipher()), from: 0, 5) == Array("first".utf8))
    }

    @Test func `a file that was changed, cut, or is another one's is refused`() throws {
        let directory = try TemporaryDirectory.inMemory()
        let count = Self.first + 100
        let file = try unnamed(Data(repeating: 7, count: count), in: directory)
        _ = try file.seal(as: "sealed", in: directory.path, cipher())
        let whole = try Data(contentsOf: URL(filePath: directory.file("sealed")))
        for place in [0, 1, 35, 50, 1_048_575, 1_048_576, whole.count - 1] {
            var changed = whole
            changed[place] ^= 1
            try changed.write(to: URL(filePath: directory.file("changed")))
            #expect(throws: LectureError(.damaged), "\(place)") {
                let media = try SealedMedia(directory.file("changed"), byteCount: count, cipher())
                _ = try read(media, from: 0, 1)
                _ = try read(media, from: Self.first, 1)
            }
        }
        for length in [0, 39, 40, whole.count - 1, 1_048_576] {
            try whole.prefix(length).write(to: URL(filePath: directory.file("cut")))
            #expect(throws: LectureError(.damaged), "\(length)") {
                try SealedMedia(directory.file("cut"), byteCount: count, cipher())
            }
        }
        // Cut at a segment, and asked for as that: the end is in the nonce of the last one.
        try whole.prefix(1_048_576).write(to: URL(filePath: directory.file("shorter")))
        #expect(throws: LectureError(.damaged)) {
            try read(SealedMedia(directory.file("shorter"), byteCount: Self.first, cipher()), from: 0, 1)
        }
        #expect(throws: LectureError(.damaged)) {
            try read(SealedMedia(directory.file("sealed"), byteCount: count, cipher(2)), from: 0, 1)
        }
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("link"), withDestinationPath: directory.file("sealed"))
        for name in ["link", "none"] {
            #expect(throws: LectureError(.readFile)) {
                try SealedMedia(directory.file(name), byteCount: count, cipher())
            }
        }
        #expect(throws: LectureError(.damaged)) { try SealedMedia(directory.path, byteCount: count, cipher()) }
    }

    @Test func `a directory that is not there is an error`() throws {
        let directory = try TemporaryDirectory.inMemory()
        #expect(throws: LectureError(.createFile)) { try UnnamedFile(in: directory.file("none")) }
        let file = try unnamed(Data([1]), in: directory)
        #expect(throws: LectureError(.createFile)) {
            try file.seal(as: "sealed", in: directory.file("none"), cipher())
        }
        #expect(try names(directory).isEmpty)
    }
}

/// Programs that are connected to this one.
struct ChildConnectionTests {
    /// Waits for a process, which must not be a zombie when the test ends.
    private func reap(_ process: Int32) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return status
    }

    private func send(_ text: String, _ connection: ChildConnection) -> Bool {
        let bytes = Array(text.utf8)
        return unsafe bytes.withUnsafeBytes { unsafe connection.send($0) }
    }

    @Test func `a program gets what is sent, and its output comes back to the end`() throws {
        let (process, connection) = try ChildProgram.startConnected("/bin/sh", ["-c", "tr a-z A-Z; echo end"])
        #expect(send("some text\n", connection))
        #expect(connection.output(limit: 1000) == Array("SOME TEXT\nend\n".utf8))
        #expect(reap(process) == 0)
    }

    @Test func `more output than the limit is dropped, and does not block the program`() throws {
        let (process, connection) = try ChildProgram.startConnected("/bin/sh", ["-c", "yes | head -c 2000000; exit 3"])
        #expect(connection.output(limit: 10) == Array("y\ny\ny\ny\ny\n".utf8))
        #expect(reap(process) == 3 << 8)
    }

    @Test func `a program that does not read is no signal`() throws {
        let (process, connection) = try ChildProgram.startConnected("/bin/true", [])
        #expect(reap(process) == 0)
        #expect(!send(String(repeating: "x", count: 4_000_000), connection))
        #expect(connection.output(limit: 10).isEmpty)
    }

    @Test func `it has no other descriptor, and errors are dropped`() throws {
        let (process, connection) = try ChildProgram.startConnected(
            "/bin/sh", ["-c", "echo error >&2; for n in 3 4 5 6 7 8 9; do test -e /proc/self/fd/$n && echo $n; done"])
        #expect(connection.output(limit: 1000).isEmpty)
        _ = reap(process)
        #expect(throws: LectureError(.workerFailed)) { try ChildProgram.startConnected("/nonexistent", []) }
    }
}

extension Data {
    /// The first bytes of a file that has no end.
    fileprivate init(contentsOf url: URL, length: Int) throws {
        let handle = try FileHandle(forReadingFrom: url)
        self = try handle.read(upToCount: length) ?? Data()
    }
}
