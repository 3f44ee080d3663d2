import LectureFormats
import LectureModel

/// What was learned about servers, besides their pace.
struct OriginTraits: Sendable {
    /// How long the result of a trial of one more connection is remembered: networks change.
    static let trialMemory = Duration.seconds(600)
    /// After this many broken streams in a row HTTP/2 is not used any more.
    private static let http2Patience = 3

    private var trials: [Origin: (outcome: RangeTrial.Outcome, at: BootInstant)] = [:]
    private var http2Failures: [Origin: Int] = [:]
    /// Servers whose last TLS handshake failed. Requests that may share a connection wait for the one that is being
    /// opened: handshakes that fail would follow one another, instead of failing together.
    private var failedHandshakes: Set<Origin> = []

    /// Nothing is known.
    init() {}

    /// A trial of one more connection ended.
    mutating func remember(_ outcome: RangeTrial.Outcome, for origin: Origin, at boot: BootInstant) {
        trials[origin] = (outcome, boot)
    }

    /// The result of the last trial; nil when there was none within ``trialMemory``.
    func trial(of origin: Origin, at boot: BootInstant) -> RangeTrial.Outcome? {
        guard let trial = trials[origin], boot - trial.at < Self.trialMemory else { return nil }
        return trial.outcome
    }

    /// HTTP/2 cannot be used at this server: from now on requests use HTTP/1.1.
    mutating func http2Failed(at origin: Origin) { http2Failures[origin] = Self.http2Patience }

    /// One broken stream is an accident; a server where it happens repeatedly is used over HTTP/1.1.
    mutating func streamBroke(at origin: Origin) { http2Failures[origin, default: 0] += 1 }

    /// A stream ended as it should.
    mutating func streamEnded(at origin: Origin) { if usesHTTP2(origin) { http2Failures[origin] = nil } }

    /// A TLS handshake failed.
    mutating func handshakeFailed(at origin: Origin) { failedHandshakes.insert(origin) }

    /// A server answered.
    mutating func answered(_ origin: Origin) { failedHandshakes.remove(origin) }

    /// Whether HTTP/2 is used; not once it has failed, nor while handshakes do.
    func usesHTTP2(_ origin: Origin) -> Bool {
        http2Failures[origin, default: 0] < Self.http2Patience && !failedHandshakes.contains(origin)
    }
}
