import LectureAdaptive
import LectureDownload
public import LectureModel

/// Why a lecture is in its state.
public struct Diagnosis: Sendable {
    /// The lecture as it is in the store and on disk.
    public let content: Content
    /// What its state means, in one sentence.
    public let what: String
    /// Why it is in that state; empty when the state is enough.
    public let why: String
    /// What happens next and when, given the processes that are running; empty when nothing more will happen.
    public let next: String
    /// What a user can do; empty when there is nothing to do.
    public let remedy: String
    /// Facts that explain slowness or caution: an older version that plays, no ranges, no validator …
    public let notes: [String]
    /// The attempts, latest first.
    public let attempts: [Attempt]
    /// Running processes that download the lecture or have it in their queue.
    public let processes: [StoreProcess]

    init(_ situation: Situation, attempts: [Attempt]) {
        content = situation.content
        what = situation.what
        why = situation.why
        next = situation.next
        remedy = situation.remedy
        notes = situation.notes
        processes = situation.workers
        self.attempts = attempts
    }
}

/// A running process that uses the store.
public struct StoreProcess: Sendable, Hashable {
    /// Its process number.
    public let pid: Int
    /// Its name, for example `lecturectl precache`.
    public let command: String
    /// When it started using the store; nil for one that only holds the database lock.
    public let started: Timestamp?
    /// How many lectures it is working on.
    public let lectures: Int
    /// Whether it is writing to the database at this moment, so that others wait.
    public var isWriting: Bool

    /// Describes a process.
    package init(pid: Int, command: String, started: Timestamp?, lectures: Int, isWriting: Bool) {
        (self.pid, self.command, self.started) = (pid, command, started)
        (self.lectures, self.isWriting) = (lectures, isWriting)
    }

    /// Its name in a sentence: `process 4711 (lecturectl precache)`.
    var name: String { "process \(pid) (\(command))" }
}

/// Everything that a diagnosis depends on, as a value: the same situation always gives the same sentences.
struct Situation {
    /// The process that holds the lease on a lecture.
    struct Holder {
        let process: StoreProcess
        /// Whether the process is still running; the lease of a killed one stays until it is dismissed.
        let isAlive: Bool
    }

    var content: Content
    var targetState: TargetState
    /// Who has leased the lecture.
    var holder: Holder?
    /// Running processes that have the lecture in their queue.
    var workers: [StoreProcess]
    /// How many lectures come before it in the queue of the first of them.
    var ahead = 0
    /// Whether its media is sealed.
    var isSealed = false
    /// The gaps of a live stream that was captured; nil without any.
    var gaps: CaptureGaps?
    /// The resources of the version being downloaded, or else of the complete one.
    var resources: [ResourceRecord] = []
    var now: Timestamp

    private var key: String { content.key.text }
    private var worker: StoreProcess? { workers.first }
    private var liveHolder: StoreProcess? { holder.flatMap { $0.isAlive ? $0.process : nil } }
    /// A killed process that the store still records as working on the lecture.
    private var deadHolder: StoreProcess? { holder.flatMap { $0.isAlive ? nil : $0.process } }
    private var isDamage: Bool { [.damaged, .mediaMissing].contains(content.error?.code) }

    // MARK: What

    var what: String {
        if let dead = deadHolder {
            return "Interrupted: \(dead.name) ended while it was working on this lecture."
        }
        switch content.state {
        case .queued: return isDamage ? "Queued for repair." : "Queued."
        case .loading: return "Asking the server what the link leads to."
        case .downloading: return "Downloading."
        case .verifying: return "All data is downloaded; the file is being checked."
        case .completed:
            return content.type == .adaptiveDownload
                ? "Complete. Its files are on the disk." : "Complete. The file is on the disk."
        case .stopped: return stopSentence
        case .failed: return "Failed."
        case .removing: return "Its files are being deleted."
        }
    }

    private var stopSentence: String {
        switch content.stopReason {
        case .user: targetState == .cancel ? "Cancelled by a user." : "Paused by a user."
        case .network: "Stopped: the server cannot be reached."
        case .space: "Stopped: there is not enough free space."
        case .schedule: "Stopped: the timetable does not allow downloads at this time."
        case .licenceRefused: "Stopped: the licence was refused."
        case .serverWait: "Stopped: the server asked to wait."
        case .dependency: "Stopped: another process or lecture has to finish first."
        case .quota: "Stopped: the quota is used up."
        case nil: "Stopped."
        }
    }

    // MARK: Why

    var why: String {
        if deadHolder != nil || content.state == .completed || content.stopReason == .user { return "" }
        if let error = content.error { return Self.sentences(error) }
        guard content.state == .queued else { return "" }
        guard worker != nil else { return "No process is downloading." }
        switch ahead {
        case 0: return "It is next, as soon as a download slot and a connection to its server are free."
        case 1: return "One lecture is ahead of it."
        default: return "\(ahead) lectures are ahead of it."
        }
    }

    /// What happened and why, without the remedy, which is separate.
    private static func sentences(_ error: LectureError) -> String {
        let remedy = error.code.remedy
        var text = error.message
        if !remedy.isEmpty, text.hasSuffix(" \(remedy)") { text = String(text.dropLast(remedy.count + 1)) }
        return "\(text.prefix(1).uppercased())\(text.dropFirst()) \(Explanations.reason(of: error.code))"
    }

    // MARK: Next

    var next: String {
        if deadHolder != nil {
            return worker.map { "\(Self.capital($0.name)) takes over." } ?? Self.nothing
        }
        switch content.state {
        case .loading, .downloading, .verifying, .removing:
            if let liveHolder { return "\(Self.capital(liveHolder.name)) is working on it." }
            return content.state == .removing
                ? "The next command that changes the store deletes the rest." : Self.nothing
        case .completed: return ""
        case .queued:
            guard let worker else { return Self.nothing }
            guard let wait else { return "\(Self.capital(worker.name)) downloads it." }
            return "\(Self.capital(worker.name)) tries again \(wait)."
        case .stopped: return nextAfterStop
        case .failed:
            return isDamage
                ? "The next 'lecturectl precache' downloads what is missing."
                : "It is not retried by itself. Downloaded data is kept."
        }
    }

    private var nextAfterStop: String {
        switch content.stopReason {
        case .user: return "It stays that way until it is resumed. Downloaded data is kept."
        case .licenceRefused: return "It is not retried by itself. Downloaded data is kept."
        case .network, .space, .quota:
            guard let worker, let wait else { return "\(Self.noProcess) The next 'lecturectl precache' tries again." }
            return "\(Self.capital(worker.name)) tries again \(wait)."
        case .schedule, .serverWait, .dependency, nil:
            guard let worker else {
                let when = wait.map { ", \($0) at the earliest" } ?? ""
                return "\(Self.noProcess) The next 'lecturectl precache' continues\(when)."
            }
            return "\(Self.capital(worker.name)) continues \(wait ?? "as soon as possible")."
        }
    }

    private static let noProcess = "No process is downloading."
    private static let nothing = "Nothing happens until a process downloads again."

    private static func capital(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

    /// When the next attempt is due.
    private var wait: String? {
        content.nextAttempt.map { due in
            due - now > .zero ? "in \(DurationText.text(due - now))" : "now"
        }
    }

    // MARK: Remedy

    var remedy: String {
        if deadHolder != nil { return worker == nil ? Self.start : "" }
        switch content.state {
        case .loading, .downloading, .verifying: return liveHolder == nil ? Self.start : ""
        case .removing: return ""
        case .completed where content.type == .adaptiveDownload:
            return "'lecturectl play \(key)' plays it\(isSealed ? ", if its licence allows" : "")."
        case .completed:
            return isSealed
                ? "'lecturectl cat \(key)' plays it, if its licence allows."
                : "'lecturectl path \(key)' prints where it is."
        case .queued: return worker == nil ? Self.start : ""
        case .stopped:
            if content.stopReason == .user {
                return "Run 'lecturectl resume \(key)'\(worker == nil ? Self.andStart : "")."
            }
            return content.error?.code.remedy ?? (worker == nil ? Self.start : "")
        case .failed:
            if isDamage { return Self.start }
            let remedy = content.error?.code.remedy ?? ""
            let retry = "To retry: 'lecturectl resume \(key)'\(worker == nil ? Self.andStart : "")."
            return remedy.isEmpty ? retry : "\(remedy) \(retry)"
        }
    }

    private static let start = "Run 'lecturectl precache'."
    private static let andStart = ", then 'lecturectl precache'"

    // MARK: Notes

    var notes: [String] {
        var notes: [String] = []
        if content.isOutdated {
            notes.append("An older version is complete and stays playable until the new one is complete.")
        }
        if content.state != .completed, targetState == .remove { notes.append("Its removal was requested.") }
        if content.sourceURL.isEmpty {
            notes.append(
                "It was made from a file of a lost database. To name its source: "
                    + "'lecturectl precache URL --key \(content.key.text)'.")
            return notes
        }
        let missing = resources.filter { $0.role.isOfStream && $0.state == .failed }
        if content.state == .completed, !missing.isEmpty {
            let names = missing.prefix(5).map(\.name).joined(separator: ", ")
            let all = resources.count { $0.role.isOfStream }
            notes.append(
                "It was accepted with gaps: \(missing.count) of \(all) files are missing: \(names)"
                    + "\(missing.count > 5 ? ", …" : "").")
        }
        if let gaps { notes.append("It was captured while it went on, with \(gaps.text).") }
        for resource in resources where resource.role == .media && resource.state != .absent {
            if !resource.acceptsRanges, resource.state != .finalized {
                notes.append(
                    "The server does not serve ranges: one connection, and an interrupted download starts over.")
            }
            let isUnnamed = resource.entityTag == nil && resource.lastModified == nil
            if isUnnamed, resource.expectedSHA256 == nil {
                notes.append("The server names no version of the file and no digest is known: changes go unnoticed.")
            } else if resource.expectedSHA256 == nil {
                notes.append("No digest is known: a course list with sha256, or --sha256, makes the check certain.")
            }
        }
        return notes
    }
}
