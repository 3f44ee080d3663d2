import Glibc
import LectureFormats
import LectureKit
package import LectureModel

/// The course lists that a daemon follows: files, and the lists in directories. Whatever happens to them is reported by
/// the kernel (inotify(7)); then ``scan()`` returns what there is.
package final class CourseFolders: Sendable {
    /// The endings of course lists.
    private static let endings = [".jsonl", ".csv", ".txt"]
    private let sources: [String]
    private let watches: [FolderWatch]
    /// Directories that cannot be watched, and why.
    package let faults: [LectureError]

    /// Watches the lists from now on.
    ///
    /// - Parameters:
    ///   - sources: directories and files. A file need not be there yet; its directory must.
    ///   - changed: something has happened in one of the directories; on a queue of its own.
    package init(_ sources: [String], changed: @escaping @Sendable () -> Void) {
        self.sources = sources
        var (watches, faults): ([FolderWatch], [LectureError]) = ([], [])
        var directories: [String] = []
        for source in sources {
            let directory = Self.isDirectory(source) ? source : PathText.directory(of: source)
            if !directories.contains(directory) { directories.append(directory) }
        }
        for directory in directories {
            do throws(LectureError) {
                watches.append(try FolderWatch(directory, changed: changed))
            } catch {
                faults.append(LectureError(.courseList, detail: directory, cause: error.cause))
            }
        }
        (self.watches, self.faults) = (watches, faults)
    }

    /// The lists that there are now, in the order of their names. Hidden files, and those with other endings, are no
    /// lists.
    ///
    /// - Returns: each list once.
    package func scan() -> [DaemonAgenda.ListFile] {
        var found: [String: DaemonAgenda.ListFile] = [:]
        for source in sources {
            let names = Self.isDirectory(source) ? Self.names(in: source).map { "\(source)/\($0)" } : [source]
            for path in names {
                guard let identity = Self.identity(of: path) else { continue }
                found[path] = DaemonAgenda.ListFile(path: path, identity: identity)
            }
        }
        return found.values.sorted { $0.path < $1.path }
    }

    private static func names(in directory: String) -> [String] {
        guard let stream = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if !name.hasPrefix("."), endings.contains(where: name.hasSuffix) { names.append(name) }
        }
        return names
    }

    /// Nil for what is no file.
    private static func identity(of path: String) -> String? {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        return "\(facts.st_dev).\(facts.st_ino).\(facts.st_size).\(facts.st_mtim.tv_sec).\(facts.st_mtim.tv_nsec)"
    }

    private static func isDirectory(_ path: String) -> Bool {
        var facts = stat()
        return unsafe stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }
}
