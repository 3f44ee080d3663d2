import LectureBundle
import LectureCrypto
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

/// Offers as texts: what one store signs, another one reads, and nothing else.
@Suite struct OfferTests {
    private let office: DeviceKey
    private let client: DeviceKey

    init() throws { (office, client) = (try DeviceKey.generate(), try DeviceKey.generate()) }

    private func offer(_ change: (inout Parts) -> Void = { _ in }) throws -> PeerOffer {
        var parts = Parts(
            kid: try client.thumbprint(),
            key: try BundleKey.generate().wrapped(for: try BundleRecipient(try client.jwk())))
        change(&parts)
        return PeerOffer(
            key: try ContentKey(parts.name), count: parts.count, sha256: parts.sha256, entityTag: parts.tag,
            isDescribed: parts.isDescribed, ticket: parts.ticket, header: parts.header,
            recipient: .init(thumbprint: parts.kid, key: parts.key))
    }

    struct Parts {
        var name = "algebra-01"
        var count: UInt64 = 5_000_000
        var sha256 = [UInt8](repeating: 7, count: 32)
        var tag: String? = "\"v1\""
        var isDescribed = false
        var ticket = "ab-_09"
        var header = [UInt8](repeating: 3, count: 40)
        var kid: String
        var key: String
    }

    private func refusal(_ token: [UInt8]) -> LectureError.Code? {
        do throws(LectureError) {
            _ = try PeerOffer.verified(token)
            return nil
        } catch { return error.code }
    }

    @Test(arguments: [nil, "\"v1\""], [false, true])
    func `an offer is read as it was written`(tag: String?, isDescribed: Bool) throws {
        let offer = try offer {
            $0.tag = tag
            $0.isDescribed = isDescribed
        }
        let (read, signer) = try PeerOffer.verified(try offer.token(signedBy: try BundleSigner(device: office)))
        let name = try office.thumbprint()
        #expect(read == offer && signer == name)
        #expect(read.path == "/peer/files/ab-_09")
    }

    @Test func `a ticket that leads elsewhere, and lengths that no file has, are refused`() throws {
        let signer = try BundleSigner(device: office)
        let changes: [(inout Parts) -> Void] = [
            { $0.ticket = "../offers" }, { $0.ticket = "a/b" }, { $0.ticket = "a?b" }, { $0.ticket = "a%2e" },
            { $0.ticket = "" }, { $0.ticket = "ü" }, { $0.ticket = String(repeating: "a", count: 65) },
            { $0.header = [1] }, { $0.header = [] }, { $0.sha256 = [1, 2] }, { $0.count = 1 << 51 },
            { $0.tag = "" }, { $0.kid = "" }, { $0.key = "" },
        ]
        for (number, change) in changes.enumerated() {
            #expect(refusal(try offer(change).token(signedBy: signer)) == .bundleRefused, "\(number)")
        }
    }

    @Test func `no other signed text is an offer, and an offer is no bundle`() throws {
        let signer = try BundleSigner(device: office)
        let offer = try offer()
        let token = try offer.token(signedBy: signer)
        let payload = try #require(BundleSigner.unverifiedPayload(of: token))
        #expect(refusal(try signer.sign(payload)) == .bundleSignature, "the type of a bundle")
        let other = try BundleSigner(device: client)
        #expect(refusal(try other.sign(payload, type: BundleSigner.offerType)) == .bundleSignature, "another signer")
        #expect(refusal(Array("a.b.c".utf8)) == .bundleRefused)
        #expect(refusal([]) == .bundleRefused)
        #expect(refusal([UInt8](repeating: 65, count: PeerOffer.longest + 1)) == .bundleRefused)
    }

    @Test func `any changed bit of an offer is noticed`() throws {
        let token = try offer().token(signedBy: try BundleSigner(device: office))
        var generator = SeededGenerator(seed: RunSize.seed)
        for _ in 0..<200 {
            var changed = token
            let place = Int.random(in: 0..<token.count, using: &generator)
            changed[place] ^= 1 << Int.random(in: 0..<6, using: &generator)
            // The last character of base64url may have bits that mean nothing; the reader refuses those as well.
            #expect(refusal(changed) != nil, "byte \(place)")
        }
    }

    @Test(arguments: [
        (#"{"offer":2}"#, LectureError.Code.bundleRefused), ("{}", .bundleRefused), ("[]", .bundleRefused),
        (#"{"offer":1,"signer":{}}"#, .bundleRefused), ("{ }", .bundleRefused), ("no json", .bundleRefused),
    ])
    func `a payload without its members is refused`(payload: String, code: LectureError.Code) throws {
        let signer = try BundleSigner(device: office)
        #expect(refusal(try signer.sign(Array(payload.utf8), type: BundleSigner.offerType)) == code)
    }

    @Test func `a later version says so, and an unknown member is refused`() throws {
        let signer = try BundleSigner(device: office)
        let token = try offer().token(signedBy: signer)
        let payload = try #require(BundleSigner.unverifiedPayload(of: token))
        let text = String(decoding: payload, as: UTF8.self)
        let newer = text.replacing("\"offer\":1", with: "\"offer\":2")
        #expect(refusal(try signer.sign(Array(newer.utf8), type: BundleSigner.offerType)) == .bundleNewer)
        for (old, new) in [
            ("\"offer\":1", "\"offer\":1,\"open\":1"), ("\"offer\":1", "\"offer\":0"),
            ("\"bytes\":5000000", "\"bytes\":-1"), ("\"bytes\":5000000", "\"bytes\": 5000000"),
        ] {
            let changed = text.replacing(old, with: new)
            #expect(changed != text)
            #expect(
                refusal(try signer.sign(Array(changed.utf8), type: BundleSigner.offerType)) == .bundleRefused, "\(new)")
        }
    }

    @Test func `a question is read as it was written, and nothing else is one`() throws {
        let question = PeerQuestion(key: try ContentKey("a/b ü"), device: try client.jwk())
        let read = try PeerQuestion(question.bytes)
        #expect(read.key == question.key && read.bytes == question.bytes)
        #expect(try JWK.thumbprint(read.device) == (try JWK.thumbprint(question.device)))
        for text in ["", "{}", "[]", #"{"device":{},"key":""}"#, #"{"device":1,"key":"a"}"#, #"{"key":"a"}"#] {
            #expect(throws: LectureError.self, "\(text)") { try PeerQuestion(Array(text.utf8)) }
        }
        let text = String(repeating: "y", count: 70_000)
        let long = PeerQuestion(key: try ContentKey("a"), device: .object([JSONMember("x", .string(text))]))
        #expect(throws: LectureError.self) { try PeerQuestion(long.bytes) }
    }

    // MARK: Windows

    @Test(arguments: [1, 16, 1_048_520, 1_048_521, 2_097_080, 2_097_081, 9_500_000, 30_000_000])
    func `windows cover what is wanted, without a gap`(count: Int) throws {
        let layout = try #require(SealedLayout(plaintextLength: count))
        for start in [0, 1, count / 2, count - 1] where start < count {
            var position = UInt64(start)
            var place: UInt64?
            while position < UInt64(count) {
                let window = try #require(PeerWindow(position..<UInt64(count), of: layout))
                #expect(window.segments.count <= PeerWindow.mostSegments && window.range.count <= 8 << 20)
                let plain = layout.plaintextRange(ofSegment: window.segments.lowerBound)
                #expect(plain.contains(Int(position)))
                if let place { #expect(place == window.range.start) }
                place = window.range.end
                position = UInt64(layout.plaintextRange(ofSegment: window.segments.upperBound - 1).upperBound)
            }
            #expect(place == UInt64(layout.ciphertextLength))
        }
        #expect(PeerWindow(UInt64(count)..<UInt64(count), of: layout) == nil)
        #expect(PeerWindow.place(of: 0, layout).lowerBound == 0)
    }
}

extension DeviceKey {
    /// Its public key.
    func jwk() throws -> JSONValue { try JSONScanner.scan(Array(try publicJWK().utf8)) }
}
