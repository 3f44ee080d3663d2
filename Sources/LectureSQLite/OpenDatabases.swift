import LectureModel

/// Which database files this process has open.
///
/// POSIX locks belong to a process and a file, not to a descriptor: closing any descriptor of a file releases every
/// lock that the process holds on it (https://www.sqlite.org/howtocorrupt.html, section 2.2). A connection in WAL mode
/// would lose the lock that announces it to others; the next process that closes would consider itself the last, and
/// delete the log that this one still writes to. So a file that is open here is inspected through SQLite only.
enum OpenDatabases {
    private static let counts = Guarded<[String: Int]>([:])

    /// A connection to a file is about to be opened.
    static func opened(_ path: String) { counts.withLock { $0[path, default: 0] += 1 } }

    /// A connection to a file was closed.
    static func closed(_ path: String) {
        counts.withLock { counts in
            let left = (counts[path] ?? 1) - 1
            counts[path] = left > 0 ? left : nil
        }
    }

    /// Does something with a file while no connection of this process is open to it.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - body: done while no connection can be opened.
    /// - Returns: nil, with nothing done, when there is a connection.
    static func unlessOpen<Result>(_ path: String, _ body: () throws -> Result) rethrows -> Result? {
        try counts.withLock { counts in counts[path] == nil ? try body() : nil }
    }
}
