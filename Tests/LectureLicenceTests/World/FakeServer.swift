import LectureCrypto
import LectureFormats
import LectureModel
import LectureTestSupport

/// A request as a licence server parses it.
struct ServerRequest {
    let url: String
    let items: [JSONValue]
    let started: BootInstant

    /// The keys, in the order of the request.
    var keys: [String] { items.compactMap { $0["media_content_key"]?.string } }
    var kind: Int64 { items.first?["kind"]?.integer ?? 0 }
}

/// What a licence server does.
enum ServerAction {
    /// Answers with a signed payload.
    case payload(String, headers: [(String, String)] = [])
    /// Answers with a body, unchanged.
    case body(String, status: Int = 200, headers: [(String, String)] = [])
    /// The connection fails.
    case failure(curl: Int)
    /// No answer ever comes.
    case silence
}

/// Licence servers behind the port of the transport, in virtual time. A behaviour and a seed decide what they do.
final class FakeServer: Transport {
    private struct State {
        var randomness: SeededGenerator
        var habit: (ServerRequest, inout SeededGenerator) -> ServerAction = { request, _ in
            .payload(FakeServer.permit(request.items))
        }
        var latency: Duration = .milliseconds(50)
        var requests: [ServerRequest] = []
        var breaches: [String] = []
    }

    /// The key that signs answers.
    static let secret = Array("an HMAC secret of at least 32 bytes".utf8)
    private let state: Guarded<State>
    private let clock: VirtualClock
    let network: VirtualNetwork

    init(clock: VirtualClock, seed: UInt64) {
        (self.clock, network) = (clock, VirtualNetwork(clock: clock))
        state = Guarded(State(randomness: SeededGenerator(seed: seed)))
    }

    /// Permits every item, until the end of 2028.
    static func permit(_ items: [JSONValue], _ members: String = #""expiration_date":1861919999"#) -> String {
        let answers = items.map { item in
            let key = item["media_content_key"]?.string ?? ""
            let kind = item["kind"]?.integer ?? 0
            return answer(key, kind: kind, #""result":1,\#(members)"#, session: item["session_key"]?.string)
        }
        return #"{"data":[\#(answers.joined(separator: ","))]}"#
    }

    static func answer(_ key: String, kind: Int64, _ members: String, session: String? = nil) -> String {
        let echo = session.map { #","session_key":"\#($0)""# } ?? ""
        return #"{"kind":\#(kind),"media_content_key":"\#(key)",\#(members)\#(echo)}"#
    }

    /// Sets the behaviour from now on.
    func behave(_ habit: @escaping @Sendable (ServerRequest, inout SeededGenerator) -> ServerAction) {
        state.withLock { $0.habit = habit }
    }

    func setLatency(_ latency: Duration) { state.withLock { $0.latency = latency } }

    /// The received requests, in order.
    var requests: [ServerRequest] { state.withLock { $0.requests } }
    /// Requests that were not what a licence server expects.
    var breaches: [String] { state.withLock { $0.breaches } }

    // MARK: Transport

    func start(_ request: TransferRequest) {
        let now = clock.boot()
        guard let read = Self.read(request, now) else {
            state.withLock { $0.breaches.append("not a form with items: \(request.url)") }
            return
        }
        let (action, latency) = state.withLock { state in
            state.requests.append(read)
            if read.items.isEmpty || read.items.count > 10 { state.breaches.append("\(read.items.count) items") }
            let action = state.habit(read, &state.randomness)
            let jitter = Duration.milliseconds(Int64.random(in: 0...20, using: &state.randomness))
            return (action, state.latency + jitter)
        }
        let limit = request.totalTimeout ?? .seconds(3600)
        let late = VirtualAnswer(failure: 28, "not complete")
        let answer: VirtualAnswer
        switch action {
        case .payload(let payload, let headers): answer = VirtualAnswer(200, headers, Self.sign(payload))
        case .body(let body, let status, let headers): answer = VirtualAnswer(status, headers, Array(body.utf8))
        case .failure(let curl):
            return network.send(VirtualAnswer(failure: curl, "failed"), to: request, after: latency)
        case .silence: return network.send(late, to: request, after: limit)
        }
        network.send(latency < limit ? answer : late, to: request, after: min(latency, limit))
    }

    func cancel(_ id: TransferID) { network.cancel(id) }

    func limitRate(_ bytesPerSecond: Int?) {}

    // MARK: Wire

    /// A compact token, as a provider's server makes it.
    static func sign(_ payload: String) -> [UInt8] {
        guard let secret = try? SecretBytes(copying: secret) else { return [] }
        return (try? SigningKey(secret: secret).sign(Array(payload.utf8), type: "JWT")) ?? []
    }

    private static func read(_ request: TransferRequest, _ now: BootInstant) -> ServerRequest? {
        guard let body = request.body, body.mediaType == "application/x-www-form-urlencoded",
            body.bytes.starts(with: "items=".utf8), !body.bytes.contains(UInt8(ascii: "&"))
        else { return nil }
        var text: [UInt8] = []
        var rest = body.bytes.dropFirst(6)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): text.append(0x20)
            case UInt8(ascii: "%"):
                text += Hexadecimal.bytes(String(decoding: rest.prefix(2), as: UTF8.self)) ?? []
                rest = rest.dropFirst(2)
            default: text.append(byte)
            }
        }
        guard let items = try? JSONScanner.value(of: text).elements else { return nil }
        return ServerRequest(url: request.url, items: items, started: now)
    }
}

/// Verifies answers with OpenSSL under the servers' secret.
struct SecretVerifier: AnswerVerifier {
    /// The secret that the configuration names.
    let secret: [UInt8]
    /// The thumbprints of configured issuers of licence files.
    let issuers: [String]

    init(secret: [UInt8] = FakeServer.secret, issuers: [String] = []) {
        (self.secret, self.issuers) = (secret, issuers)
    }

    var signers: GrantingKeys {
        GrantingKeys(answers: (try? key().signerThumbprint()).map { [$0] } ?? [], files: issuers)
    }

    private func key() throws(LectureError) -> VerificationKey {
        let secret = try SecretBytes(copying: secret)
        guard let key = try? VerificationKey(secret: secret) else { throw LectureError(.configuration) }
        return key
    }

    func payload(
        of token: String, keyID: String, userKey: String?, at time: Timestamp?
    ) throws(LectureError) -> VerifiedAnswer {
        if keyID == "unknown" { throw LectureError(.licenceKeyMissing) }
        let key = try key()
        let verdict = try TokenVerifier.verify(
            Array(token.utf8), keys: KeyPolicy(keys: [key], algorithms: [.hs256]),
            at: time ?? Timestamp(milliseconds: 0))
        guard let verified = verdict.token else { throw LectureError(.answerUndecodable) }
        let payload: JSONValue
        do throws(LectureError) {
            payload = try JSONScanner.value(of: verified.payload)
        } catch {
            throw LectureError(.answerUnreadable, cause: error.detail)
        }
        let issued = payload["iat"]?.integer.map { Timestamp(milliseconds: $0 * 1000) }
        return VerifiedAnswer(
            payload: payload, isVerified: true, issued: issued, signer: try verified.signerThumbprint())
    }
}
