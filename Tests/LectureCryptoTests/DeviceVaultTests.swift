import LectureCrypto
import LectureModel
import Testing

@Suite struct DeviceVaultTests {
    private let key: ContentKey

    init() throws { key = try ContentKey("lecture-1") }

    private func seal(_ cipher: any ContentCipher, _ header: [UInt8], _ text: [UInt8]) throws -> [UInt8] {
        let sealer = try cipher.sealer(header: header, sealedBefore: [])
        var box = [UInt8](repeating: 0, count: text.count + SealedFormat.tagBytes)
        try unsafe text.withUnsafeBytes { text in
            try unsafe box.withUnsafeMutableBytes { box in
                try unsafe sealer.seal(segment: 0, isLast: true, text, into: box)
            }
        }
        return box
    }

    private func open(
        _ cipher: any ContentCipher, _ header: [UInt8], _ box: [UInt8], segment: Int = 0, isLast: Bool = true
    ) throws -> [UInt8] {
        let opener = try cipher.opener(header: header)
        var text = [UInt8](repeating: 0, count: box.count - SealedFormat.tagBytes)
        try unsafe box.withUnsafeBytes { box in
            try unsafe text.withUnsafeMutableBytes { text in
                try unsafe opener.open(segment: segment, isLast: isLast, box, into: text)
            }
        }
        return text
    }

    @Test(arguments: SealPurpose.allCases)
    func `a wrapped key unwraps to the same cipher`(purpose: SealPurpose) throws {
        let device = try DeviceKey.generate()
        let (cipher, wrapped) = try DeviceVault(device).newCipher(for: key, purpose: purpose)
        #expect(wrapped.wrapped.count == 40 && wrapped.purpose == purpose && wrapped.grantingKeys == nil)
        let header = try cipher.newHeader()
        let box = try seal(cipher, header, [1, 2, 3])
        // As in the next process: from the device's file and the store's row.
        let again = DeviceVault(try DeviceKey(fileBytes: try device.fileBytes()))
        #expect(try open(again.cipher(wrapped, for: key), header, box) == [1, 2, 3])
    }

    @Test func `a piece opens only whole, in its place, and under its lecture's key`() throws {
        let vault = DeviceVault(try DeviceKey.generate())
        let (cipher, stored) = try vault.newCipher(for: key, purpose: .licensed)
        let (bytes, place) = (Array("received so far".utf8), ChunkPiece.place(ResourceID(7), start: 1_048_520))
        #expect(place == [0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 15, 255, 200])
        let box = try cipher.seal(piece: bytes, place: place)
        #expect(box.count == bytes.count + StoredPiece.overhead)
        #expect(try cipher.seal(piece: bytes, place: place) != box, "each has its own nonce")
        #expect(try cipher.open(piece: box, place: place) == bytes)
        #expect(try vault.cipher(stored, for: key).open(piece: box, place: place) == bytes)
        #expect(try cipher.open(piece: box, place: ChunkPiece.place(ResourceID(8), start: 1_048_520)) == nil)
        #expect(try cipher.open(piece: box, place: ChunkPiece.place(ResourceID(7), start: 0)) == nil)
        #expect(try vault.newCipher(for: key, purpose: .licensed).0.open(piece: box, place: place) == nil)
        for position in [0, 12, box.count - 1] {
            var changed = box
            changed[position] ^= 1
            #expect(try cipher.open(piece: changed, place: place) == nil)
        }
        #expect(try cipher.open(piece: Array(box.dropLast()), place: place) == nil)
        #expect(try cipher.open(piece: [], place: place) == nil)
    }

    @Test func `another device, another purpose, other granting keys and changed bytes open nothing`() throws {
        let device = try DeviceKey.generate()
        let vault = DeviceVault(device)
        let keys = GrantingKeys(answers: ["a"], files: ["f"])
        let (_, free) = try vault.newCipher(for: key, purpose: .licensed)
        let (_, bound) = try vault.newCipher(for: key, purpose: .licensed, boundTo: keys)
        let other = DeviceVault(try DeviceKey.generate())
        var bytes = free.wrapped
        bytes[20] ^= 1
        let changed = [
            WrappedKey(wrapped: free.wrapped, purpose: .unlicensed), WrappedKey(wrapped: bytes, purpose: .licensed),
            WrappedKey(wrapped: [], purpose: .licensed),
            WrappedKey(wrapped: free.wrapped, purpose: .licensed, grantingKeys: keys),
            WrappedKey(wrapped: bound.wrapped, purpose: .licensed),
            WrappedKey(wrapped: bound.wrapped, purpose: .licensed, grantingKeys: GrantingKeys(answers: ["a"])),
        ]
        for (vault, stored) in changed.map({ (vault, $0) }) + [(other, free), (other, bound)] {
            #expect(throws: LectureError(.sealedElsewhere)) { try vault.cipher(stored, for: key) }
            // A check without opening agrees.
            #expect(try !vault.opens(stored))
            #expect(try vault.bind(stored, to: keys) == nil)
        }
        #expect(try vault.opens(free) && vault.opens(bound))
    }

    @Test func `keys that are bound to different granting keys are opened in any order`() throws {
        let vault = DeviceVault(try DeviceKey.generate())
        let names = ["a", "b"].map { GrantingKeys(answers: [$0]) }
        let stored = try names.map { try vault.newCipher(for: key, purpose: .licensed, boundTo: $0).1 }
        for place in [0, 1, 0, 0, 1, 1] {
            #expect(try vault.opens(stored[place]))
            let mixed = WrappedKey(
                wrapped: stored[place].wrapped, purpose: .licensed, grantingKeys: stored[1 - place].grantingKeys)
            #expect(try !vault.opens(mixed))
        }
    }

    @Test func `a key that is bound to other granting keys is the same key`() throws {
        let vault = DeviceVault(try DeviceKey.generate())
        let (cipher, made) = try vault.newCipher(for: key, purpose: .licensed)
        let header = try cipher.newHeader()
        let box = try seal(cipher, header, [1, 2, 3])
        let keys = GrantingKeys(answers: ["a"], files: ["f"])
        let bound = try #require(try vault.bind(made, to: keys))
        #expect(bound.wrapped != made.wrapped && bound.wrapped.count == 40 && bound.grantingKeys == keys)
        #expect(try open(vault.cipher(bound, for: key), header, box) == [1, 2, 3])
        let again = try #require(try vault.bind(bound, to: GrantingKeys(answers: ["b"])))
        #expect(try open(vault.cipher(again, for: key), header, box) == [1, 2, 3])
    }

    @Test func `a file is bound to its lecture, its place and its end`() throws {
        let vault = DeviceVault(try DeviceKey.generate())
        let (cipher, wrapped) = try vault.newCipher(for: key, purpose: .licensed)
        let other = try vault.cipher(wrapped, for: try ContentKey("lecture-2"))
        let header = try cipher.newHeader()
        let box = try seal(cipher, header, [1, 2, 3])
        #expect(throws: LectureError(.damaged)) { try open(other, header, box) }
        #expect(throws: LectureError(.damaged)) { try open(cipher, try cipher.newHeader(), box) }
        #expect(throws: LectureError(.damaged)) { try open(cipher, header, box, segment: 1) }
        #expect(throws: LectureError(.damaged)) { try open(cipher, header, box, isLast: false) }
        #expect(throws: LectureError(.damaged)) { try open(cipher, [1], box) }
        #expect(try open(cipher, header, box) == [1, 2, 3])
    }

    @Test func `a sealer refuses what was sealed before`() throws {
        let (cipher, _) = try DeviceVault(try DeviceKey.generate()).newCipher(for: key, purpose: .licensed)
        let sealer = try cipher.sealer(header: try cipher.newHeader(), sealedBefore: [0])
        var box = [UInt8](repeating: 0, count: 17)
        #expect(throws: LectureError(.bug)) {
            try unsafe box.withUnsafeMutableBytes { box in
                try unsafe [7].withUnsafeBytes {
                    try unsafe sealer.seal(
                        segment: 0, isLast: true, UnsafeRawBufferPointer(rebasing: $0[..<1]), into: box)
                }
            }
        }
    }

    @Test func `proofs are derived from the content key, and differ between lectures`() throws {
        let vault = DeviceVault(try DeviceKey.generate())
        let (cipher, wrapped) = try vault.newCipher(for: key, purpose: .licensed)
        let first = try cipher.digests.proof(resource: ResourceID(1), chunk: 0)
        first.update([1, 2, 3])
        let proof = try first.finish()
        func repeated(_ key: String) throws -> [UInt8] {
            let again = try vault.cipher(wrapped, for: try ContentKey(key))
            let running = try again.digests.proof(repeating: proof, resource: ResourceID(1), chunk: 0)
            running.update([1, 2, 3])
            return try running.finish()
        }
        #expect(try repeated("lecture-1") == proof)
        #expect(try repeated("lecture-2") != proof)
    }
}
