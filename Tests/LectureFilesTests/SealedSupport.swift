import Foundation
import LectureCrypto
import LectureFiles
import LectureModel
import Testing

/// Records what is sealed, over all openings, and checks the nonce invariant.
final class NonceLedger: Sendable {
    private struct Nonce: Hashable {
        let header: [UInt8]
        let segment: Int
    }

    private struct State {
        var sealed: [Nonce: [UInt8]] = [:]
        var broken: [String] = []
        var inPlace = 0
        var onSeal: @Sendable () -> Void = {}
    }

    private let state = Guarded(State())
    private let digests: OpenSSLDigests

    init(_ digests: OpenSSLDigests) { self.digests = digests }

    /// Headers and segments that sealed two plaintexts.
    var broken: [String] { state.withLock { $0.broken } }

    /// How many segments were sealed.
    var count: Int { state.withLock { $0.sealed.count } }

    /// How many of them where their text was.
    var inPlace: Int { state.withLock { $0.inPlace } }

    /// Called before each sealing, on the adapter's thread.
    func onSeal(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onSeal = body } }

    func record(_ header: [UInt8], _ segment: Int, isLast: Bool, isInPlace: Bool, _ text: [UInt8]) {
        state.withLock { $0.onSeal }()
        guard let digest = try? digests.sha256(of: text) else { return }
        state.withLock { state in
            if isInPlace { state.inPlace += 1 }
            let nonce = Nonce(header: header, segment: segment)
            let before = state.sealed.updateValue(digest + [isLast ? 1 : 0], forKey: nonce)
            if let before, before != digest + [isLast ? 1 : 0] { state.broken.append("segment \(segment)") }
        }
    }
}

/// A lecture's cipher that records what it seals.
struct RecordingCipher: ContentCipher {
    let content: SealedContent
    let ledger: NonceLedger

    var digests: any DigestMaker { content.digests }

    func newHeader() throws(LectureError) -> [UInt8] { try content.newHeader() }

    func sealer(header: [UInt8], sealedBefore: Set<Int>) throws(LectureError) -> any SegmentSealing {
        RecordingSealer(
            sealer: try content.sealer(header: header, sealedBefore: sealedBefore), header: header, ledger: ledger)
    }

    func opener(header: [UInt8]) throws(LectureError) -> any SegmentOpening { try content.opener(header: header) }

    func seal(piece bytes: [UInt8], place: [UInt8]) throws(LectureError) -> [UInt8] {
        try content.seal(piece: bytes, place: place)
    }

    func open(piece box: [UInt8], place: [UInt8]) throws(LectureError) -> [UInt8]? {
        try content.open(piece: box, place: place)
    }
}

private struct RecordingSealer: SegmentSealing {
    let sealer: any SegmentSealing
    let header: [UInt8]
    let ledger: NonceLedger

    func seal(
        segment: Int, isLast: Bool, _ plaintext: UnsafeRawBufferPointer, into ciphertext: UnsafeMutableRawBufferPointer
    ) throws(LectureError) {
        let text = unsafe Array(plaintext)
        try unsafe sealer.seal(segment: segment, isLast: isLast, plaintext, into: ciphertext)
        let isInPlace = unsafe plaintext.baseAddress == UnsafeRawPointer(ciphertext.baseAddress)
        ledger.record(header, segment, isLast: isLast, isInPlace: isInPlace, text)
    }
}

/// A store with a sealed lecture.
struct SealedStore: Sendable {
    /// In every aligned window of 64 bytes of the media, and so in every piece of it that could leak.
    private static let mark = Array("plaintext mark \u{1}".utf8)
    static let contentKey = sample(32, seed: 555)
    static let first = SealedFormat.plaintextBytes - SealedFormat.headerBytes
    static let other = SealedFormat.plaintextBytes
    static let path = "media/a7/lecture"

    let store: TestStore
    let ledger: NonceLedger
    let cipher: RecordingCipher

    init(in parent: String? = nil) throws {
        store = try TestStore(in: parent)
        ledger = NonceLedger(store.digests)
        cipher = try Self.cipher("lecture", ledger)
    }

    static func cipher(_ content: String, _ ledger: NonceLedger) throws -> RecordingCipher {
        RecordingCipher(
            content: try SealedContent(try SecretBytes(copying: contentKey), content: content), ledger: ledger)
    }

    /// Media: bytes that look random, with the mark in each window.
    static func media(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var bytes = sample(count, seed: seed)
        for start in stride(from: 0, to: max(0, count - mark.count), by: 64) {
            bytes.replaceSubrange(start..<(start + mark.count), with: mark)
        }
        return bytes
    }

    /// The length of a plaintext of so many whole segments and some bytes.
    static func length(_ segments: Int, _ more: Int = 0) -> Int {
        segments == 0 ? more : first + (segments - 1) * other + more
    }

    func plan(
        _ total: Int?, segments: Int = 1, resumes: Bool = false, isClean: Bool = false, committed: [Int] = [],
        cipher: RecordingCipher? = nil, reserve: UInt64 = 0
    ) -> PartFilePlan {
        PartFilePlan(
            resource: ResourceID(5), path: Self.path, total: total.map(UInt64.init),
            chunkBytes: UInt64(segments * Self.other), needsDigest: true, resumes: resumes, reserveBytes: reserve,
            seal: SealPlan(cipher: cipher ?? self.cipher, isClean: isClean, committed: committed))
    }

    func began(_ plan: PartFilePlan) async throws -> TestPart {
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        return part
    }

    /// The bytes of a chunk.
    func range(_ chunk: Int, _ plan: PartFilePlan, _ bytes: [UInt8]) -> Range<Int> {
        let range = plan.grid.range(of: chunk, total: UInt64(bytes.count))
        return Int(range.lowerBound)..<Int(range.upperBound)
    }

    /// Writes a whole lecture and finalizes it.
    @discardableResult
    func writeWhole(_ bytes: [UInt8], cipher: RecordingCipher? = nil) async throws -> [WrittenChunk] {
        try await store.writeWhole(bytes, plan(bytes.count, cipher: cipher)).sorted { $0.index < $1.index }
    }

    func damaged(
        _ bytes: [UInt8], _ proofs: [WrittenChunk], path: String = path, segments: Int = 1
    ) throws -> [Int] {
        try store.files.verify(
            path: path, resource: ResourceID(5), total: UInt64(bytes.count), grid: plan(nil, segments: segments).grid,
            cipher: cipher, proofs: proofs
        ) { _ in true }
    }

    /// The chunks that reading refuses; all others read as fetched.
    func unreadable(_ bytes: [UInt8], _ proofs: [WrittenChunk]) throws -> [Int] {
        let plan = plan(bytes.count)
        return try proofs.compactMap { proof in
            let read = try store.files.read(
                path: Self.path, resource: ResourceID(5), total: UInt64(bytes.count), grid: plan.grid, cipher: cipher,
                proof: proof)
            if let read, read != Array(bytes[range(proof.index, plan, bytes)]) { return -1 }
            return read == nil ? proof.index : nil
        }
    }

    /// The header of the part file, or of the placed one.
    func header(_ suffix: String = ".part") throws -> [UInt8] {
        Array(try store.root.read(Self.path + suffix).prefix(40))
    }

    /// Files below the store in which plaintext is found.
    static func leaks(below root: String) -> [String] {
        let mark = Data(mark)
        guard let all = FileManager.default.enumerator(atPath: root) else { return ["nothing to look at"] }
        return all.compactMap { $0 as? String }.filter { name in
            (try? Data(contentsOf: URL(filePath: "\(root)/\(name)")))?.range(of: mark) != nil
        }
    }

    /// Checks both invariants.
    func expectInvariants(_ location: SourceLocation = #_sourceLocation) {
        #expect(ledger.broken == [], "two plaintexts under one nonce", sourceLocation: location)
        #expect(Self.leaks(below: store.root.path) == [], "plaintext on the disk", sourceLocation: location)
    }
}

extension TestPart {
    /// Whether the file was closed clean.
    func closed(_ location: SourceLocation = #_sourceLocation) async throws -> Bool {
        let event = try await next()
        guard case .closed(let isClean) = event else { throw Unexpected(event, location) }
        return isClean
    }
}
