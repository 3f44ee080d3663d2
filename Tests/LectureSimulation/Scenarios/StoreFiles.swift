import Foundation
import Glibc
import LectureModel
package import LectureStore
import LectureTestSupport

/// The directories of one scenario's store. Each store is a copy of one that was made once: migrations have their own
/// tests, and here they would take most of the time.
final class StoreFiles {
    /// The directory of all stores of this process.
    private static let shared: Result<TemporaryDirectory, any Error> = Result { try .inMemory() }
    private static let counter = Guarded(0)

    private var directories: [String] = []

    init() throws { _ = try Self.shared.get() }

    private func directory() throws -> String {
        let number = Self.counter.withLock { counter in
            counter += 1
            return counter
        }
        let path = try Self.shared.get().file("\(number)")
        guard unsafe mkdir(path, 0o700) == 0 else { throw LectureError(.createDirectory, detail: path) }
        directories.append(path)
        return path
    }

    /// A new store.
    func fresh() throws -> StoreLocation {
        try StoreLocation.copied(to: directory())
    }

    /// What a power cut leaves of a store: the database and its log, without the index of the log, and perhaps with
    /// the start of an unfinished commit.
    func survivors(of location: StoreLocation, tornBytes: Int) throws -> StoreLocation {
        let path = try directory()
        let name = StoreLocation.databaseName
        try Self.write(try Self.read("\(location.directory)/\(name)"), to: "\(path)/\(name)")
        var log = (try? Self.read("\(location.directory)/\(name)-wal")) ?? []
        if tornBytes > 0, log.count > 32 { log += log.suffix(tornBytes) }
        try Self.write(log, to: "\(path)/\(name)-wal")
        return StoreLocation(directory: path)
    }

    /// Deletes all stores but the newest.
    func removeFormer() {
        while directories.count > 1 { Self.remove(directories.removeFirst()) }
    }

    /// Deletes the stores.
    func remove() {
        for directory in directories { Self.remove(directory) }
        directories = []
    }

    private static func remove(_ directory: String) {
        for suffix in ["", "-wal", "-shm"] {
            unsafe unlink("\(directory)/\(StoreLocation.databaseName)\(suffix)")
        }
        unsafe rmdir(directory)
    }

    private static func read(_ path: String) throws -> [UInt8] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw LectureError(.readFile, detail: path) }
        defer { close(file) }
        var status = stat()
        unsafe fstat(file, &status)
        let size = Int(status.st_size)
        return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            filled = unsafe max(0, Glibc.read(file, buffer.baseAddress, size))
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw LectureError(.createFile, detail: path) }
        defer { close(file) }
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
        guard count == bytes.count else { throw LectureError(.writeFile, detail: path) }
    }
}

extension StoreLocation {
    /// A new store in a directory, copied from the one that was made first.
    ///
    /// - Parameter directory: its directory.
    /// - Returns: where it is.
    /// - Throws: an error of the store or of the system.
    package static func copied(to directory: String) throws -> StoreLocation {
        try StoreTemplate.copy(to: directory, databaseName) { place in
            _ = try SQLiteDownloadIndex(opening: StoreLocation(directory: place), now: StoreTemplate.created)
        }
        return StoreLocation(directory: directory)
    }
}
