import LectureDownload
public import LectureModel

/// Why a content is as it is.
public struct Diagnosis: Sendable {
    /// The content as it stands in the store.
    public let content: Content
    /// What its state means, in one sentence.
    public let what: String
    /// Why it is so, in one sentence; empty when the state says it all.
    public let why: String
    /// What happens next and when, without anybody doing anything.
    public let next: String
    /// What a person can do.
    public let remedy: String
    /// Facts that explain slowness or caution: no ranges, no validator, another process at work …
    public let notes: [String]
    /// What was tried, latest first.
    public let attempts: [Attempt]

    init(
        _ item: ItemRecord, attempts: [Attempt], holder: Holder?, resources: [ResourceRecord],
        now: Timestamp
    ) {
        let content = item.content
        self.content = content
        self.attempts = attempts
        let state = Explanations.explanation(of: content.state)
        let reason = content.stopReason.map { Explanations.explanation(of: $0) }
        let error = content.error.map { Explanations.explanation(of: $0.code) }
        let cause = error ?? reason
        if let holder, !holder.isAlive {
            // Its row still says what the process was at; nobody else has looked since.
            what = "Nobody works on it: process \(holder.pid) (\(holder.command)) has ended in the middle."
            (why, next) = ("", "The next 'lecturectl precache' goes on; what is proven is kept.")
            (remedy, notes) = ("", Self.notes(item, holder: nil, resources: resources))
            return
        }
        what = state.what
        why = content.error.map(Self.sentence) ?? reason?.why ?? (content.state == .completed ? "" : state.why)
        var next = (reason ?? (content.state == .failed ? error : nil) ?? state).next
        if let due = content.nextAttempt {
            let wait = due - now
            next += wait > .zero ? " The next attempt is due in \(DurationText.text(wait))." : " It is due now."
        }
        self.next = next
        let isSealed = resources.contains { $0.role == .media && $0.seal != .plain }
        remedy =
            content.state == .completed && isSealed
            ? "'lecturectl cat' plays it, licence permitting." : (cause ?? state).remedy
        notes = Self.notes(item, holder: holder, resources: resources)
    }

    /// The error without its remedy, which stands apart.
    private static func sentence(_ error: LectureError) -> String {
        let remedy = error.code.remedy
        guard !remedy.isEmpty, error.message.hasSuffix(" \(remedy)") else { return error.message }
        return String(error.message.dropLast(remedy.count + 1))
    }

    private static func notes(
        _ item: ItemRecord, holder: Holder?, resources: [ResourceRecord]
    ) -> [String] {
        var notes: [String] = []
        if let holder, holder.isAlive { notes.append("Process \(holder.pid) (\(holder.command)) is working on it.") }
        if item.desire != .fetch, item.content.state != .completed {
            notes.append("What was last asked for: \(item.desire).")
        }
        for resource in resources where resource.role == .media && resource.state != .absent {
            if !resource.acceptsRanges, resource.state != .placed {
                notes.append(
                    "The server does not serve ranges: one connection, and after an interruption it begins again.")
            }
            if resource.entityTag == nil, resource.lastModified == nil, resource.expectedSHA256 == nil {
                notes.append("The server names no version of the file and no digest is known: a change cannot be seen.")
            }
            if resource.expectedSHA256 == nil {
                notes.append("No digest is expected: give --sha256 or a course list with sha256 to be certain.")
            }
        }
        return notes
    }
}

/// The process whose lease on a content stands in the store.
struct Holder {
    let pid: Int
    let command: String
    /// Whether the process still runs; the lease of one that was killed stands until somebody looks.
    let isAlive: Bool
}
