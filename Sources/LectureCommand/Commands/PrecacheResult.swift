import LectureBundle
import LectureKit
import LectureModel

/// The result of a run, its last messages and its exit status.
struct PrecacheResult: Sendable {
    /// How many unfinished items are listed at the end.
    static let namedLimit = 20

    /// When the run began.
    let began: BootInstant
    /// The library's last count.
    var summary = FetchSummary()
    /// Items whose completion in this run was reported.
    var reported: Set<ContentKey> = []
    /// Items that were complete before the run.
    var skipped: Set<ContentKey> = []
    /// Lectures whose complete version is not the requested one.
    var outdated: Set<ContentKey> = []
    /// Why complete items could not be compared with their sources.
    var uncheckedCodes: [LectureError.Code] = []
    /// Lines of course lists, and links, that could not be read.
    var refusedLines = 0
    /// Requests that the library refused.
    var refusedRequests = 0
    /// Requests that were refused because their output cannot be placed.
    var refusedOutputs = 0
    /// Finished files that could not be published.
    var unpublished = 0
    /// Stopped items, at most ``namedLimit``.
    var unfinished: [Content] = []
    /// Failed items, at most ``namedLimit``.
    var failures: [Content] = []
    /// Whether the deadline passed before the run was idle.
    var isDeadlineOver = false
    /// The signal that ended the run.
    var signal: Int32?
    /// The lists that were read.
    var lists = NamedLists([])
    /// What came from branch servers; nil where none was named.
    var peers: PeerStores.Summary?
    /// The error that ended the run early.
    var error: LectureError?

    init(began: BootInstant) { self.began = began }

    private func count(_ state: ItemState) -> Int { summary.counts[state] ?? 0 }

    private var counted: Int { max(0, count(.completed) - skipped.count) }

    /// Items that became complete after the last count. Counts and completion events arrive independently, so either
    /// may be ahead.
    private var completedLate: Int { max(0, reported.count - counted) }

    private var completed: Int { counted + completedLate }

    /// Everything that was refused.
    var refused: Int { refusedLines + refusedRequests + refusedOutputs }

    private var failed: Int { count(.failed) + refused }

    /// Items that a user has paused or cancelled.
    private var paused: Int { min(unfinishedCount, summary.stops[.user] ?? 0) }

    /// Everything that is neither complete nor failed: stopped or interrupted.
    private var unfinishedCount: Int {
        let open = count(.stopped) + count(.queued) + count(.loading) + count(.downloading) + count(.verifying)
        return max(0, open - completedLate)
    }

    /// The numbers for the last line.
    ///
    /// - Parameter instant: now.
    /// - Returns: the totals.
    func totals(at instant: BootInstant) -> RunTotals {
        var totals = RunTotals()
        totals.completed = completed
        totals.failed = failed
        totals.stopped = unfinishedCount
        totals.skipped = skipped.count
        totals.outdated = outdated.count
        totals.unchecked = uncheckedCodes.count
        totals.bytesFetched = summary.fetchedBytes
        totals.bytesReused = summary.reusedBytes
        totals.elapsed = instant - began
        totals.peers = peers.map { PeerTotals($0, fetched: summary.fetchedBytes) }
        return totals
    }

    /// The exit status. What another run could complete counts most, then what failed, then what could not be read.
    var status: ExitStatus {
        if let signal { return .signal(signal) }
        let reasons = Set(summary.stops.filter { $0.value > 0 }.keys)
        // No later run changes that.
        if unfinishedCount > 0, reasons.contains(.space) { return .fullDisk() }
        if isDeadlineOver { return .tryAgain }
        if unfinishedCount > 0 {
            // A user has paused these items on purpose.
            if reasons == [.user], unfinishedCount == count(.stopped) { return failed > 0 ? .someFailed : .done }
            if reasons == [.network] { return .unavailable }
            return reasons == [.licenceRefused] ? .noPermission : .tryAgain
        }
        if count(.failed) + refusedRequests > 0 { return isNetworkDown ? .unavailable : .someFailed }
        if !uncheckedCodes.isEmpty { return isSourceDown ? .unavailable : .someFailed }
        if refusedLines > 0 { return .data }
        return unpublished + refusedOutputs > 0 ? .cannotCreate : .done
    }

    /// Whether nothing was received and each failure was below HTTP: then no server could be reached.
    private var isNetworkDown: Bool {
        let codes = failures.compactMap(\.error?.code.number)
        let isBelowHTTP = codes.count == failures.count && codes.allSatisfy { (-8099 ... -8001).contains($0) }
        return completed + skipped.count + refusedRequests == 0 && count(.failed) == failures.count && isBelowHTTP
    }

    /// Whether every check failed below HTTP and nothing was downloaded.
    private var isSourceDown: Bool {
        completed == 0 && uncheckedCodes.allSatisfy { (-8099 ... -8001).contains($0.number) }
    }

    /// Why nothing may be removed by `--prune`.
    var obstaclesToPruning: [String] {
        if signal != nil { return ["a signal ended the run"] }
        if isDeadlineOver { return ["--deadline ended the run"] }
        return lists.obstacles
    }

    /// Why the run is incomplete: these are errors, so `--quiet` does not silence them.
    ///
    /// - Returns: messages for standard error.
    func failureSentences() -> [String] {
        var sentences = unfinished.filter(Self.isFailure).map(Self.sentence(stopped:))
        if isDeadlineOver { sentences.append(LectureError(.deadline, detail: "--deadline").message) }
        return sentences
    }

    /// The last messages: what else is unfinished, then the totals.
    ///
    /// - Returns: messages for standard error.
    func sentences() -> [String] {
        var sentences = unfinished.filter { !Self.isFailure($0) }.map(Self.sentence(stopped:))
        let more = count(.stopped) - unfinished.count
        if more > 0, !unfinished.isEmpty { sentences.append("… and \(more) more are stopped") }
        var parts = ["\(completed) downloaded"]
        if !skipped.isEmpty { parts.append("\(skipped.count) already complete") }
        if failed > 0 { parts.append("\(failed) failed") }
        if !uncheckedCodes.isEmpty { parts.append("\(uncheckedCodes.count) not checked") }
        if paused > 0 { parts.append("\(paused) paused") }
        if unfinishedCount > paused { parts.append("\(unfinishedCount - paused) unfinished") }
        let reused = summary.reusedBytes > 0 ? ", \(HumanText.byteCount(summary.reusedBytes)) reused" : ""
        sentences.append("\(parts.joined(separator: ", ")) (\(HumanText.byteCount(summary.fetchedBytes))\(reused)).")
        if let peers { sentences += PeerTotals(peers, fetched: summary.fetchedBytes).sentences }
        if unfinishedCount > paused {
            sentences.append("Run the command again to continue. Verified data is not downloaded again.")
        }
        return sentences
    }

    /// Whether it stopped because of an error; what a user has stopped is none.
    static func isFailure(_ content: Content) -> Bool { content.error != nil && content.stopReason != .user }

    static func sentence(stopped content: Content) -> String {
        let person = "paused or cancelled; 'lecturectl resume' continues it."
        let reason = content.error?.message ?? (content.stopReason == .user ? person : content.stopReason?.name ?? "")
        return "stopped: \(content.title) (\(content.key.text)): \(reason)"
    }
}
