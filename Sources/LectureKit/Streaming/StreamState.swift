import LectureDownload
import LectureFormats
import LectureModel

/// The request that a stream has sent.
struct StreamRequest {
    /// What is being fetched; nil for nothing.
    var collector: BlockCollector?
    /// The running exchange.
    private(set) var transfer: TransferID?
    /// Its URL: a redirect leads elsewhere.
    private(set) var url = ""
    private(set) var redirects = 0

    /// Blocks are requested from the stream's own URL.
    mutating func begin(_ collector: BlockCollector) { (self.collector, redirects) = (collector, 0) }

    /// An exchange starts.
    mutating func sent(_ id: TransferID, to url: String) { (transfer, self.url) = (id, url) }

    /// The exchange is over.
    mutating func ended() { transfer = nil }

    /// The answer leads to another URL.
    ///
    /// - Parameter target: absolute.
    /// - Throws: ``LectureError`` for too many redirects, or one that is not allowed.
    mutating func follow(_ target: String) throws {
        redirects += 1
        _ = try RedirectPolicy.follow(target, from: try Origin(url: url), hop: redirects)
    }

    /// The next request is sent to the stream's own URL.
    mutating func forgetRedirects() { redirects = 0 }

    /// Nothing is fetched any more.
    ///
    /// - Returns: the exchange to cancel.
    mutating func stop() -> TransferID? {
        defer { (transfer, collector) = (nil, nil) }
        return transfer
    }
}

/// How often a stream has tried without progress.
struct StreamTries {
    /// How often the URL is renewed, and how often another version is accepted, before that is an error.
    private static let longestChain = 3

    /// Attempts without data, in a row.
    private(set) var failures = 0
    private var renewals = 0
    private var changes = 0

    /// A whole block was received.
    mutating func gotBlock() { (failures, renewals) = (0, 0) }

    /// Bytes were received.
    mutating func gotBytes() { failures = 0 }

    /// An attempt has failed.
    mutating func failed() { failures += 1 }

    /// The URL has expired; returns whether another one is asked for.
    mutating func renew() -> Bool {
        renewals += 1
        return renewals <= Self.longestChain
    }

    /// The server has another version; returns whether it is accepted, as far as that depends on their number.
    mutating func change() -> Bool {
        changes += 1
        return changes <= Self.longestChain
    }
}

/// Whether bytes were returned, which no other version may follow.
struct StreamReturns {
    /// By any read.
    private(set) var any = false
    /// By the running read.
    private(set) var current = false

    /// A read begins.
    mutating func began() { current = false }

    /// It returns bytes.
    mutating func returned() { (any, current) = (true, true) }
}

/// The reads that wait for the running one.
struct ReadTurns {
    private var isTaken = false
    private var waiting: [Waiter<Void>] = []

    /// Takes the turn if it is free.
    ///
    /// - Returns: nil when it is taken now; what to wait for otherwise.
    mutating func take() -> Waiter<Void>? {
        guard isTaken else {
            isTaken = true
            return nil
        }
        let waiter = Waiter<Void>()
        waiting.append(waiter)
        return waiter
    }

    /// A read waits no longer.
    mutating func forget(_ waiter: Waiter<Void>) { waiting.removeAll { $0 === waiter } }

    /// Passes the turn to the first waiting read.
    mutating func give() {
        while !waiting.isEmpty { if waiting.removeFirst().answer(()) { return } }
        isTaken = false
    }
}
