import Foundation
package import LectureModel

/// A new store's database, made once in a process and copied for each test. The migrations have tests of their own; in
/// the others they would take most of the time.
package enum StoreTemplate {
    /// When it is made, before the time of every test.
    package static let created = Timestamp(milliseconds: 1_600_000_000_000)

    private static let made = Guarded<[String: Data]>([:])

    /// Puts a new store into a directory.
    ///
    /// - Parameters:
    ///   - directory: where; made if it does not exist.
    ///   - database: the name of its file.
    ///   - make: makes a new store in the directory that it gets, and has closed it when it returns.
    /// - Throws: the system's error, and what `make` throws.
    package static func copy(
        to directory: String, _ database: String, _ make: (_ directory: String) throws -> Void
    ) throws {
        let bytes = try made.withLock { made in
            if let bytes = made[database] { return bytes }
            let place = try TemporaryDirectory.inMemory()
            try make(place.path)
            let bytes = try Data(contentsOf: URL(filePath: place.file(database)))
            made[database] = bytes
            return bytes
        }
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let path = "\(directory)/\(database)"
        guard FileManager.default.createFile(atPath: path, contents: bytes, attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
    }
}
