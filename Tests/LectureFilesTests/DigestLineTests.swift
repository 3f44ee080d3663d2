import Dispatch
import Glibc
import LectureCrypto
import LectureModel
import Testing

@testable import LectureFiles

/// The digest of a file, taken beside its writes or between them.
@Suite(.timeLimit(.minutes(1))) struct DigestLineTests {
    private let scratch: Scratch
    private let digests: OpenSSLDigests
    private let bytes = sample(8 * 100)
    private let directory: Descriptor
    private let budget = DiskBudget(blocksPerFile: 16)
    private let account: DiskBudget.Account
    private let failures = Guarded<[LectureError]>([])

    init() throws {
        scratch = try Scratch()
        digests = try OpenSSLDigests(proofKey: sample(32, seed: 77))
        try scratch.write("file", bytes)
        directory = try StoreRoot.open(scratch.path)
        account = budget.open()
    }

    private func line(isBeside: Bool) throws -> DigestLine {
        let reader = ReadableFile(try directory.open("file", O_RDONLY), "file")
        let failures = failures
        return try DigestLine(
            digests, isBeside: isBeside, reader: { reader }, fail: { error in failures.withLock { $0.append(error) } })
    }

    /// Writes a chunk that arrives as a block, as a part file does.
    private func write(_ chunk: Int, _ line: DigestLine) throws {
        let range = UInt64(chunk * 100)..<UInt64(chunk * 100 + 100)
        let block = filled(Array(bytes[chunk * 100..<(chunk + 1) * 100]), at: chunk * 100)
        #expect(budget.enter(account, bytes: 100))
        try line.willWrite(block, ending: [range], DiskBudget.Ticket(budget, account, bytes: 100))
        try line.didWrite([range])
    }

    @Test(
        arguments: [false, true],
        [
            [0, 1, 2, 3, 4, 5, 6, 7], [4, 5, 6, 7, 0, 1, 2, 3], [7, 0, 6, 1, 5, 2, 4, 3],
            [0, 1, 2, 1, 3, 4, 5, 6, 7, 0],
        ])
    func `In any order, and with chunks that are written again, it is that of the file`(
        isBeside: Bool, order: [Int]
    ) throws {
        let line = try line(isBeside: isBeside)
        for chunk in order { try write(chunk, line) }
        #expect(try line.finish(total: 800) { true } == digests.sha256(of: bytes))
        #expect(budget.waitingBlocks == 0)
        #expect(try line.finish(total: 800) { false } == nil)
    }

    @Test func `After its end it neither reads nor reports`() throws {
        try scratch.truncate("file", to: 50)
        let line = try line(isBeside: true)
        try write(1, line)
        line.end()
        try write(0, line)
        line.end()
        #expect(failures.withLock { $0.isEmpty } && budget.waitingBlocks == 0)
    }

    @Test func `An error beside the writes is reported, and one between them is thrown`() throws {
        // The chunk before the one in memory has to be read, and is not there.
        try scratch.truncate("file", to: 50)
        let beside = try line(isBeside: true)
        try write(1, beside)
        try write(0, beside)
        #expect(throws: LectureError.self) { try beside.finish(total: 800) { true } }
        #expect(failures.withLock { $0.map(\.code) } == [.damaged])
        let between = try line(isBeside: false)
        try write(1, between)
        let error = #expect(throws: LectureError.self) { try write(0, between) }
        #expect(error?.code == .damaged && failures.withLock { $0.count } == 1)
    }
}

/// Files whose digest waits until it is let go.
@Suite(.timeLimit(.minutes(1))) struct DigestBesideWritesTests {
    /// A digest that takes no bytes before its gate is open.
    private final class HeldDigest: RunningDigest {
        private let digest: any RunningDigest
        private let gate: DispatchGroup

        init(_ digest: any RunningDigest, _ gate: DispatchGroup) { (self.digest, self.gate) = (digest, gate) }

        func update(_ bytes: UnsafeRawBufferPointer) {
            // proof: the test opens it.
            gate.wait()
            unsafe digest.update(bytes)
        }

        func finish() throws(LectureError) -> [UInt8] { try digest.finish() }
    }

    private struct HeldDigests: DigestMaker {
        let digests: OpenSSLDigests
        let gate: DispatchGroup

        func sha256() throws(LectureError) -> any RunningDigest { HeldDigest(try digests.sha256(), gate) }
        func proof(resource: ResourceID, chunk: Int) throws(LectureError) -> any RunningDigest {
            try digests.proof(resource: resource, chunk: chunk)
        }
        func proof(
            repeating proof: [UInt8], resource: ResourceID, chunk: Int
        ) throws(LectureError) -> any RunningDigest {
            try digests.proof(repeating: proof, resource: resource, chunk: chunk)
        }
        func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool { digests.equal(one, other) }
    }

    /// Without a digest beside the writes no chunk of it would be durable before the digest has taken it.
    @Test func `A large file is durable while its digest has yet to be taken`() async throws {
        let gate = DispatchGroup()
        gate.enter()
        let scratch = try Scratch()
        let digests = try OpenSSLDigests(proofKey: sample(32, seed: 77))
        let budget = DiskBudget(blocksPerFile: 16, bytes: 64 << 20)
        let files = try StoreDirectory(
            root: scratch.path, digests: HeldDigests(digests: digests, gate: gate), budget: budget)
        let bytes = sample(Int(DigestLine.leastBytes) + 5)
        let plan = plan(bytes.count, chunk: 1 << 20, digest: true)
        let part = TestPart(files)
        part.file.open(plan)
        try await part.expectOpened()
        #expect(part.send(bytes, plan, from: 0..<bytes.count, block: 1 << 20))
        part.file.flush()
        var chunks: [WrittenChunk] = []
        while chunks.count < 9 { chunks += try await part.flushed() }
        #expect(budget.waitingBlocks > 0, "their memory is still used")
        gate.leave()
        part.file.digest(total: UInt64(bytes.count))
        #expect(try await part.digest() == digests.sha256(of: bytes))
        #expect(budget.waitingBlocks == 0)
        try await part.finish(total: bytes.count)
        #expect(try scratch.read(plan.path) == bytes)
    }
}
