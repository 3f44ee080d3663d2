import LectureKit
import LectureModel

/// The lists that a run has read, and the lectures that each one names.
struct NamedLists: Sendable {
    /// One list.
    struct List: Sendable {
        /// The name under which it is remembered.
        let name: String
        /// Its lectures.
        var keys: [ContentKey] = []
        /// Whether every line of it was used.
        var isWhole = true
    }

    /// In the order of the command line.
    private(set) var lists: [List] = []
    /// Lectures that were named one by one.
    private(set) var single: [ContentKey] = []

    /// Takes note of a group.
    ///
    /// - Parameters:
    ///   - name: the list's; nil for a URL.
    ///   - keys: the registered lectures.
    ///   - isWhole: whether nothing of the group was refused.
    mutating func note(_ name: String?, keys: [ContentKey], isWhole: Bool) {
        guard let name else {
            single += keys
            return
        }
        let place = lists.firstIndex { $0.name == name } ?? lists.endIndex
        if place == lists.endIndex { lists.append(List(name: name)) }
        lists[place].keys += keys
        if !isWhole { lists[place].isWhole = false }
    }

    /// Remembers what the lists name now. Lists with a refused line, and empty ones, are left as they were: a broken
    /// export must not make lectures count as gone.
    ///
    /// - Parameter manager: of the store.
    /// - Returns: the names of the lists that were remembered.
    /// - Throws: `LectureError` when the store cannot be written.
    func record(_ manager: LectureManager) async throws -> [String] {
        if !single.isEmpty { try await manager.recordSingleRequests(try await present(single, manager)) }
        var names: [String] = []
        for list in lists where list.isWhole && !list.keys.isEmpty {
            try await manager.recordCourseList(list.name, keys: try await present(list.keys, manager))
            names.append(list.name)
        }
        return names
    }

    /// Lectures that another process has removed meanwhile are not there any more.
    private func present(_ keys: [ContentKey], _ manager: LectureManager) async throws -> [ContentKey] {
        var present: [ContentKey] = []
        for key in keys where try await manager.content(key) != nil { present.append(key) }
        return present
    }
}

/// `precache --prune`: removes what has left the lists.
struct Pruning {
    let manager: LectureManager
    let session: CommandSession

    /// What would go, and whether that is too much.
    private func gone(from lists: [String]) async throws -> (lectures: [Content], named: Int, allowed: Int) {
        let (lectures, named) = try await manager.lecturesGone(
            from: lists, for: session.command.duration("keep") ?? .zero)
        let limit = Quantity.limit(session.command.text("max-delete") ?? "50%") ?? { $0 / 2 }
        return (lectures, named, limit(named))
    }

    /// Removes what has left the lists.
    ///
    /// - Parameter lists: their names.
    /// - Returns: how that ended.
    /// - Throws: `LectureError` when the store cannot be written; ``OutputError``.
    func run(_ lists: [String]) async throws -> ExitStatus {
        let (lectures, named, allowed) = try await gone(from: lists)
        guard !lectures.isEmpty else { return .done }
        guard lectures.count <= allowed else {
            try session.report(Self.refusal(lectures.count, named, allowed))
            return .data
        }
        let status = try await Removal(manager: manager, session: session).some(lectures.map(\.key))
        if status == .done { session.tell("\(HumanText.lectures(lectures.count)) removed: no longer in the list.") }
        return status
    }

    /// Says what would be removed if the lists named just these lectures.
    ///
    /// - Parameters:
    ///   - lists: their names.
    ///   - keys: lectures that are still named.
    /// - Returns: how many would go.
    /// - Throws: `LectureError` when the store cannot be read; ``OutputError``.
    func wouldRun(_ lists: [String], stillNamed keys: Set<ContentKey>) async throws -> Int {
        let named = try await manager.lecturesNamed(by: lists)
        let keep = session.command.duration("keep") ?? .zero
        // With --keep, what leaves the list now goes later.
        let leaving = keep > .zero ? [] : named.filter { !keys.contains($0.key) }
        let earlier = try await gone(from: lists).lectures.filter { !keys.contains($0.key) }
        let lectures = earlier + leaving.filter { lecture in !earlier.contains { $0.key == lecture.key } }
        for lecture in lectures { try RemoveCommand.wouldRemove(lecture, session) }
        let total = named.count + earlier.count
        let limit = Quantity.limit(session.command.text("max-delete") ?? "50%") ?? { $0 / 2 }
        if lectures.count > limit(total) {
            session.context.say(Self.refusal(lectures.count, total, limit(total)).message)
        }
        return lectures.count
    }

    private static func refusal(_ gone: Int, _ named: Int, _ allowed: Int) -> LectureError {
        LectureError(
            .pruneRefused, detail: "\(gone) of \(HumanText.lectures(named)) would be removed",
            cause: "--max-delete allows \(allowed)")
    }
}
