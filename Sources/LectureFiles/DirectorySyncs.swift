import Glibc
import LectureModel

/// Syncs directories for many files at once: one sync serves all that wait for the same directory.
///
/// ```
///     idle ──a call──▶ a run ──calls──▶ a run, and one that waits
///      ▲                │  ▲                  │
///      └────it ends─────┘  └─────it ends──────┘
/// ```
///
/// A run covers the calls that began before it: their names were changed before. A call that begins during a run waits
/// for the next one, which the first of these calls makes. With one caller at a time each call is a sync of its own.
/// The end of a run wakes those whom it served, and the one that makes the next: no thread wakes up to wait again.
final class DirectorySyncs: Sendable {
    /// A run that waits for the one before it. What it serves is counted with its directory.
    private final class Run: Sendable {
        /// Whether the one before has ended.
        let turn = Monitor(false)
        /// What became of it; nil before its end.
        let outcome = Monitor<Result<Void, SystemError>?>(nil)
    }

    /// A directory that is being synced.
    private struct Directory {
        /// How many callers the run serves.
        var served = 1
        /// The next one, when there is a caller for it.
        var next: Run?
        /// How many callers that has.
        var waiting = 0
    }

    /// What a caller does.
    private enum Part {
        /// It makes a run, which serves no one else.
        case alone
        /// It makes this run, after the one before.
        case makes(Run)
        /// This run serves it.
        case waits(Run)
    }

    private let directories = Guarded<[FileIdentity: Directory]>([:])
    private let run: @Sendable (Descriptor) throws(SystemError) -> Void

    /// - Parameter run: syncs one directory.
    init(
        run: @escaping @Sendable (Descriptor) throws(SystemError) -> Void = { (directory) throws(SystemError) in
            try directory.sync()
        }
    ) {
        self.run = run
    }

    /// How many calls wait for a run, or are in one.
    var callers: Int { directories.withLock { $0.values.reduce(0) { $0 + $1.served + $1.waiting } } }

    /// Makes the names in a directory durable. Blocks.
    ///
    /// - Parameter directory: an open directory, which no other object syncs past this one for the same purpose.
    /// - Throws: ``SystemError`` of the run that covers this call.
    func sync(_ directory: Descriptor) throws(SystemError) {
        let identity = FileIdentity(try directory.status())
        let outcome: Result<Void, SystemError>
        switch directories.withLock({ Self.join(&$0[identity]) }) {
        case .alone: outcome = make(directory, identity)
        case .makes(let run):
            run.turn.wait { $0 ? () : nil }
            outcome = make(directory, identity)
            run.outcome.change { $0 = outcome }
        case .waits(let run): outcome = run.outcome.wait { $0 }
        }
        try outcome.get()
    }

    private static func join(_ directory: inout Directory?) -> Part {
        guard var syncing = directory else {
            directory = Directory()
            return .alone
        }
        defer { directory = syncing }
        syncing.waiting += 1
        if let next = syncing.next { return .waits(next) }
        let next = Run()
        syncing.next = next
        return .makes(next)
    }

    /// Makes a run, and lets the next one begin.
    private func make(_ directory: Descriptor, _ identity: FileIdentity) -> Result<Void, SystemError> {
        let outcome = Result { () throws(SystemError) in try run(directory) }
        let next = directories.withLock { directories in
            let next = directories[identity]?.next
            directories[identity] = next.map { _ in Directory(served: directories[identity]?.waiting ?? 0) }
            return next
        }
        next?.turn.change { $0 = true }
        return outcome
    }
}

/// Which file it is, whatever its name.
struct FileIdentity: Hashable, Sendable {
    /// The number of its file system.
    let device: UInt64
    /// Its number there.
    let inode: UInt64

    /// - Parameter status: of the file.
    init(_ status: stat) { (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino)) }
}

/// Between which file systems no blocks can be shared, so that it is not tried for each file.
final class UnsharedBlocks: Sendable {
    private struct Pair: Hashable {
        let source: UInt64
        let target: UInt64
    }

    private let pairs = Monitor<Set<Pair>>([])

    /// Whether it was found that they share none.
    ///
    /// - Parameters:
    ///   - source: a file.
    ///   - target: the directory of its copy.
    /// - Returns: false before it was tried.
    func contains(_ source: stat, _ target: stat) -> Bool {
        pairs.read { $0.contains(Pair(source: UInt64(source.st_dev), target: UInt64(target.st_dev))) }
    }

    /// It was tried.
    ///
    /// - Parameters:
    ///   - source: a file.
    ///   - target: the directory of its copy.
    ///   - number: the error. Only one that says the same of all files of these file systems is remembered.
    func failed(_ source: stat, _ target: stat, _ number: Int32) {
        guard [EOPNOTSUPP, ENOTTY, EXDEV, ENOSYS].contains(number) else { return }
        pairs.change { _ = $0.insert(Pair(source: UInt64(source.st_dev), target: UInt64(target.st_dev))) }
    }
}
