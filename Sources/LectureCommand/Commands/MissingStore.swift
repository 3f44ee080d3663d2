import LectureKit
import LectureModel

/// What commands do where there is no store: those that bring something in make one, all others only say that it is
/// not there. A mistyped directory, or the wrong user, would get an empty store otherwise.
enum MissingStore {
    private static let making: Set<[String]> = [
        ["precache"], ["lms", "add"], ["lms", "import"], ["licence", "import"],
    ]
    /// Over everything in a store these do nothing when it is empty. A service may run them before the first download.
    private static let contented: Set<[String]> = [
        ["list"], ["status"], ["pause"], ["resume"], ["cancel"], ["remove"], ["verify"], ["licence", "list"],
        ["licence", "renew"], ["licence", "pending"], ["lms", "list"], ["lms", "send"], ["lms", "retry"],
    ]

    /// Whether a command makes a store.
    static func mayMake(_ command: ParsedCommand) -> Bool { making.contains(command.path) }

    /// Whether a command has done all that it was asked for when there is no store.
    static func isNothingToDo(_ command: ParsedCommand) -> Bool {
        contented.contains(command.path) && command.arguments.isEmpty
    }
}

extension CommandSession {
    /// Whether there is a store.
    var storeExists: Bool { StoreTools.exists(configuration.storeDirectory.value) }
}
