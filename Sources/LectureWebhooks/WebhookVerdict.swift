package import LectureFormats
import LectureModel

/// What an answer means for the event that was sent.
///
/// | answer | verdict |
/// |---|---|
/// | 2xx | ``arrived`` |
/// | 410 | ``gone``: nothing more is sent to the endpoint |
/// | none, 408, 425, 429, 5xx | ``later(wait:)``, `Retry-After` honoured; as often as it takes |
/// | 3xx, all other 4xx | ``refused``: as often as ``refusalLimit``, then dead |
///
/// A redirect is not followed: the receiver at another address was not configured, and has no secret. A refusal is
/// tried again, because it is often one of a receiver that is just being deployed.
package enum WebhookVerdict: Hashable, Sendable {
    /// The receiver has it.
    case arrived
    /// The receiver is there no more.
    case gone
    /// The receiver cannot take it now. The wait is what it asks for.
    case later(wait: Duration?)
    /// The receiver does not want it.
    case refused

    /// How often an event is refused before it is dead.
    package static let refusalLimit = 10

    /// Judges the answer to a request.
    ///
    /// - Parameter head: the head of the final answer; nil when none was received. A 2xx counts even if its body was
    ///   cut: the receiver has the event.
    package init(_ head: ResponseHead?) {
        guard let head else {
            self = .later(wait: nil)
            return
        }
        switch head.status {
        case 200...299: self = .arrived
        case 410: self = .gone
        case 300...399: self = .refused
        case 408, 425, 429: self = .later(wait: RetryAfter(head)?.delay)
        case 400...499: self = .refused
        default: self = .later(wait: RetryAfter(head)?.delay)
        }
    }
}

/// The waits after failures: they double, and a random half of each spreads senders.
///
/// | failures in a row | wait of an endpoint that does not answer | wait of an event that is refused |
/// |---|---|---|
/// | 1 | 0.5 … 1 s | 30 … 60 s |
/// | 2 | 1 … 2 s | 1 … 2 min |
/// | 7 | 32 … 64 s | 30 … 60 min |
/// | 13 and more | 30 … 60 min | – |
package enum WebhookWaits {
    /// Of an endpoint.
    private static let endpoint = Backoff(base: .seconds(1), cap: .seconds(3600))
    /// Of an event.
    private static let event = Backoff(base: .seconds(60), cap: .seconds(3600))

    /// How long an endpoint is left alone.
    ///
    /// - Parameters:
    ///   - failures: in a row, from 1.
    ///   - wanted: what it asks for; nil for nothing.
    ///   - random: a uniformly random number.
    /// - Returns: at least what it asks for.
    package static func endpoint(failures: Int, wanted: Duration?, random: UInt64) -> Duration {
        max(wanted ?? .zero, half(endpoint, failures, random))
    }

    /// How long an event waits that was refused.
    ///
    /// - Parameters:
    ///   - refusals: so far, from 1.
    ///   - random: a uniformly random number.
    /// - Returns: the wait.
    package static func event(refusals: Int, random: UInt64) -> Duration { half(event, refusals, random) }

    private static func half(_ backoff: Backoff, _ failures: Int, _ random: UInt64) -> Duration {
        backoff.ceiling(failures: failures) / 2 + backoff.delay(failures: failures, random: random) / 2
    }
}
