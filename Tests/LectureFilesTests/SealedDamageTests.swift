import Foundation
import LectureCrypto
import LectureFiles
import LectureModel
import Testing

/// Any damage to a sealed file: verification names the chunks, and reading returns none of them.
@Suite(.timeLimit(.minutes(1))) struct SealedDamageTests {
    /// How the bytes of a file of four segments are damaged.
    enum Deed: CaseIterable, Sendable {
        case flipsTag
        case flipsSalt
        case flipsPrefix
        case swaps
        case repeats
        case dropsMiddle
        case dropsLast
        case truncates
        case appends
        case appendsSegment

        func act(on file: inout [UInt8]) {
            let mebi = 1 << 20
            switch self {
            case .flipsTag: file[2 * mebi - 1] ^= 1
            case .flipsSalt: file[5] ^= 1
            case .flipsPrefix: file[36] ^= 1
            case .swaps:
                let second = Array(file[mebi..<2 * mebi])
                file.replaceSubrange(mebi..<2 * mebi, with: file[2 * mebi..<3 * mebi])
                file.replaceSubrange(2 * mebi..<3 * mebi, with: second)
            case .repeats: file.replaceSubrange(2 * mebi..<3 * mebi, with: file[mebi..<2 * mebi])
            case .dropsMiddle: file.removeSubrange(mebi..<2 * mebi)
            case .dropsLast: file.removeSubrange((3 * mebi)...)
            case .truncates: file.removeLast(1000)
            case .appends: file.append(7)
            case .appendsSegment: file += file[mebi..<2 * mebi]
            }
        }

        var damaged: [Int] {
            switch self {
            case .flipsTag: [1]
            case .flipsSalt, .flipsPrefix: [0, 1, 2, 3]
            case .swaps: [1, 2]
            case .repeats: [2]
            case .dropsMiddle: [1, 2, 3]
            case .dropsLast, .truncates, .appends, .appendsSegment: [3]
            }
        }

        /// Bytes behind the end belong to no chunk.
        var unreadable: [Int] { [.appends, .appendsSegment].contains(self) ? [] : damaged }
    }

    let lecture: SealedStore
    let bytes = SealedStore.media(SealedStore.length(3, 5000))
    private let path = SealedStore.path
    private var root: Scratch { lecture.store.root }

    init() throws { lecture = try SealedStore() }

    @Test(arguments: Deed.allCases)
    func `A changed file is found by verify and by read`(deed: Deed) async throws {
        let proofs = try await lecture.writeWhole(bytes)
        #expect(try lecture.damaged(bytes, proofs).isEmpty && lecture.unreadable(bytes, proofs).isEmpty)
        var file = try root.read(path)
        deed.act(on: &file)
        try root.write(path, file)
        #expect(try lecture.damaged(bytes, proofs) == deed.damaged)
        #expect(try lecture.unreadable(bytes, proofs) == deed.unreadable)
    }

    @Test func `A segment of another lecture is detected`() async throws {
        let other = try SealedStore.cipher("another lecture", lecture.ledger)
        try await lecture.writeWhole(bytes, cipher: other)
        let foreign = try root.read(path)
        try lecture.store.files.delete(path: path)
        let proofs = try await lecture.writeWhole(bytes)
        var file = try root.read(path)
        file.replaceSubrange(1 << 20..<2 << 20, with: foreign[1 << 20..<2 << 20])
        try root.write(path, file)
        #expect(try lecture.damaged(bytes, proofs) == [1])
        #expect(try lecture.unreadable(bytes, proofs) == [1])
        // And the whole file of the other lecture, whose name is bound to it.
        try root.write(path, foreign)
        #expect(try lecture.damaged(bytes, proofs) == [0, 1, 2, 3])
    }

    @Test func `An older file of the same content is found by its proofs`() async throws {
        let older = SealedStore.media(bytes.count, seed: 2)
        let olderProofs = try await lecture.writeWhole(older)
        let replay = try root.read(path)
        try lecture.store.files.delete(path: path)
        let proofs = try await lecture.writeWhole(bytes)
        try root.write(path, replay)
        #expect(try lecture.damaged(older, olderProofs).isEmpty, "it is genuine, and was whole once")
        #expect(try lecture.damaged(bytes, proofs) == [0, 1, 2, 3])
        #expect(try lecture.unreadable(bytes, proofs) == [0, 1, 2, 3])
    }

    @Test func `An empty sealed file is verified too`() async throws {
        let plan = lecture.plan(0)
        let part = try await lecture.began(plan)
        part.file.digest(total: 0)
        #expect(try await part.digest() == lecture.store.digests.sha256(of: []))
        part.file.finalize(total: 0)
        try await part.expectFinalized()
        part.file.close(deleting: false)
        #expect(try await part.closed())
        #expect(lecture.store.files.status(path: path).final == 56)
        #expect(try lecture.damaged([], []).isEmpty)
        try root.flip(path, at: 50)
        #expect(try lecture.damaged([], []) == [0])
        try root.flip(path, at: 50)
        try root.write(path, try root.read(path) + [0])
        #expect(try lecture.damaged([], []) == [0])
    }

    @Test func `Proofs are not the store's: the database says nothing of the plaintext`() async throws {
        let proofs = try await lecture.writeWhole(bytes)
        let nonce = Array(proofs[0].proof)
        let grid = lecture.plan(bytes.count).grid
        let range = grid.range(of: 0, total: UInt64(bytes.count))
        for (digests, isIts) in [(lecture.cipher.digests, true), (lecture.store.digests, false)] {
            let running = try digests.proof(repeating: nonce, resource: ResourceID(5), chunk: 0)
            unsafe Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]).withUnsafeBytes {
                unsafe running.update($0)
            }
            #expect(try (running.finish() == nonce) == isIts)
        }
    }

    @Test func `A sealed file is not published`() async throws {
        try await lecture.writeWhole(bytes)
        let outputs = try Scratch()
        #expect(throws: LectureError(.isSealed)) {
            try lecture.store.files.publish(path: path, isSealed: true, to: outputs.path + "/out")
        }
        #expect(try outputs.names().isEmpty)
    }
}
