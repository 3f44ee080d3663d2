import Foundation
import LectureCrypto
import LectureFiles
import LectureModel
import LectureTestSupport
import Testing

/// Bytes that look random and are the same in every run.
func sample(_ count: Int, seed: UInt64 = 1) -> [UInt8] { SampleBytes.make(count, seed: seed) }

/// A directory that is deleted when the test ends.
final class Scratch: Sendable {
    let path: String

    init(in parent: String = FileManager.default.temporaryDirectory.path) throws {
        path = "\(parent)/lecturefiles-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func names(_ below: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/" + below).sorted()
    }

    func read(_ below: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: "\(path)/\(below)")))
    }

    func write(_ below: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: "\(path)/\(below)"))
    }

    /// Changes one bit of a file in place.
    func flip(_ below: String, at offset: UInt64) throws {
        let handle = try FileHandle(forUpdating: URL(filePath: "\(path)/\(below)"))
        defer { try? handle.close() }
        try handle.seek(toOffset: offset)
        let byte = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: offset)
        try handle.write(contentsOf: Data([byte ^ 0x10]))
    }

    func truncate(_ below: String, to length: UInt64) throws {
        let handle = try FileHandle(forUpdating: URL(filePath: "\(path)/\(below)"))
        defer { try? handle.close() }
        try handle.truncate(atOffset: length)
    }
}

/// A store's files in a directory of their own.
struct TestStore: Sendable {
    let root: Scratch
    let digests: OpenSSLDigests
    let files: StoreDirectory

    init(budget: DiskBudget = DiskBudget(blocksPerFile: 8), in parent: String? = nil) throws {
        root = try parent.map { try Scratch(in: $0) } ?? Scratch()
        digests = try OpenSSLDigests(proofKey: sample(32, seed: 77))
        files = try StoreDirectory(root: root.path, digests: digests, budget: budget)
    }

    func make() -> TestPart { TestPart(files) }

    /// Writes a whole file and finalizes it.
    @discardableResult
    func writeWhole(_ bytes: [UInt8], _ plan: PartFilePlan) async throws -> [WrittenChunk] {
        let part = make()
        part.file.open(plan)
        try await part.expectOpened()
        #expect(part.send(bytes, plan, from: 0..<bytes.count))
        part.file.flush()
        let chunks = bytes.isEmpty ? [] : try await part.flushed()
        try await part.finish(total: bytes.count)
        return chunks
    }
}

/// A part file with its events. Used by one test at a time.
final class TestPart {
    let file: any PartFile
    private var events: AsyncStream<PartFileEvent>.Iterator
    private var lastTransfer: UInt64 = 0

    /// Makes a part file; `hook` runs on the adapter's thread before an event is delivered.
    init(_ files: StoreDirectory, hook: (@Sendable (PartFileEvent) -> Void)? = nil) {
        let (stream, continuation) = AsyncStream.makeStream(of: PartFileEvent.self)
        file = files.make { event in
            hook?(event)
            continuation.yield(event)
        }
        events = stream.makeAsyncIterator()
    }

    func next() async throws -> PartFileEvent { try #require(await events.next()) }

    func expectOpened(_ location: SourceLocation = #_sourceLocation) async throws {
        let event = try await next()
        guard case .opened = event else { throw Unexpected(event, location) }
    }

    func flushed(_ location: SourceLocation = #_sourceLocation) async throws -> [WrittenChunk] {
        let event = try await next()
        guard case .flushed(let chunks) = event else { throw Unexpected(event, location) }
        return chunks
    }

    func digest(_ location: SourceLocation = #_sourceLocation) async throws -> [UInt8] {
        let event = try await next()
        guard case .digested(let sha256) = event else { throw Unexpected(event, location) }
        return sha256
    }

    func expectFinalized(_ location: SourceLocation = #_sourceLocation) async throws {
        let event = try await next()
        guard case .finalized = event else { throw Unexpected(event, location) }
    }

    func expectClosed(_ location: SourceLocation = #_sourceLocation) async throws {
        let event = try await next()
        guard case .closed = event else { throw Unexpected(event, location) }
    }

    func failure(_ location: SourceLocation = #_sourceLocation) async throws -> LectureError {
        let event = try await next()
        guard case .failed(let error) = event else { throw Unexpected(event, location) }
        return error
    }

    /// Finalizes the file and closes it.
    func finish(total: Int) async throws {
        file.finalize(total: UInt64(total))
        try await expectFinalized()
        file.close(deleting: false)
        try await expectClosed()
    }

    /// Hands a range over as a transfer of its own, in blocks.
    @discardableResult
    func send(
        _ bytes: [UInt8], _ plan: PartFilePlan, from range: Range<Int>, block: Int = 1 << 16, ends: Bool = false
    ) -> Bool {
        let transfer = newTransfer()
        for start in stride(from: range.lowerBound, to: range.upperBound, by: block) {
            let end = min(start + block, range.upperBound)
            let isLast = ends && end == range.upperBound
            if !send(Array(bytes[start..<end]), at: start, transfer, ends: isLast) { return false }
        }
        return true
    }

    /// Hands one block over.
    @discardableResult
    func send(
        _ bytes: [UInt8], at offset: Int, _ transfer: TransferID, ends: Bool = false, spare: Int = SealedFormat.tagBytes
    ) -> Bool {
        file.submit(filled(bytes, at: offset, spare: spare), from: transfer, endsObject: ends)
    }

    func newTransfer() -> TransferID {
        lastTransfer += 1
        return TransferID(lastTransfer)
    }
}

/// A block with these bytes.
func filled(_ bytes: [UInt8], at offset: Int, spare: Int = 0) -> Block {
    let block = Block(offset: UInt64(offset), capacity: max(1, bytes.count), spare: spare)
    let taken = unsafe bytes.withUnsafeBytes { unsafe block.append($0) }
    #expect(taken == bytes.count)
    return block
}

/// An unexpected event.
struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ event: PartFileEvent, _ location: SourceLocation) {
        var text = "\(event)"
        if case .failed(let error) = event { text = error.message }
        description = "\(location): \(text)"
    }
}

/// A plan for tests: small chunks, so that files are small.
func plan(
    _ total: Int?, chunk: Int = 1 << 16, name: String = "lecture", digest: Bool = true, resumes: Bool = false,
    reserve: UInt64 = 0
) -> PartFilePlan {
    PartFilePlan(
        resource: ResourceID(5), path: "media/a7/\(name)", total: total.map(UInt64.init), chunkBytes: UInt64(chunk),
        needsDigest: digest, resumes: resumes, reserveBytes: reserve)
}

/// Runs a program of the machine and waits for it.
@discardableResult
func run(_ arguments: String...) throws -> Int32 {
    try ChildProcess.runBlocking("/usr/bin/env", arguments).status
}

/// A separate small file system; needs the right to mount.
final class SmallDisk: Sendable {
    let path: String

    /// Whether this process may mount.
    static let isPossible = getuid() == 0 && (try? SmallDisk("size=64k")) != nil

    init(_ options: String, type: String = "tmpfs") throws {
        path = "\(FileManager.default.temporaryDirectory.path)/lecturefiles-disk-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard try run("mount", "-t", type, "-o", options, "lecturefiles", path) == 0 else {
            try? FileManager.default.removeItem(atPath: path)
            throw CocoaError(.fileWriteNoPermission)
        }
    }

    func remount(_ options: String) throws {
        #expect(try run("mount", "-o", "remount,\(options)", path) == 0)
    }

    deinit {
        _ = try? run("umount", "-l", path)
        try? FileManager.default.removeItem(atPath: path)
    }
}
