import LectureKit
import LectureModel

/// The lists of a command line, and how far each was read.
struct NamedLists: Sendable {
    /// One list.
    struct List: Sendable {
        /// The name under which it is recorded.
        let name: String
        /// How many of its lines were used.
        var used = 0
        /// How many were refused.
        var refused = 0
        /// How many gateway links have not led to a lecture.
        var unanswered = 0

        /// Why nothing may count as gone; nil for a list that was read as a whole. A broken export must not make
        /// lectures count as gone.
        var obstacle: String? {
            if refused > 0 { return "\(name) has \(refused) refused \(refused == 1 ? "line" : "lines")" }
            if used == 0 { return "\(name) is empty" }
            guard unanswered > 0 else { return nil }
            let links = unanswered == 1 ? "1 gateway link" : "\(unanswered) gateway links"
            return "the gateway has not said which lecture \(links) in \(name) \(unanswered == 1 ? "is" : "are")"
        }
    }

    /// In the order of the command line.
    private(set) var lists: [List] = []

    /// Their names.
    var names: [String] { lists.map(\.name) }

    /// Why nothing may be removed; empty when every list was read as a whole. What one list does not show may be any
    /// lecture, also one that has left another list.
    var obstacles: [String] { lists.compactMap(\.obstacle) }

    /// Lists of which nothing was read yet.
    ///
    /// - Parameter names: under which they are recorded.
    init(_ names: [String]) {
        for name in names where !lists.contains(where: { $0.name == name }) { lists.append(List(name: name)) }
    }

    /// Counts a group.
    ///
    /// - Parameters:
    ///   - name: the list's; nil for a URL.
    ///   - used: lines that were used.
    ///   - refused: lines that were refused.
    ///   - unanswered: gateway links that have not led to a lecture.
    mutating func record(_ name: String?, used: Int, refused: Int, unanswered: Int = 0) {
        guard let place = lists.firstIndex(where: { $0.name == name }) else { return }
        lists[place].used += used
        lists[place].refused += refused
        lists[place].unanswered += unanswered
    }

    /// Records what the lists no longer name. Those that were not read as a whole stay as they are.
    ///
    /// - Parameter manager: the manager that has read them, idle.
    /// - Throws: `LectureError` when the store cannot be written.
    mutating func finish(_ manager: LectureManager) async throws {
        for place in lists.indices where lists[place].obstacle == nil {
            lists[place].unanswered = try await manager.downloads.finishCourseList(lists[place].name)
        }
    }
}

/// `precache --prune`: removes lectures that have left the lists.
struct Pruning {
    /// The share of the lists' lectures that may be removed without `--max-delete`.
    static let defaultLimit = CountLimit.percent(50)

    let manager: LectureManager
    let session: CommandSession

    /// What is to be removed.
    ///
    /// - Throws: `LectureError` with the code `pruneRefused` when that is more than `--max-delete` allows, and when the
    ///   store cannot be read.
    private func gone(from lists: [String], assuming reading: PlannedReading? = nil) async throws -> [Content] {
        let (lectures, named) = try await manager.downloads.lecturesGone(
            from: lists, for: session.command.duration("keep") ?? .zero, assuming: reading)
        let limit = session.command.text("max-delete").flatMap { CountLimit($0) } ?? Self.defaultLimit
        let allowed = limit.allowed(of: named)
        guard lectures.count <= allowed else {
            throw LectureError(
                .pruneRefused, detail: "\(lectures.count) of \(HumanText.lectures(named)) would be removed",
                cause: "--max-delete allows \(allowed)")
        }
        return lectures
    }

    /// Removes lectures that have left the lists.
    ///
    /// - Parameter lists: their names.
    /// - Returns: the exit status.
    /// - Throws: `LectureError` when the store cannot be written; ``OutputError``.
    func run(_ lists: [String]) async throws -> ExitStatus {
        let lectures: [Content]
        do {
            lectures = try await gone(from: lists)
        } catch let error as LectureError where error.code == .pruneRefused {
            try session.report(error)
            return .data
        }
        guard !lectures.isEmpty else { return .done }
        let status = try await Removal(manager: manager, session: session).some(lectures.map(\.key))
        if status == .done { session.report("\(HumanText.lectures(lectures.count)) removed: no longer in the list.") }
        return status
    }

    /// Reports what a run would remove.
    ///
    /// - Parameters:
    ///   - lists: the lists.
    ///   - reading: what they name.
    /// - Returns: how many lectures would be removed.
    /// - Throws: `LectureError` when the store cannot be read; ``OutputError``.
    func wouldRun(_ lists: NamedLists, _ reading: PlannedReading) async throws -> Int {
        guard lists.obstacles.isEmpty else {
            let isAsked = session.command.text("check") == SourceCheck.head.rawValue
            let canAsk = !isAsked && lists.lists.contains { $0.unanswered > 0 }
            session.context.say(
                "Nothing would be removed: \(lists.obstacles.joined(separator: "; "))"
                    + "\(canAsk ? " (--check head asks it)" : "").")
            return 0
        }
        do {
            let lectures = try await gone(from: lists.names, assuming: reading)
            for lecture in lectures { try RemoveCommand.wouldRemove(lecture, session) }
            return lectures.count
        } catch let error as LectureError where error.code == .pruneRefused {
            session.context.say(error.message, about: error)
            return 0
        }
    }
}
