import Foundation
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureFiles

@Suite struct SystemCallTests {
    @Test func `An interrupted call is made again`() throws {
        var calls = 0
        let answer: Int32 = try systemCall {
            calls += 1
            if calls < 4 { errno = EINTR }
            return calls < 4 ? -1 : 17
        }
        #expect(answer == 17)
        #expect(calls == 4)
    }

    @Test func `A failed call keeps its number and its text`() throws {
        let error = try #require(throws: SystemError.self) {
            try systemCall { unsafe open("/nowhere/at/all", O_RDONLY) }
        }
        #expect(error.number == ENOENT)
        #expect(error.text == "No such file or directory")
    }

    @Test(arguments: [
        (ENOSPC, FileIntent.write, LectureError.Code.storageFull), (EDQUOT, .makeFile, .storageFull),
        (ENOSPC, .output, .storageFull), (EROFS, .write, .storeReadOnly), (EROFS, .makeDirectory, .storeReadOnly),
        (EROFS, .output, .outputRefused), (EACCES, .output, .outputRefused), (EIO, .write, .writeFile),
        (EFBIG, .write, .writeFile), (EIO, .read, .readFile), (EACCES, .makeDirectory, .createDirectory),
        (EMFILE, .makeFile, .createFile),
    ])
    func `Every failure has its code, its subject and its cause`(
        number: Int32, intent: FileIntent, code: LectureError.Code
    ) {
        let error = intent.error(SystemError(number: number), "media/a/b")
        #expect(error.code == code)
        #expect(error.detail == "media/a/b")
        #expect(error.cause == SystemError(number: number).text)
        #expect(!error.cause.isEmpty)
    }

    @Test func `A full device is reported as such`() throws {
        let full = Descriptor(takingOwnership: try systemCall { unsafe open("/dev/full", O_RDWR) })
        let bytes = sample(100)
        let error = try #require(throws: SystemError.self) {
            try unsafe bytes.withUnsafeBytes { bytes in try unsafe full.write(bytes, at: 0) }
        }
        #expect(FileIntent.write.error(error, "x").code == .storageFull)
    }

    @Test func `An impossible offset is refused before the call`() throws {
        let null = Descriptor(takingOwnership: try systemCall { unsafe open("/dev/null", O_RDWR) })
        let error = try #require(throws: SystemError.self) {
            try unsafe [UInt8](repeating: 1, count: 1).withUnsafeBytes { bytes in
                try unsafe null.write(bytes, at: .max)
            }
        }
        #expect(error.number == EFBIG)
    }

    @Test func `A rename never takes a name that is in use`() throws {
        let scratch = try Scratch()
        try scratch.write("a", [1])
        try scratch.write("b", [2])
        let directory = try StoreRoot.open(scratch.path)
        let error = try #require(throws: SystemError.self) { try directory.rename("a", to: "b") }
        #expect(error.number == EEXIST)
        try directory.rename("a", to: "c")
        #expect(try scratch.names() == ["b", "c"])
    }

    @Test func `Names are read to the end and descriptors are closed`() throws {
        let scratch = try Scratch()
        let names = (0..<500).map { "file-\($0)" }
        for name in names { try scratch.write(name, []) }
        let directory = try StoreRoot.open(scratch.path)
        let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        for _ in 0..<100 { #expect(try directory.names().count == 500) }
        #expect(Set(try directory.names()) == Set(names))
        let after = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        // Other tests run at the same time; a leak here would leave a hundred.
        #expect(after < before + 60)
    }

    @Test func `A name that is not UTF-8 is foreign`() throws {
        let scratch = try Scratch()
        let directory = try StoreRoot.open(scratch.path)
        let odd: [CChar] = [0x66, -1, 0x6F, 0]
        let file = unsafe openat(directory.number, odd, O_CREAT | O_WRONLY, 0o600)
        #expect(file >= 0)
        close(file)
        try scratch.write("plain", [])
        #expect(try directory.names() == ["plain"])
        unsafe unlinkat(directory.number, odd, 0)
    }
}

/// The rules of the chunk assembler that need no disk.
@Suite struct ChunkAssemblerTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    private func take(
        _ assembler: inout ChunkAssembler, _ count: Int, at offset: UInt64, _ transfer: UInt64, ends: Bool = false
    ) throws -> [Range<UInt64>] {
        try unsafe sample(count).withUnsafeBytes { bytes in
            try unsafe assembler.take(bytes, at: offset, from: TransferID(transfer), endsObject: ends).map(\.range)
        }
    }

    @Test func `The last chunk has the remaining length of the file`() throws {
        var assembler = try ChunkAssembler(plan(250, chunk: 100), store.digests)
        #expect(try take(&assembler, 250, at: 0, 1) == [0..<100, 100..<200, 200..<250])
    }

    @Test func `Pieces of any length make the same chunks`() throws {
        for piece in [1, 7, 33, 99, 100, 101, 249] {
            var assembler = try ChunkAssembler(plan(250, chunk: 100), store.digests)
            var ranges: [Range<UInt64>] = []
            for start in stride(from: 0, to: 250, by: piece) {
                ranges += try take(&assembler, min(piece, 250 - start), at: UInt64(start), 1)
            }
            #expect(ranges == [0..<100, 100..<200, 200..<250], "pieces of \(piece)")
        }
    }

    @Test func `An abandoned transfer may restart elsewhere`() throws {
        var assembler = try ChunkAssembler(plan(250, chunk: 100), store.digests)
        #expect(try take(&assembler, 50, at: 0, 1).isEmpty)
        assembler.abandon(TransferID(1))
        assembler.abandon(TransferID(2))
        #expect(try take(&assembler, 100, at: 100, 1) == [100..<200])
        #expect(try take(&assembler, 100, at: 0, 2) == [0..<100])
    }

    @Test func `The end of an object closes only its own transfer's chunk`() throws {
        var assembler = try ChunkAssembler(plan(nil, chunk: 100), store.digests)
        #expect(try take(&assembler, 50, at: 0, 1).isEmpty)
        #expect(try take(&assembler, 30, at: 100, 2, ends: true) == [100..<130])
        #expect(try take(&assembler, 50, at: 50, 1) == [0..<100])
        #expect(try take(&assembler, 0, at: 100, 1, ends: true).isEmpty, "nothing is open")
    }
}

/// The number of the allocator's heaps.
@Suite struct HeapTests {
    @Test func `It is bounded, unless the user has set it`() {
        #expect(Heaps.bound(to: 2, environment: ["PATH": "/bin"]))
        #expect(!Heaps.bound(to: 2, environment: ["MALLOC_ARENA_MAX": "4"]))
        #expect(!Heaps.bound(to: 2, environment: ["GLIBC_TUNABLES": "glibc.malloc.arena_max=4"]))
    }
}

/// The running digest without threads: how far it advances by itself, and when it starts again.
@Suite struct PrefixDigestTests {
    let scratch: Scratch
    let store: TestStore
    let bytes = sample(8 * 100)
    let reader: ReadableFile

    init() throws {
        scratch = try Scratch()
        store = try TestStore()
        try scratch.write("file", bytes)
        let directory = try StoreRoot.open(scratch.path)
        reader = ReadableFile(try directory.open("file", O_RDONLY), "file")
    }

    private func wrote(_ prefix: inout PrefixDigest, _ chunk: Int, isInMemory: Bool = true) throws {
        let start = UInt64(chunk * 100)
        try prefix.willWrite(at: start)
        if isInMemory {
            prefix.take(
                start..<start + 100, in: filled(Array(bytes[chunk * 100..<(chunk + 1) * 100]), at: chunk * 100))
        }
        try prefix.didWrite(start..<start + 100, reader)
    }

    @Test func `In order it keeps up`() throws {
        var prefix = try PrefixDigest(store.digests)
        for chunk in 0..<8 {
            try wrote(&prefix, chunk)
            #expect(prefix.hashed == UInt64(chunk + 1) * 100)
        }
        let asked = try prefix.finish(total: 800, reader) {
            Issue.record("nothing was left to read")
            return true
        }
        #expect(asked == (try SHA256Reference.digest(bytes)))
    }

    @Test func `What was not in memory is read, in order as well`() throws {
        var prefix = try PrefixDigest(store.digests)
        for chunk in 0..<8 {
            try wrote(&prefix, chunk, isInMemory: chunk.isMultiple(of: 3))
            #expect(prefix.hashed == UInt64(chunk + 1) * 100)
        }
        #expect(try prefix.finish(total: 800, reader) { true } == (try SHA256Reference.digest(bytes)))
    }

    @Test func `A chunk that began before the bytes in memory is read`() throws {
        var prefix = try PrefixDigest(store.digests)
        prefix.take(0..<100, in: filled(Array(bytes[50..<100]), at: 50))
        #expect(prefix.hashed == 0)
        try prefix.didWrite(0..<100, reader)
        #expect(prefix.hashed == 100)
        #expect(try prefix.finish(total: 800, reader) { true } == (try SHA256Reference.digest(bytes)))
    }

    @Test func `Behind a gap it catches up by one chunk for each chunk that is written`() throws {
        var prefix = try PrefixDigest(store.digests)
        for chunk in [1, 2, 3, 4] { try wrote(&prefix, chunk) }
        #expect(prefix.hashed == 0)
        try wrote(&prefix, 0)
        #expect(prefix.hashed == 200)
        try wrote(&prefix, 7)
        #expect(prefix.hashed == 300)
        try wrote(&prefix, 6)
        #expect(prefix.hashed == 400)
        try wrote(&prefix, 5)
        #expect(prefix.hashed == 500)
        #expect(try prefix.finish(total: 800, reader) { true } == (try SHA256Reference.digest(bytes)))
    }

    @Test func `Rewritten bytes make it restart at the end`() throws {
        var prefix = try PrefixDigest(store.digests)
        for chunk in 0..<4 { try wrote(&prefix, chunk) }
        try wrote(&prefix, 2)
        #expect(prefix.hashed == 0)
        for chunk in 4..<8 { try wrote(&prefix, chunk) }
        #expect(prefix.hashed == 0)
        #expect(try prefix.finish(total: 800, reader) { true } == (try SHA256Reference.digest(bytes)))
    }

    @Test func `It ends on request, and can be asked again`() throws {
        var prefix = try PrefixDigest(store.digests)
        #expect(try prefix.finish(total: 800, reader) { false } == nil)
        #expect(try prefix.finish(total: 800, reader) { true } == (try SHA256Reference.digest(bytes)))
    }

    @Test func `An object shorter than its hashed part is hashed again`() throws {
        var prefix = try PrefixDigest(store.digests)
        for chunk in 0..<8 { try wrote(&prefix, chunk) }
        #expect(try prefix.finish(total: 250, reader) { true } == (try SHA256Reference.digest(Array(bytes[..<250]))))
    }
}

/// The digest as computed by the system's command.
private enum SHA256Reference {
    static func digest(_ bytes: [UInt8]) throws -> [UInt8] {
        let scratch = try Scratch()
        try scratch.write("text", bytes)
        let text = try ChildProcess.runBlocking("/usr/bin/sha256sum", [scratch.path + "/text"]).text
        let digits = text.prefix(64).compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
