public import Foundation

/// Events with their reasons: those of ``KollusStorageDelegate``, and those it does not have. Sent after the commit
/// that makes them true, in the order of the commits. Later versions add cases: keep a `default`.
public enum KollusEvent: Sendable {
    /// Queued, or waiting for another attempt.
    ///
    /// - Parameters:
    ///   - content: the content.
    ///   - error: the error of the last attempt; nil when there was none.
    ///   - until: when it is tried again; nil when unknown.
    case waiting(KollusContent, error: KollusError?, until: Date?)
    /// Work on it has started or continues.
    case started(KollusContent)
    /// Bytes were received.
    case progress(KollusContent, KollusProgress)
    /// ``KollusStorage/pause(_:)`` stopped it; downloaded data is kept.
    case paused(KollusContent)
    /// It was cancelled; downloaded data is kept.
    case cancelled(KollusContent)
    /// Its download ended before it was complete; downloaded data is kept, and a new download continues.
    case stopped(KollusContent, KollusError)
    /// It cannot be downloaded.
    case failed(KollusContent, KollusError)
    /// It is complete.
    case completed(KollusContent)
    /// It was removed, with its files.
    ///
    /// - Parameters:
    ///   - key: its media content key.
    ///   - byServer: whether a licence server has ordered the removal.
    case removed(key: String, byServer: Bool)
    /// A licence server permits the download of a content.
    case licenceGranted(key: String)
    /// An exchange with a licence server, answered or not.
    case licenceExchange(KollusExchange)
    /// A batch renewal starts.
    case renewalBegan(total: Int)
    /// One licence of a batch was renewed, or failed and is unchanged.
    case renewed(key: String, current: Int, count: Int, error: KollusError?)
    /// A batch renewal is over.
    case renewalEnded(KollusRenewal)
    /// A request with learning reports was sent to an LMS.
    case reportsExchanged(KollusReportExchange)
    /// Sending stored reports is over.
    case reportsSent(delivered: Int, refused: Int, left: Int)
    /// The storage could not be written, or background work failed.
    case trouble(KollusError)
}

/// The progress of a download.
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
    /// The request's items: a JSON array, without session keys. Contains user ids.
    public let items: String
    /// The answer, as JSON; nil when none was readable.
    public let answer: String?
    /// Why there is no answer; nil when there is one.
    public let error: KollusError?
}

/// The result of a batch renewal.
public struct KollusRenewal: Sendable, Hashable {
    /// How many licences it covers.
    public let total: Int
    /// How many were renewed.
    public let renewed: Int
    /// How many failed; they are unchanged.
    public let failed: Int
    /// How many wait for their server.
    public let waiting: Int
}

/// One exchange with an LMS.
public struct KollusReportExchange: Sendable, Hashable {
    /// The target's URL.
    public let url: String
    /// The data of each report, as JSON.
    public let data: [String]
    /// The HTTP status; nil when none was received.
    public let status: Int?
    /// The answer; nil when there was none as text.
    public let answer: String?
    /// Whether the LMS accepted the reports.
    public let isDelivered: Bool
}

/// The diagnosis of a content.
public struct KollusDiagnosis: Sendable, Hashable {
    /// What its state means, in one sentence.
    public let what: String
    /// Why; empty when the state needs no explanation.
    public let why: String
    /// What happens next without any action.
    public let next: String
    /// Facts that explain slowness or caution.
    public let notes: [String]
}
