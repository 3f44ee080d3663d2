import LectureKit
import LectureModel

/// What commands do without a store: those that add something create one, all others only report that it is missing.
/// Otherwise a mistyped directory, or the wrong user, would get an empty store.
enum MissingStore {
    private static let making: Set<[String]> = [
        ["precache"], ["lms", "add"], ["lms", "import"], ["licence", "import"],
    ]
    /// Applied to a whole store, these do nothing when it is empty. A service may run them before the first download.
    private static let contented: Set<[String]> = [
        ["list"], ["status"], ["pause"], ["resume"], ["cancel"], ["remove"], ["verify"], ["licence", "list"],
        ["licence", "renew"], ["licence", "pending"], ["lms", "list"], ["lms", "send"], ["lms", "retry"],
    ]

    /// Whether a command may create a store.
    static func mayMake(_ command: ParsedCommand) -> Bool { making.contains(command.path) }

    /// Whether a command has nothing to do when there is no store.
    static func isNothingToDo(_ command: ParsedCommand) -> Bool {
        contented.contains(command.path) && command.arguments.isEmpty
    }
}

extension CommandSession {
    /// Whether the store exists.
    var storeExists: Bool { StoreTools.exists(configuration.storeDirectory.value) }
}
