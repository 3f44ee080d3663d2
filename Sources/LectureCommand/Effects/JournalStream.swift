package import Glibc

/// How much a message matters, as syslog(3) numbers it.
package enum MessagePriority: Int, Sendable, CaseIterable {
    /// Something failed.
    case error = 3
    /// Something needs attention, or will be tried again.
    case warning = 4
    /// What an operator may want to know.
    case notice = 5
    /// What was done.
    case information = 6
    /// A single request.
    case debug = 7

    /// Its name in a log.
    package var name: String { self == .information ? "info" : "\(self)" }

    /// What comes before a line for the journal, which takes it off again (sd-daemon(3)).
    package var prefix: String { "<\(rawValue)>" }
}

/// The stream to the journal that systemd has connected with a service's standard error: the value of `JOURNAL_STREAM`
/// (systemd.exec(5)). The variable is inherited, and a descriptor may be redirected: only both together identify it.
package struct JournalStream: Sendable, Equatable {
    /// The number of the device.
    package let device: UInt64
    /// The number of the inode.
    package let inode: UInt64

    /// Reads the variable.
    ///
    /// - Parameter text: two decimal numbers, separated by a colon; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { UInt64($0) }
        guard parts.count == 2, let device = parts[0], let inode = parts[1] else { return nil }
        (self.device, self.inode) = (device, inode)
    }

    /// Whether a file is this stream.
    ///
    /// - Parameter facts: of the file.
    /// - Returns: whether both numbers are the same.
    package func isSame(as facts: stat) -> Bool { UInt64(facts.st_dev) == device && UInt64(facts.st_ino) == inode }

    /// Whether a descriptor of this process is the stream that a variable names.
    ///
    /// - Parameters:
    ///   - descriptor: the descriptor.
    ///   - environment: the variables.
    /// - Returns: false also for a closed descriptor.
    package static func isJournal(_ descriptor: Int32, _ environment: [String: String]) -> Bool {
        guard let stream = environment["JOURNAL_STREAM"].flatMap(Self.init) else { return false }
        var facts = stat()
        return unsafe fstat(descriptor, &facts) == 0 && stream.isSame(as: facts)
    }
}
