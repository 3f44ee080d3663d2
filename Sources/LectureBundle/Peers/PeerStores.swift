import LectureCrypto
import LectureFiles
import LectureFormats
public import LectureKit
public import LectureModel

/// Other stores that a download asks for media before its servers: those of `lecturectl serve` in the same building.
///
/// ```swift
/// let peers = try PeerStores(
///     ["https://hq:8080"], tokenFile: "hq.token", device: DeviceHome(directory: directory))
/// var configuration = LectureConfiguration(storeDirectory: store)
/// peers.apply(to: &configuration)
/// let manager = try LectureManager(configuration)
/// ```
///
/// What a lecture is, and its licence, comes from its own server as always. Media comes from another store only if its
/// SHA-256 is proven: see docs/peers.md.
public struct PeerStores: Sendable {
    /// What came from other stores.
    public struct Summary: Sendable, Hashable {
        /// Lectures with bytes from other stores.
        public var lectures = 0
        /// Bytes of media from other stores.
        public var bytes: Int64 = 0
        /// Lectures that another store has, and that came from their servers all the same: their digest is not known,
        /// and no key was named that the store would be believed by.
        public var withoutDigest = 0
        /// Why stores could not be used, each once.
        public var faults: [LectureError] = []
    }

    /// The longest file of tokens.
    private static let longest = 1 << 16
    let peers: [Peer]
    let device: DeviceKey
    /// The public key of the device, which offers are sealed for.
    let publicKey: JSONValue
    /// The thumbprint of the device's key.
    let thumbprint: String
    /// The thumbprints of the keys that are believed.
    let trusted: Set<String>
    let counts = Guarded(Counts())

    /// What is counted.
    struct Counts: Sendable {
        var keys: Set<ContentKey> = []
        var bytes: Int64 = 0
        var withoutDigest: Set<ContentKey> = []
    }

    /// Names the stores; none is asked yet.
    ///
    /// - Parameters:
    ///   - addresses: the addresses of their servers, http or https, in the order in which they are asked.
    ///   - tokenFile: a file that only its owner may read. It has a token of the role `peer`, or a line for each one:
    ///     its address, a blank, and the token.
    ///   - keyFiles: public keys (JWK or JWK sets) of stores that are believed, beside the device's own.
    ///   - device: where the device's key is kept; it is created when there is none.
    /// - Throws: ``LectureError``: `parameter` for an address that cannot be used, `readFile`, `secretReadable`,
    ///   `peerTokens` for a file without a token for a store, as creating the device's key.
    public init(
        _ addresses: [String], tokenFile: String, trusting keyFiles: [String] = [], device: DeviceHome
    ) throws(LectureError) {
        var bases: [String] = []
        for address in addresses { bases.append(try Self.base(address)) }
        let tokens = try Self.tokens(tokenFile, for: bases)
        self.device = try device.key()
        thumbprint = try self.device.thumbprint()
        do { publicKey = try JSONScanner.scan(Array(try self.device.publicJWK().utf8)) } catch {
            throw LectureError(.bug, detail: "the device's public key")
        }
        var trusted: Set = [thumbprint]
        for file in keyFiles { trusted.formUnion(try BundleFiles.trusted(file)) }
        self.trusted = trusted
        peers = zip(bases, tokens).map { Peer($0.0, token: $0.1) }
    }

    /// Has a manager ask the stores.
    ///
    /// - Parameter configuration: of the manager that is to be opened.
    public func apply(to configuration: inout LectureConfiguration) { configuration.detour = PeerDetour(stores: self) }

    /// What came from the stores so far.
    public var summary: Summary {
        var summary = Summary()
        counts.withLock { counts in
            (summary.lectures, summary.bytes) = (counts.keys.count, counts.bytes)
            summary.withoutDigest = counts.withoutDigest.count { !counts.keys.contains($0) }
        }
        summary.faults = peers.flatMap(\.faults)
        return summary
    }

    // MARK: Addresses and tokens

    private static func base(_ address: String) throws(LectureError) -> String {
        let parts = try? URLParts(parsing: address)
        guard let parts, ["http", "https"].contains(parts.scheme), !parts.authority.isEmpty,
            !parts.authority.contains("@"), parts.query == nil, parts.fragment == nil
        else {
            let shown = parts.map { "\($0.scheme)://\($0.authority.split(separator: "@").last ?? "")" } ?? ""
            throw LectureError(
                .parameter, detail: shown, cause: "the address of a branch server is like https://hq:8080")
        }
        var path = parts.path
        while path.hasSuffix("/") { path.removeLast() }
        return "\(parts.scheme)://\(parts.authority)\(path)"
    }

    private static func tokens(_ path: String, for bases: [String]) throws(LectureError) -> [String] {
        let bytes = try SecretFile.open(path, limit: longest).bytes()
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
            .filter { !$0.isEmpty && !$0[0].hasPrefix("#") }
        func refusal(_ cause: String) -> LectureError { LectureError(.peerTokens, detail: path, cause: cause) }
        if lines.count == 1, lines[0].count == 1 {
            // A token is for one server; another one that gets it could use it there.
            guard bases.count <= 1 else { throw refusal("several servers need a line 'URL TOKEN' each") }
            guard isToken(lines[0][0]) else { throw refusal("its token has characters that no token has") }
            return bases.map { _ in lines[0][0] }
        }
        var known: [String: String] = [:]
        for line in lines {
            guard line.count == 2, isToken(line[1]) else { throw refusal("a line of it is not 'URL TOKEN'") }
            known[try base(line[0])] = line[1]
        }
        return try bases.map { base throws(LectureError) in
            guard let token = known[base] else { throw refusal("it has no token for \(base)") }
            return token
        }
    }

    /// What a field `Authorization` may have as a token (RFC 6750 section 2.1).
    private static func isToken(_ text: String) -> Bool {
        text.utf8.count <= 512
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "-._~+/=".utf8.contains(byte)
                }
            }
    }
}

/// An offer that was verified, and what opens it.
struct OpenOffer: Sendable {
    let offer: PeerOffer
    let layout: SealedLayout
    let opener: any SegmentOpening
    /// Whether the store is believed.
    let isTrusted: Bool
}

/// A store that is asked, and what is known of it.
final class Peer: Sendable {
    /// After so many wrong answers it is not asked any more.
    private static let patience = 3
    /// Offers that are remembered.
    private static let mostOffers = 64

    private struct State {
        var isOff = false
        var failures = 0
        /// Lectures that it does not have, or not as they are wanted.
        var lacking: Set<ContentKey> = []
        var offers: [ContentKey: OpenOffer] = [:]
        var faults: [LectureError] = []
    }

    /// Its address.
    let base: String
    private let token: String
    private let state = Guarded(State())

    init(_ base: String, token: String) { (self.base, self.token) = (base, token) }

    /// The field of each request that proves who asks.
    var authorization: HeaderField { HeaderField(name: "Authorization", value: "Bearer \(token)") }

    /// Why it could not be used, each once.
    var faults: [LectureError] { state.withLock(\.faults) }

    /// Whether it is to be asked for a lecture.
    func mayHave(_ key: ContentKey) -> Bool { state.withLock { !$0.isOff && !$0.lacking.contains(key) } }

    /// What it has offered before.
    func offer(of key: ContentKey) -> OpenOffer? { state.withLock { $0.offers[key] } }

    /// Remembers an offer.
    func keep(_ open: OpenOffer) {
        state.withLock { state in
            if state.offers.count >= Self.mostOffers, let any = state.offers.keys.first { state.offers[any] = nil }
            state.offers[open.offer.key] = open
        }
    }

    /// An offer is over.
    func forget(_ key: ContentKey) { state.withLock { $0.offers[key] = nil } }

    /// It does not have a lecture, or not as it is wanted.
    func lacks(_ key: ContentKey) {
        state.withLock { state in
            state.lacking.insert(key)
            state.offers[key] = nil
        }
    }

    /// It has failed: it is not asked for this lecture again.
    ///
    /// - Parameters:
    ///   - cause: what it has done, without a full stop.
    ///   - key: the lecture.
    ///   - isOver: whether it is not asked for any other either.
    func failed(_ cause: String, _ key: ContentKey, isOver: Bool) {
        state.withLock { state in
            state.lacking.insert(key)
            state.offers[key] = nil
            state.failures += 1
            if isOver || state.failures >= Self.patience { state.isOff = true }
            let fault = LectureError(.peerUnusable, detail: base, cause: cause)
            if !state.faults.contains(where: { $0.cause == cause }) { state.faults.append(fault) }
        }
    }
}
