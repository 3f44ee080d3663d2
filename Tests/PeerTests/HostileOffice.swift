import Foundation
import LectureBundle
import LectureCrypto
import LectureFormats
import LectureModel
import LectureTestSupport

/// A branch server of an attacker: it makes offers as a real one does, and then does something else.
final class HostileOffice: Sendable {
    /// What it does to the media of an offer.
    enum Trick: String, Sendable, CaseIterable {
        /// Nothing: the counterpart of the others.
        case honest
        /// It seals other bytes, under the digest of the right ones.
        case otherBytes
        /// The same from the third segment on.
        case otherBytesLater
        /// It sends what it never sealed.
        case unsealed
        /// It sends the segments in another order.
        case swapped
        /// It sends half of each answer.
        case half
        /// The same, after a window that is right.
        case halfLater
        /// It sends more than was requested, without an end.
        case endless
        /// It sends the whole file with 200.
        case whole
        /// It names another range than was requested.
        case otherRange
        /// It names a content coding.
        case coded
        /// It leads elsewhere.
        case redirect
        /// It sends fields without an end.
        case fields
        /// It does not know its own offers.
        case forgets
        /// It forgets an offer once it has sent a part, and makes it again.
        case forgetsLater
        /// The same, and it does not have the lecture any more.
        case forgetsAndLacks
        /// The same, and what it offers then is another file.
        case forgetsAndChanges
        /// It closes the connection.
        case closes
        /// It offers another length than it has.
        case longer
        /// It leads to another path by its ticket.
        case ticket
        /// It offers another lecture.
        case lecture
        /// It offers to another device.
        case device
        /// It answers the question with an endless text.
        case endlessOffer
        /// It answers the question with fields without an end.
        case offerFields
        /// It answers the question by leading elsewhere.
        case offerRedirect
        /// It answers the question with what is no offer.
        case noOffer
        /// It answers the question with half of an offer.
        case halfOffer
        /// It answers no question.
        case noAnswer

        /// Whether bytes come from it all the same.
        var delivers: Bool {
            [.honest, .otherBytes, .otherBytesLater, .swapped, .half, .halfLater, .endless].contains(self)
                || forgetsPart
        }

        /// Whether it forgets an offer of which it has sent a part.
        var forgetsPart: Bool { [.forgetsLater, .forgetsAndLacks, .forgetsAndChanges].contains(self) }

        /// Whether nothing has to come from the internet.
        var isEnough: Bool { self == .honest || self == .forgetsLater }
    }

    /// Its address.
    var url: String { server.http }
    private let server: RawServer
    private let elsewhere: RawServer
    /// How many connections another server has got by it.
    var strays: Int { elsewhere.connections }

    /// Starts it.
    ///
    /// - Parameters:
    ///   - trick: what it does.
    ///   - bytes: the media.
    ///   - signer: the key that its offers are signed with; nil for one of its own.
    /// - Throws: when the system has no port.
    init(_ trick: Trick, _ bytes: [UInt8], signer: DeviceKey? = nil) throws {
        elsewhere = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno")
        let script = try HostileScript(trick, bytes, elsewhere.http, signer ?? DeviceKey.generate())
        server = try RawServer { peer in
            while script.answer(peer) {}
        }
    }
}

/// What a hostile server says.
private final class HostileScript: Sendable {
    private let trick: HostileOffice.Trick
    private let bytes: [UInt8]
    private let elsewhere: String
    private let signer: BundleSigner
    private let key: BundleKey
    private let digest: [UInt8]
    private let header = Guarded<[UInt8]>([])
    private let sealed = Guarded<[UInt8]>([])
    private let hasForgotten = Guarded(false)

    init(_ trick: HostileOffice.Trick, _ bytes: [UInt8], _ elsewhere: String, _ device: DeviceKey) throws {
        (self.trick, self.bytes, self.elsewhere) = (trick, bytes, elsewhere)
        signer = try BundleSigner(device: device)
        key = try BundleKey.generate()
        digest = try OpenSSLDigests(proofKey: [UInt8](repeating: 0, count: 32)).sha256(of: bytes)
    }

    /// Answers a request.
    ///
    /// - Returns: whether the connection stays open.
    func answer(_ peer: Peer) -> Bool {
        let head = peer.readHead()
        guard head.hasSuffix("\r\n\r\n") else { return false }
        let count = head.firstMatch(of: /[Cc]ontent-[Ll]ength: (\d+)/).flatMap { Int($0.1) } ?? 0
        var body: [UInt8] = []
        while body.count < count {
            let part = peer.read(count - body.count)
            if part.isEmpty { return false }
            body += part
        }
        return head.hasPrefix("POST") ? offer(body, to: peer) : file(head, to: peer)
    }

    private func endless(_ start: String, _ piece: String, to peer: Peer) -> Bool {
        guard peer.send(start) else { return false }
        while peer.send(piece) {}
        return false
    }

    private func offer(_ body: [UInt8], to peer: Peer) -> Bool {
        switch trick {
        case .endlessOffer:
            return endless("HTTP/1.1 200 OK\r\n\r\n", String(repeating: "a", count: 10_000), to: peer)
        case .offerFields:
            return endless("HTTP/1.1 200 OK\r\n", "X-Field: \(String(repeating: "a", count: 10_000))\r\n", to: peer)
        case .offerRedirect:
            return peer.send("HTTP/1.1 307 No\r\nLocation: \(elsewhere)/\r\nContent-Length: 0\r\n\r\n")
        case .noOffer: return peer.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}\n")
        case .noAnswer: return false
        case .forgetsAndLacks where hasForgotten.withLock(\.self):
            return peer.send("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
        default: break
        }
        guard let question = try? PeerQuestion(body), let token = try? token(question) else { return false }
        let length = trick == .halfOffer ? token.count * 2 : token.count
        _ = peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n")
        return peer.send(token) && trick != .halfOffer
    }

    private func token(_ question: PeerQuestion) throws -> [UInt8] {
        let device = try BundleRecipient(question.device)
        let lecture = trick == .lecture ? try ContentKey("other") : question.key
        let cipher = try key.cipher(for: question.key)
        let isAgain = trick.forgetsPart && !sealed.withLock(\.isEmpty)
        let header = try isAgain ? self.header.withLock(\.self) : cipher.newHeader()
        self.header.withLock { $0 = header }
        if !isAgain {
            let sealed = try seal(cipher, header)
            self.sealed.withLock { $0 = sealed }
        }
        let isOther = trick == .forgetsAndChanges && hasForgotten.withLock(\.self)
        let offer = PeerOffer(
            key: lecture, count: UInt64(bytes.count + (trick == .longer ? 5 : 0)),
            sha256: isOther ? digest.reversed() : digest, entityTag: nil, isDescribed: false,
            ticket: trick == .ticket ? "../../secret" : "ticket", header: header,
            recipient: .init(
                thumbprint: trick == .device ? "other" : device.thumbprint, key: try key.wrapped(for: device)))
        return try offer.token(signedBy: signer)
    }

    /// The sealed file, with other bytes where the trick wants that.
    private func seal(_ cipher: any ContentCipher, _ header: [UInt8]) throws -> [UInt8] {
        guard let layout = SealedLayout(plaintextLength: bytes.count) else { return [] }
        let sealer = try cipher.sealer(header: header, sealedBefore: [])
        var file = header
        for segment in 0..<layout.segmentCount {
            var plain = Array(bytes[layout.plaintextRange(ofSegment: segment)])
            let isOther = trick == .otherBytes || (trick == .otherBytesLater && segment > 1)
            // The first bytes stay those of media.
            if isOther { for place in plain.indices.dropFirst(64) { plain[place] ^= 0x5A } }
            var box = [UInt8](repeating: 0, count: plain.count + SealedFormat.tagBytes)
            try unsafe plain.withUnsafeBytes { text in
                try unsafe box.withUnsafeMutableBytes {
                    try unsafe sealer.seal(segment: segment, isLast: segment == layout.lastSegment, text, into: $0)
                }
            }
            file += box
        }
        if trick == .unsealed { for place in file.indices.dropFirst(64) { file[place] ^= 1 } }
        if trick == .swapped, file.count > 3 << 20 {
            let size = 1 << 20
            let (second, third) = (Array(file[size..<(2 * size)]), Array(file[(2 * size)..<(3 * size)]))
            file.replaceSubrange(size..<(3 * size), with: third + second)
        }
        return file
    }

    private func file(_ head: String, to peer: Peer) -> Bool {
        let file = sealed.withLock(\.self)
        guard let asked = head.firstMatch(of: /[Rr]ange: bytes=(\d+)-(\d+)/), let first = Int(asked.1),
            let last = Int(asked.2), last < file.count, first <= last
        else { return peer.send("HTTP/1.1 416 No\r\nContent-Length: 0\r\n\r\n") }
        var part = Array(file[first...last])
        var fields = "Content-Range: bytes \(first)-\(last)/\(file.count)\r\n"
        var status = "206 Partial Content"
        switch trick {
        case .redirect:
            return peer.send("HTTP/1.1 302 No\r\nLocation: \(elsewhere)/\r\nContent-Length: 0\r\n\r\n")
        case .fields:
            return endless("HTTP/1.1 206 OK\r\n", "X-Field: \(String(repeating: "a", count: 10_000))\r\n", to: peer)
        case .forgets: return peer.send("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
        case .forgetsLater, .forgetsAndLacks, .forgetsAndChanges:
            // Only once: who has an older answer of it goes on.
            let forgets = hasForgotten.withLock { hasForgotten in
                defer { if first > 0 { hasForgotten = true } }
                return first > 0 && !hasForgotten
            }
            if forgets { return peer.send("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n") }
        case .closes: return false
        case .endless:
            _ = peer.send("HTTP/1.1 206 OK\r\n\(fields)\r\n")
            guard peer.send(part) else { return false }
            return endless("", String(repeating: "a", count: 10_000), to: peer)
        case .whole: (status, part) = ("200 OK", file)
        case .otherRange: fields = "Content-Range: bytes \(first)-\(last)/\(file.count + 1)\r\n"
        case .coded: fields += "Content-Encoding: gzip\r\n"
        default: break
        }
        _ = peer.send("HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(part.count)\r\n\r\n")
        let isCut = trick == .half || (trick == .halfLater && first > 0)
        return peer.send(isCut ? Array(part.prefix(part.count / 2)) : part) && !isCut
    }
}
