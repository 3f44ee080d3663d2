import LectureCrypto
import LectureFormats
import LectureModel
import Testing

@Suite struct LedgerAuthenticatorTests {
    @Test("Its codes are HMAC-SHA-256 under the device's ledger key, independent of earlier calls")
    func codes() throws {
        let device = try DeviceKey.generate()
        let authenticator = try LedgerAuthenticator(device)
        let key = try device.ledgerKey()
        for length in [0, 1, 55, 64, 1_000, 0, 7] {
            let message = [UInt8](repeating: UInt8(truncatingIfNeeded: length), count: length)
            let expected = try KeyDerivation.hmac(key, message)
            for _ in 0..<2 { #expect(authenticator.code(message) == expected) }
        }
    }

    @Test("Its name is the device's thumbprint, and another device produces other codes")
    func devices() throws {
        let device = try DeviceKey.generate()
        let one = try LedgerAuthenticator(device)
        #expect(one.device.count == 32)
        #expect(Base64URL.text(one.device) == (try device.thumbprint()))
        let other = try LedgerAuthenticator(try DeviceKey.generate())
        #expect(one.device != other.device)
        #expect(one.code([1]) != other.code([1]))
        #expect(try LedgerAuthenticator(try DeviceKey(fileBytes: device.fileBytes())).code([1]) == one.code([1]))
    }

    @Test("It may be used concurrently")
    func concurrency() async throws {
        let authenticator = try LedgerAuthenticator(try DeviceKey.generate())
        let expected = (0..<64).map { authenticator.code([UInt8($0)]) }
        let codes = await withTaskGroup(of: (Int, [UInt8]).self) { group in
            for number in 0..<64 { group.addTask { (number, authenticator.code([UInt8(number)])) } }
            return await group.reduce(into: [Int: [UInt8]]()) { $0[$1.0] = $1.1 }
        }
        for number in 0..<64 { #expect(codes[number] == expected[number]) }
    }
}
