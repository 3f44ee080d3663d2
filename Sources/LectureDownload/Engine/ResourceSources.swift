import LectureFormats
import LectureModel

/// Where the bytes of one resource come from: its URLs, what is known of each, and which one described the file.
struct ResourceSources: Sendable, Equatable {
    /// Where the next transfer is led.
    struct Turn: Sendable, Equatable {
        var redirect: Redirect
        /// The URL the redirect came from.
        var lease: URLLeaseID?
    }

    /// The URL of the next transfer.
    struct Choice: Sendable, Equatable {
        var url: String
        /// Its row; nil behind a redirect whose URL was replaced.
        var lease: URLLeaseID?
    }

    /// After this many failures in a row a URL is tried after the others.
    private static let patience = 2
    /// How often since the last progress a refused URL is tried again that is the only one.
    private static let pardons = 3

    private(set) var urls: [URLLeaseRecord]
    /// Followed by the next transfer.
    private(set) var turn: Turn?
    /// How often in a row each URL failed.
    private var failures: [URLLeaseID: Int] = [:]
    /// How often since the last progress a URL was refused that had delivered bytes before.
    private var refusals = 0
    /// Bytes a second of each URL.
    private var speeds: [URLLeaseID: Double] = [:]
    /// The URL whose answers made the stored validator.
    private var describer: URLLeaseID?
    /// URLs with an answer that was accepted.
    private var answered: Set<URLLeaseID> = []
    /// URLs that delivered bytes of this version.
    private var contributors: Set<URLLeaseID> = []

    /// Starts without experience.
    init(_ urls: [URLLeaseRecord]) { self.urls = urls }

    // MARK: What may be used

    private var usable: [URLLeaseRecord] { urls.filter { $0.state == .usable } }

    /// The URLs a new version starts with.
    var usableURLs: [String] { usable.map(\.url) }

    /// Whether several may be used.
    var hasChoice: Bool { urls.count > 1 }

    /// Whether any may be used.
    var hasUsable: Bool { urls.contains { $0.state == .usable } }

    /// Whether another one may be used.
    func hasOther(than lease: URLLeaseID?) -> Bool { urls.contains { $0.state == .usable && $0.id != lease } }

    /// Whether one served other bytes than the rest.
    var hasDisagreement: Bool { urls.contains { $0.state == .disagrees } }

    /// Whether it has not failed repeatedly.
    private func isTrusted(_ url: URLLeaseRecord) -> Bool { failures[url.id] ?? 0 < Self.patience }

    /// The URL for the next transfer: the best usable one; or always the first, when bytes of two servers cannot be
    /// combined.
    ///
    /// - Parameters:
    ///   - isShared: whether several servers may share the work.
    ///   - load: running transfers of each.
    ///   - mayAsk: whether a URL's server does not ask to wait.
    /// - Returns: nil when none is usable.
    func choice(isShared: Bool, load: [URLLeaseID: Int], mayAsk: (String) -> Bool) -> Choice? {
        let usable = usable
        guard let first = usable.first else { return nil }
        guard isShared, usable.count > 1 else { return Choice(url: first.url, lease: first.id) }
        let calm = usable.filter { isTrusted($0) && mayAsk($0.url) }
        // Untried ones first, then the one with the highest speed per connection.
        let best = (calm.isEmpty ? usable : calm).max { left, right in
            score(left, load: load) < score(right, load: load)
        }
        return best.map { Choice(url: $0.url, lease: $0.id) }
    }

    private func score(_ url: URLLeaseRecord, load: [URLLeaseID: Int]) -> Double {
        let running = Double(load[url.id] ?? 0)
        guard let speed = speeds[url.id] else { return running == 0 ? .infinity : 0 }
        return speed / (running + 1)
    }

    /// Whether another one can be used instead of this one, and its server does not ask to wait.
    func canTurn(from lease: URLLeaseID?, mayAsk: (String) -> Bool) -> Bool {
        urls.contains { $0.id == lease }
            && usable.contains { $0.id != lease && isTrusted($0) && mayAsk($0.url) }
    }

    // MARK: The description

    /// Whether the stored validator is one of this URL's server, or may be: to others it means nothing.
    func owns(_ lease: URLLeaseID?) -> Bool { describer == nil || describer == lease || lease == nil }

    /// Whether another URL described the file, and may still be used.
    func isDescribedByOther(than lease: URLLeaseID?) -> Bool {
        guard let describer, lease != describer else { return false }
        return urls.contains { $0.id == describer && $0.state == .usable }
    }

    /// Its answer described the file.
    mutating func described(by lease: URLLeaseID?) { describer = lease }

    // MARK: What happens to them

    /// All URLs are new, for the same bytes.
    mutating func replace(with urls: [URLLeaseRecord]) {
        self.urls = urls
        describer = nil
    }

    /// Changes the state of one; returns it as it is to be stored.
    mutating func mark(_ lease: URLLeaseID?, _ state: URLLeaseRecord.State) -> URLLeaseRecord? {
        guard let position = urls.firstIndex(where: { $0.id == lease }) else { return nil }
        urls[position].state = state
        return urls[position]
    }

    /// Moves one behind the others; returns it as it is to be stored.
    mutating func moveBehind(_ lease: URLLeaseID?) -> URLLeaseRecord? {
        guard let position = urls.firstIndex(where: { $0.id == lease }) else { return nil }
        var url = urls.remove(at: position)
        url.rank = (urls.map(\.rank).max() ?? 0) + 1
        urls.append(url)
        return url
    }

    /// The header of its answer was accepted.
    mutating func answered(by lease: URLLeaseID?) { if let lease { answered.insert(lease) } }

    /// The next transfer follows a redirect.
    mutating func follow(_ redirect: Redirect, of lease: URLLeaseID?) { turn = Turn(redirect: redirect, lease: lease) }

    /// A transfer is opened; a redirect is followed once.
    mutating func opened(_ lease: URLLeaseID?) {
        turn = nil
        if let lease { contributors.insert(lease) }
    }

    /// A transfer received bytes.
    mutating func measured(_ lease: URLLeaseID, bytes: Int64, in elapsed: Duration) {
        guard bytes > 65_536 else { return }
        let speed = Double(bytes) / max(0.001, elapsed.secondsDouble)
        speeds[lease] = speeds[lease].map { $0 * 0.5 + speed * 0.5 } ?? speed
    }

    /// A transfer gained bytes.
    mutating func succeeded(_ lease: URLLeaseID) { failures[lease] = nil }

    /// A transfer failed; returns whether this happens repeatedly.
    mutating func failed(_ lease: URLLeaseID) -> Bool {
        failures[lease, default: 0] += 1
        return failures[lease, default: 0] >= Self.patience
    }

    /// Bytes were gained, from any of them.
    mutating func gainedBytes() { refusals = 0 }

    /// Whether a refused URL may still be good: it has delivered bytes or is about to, no other is available, and one
    /// of several servers behind the same address may lack the file.
    ///
    /// - Parameters:
    ///   - lease: the URL.
    ///   - othersRun: whether other transfers of the resource run; then the refusal is not counted.
    /// - Returns: false after three refusals without progress.
    mutating func mayBeOneOfSeveral(_ lease: URLLeaseID?, othersRun: Bool) -> Bool {
        guard let lease, !hasOther(than: lease) else { return false }
        // A speed is known only when a transfer has ended.
        if othersRun, answered.contains(lease) { return true }
        guard speeds[lease] != nil else { return false }
        if othersRun { return true }
        refusals += 1
        return refusals <= Self.pardons
    }

    // MARK: Wrong bytes

    /// Those that are not used again, because the digest of the whole differs: all but the first of several that
    /// delivered bytes, since it is unknown which one was wrong; or the only one that did.
    ///
    /// - Returns: nil when no other would be left.
    func suspects() -> [URLLeaseID]? {
        let delivering = usable.filter { contributors.contains($0.id) }
        if delivering.count > 1 { return delivering.dropFirst().map(\.id) }
        return hasOther(than: delivering.first?.id) ? delivering.first.map { [$0.id] } ?? [] : nil
    }
}
