public import Foundation

/// What has become true, with its reason: what ``KollusStorageDelegate`` tells, and what it has no word for. Told after
/// the commit that makes it true, in the order of the commits. Later versions add cases: keep a `default`.
public enum KollusEvent: Sendable {
    /// Waits for its turn or for another attempt.
    ///
    /// - Parameters:
    ///   - content: the content.
    ///   - error: what the last attempt met; nil when there was none.
    ///   - until: when it is tried again; nil when nobody knows.
    case waiting(KollusContent, error: KollusError?, until: Date?)
    /// Work on it has begun or goes on.
    case started(KollusContent)
    /// Bytes came.
    case progress(KollusContent, KollusProgress)
    /// It stands still because ``KollusStorage/pause(_:)`` said so; what came is kept.
    case paused(KollusContent)
    /// It stands still because it was cancelled; what came is kept.
    case cancelled(KollusContent)
    /// Its download ended before it was complete; what came is kept, a new download goes on.
    case stopped(KollusContent, KollusError)
    /// It cannot be had.
    case failed(KollusContent, KollusError)
    /// It is complete.
    case completed(KollusContent)
    /// It is gone, with its files.
    ///
    /// - Parameters:
    ///   - key: its media content key.
    ///   - byServer: whether a licence server has ordered it away.
    case removed(key: String, byServer: Bool)
    /// A licence server permits that a content is kept.
    case licenceGranted(key: String)
    /// A licence server was asked, and answered or not.
    case licenceExchange(KollusExchange)
    /// A batch renewal begins.
    case renewalBegan(total: Int)
    /// One licence of a batch is renewed, or has failed and is as it was.
    case renewed(key: String, current: Int, count: Int, error: KollusError?)
    /// A batch renewal is over.
    case renewalEnded(KollusRenewal)
    /// A request with learning reports went to an LMS.
    case reportsExchanged(KollusReportExchange)
    /// A sending of stored reports is over.
    case reportsSent(delivered: Int, refused: Int, left: Int)
    /// The storage could not be written, or something that goes on by itself went wrong.
    case trouble(KollusError)
}

/// How fast a content comes.
public struct KollusProgress: Sendable, Hashable {
    /// Bytes received.
    public let bytes: Int64
    /// Bytes of the whole; nil while unknown.
    public let total: Int64?
    /// Bytes a second over the last seconds.
    public let bytesPerSecond: Double
    /// Seconds left at this speed; nil while unknown.
    public let secondsLeft: TimeInterval?
}

/// One exchange with a licence server, without its secrets.
public struct KollusExchange: Sendable {
    /// Scheme, host and port.
    public let server: String
    /// What was asked: a JSON array, without session keys. Holds user ids.
    public let items: String
    /// What was answered, as JSON; nil when nothing readable came.
    public let answer: String?
    /// Why there is no answer; nil when there is one.
    public let error: KollusError?
}

/// What became of a batch renewal.
public struct KollusRenewal: Sendable, Hashable {
    /// How many licences were wanted.
    public let total: Int
    /// How many are renewed.
    public let renewed: Int
    /// How many failed; they are as they were.
    public let failed: Int
    /// How many wait for their server.
    public let waiting: Int
}

/// One exchange with an LMS.
public struct KollusReportExchange: Sendable, Hashable {
    /// The target's address.
    public let url: String
    /// What each report said, as JSON.
    public let data: [String]
    /// The HTTP status; nil when none came.
    public let status: Int?
    /// The answer; nil when none came that is a text.
    public let answer: String?
    /// Whether the LMS has taken the reports.
    public let isDelivered: Bool
}

/// Why a content is as it is.
public struct KollusDiagnosis: Sendable, Hashable {
    /// What its state means, in one sentence.
    public let what: String
    /// Why it is so; empty when the state says it all.
    public let why: String
    /// What happens next by itself.
    public let next: String
    /// Facts that explain slowness or caution.
    public let notes: [String]
}
