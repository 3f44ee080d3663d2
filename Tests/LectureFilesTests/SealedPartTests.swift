import LectureCrypto
import LectureFiles
import LectureModel
import Testing

/// The nonce law on a real disk: whatever happens to a sealed part file, no segment is sealed twice under one header,
/// and what was proven stays.
@Suite(.timeLimit(.minutes(2))) struct SealedPartTests {
    private let store: TestStore
    private let cipher: any ContentCipher
    /// What one chunk holds: one segment; the first one 40 bytes less, where the header is.
    private let text = SealedFormat.plaintextBytes
    private var ends: [Int] { [text - SealedFormat.headerBytes, 2 * text - SealedFormat.headerBytes, 3 * text] }
    private var bytes: [UInt8] { sample(ends[2], seed: 5) }

    init() throws {
        store = try TestStore()
        cipher = try DeviceVault(try DeviceKey.generate()).newCipher(for: ContentKey("lecture"), purpose: .licensed).0
    }

    /// The chunks of ``bytes``: three whole segments and what is left of a fourth.
    private var chunks: [Range<Int>] { [0..<ends[0], ends[0]..<ends[1], ends[1]..<ends[1] + text, ends[1] + text..<ends[2]] }

    private func sealedPlan(
        total: Int?, resumes: Bool = false, isClean: Bool = false, proven: [Int] = []
    ) -> PartFilePlan {
        var plan = plan(total, chunk: text, resumes: resumes)
        plan.seal = SealPlan(cipher: cipher, isClean: isClean, proven: proven)
        return plan
    }

    private func opened(_ plan: PartFilePlan) async throws -> TestPart {
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        return part
    }

    /// The bytes of the part file.
    private func ciphertext() throws -> [UInt8] { try store.root.read("media/a7/lecture.part") }

    private func header() throws -> [UInt8] { Array(try ciphertext().prefix(SealedFormat.headerBytes)) }

    /// One segment of the part file.
    private func segment(_ number: Int) throws -> [UInt8] {
        let layout = try #require(SealedLayout(plaintextLength: ends[2]))
        return Array(try ciphertext()[layout.ciphertextRange(ofSegment: number)])
    }

    /// What the file holds, opened by its own header alone.
    private func plaintext(_ path: String) throws -> [UInt8] {
        let file = try store.root.read(path)
        let opener = try cipher.opener(header: Array(file.prefix(SealedFormat.headerBytes)))
        let layout = try #require(SealedLayout(ciphertextLength: file.count))
        var found: [UInt8] = []
        for number in 0..<layout.segmentCount {
            let box = Array(file[layout.ciphertextRange(ofSegment: number)])
            var room = [UInt8](repeating: 0, count: box.count - SealedFormat.tagBytes)
            try unsafe box.withUnsafeBytes { box in
                try unsafe room.withUnsafeMutableBytes { room in
                    try unsafe opener.open(segment: number, isLast: number == layout.lastSegment, box, into: room)
                }
            }
            found += room
        }
        return found
    }

    /// Places what is whole and holds it against what it should be.
    private func finish(_ part: TestPart, as due: [UInt8]) async throws {
        part.file.place(total: UInt64(due.count))
        try await part.expectPlaced()
        part.file.close(deleting: false)
        try await part.expectClosed()
        #expect(try plaintext("media/a7/lecture") == due)
    }

    /// Two proven chunks and a file that is closed; answers whether it was left clean.
    private func half() async throws -> Bool {
        let plan = sealedPlan(total: ends[2])
        let part = try await opened(plan)
        part.send(bytes, plan, from: chunks[0])
        part.send(bytes, plan, from: chunks[1])
        part.file.flush()
        #expect(try await part.flushed().map(\.index).sorted() == [0, 1])
        part.file.close(deleting: false)
        guard case .closed(let isClean) = try await part.next() else { return false }
        return isClean
    }

    // MARK: Going on

    @Test func `A file that was left clean goes on under its header`() async throws {
        #expect(try await half())
        let (before, kept) = (try header(), try segment(0))
        let plan = sealedPlan(total: ends[2], resumes: true, isClean: true, proven: [0, 1])
        let part = try await opened(plan)
        part.send(bytes, plan, from: ends[1]..<ends[2])
        part.file.flush()
        #expect(try await part.flushed().map(\.index).sorted() == [2, 3])
        #expect(try header() == before)
        #expect(try segment(0) == kept)
        try await finish(part, as: bytes)
    }

    @Test func `A file that was not left clean gets a new header, and keeps what is proven`() async throws {
        _ = try await half()
        let (before, sealed) = (try header(), try segment(1))
        // Only the second chunk is proven: the first one may have been sealed with other bytes.
        let plan = sealedPlan(total: ends[2], resumes: true, isClean: false, proven: [1])
        let part = try await opened(plan)
        #expect(try header() != before)
        #expect(try segment(1) != sealed)
        part.send(bytes, plan, from: chunks[0])
        part.send(bytes, plan, from: ends[1]..<ends[2])
        part.file.flush()
        #expect(try await part.flushed().map(\.index).sorted() == [0, 2, 3])
        try await finish(part, as: bytes)
    }

    @Test func `Bytes where nothing is proven are strays of rows that were put back`() async throws {
        #expect(try await half())
        let before = try header()
        let plan = sealedPlan(total: ends[2], resumes: true, isClean: true, proven: [0])
        let part = try await opened(plan)
        #expect(try header() != before, "the second segment was sealed under the old one")
        part.send(bytes, plan, from: ends[0]..<ends[2])
        part.file.flush()
        #expect(try await part.flushed().map(\.index).sorted() == [1, 2, 3])
        try await finish(part, as: bytes)
    }

    @Test func `What does not open is left out and comes again`() async throws {
        _ = try await half()
        try store.root.flip("media/a7/lecture.part", at: 200)
        let plan = sealedPlan(total: ends[2], resumes: true, isClean: false, proven: [0, 1])
        let part = try await opened(plan)
        part.send(bytes, plan, from: chunks[0])
        part.send(bytes, plan, from: ends[1]..<ends[2])
        part.file.flush()
        #expect(try await part.flushed().map(\.index).sorted() == [0, 2, 3])
        try await finish(part, as: bytes)
    }

    @Test func `What is left out stays open to other bytes under the new header`() async throws {
        _ = try await half()
        try store.root.flip("media/a7/lecture.part", at: 200)
        let plan = sealedPlan(total: ends[2], resumes: true, isClean: false, proven: [0, 1])
        let part = try await opened(plan)
        let renewed = try header()
        part.send(bytes, plan, from: chunks[0])
        part.file.flush()
        _ = try await part.flushed()
        // It was sealed nowhere under this header, so no third one is due.
        #expect(try header() == renewed)
        part.send(bytes, plan, from: ends[1]..<ends[2])
        part.file.flush()
        _ = try await part.flushed()
        try await finish(part, as: bytes)
    }

    // MARK: The same segment again

    @Test func `The same bytes again are not sealed again`() async throws {
        let plan = sealedPlan(total: ends[2])
        let part = try await opened(plan)
        part.send(bytes, plan, from: chunks[1])
        part.file.flush()
        _ = try await part.flushed()
        let (before, sealed) = (try header(), try segment(1))
        part.send(bytes, plan, from: chunks[1])
        part.send(bytes, plan, from: chunks[0])
        part.send(bytes, plan, from: ends[1]..<ends[2])
        part.file.flush()
        _ = try await part.flushed()
        #expect(try header() == before)
        #expect(try segment(1) == sealed)
        try await finish(part, as: bytes)
    }

    @Test func `Other bytes for a segment are sealed under a new header`() async throws {
        var liar = bytes
        liar[ends[0] + 70_000] ^= 1
        let plan = sealedPlan(total: ends[2])
        let part = try await opened(plan)
        part.send(bytes, plan, from: chunks[0])
        part.send(liar, plan, from: chunks[1])
        part.file.flush()
        _ = try await part.flushed()
        let (before, kept) = (try header(), try segment(0))
        part.send(bytes, plan, from: chunks[1])
        part.file.flush()
        _ = try await part.flushed()
        #expect(try header() != before)
        #expect(try segment(0) != kept, "what is carried over is sealed anew")
        part.send(bytes, plan, from: ends[1]..<ends[2])
        part.file.flush()
        _ = try await part.flushed()
        try await finish(part, as: bytes)
    }

    // MARK: Unknown length

    @Test func `A transfer that is cut at the end of a segment leaves no second last one`() async throws {
        let due = Array(bytes[..<ends[1]])
        let plan = sealedPlan(total: nil)
        let part = try await opened(plan)
        // Held back: nobody knows yet whether it is the last one.
        let cut = part.newTransfer()
        part.send(Array(due[chunks[0]]), at: 0, cut)
        // The next transfer begins there again.
        let next = part.newTransfer()
        part.send(due, at: 0, next, ends: true)
        // More of the one that was held for dead: nothing of it may be sealed in the other's place.
        part.file.flush()
        #expect(try await part.flushed().map(\.index).sorted() == [0, 1])
        try await finish(part, as: due)
    }
}
