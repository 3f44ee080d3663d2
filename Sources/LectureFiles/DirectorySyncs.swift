import Glibc
import LectureModel

/// Syncs directories for many files at once: one sync serves all that wait for the same directory.
///
/// ```
///          ┌──────────── a call that begins here is served by the next run ───────────┐
///     idle ──a call begins a run──▶ running ──the run ends──▶ idle, and its callers return
/// ```
///
/// A run covers the calls that began before it: their names were changed before. A call that begins during a run waits
/// for the next one, which one of the waiting callers makes. With one caller at a time each call is a sync of its own.
final class DirectorySyncs: Sendable {
    private struct Directory {
        /// How many runs have started.
        var started: UInt64 = 0
        /// How many have ended.
        var ended: UInt64 = 0
        /// The runs that failed and are still asked about, with the error.
        var failures: [UInt64: SystemError] = [:]
        /// How many callers wait for it.
        var callers = 0
    }

    private enum Turn {
        /// The caller makes this run.
        case run(UInt64)
        /// A run that covers the call has ended.
        case over(SystemError?)
    }

    private let directories = Monitor<[FileIdentity: Directory]>([:])
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
    var callers: Int { directories.read { $0.values.reduce(0) { $0 + $1.callers } } }

    /// Makes the names in a directory durable. Blocks.
    ///
    /// - Parameter directory: an open directory, which no other object syncs past this one for the same purpose.
    /// - Throws: ``SystemError`` of the run that covers this call.
    func sync(_ directory: Descriptor) throws(SystemError) {
        let identity = FileIdentity(try directory.status())
        var wanted: UInt64?
        while true {
            let turn = directories.wait { directories in
                Self.turn(of: &directories[identity, default: Directory()], &wanted)
            }
            switch turn {
            case .run(let number): end(number, of: identity, failure(of: directory))
            case .over(let error):
                leave(identity)
                if let error { throw error }
                return
            }
        }
    }

    /// What a caller does next; nil while it has to wait.
    private static func turn(of directory: inout Directory, _ wanted: inout UInt64?) -> Turn? {
        if wanted == nil { directory.callers += 1 }
        let number = wanted ?? directory.started + 1
        wanted = number
        if directory.ended >= number { return .over(directory.failures[number]) }
        guard directory.started == directory.ended else { return nil }
        directory.started += 1
        return .run(directory.started)
    }

    private func failure(of directory: Descriptor) -> SystemError? {
        do throws(SystemError) {
            try run(directory)
            return nil
        } catch {
            return error
        }
    }

    private func end(_ number: UInt64, of identity: FileIdentity, _ error: SystemError?) {
        directories.change { directories in
            directories[identity]?.ended = number
            directories[identity]?.failures[number] = error
        }
    }

    /// A caller is served. The last one takes what is known of the directory with it.
    private func leave(_ identity: FileIdentity) {
        directories.change { directories in
            directories[identity]?.callers -= 1
            if directories[identity]?.callers == 0 { directories[identity] = nil }
        }
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
