import Glibc
import LectureKit
import LectureModel

/// What commands do without a store: those that add something create one, all others only report that it is missing.
/// Otherwise a mistyped directory, or the wrong user, would get an empty store.
enum MissingStore {
    private static let making: Set<[String]> = [
        ["precache"], ["daemon"], ["serve"], ["lms", "add"], ["lms", "import"], ["licence", "import"],
        ["bundle", "import"],
    ]
    /// Applied to a whole store, these do nothing when it is empty. A service may run them before the first download.
    private static let contented: Set<[String]> = [
        ["list"], ["status"], ["pause"], ["resume"], ["cancel"], ["remove"], ["unpin"], ["prune"], ["verify"],
        ["licence", "list"], ["licence", "renew"], ["licence", "pending"], ["lms", "list"], ["lms", "send"],
        ["lms", "retry"], ["webhooks", "list"], ["webhooks", "send"], ["webhooks", "retry"],
        ["bookmark", "sync"],
    ]

    /// Whether a command may create a store.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - directory: the store's directory, where a rebuild needs media.
    /// - Returns: whether it may.
    static func mayMake(_ command: ParsedCommand, in directory: String) -> Bool {
        making.contains(command.path) || (command.path == rebuild && hasMedia(directory)) || isStream(command)
    }

    /// A stream needs a cache and a place for reports.
    private static func isStream(_ command: ParsedCommand) -> Bool {
        command.path == ["play"] && command.arguments.first?.contains("://") == true
    }

    private static func hasMedia(_ directory: String) -> Bool {
        var facts = stat()
        return unsafe stat("\(directory)/media", &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }

    /// The command that reports on kept media itself.
    static let rebuild = ["store", "rebuild"]

    /// Whether a command has nothing to do when there is no store.
    static func isNothingToDo(_ command: ParsedCommand) -> Bool {
        contented.contains(command.path) && command.arguments.isEmpty
    }
}

extension CommandSession {
    /// Whether the store exists.
    var storeExists: Bool { StoreTools.exists(configuration.storeDirectory.value) }
}
