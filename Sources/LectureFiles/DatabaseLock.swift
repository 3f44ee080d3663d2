import Glibc

/// The process that is writing to the store's database.
///
/// SQLite's writer holds byte 120 of the file `-shm` for as long as its transaction lasts (`WAL_WRITE_LOCK` in wal.c,
/// `UNIX_SHM_BASE` in os_unix.c). The kernel lists such locks with their processes in `/proc/locks` (proc(5)).
package enum DatabaseLock {
    /// The first lock byte in the shared-memory file, which is the writer's.
    private static let writerByte: UInt64 = 120

    /// Finds the process that holds the writer's lock.
    ///
    /// - Parameter root: the path of the store.
    /// - Returns: its number and its name; nil when no process writes, or when the kernel does not show it.
    package static func writer(of root: String) -> (pid: Int, name: String)? {
        var status = stat()
        guard unsafe stat("\(root)/lecturekit.db-shm", &status) == 0, let text = contents("/proc/locks") else {
            return nil
        }
        for line in text.split(separator: "\n") {
            // 1: POSIX  ADVISORY  WRITE 4711 fe:00:1234 120 120
            let words = line.split(separator: " ")
            guard words.count >= 8, words[1] == "POSIX", words[3] == "WRITE", let pid = Int(words[4]), pid > 0,
                words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == UInt64(status.st_ino),
                let first = UInt64(words[6]), let last = UInt64(words[7]), (first...last).contains(writerByte)
            else { continue }
            let name = contents("/proc/\(pid)/comm").map { String($0.prefix { $0 != "\n" }) } ?? "unknown"
            return (pid, name)
        }
        return nil
    }

    private static func contents(_ path: String) -> String? {
        guard let number = try? systemCall({ unsafe open(path, O_RDONLY | O_CLOEXEC) }) else { return nil }
        let file = Descriptor(takingOwnership: number)
        var (bytes, offset): ([UInt8], UInt64) = ([], 0)
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while let count = try? unsafe buffer.withUnsafeMutableBytes({ try unsafe file.read($0, at: offset) }), count > 0
        {
            bytes += buffer.prefix(count)
            offset += UInt64(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
