import LectureKit
import LectureModel

/// The filters that `list` and `remove` share.
enum ContentSelection {
    /// The values of `--state`: the states, and the conditions a lecture can have besides its state.
    static let stateWords = ItemState.allCases.map(\.name) + ContentCondition.allCases.map(\.rawValue)

    /// The options, by their long names.
    static let optionNames = ["state", "type", "course", "folder", "recent", "older-than", "expiring"]

    /// Whether a command line has one of them.
    static func isGiven(_ command: ParsedCommand) -> Bool {
        optionNames.contains { command.text($0) != nil }
    }

    /// The filter that a command line describes.
    ///
    /// - Parameters:
    ///   - command: the command line.
    ///   - manager: supplies the time that licences are checked against.
    ///   - now: the wall clock.
    /// - Returns: the filter.
    /// - Throws: `LectureError` when the store cannot be read.
    static func filter(
        _ command: ParsedCommand, _ manager: LectureManager, now: Timestamp
    ) async throws -> ContentFilter {
        var filter = ContentFilter()
        filter.states = Set(command.texts("state").compactMap(ItemState.init(name:)))
        filter.conditions = Set(command.texts("state").compactMap(ContentCondition.init))
        filter.type = command.text("type").flatMap { name in ContentType.allCases.first { $0.name == name } }
        filter.course = command.text("course")
        filter.folder = command.text("folder")
        if let time = command.duration("expiring") {
            // The time that licences are checked against; setting the clock back does not change it.
            filter.expiresBefore = try await manager.licences.time() + time
        }
        filter.completedSince = command.duration("recent").map { now + (.zero - $0) }
        filter.completedBefore = command.duration("older-than").map { now + (.zero - $0) }
        return filter
    }
}
