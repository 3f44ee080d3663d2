import LectureCrypto
import LectureModel
import Testing

@Suite struct DeviceKeyTests {
    /// Cheap on purpose: the tests are not about the cost of a passphrase.
    private let cost = ScryptCost(logN: 10, r: 8, p: 1)
    private let passphrase: SecretBytes

    init() throws { passphrase = try SecretBytes(copying: Array("Pflaumenkuchen 🎂".utf8)) }

    private func areSame(_ left: DeviceKey, _ right: DeviceKey) throws -> Bool {
        let key = try SecretBytes(copying: sample(32, seed: 4))
        let isUnwrapped = try right.unwrap(try left.wrap(key))?.isEqual(to: key) ?? false
        return try isUnwrapped && left.thumbprint() == right.thumbprint()
            && left.ledgerKey().isEqual(to: right.ledgerKey())
    }

    @Test func `A content key is unwrapped by the device that wrapped it and by no other`() throws {
        let (device, other) = (try DeviceKey.generate(), try DeviceKey.generate())
        let key = try SecretBytes.random(32)
        let box = try device.wrap(key)
        #expect(box.count == 40)
        #expect(try device.unwrap(box)?.isEqual(to: key) == true)
        #expect(try other.unwrap(box) == nil)
        for place in box.indices {
            var changed = box
            changed[place] ^= 1
            #expect(try device.unwrap(changed) == nil)
        }
        #expect(try device.unwrap(Array(box.dropLast(8))) == nil)
    }

    @Test func `A wrapped key is checked again and again without being unwrapped`() throws {
        let (device, other) = (try DeviceKey.generate(), try DeviceKey.generate())
        let keys = GrantingKeys(answers: ["a"], files: ["f"])
        for bound in [nil, keys, GrantingKeys(answers: ["b"])] {
            for length in [16, 32, 4096] {
                let box = try device.wrap(try SecretBytes.random(length), boundTo: bound)
                for _ in 0..<2 {
                    var changed = box
                    changed[length / 2] ^= 1
                    #expect(try device.unwrappedLength(box, boundTo: bound) == length)
                    #expect(try device.unwrappedLength(changed, boundTo: bound) == nil)
                    #expect(try other.unwrappedLength(box, boundTo: bound) == nil)
                    #expect(try device.unwrappedLength(box, for: .unlicensed, boundTo: bound) == nil)
                    #expect(try device.unwrappedLength(box, boundTo: GrantingKeys(answers: ["c"])) == nil)
                    #expect(try device.unwrappedLength(Array(box.dropLast(8)), boundTo: bound) == nil)
                }
                #expect(try device.unwrap(box, boundTo: bound)?.count == length)
            }
        }
        #expect(try device.unwrappedLength([], boundTo: keys) == nil)
    }

    @Test func `The keys of one device differ from each other`() throws {
        let device = try DeviceKey.generate()
        let file = try device.fileBytes().exposed()
        let ledger = try device.ledgerKey()
        #expect(ledger.exposed() != Array(file[9..<41]))
        // A key wrapped under the ledger's key does not open.
        #expect(try device.unwrap(try KeyWrap.wrap(try SecretBytes.random(32), with: ledger)) == nil)
    }

    @Test func `The file has the documented form and gives the same key`() throws {
        let device = try DeviceKey.generate()
        let file = try device.fileBytes()
        let bytes = file.exposed()
        #expect(bytes.count == 81 && Array(bytes.prefix(9)) == Array("LKDEVKEY".utf8) + [1])
        let digests = try OpenSSLDigests(proofKey: sample(32))
        #expect(Array(bytes.suffix(8)) == Array(try digests.sha256(of: Array(bytes.prefix(73))).prefix(8)))
        #expect(try areSame(device, DeviceKey(fileBytes: file)))
    }

    @Test func `A changed, torn or foreign file is damage`() throws {
        let bytes = try DeviceKey.generate().fileBytes().exposed()
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 1
            #expect(throws: LectureError(.damaged), "\(place)") {
                try DeviceKey(fileBytes: try SecretBytes(copying: changed))
            }
        }
        for length in [0, 1, 40, 80] {
            #expect(throws: LectureError(.damaged)) {
                try DeviceKey(fileBytes: try SecretBytes(copying: Array(bytes.prefix(length))))
            }
        }
        #expect(throws: LectureError(.damaged)) { try DeviceKey(fileBytes: try SecretBytes(copying: bytes + [0])) }
    }

    @Test func `A copy opens with its passphrase only`() throws {
        let device = try DeviceKey.generate()
        let copy = try device.protectedCopy(passphrase: passphrase, cost: cost)
        #expect(copy.count == 136)
        #expect(try areSame(device, DeviceKey(protectedCopy: copy, passphrase: passphrase)))
        let wrong = try SecretBytes(copying: Array("Pflaumenkuchen".utf8))
        #expect(throws: LectureError(.parameter)) { try DeviceKey(protectedCopy: copy, passphrase: wrong) }
    }

    @Test func `Every change of a copy is refused`() throws {
        let copy = try DeviceKey.generate().protectedCopy(passphrase: passphrase, cost: cost)
        // The bytes of the cost are tested below: here they would only make the test slow.
        for place in copy.indices where !(9...11).contains(place) {
            var changed = copy
            changed[place] ^= 0x10
            #expect(throws: LectureError.self) { try DeviceKey(protectedCopy: changed, passphrase: passphrase) }
        }
        for changed in [Array(copy.dropLast()), copy + [0], [], Array(copy.prefix(12))] {
            #expect(throws: LectureError(.damaged)) { try DeviceKey(protectedCopy: changed, passphrase: passphrase) }
        }
    }

    @Test(arguments: [(9, 0), (9, 21), (9, 63), (9, 255), (10, 0), (10, 255), (11, 0), (11, 200)])
    func `A copy may not demand a cost out of range`(place: Int, value: UInt8) throws {
        var copy = try DeviceKey.generate().protectedCopy(passphrase: passphrase, cost: cost)
        copy[place] = value
        #expect(throws: LectureError(.damaged)) { try DeviceKey(protectedCopy: copy, passphrase: passphrase) }
    }

    @Test func `No passphrase and a cost that no import permits are refused`() throws {
        let device = try DeviceKey.generate()
        let none = try SecretBytes(copying: [])
        #expect(throws: LectureError(.parameter)) { try device.protectedCopy(passphrase: none, cost: cost) }
        #expect(throws: LectureError(.parameter)) {
            try device.protectedCopy(passphrase: passphrase, cost: ScryptCost(logN: 30))
        }
    }

    @Test func `The public key says what it is for and has its thumbprint as its name`() throws {
        let device = try DeviceKey.generate()
        let jwk = try json(try device.publicJWK())
        #expect(jwk["use"]?.string == "enc" && jwk["kty"]?.string == "EC" && jwk["d"] == nil)
        #expect(jwk["kid"]?.string == (try device.thumbprint()))
    }
}
