import LectureKit
import LectureModel

/// What came out of a run, and what that means for its last lines and its status.
struct PrecacheResult: Sendable {
    /// How many unfinished items are named at the end.
    static let namedLimit = 20

    /// When the run began.
    let began: BootInstant
    /// The library's last count.
    var summary = FetchSummary()
    /// Items that were told to have become complete in this run.
    var told: Set<ContentKey> = []
    /// Items that were complete before the run.
    var skipped: Set<ContentKey> = []
    /// Lectures whose complete version is not the one that is requested.
    var outdated: Set<ContentKey> = []
    /// Why complete items could not be compared with their sources.
    var uncheckedCodes: [LectureError.Code] = []
    /// Lines of course lists, and links, that could not be read.
    var refusedLines = 0
    /// Wishes the library refused.
    var refusedWishes = 0
    /// Finished files that could not be given out.
    var unpublished = 0
    /// Stopped items, at most ``namedLimit``.
    var unfinished: [Content] = []
    /// Failed items, at most ``namedLimit``.
    var failures: [Content] = []
    /// Whether the deadline passed before everything came to rest.
    var isDeadlineOver = false
    /// The signal that ended the run.
    var signal: Int32?
    /// The lists that were read, and the lectures of each.
    var lists = NamedLists()
    /// The lists that were recorded when everything had come to rest.
    var recordedLists: [String] = []
    /// What ended the run before its time.
    var error: LectureError?

    init(began: BootInstant) { self.began = began }

    private func count(_ state: ItemState) -> Int { summary.counts[state] ?? 0 }

    private var counted: Int { max(0, count(.completed) - skipped.count) }

    /// Items that became complete after the last count. The count may be ahead of what was told, and the other way
    /// round: they come by different ways.
    private var completedLate: Int { max(0, told.count - counted) }

    private var completed: Int { counted + completedLate }

    private var failed: Int { count(.failed) + refusedLines + refusedWishes }

    /// Items that a user has paused or cancelled.
    private var paused: Int { min(unfinishedCount, summary.stops[.user] ?? 0) }

    /// Everything that is neither complete nor failed: stopped, or interrupted on its way.
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
        return totals
    }

    /// The status. What another run would change counts most, then what failed, then what could not be read.
    var status: ExitStatus {
        if let signal { return .signal(signal) }
        if isDeadlineOver { return .tryAgain }
        if unfinishedCount > 0 {
            let reasons = Set(summary.stops.filter { $0.value > 0 }.keys)
            // An item that a person has paused was left alone on purpose.
            if reasons == [.user], unfinishedCount == count(.stopped) { return failed > 0 ? .someFailed : .done }
            if reasons == [.network] { return .unavailable }
            return reasons == [.licenceRefused] ? .noPermission : .tryAgain
        }
        if count(.failed) + refusedWishes > 0 { return isNetworkDown ? .unavailable : .someFailed }
        if !uncheckedCodes.isEmpty { return isSourceDown ? .unavailable : .someFailed }
        if refusedLines > 0 { return .data }
        return unpublished > 0 ? .cannotCreate : .done
    }

    /// Whether nothing at all came, and each failure was below HTTP: then no server could be reached.
    private var isNetworkDown: Bool {
        let codes = failures.compactMap(\.error?.code.number)
        let isBelowHTTP = codes.count == failures.count && codes.allSatisfy { (-8099 ... -8001).contains($0) }
        return completed + skipped.count + refusedWishes == 0 && count(.failed) == failures.count && isBelowHTTP
    }

    /// Whether every check failed below HTTP, and nothing else was asked.
    private var isSourceDown: Bool {
        completed == 0 && uncheckedCodes.allSatisfy { (-8099 ... -8001).contains($0.number) }
    }

    /// Why the run did not end with everything: these are errors, so `--quiet` does not silence them.
    ///
    /// - Returns: sentences for standard error.
    func troubles() -> [String] {
        var sentences = unfinished.filter(Self.isTrouble).map(Self.sentence(stopped:))
        if isDeadlineOver { sentences.append(LectureError(.deadline, detail: "--deadline").message) }
        return sentences
    }

    /// The last sentences: what else is unfinished, then the numbers.
    ///
    /// - Returns: sentences for standard error.
    func sentences() -> [String] {
        var sentences = unfinished.filter { !Self.isTrouble($0) }.map(Self.sentence(stopped:))
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
        if unfinishedCount > paused {
            sentences.append("Run the command again to continue. Verified data is not downloaded again.")
        }
        return sentences
    }

    /// What a person has stopped is no error.
    static func isTrouble(_ content: Content) -> Bool { content.error != nil && content.stopReason != .user }

    static func sentence(stopped content: Content) -> String {
        let person = "it was paused or cancelled; 'lecturectl resume' goes on with it."
        let reason = content.error?.message ?? (content.stopReason == .user ? person : content.stopReason?.name ?? "")
        return "stopped: \(content.title) (\(content.key.text)): \(reason)"
    }
}
