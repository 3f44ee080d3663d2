import Glibc
package import LectureModel
import LectureSQLite

// Media that were in the store's directory before its database: of a database that was lost, or moved away because it
// was damaged. This database gives none of their numbers again, and does not delete them.

/// Finds files by the numbers in their names: `media/<bucket>/<number>…`.
enum MediaNumbers {
    /// A larger number is not ours.
    private static let limit: Int64 = 1 << 40

    /// The number that a path contains.
    ///
    /// - Parameter path: relative to the store.
    /// - Returns: nil where the name is not one that a store gives.
    static func number(of path: String) -> Int64? {
        let parts = path.split(separator: "/")
        guard parts.count == 3, parts[0] == "media", let number = Int64(parts[2].prefix { $0.isASCII && $0.isNumber }),
            (1...limit).contains(number)
        else { return nil }
        return parts[1] == ResourceID(number).bucket ? number : nil
    }

    /// Whether a store gives such a name to a file of this number: `7.mp4`, `7.160x90x10.jpg`, `7.mp4.part`.
    ///
    /// - Parameter path: relative to the store, with a number.
    /// - Returns: false for `7 notes.txt`.
    static func isName(_ path: String) -> Bool {
        let words = path.split(separator: ".", omittingEmptySubsequences: false).dropFirst()
        return (1...3).contains(words.count)
            && words.allSatisfy { !$0.isEmpty && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } }
            && path.split(separator: "/").last?.prefix { $0 != "." }.allSatisfy { $0.isNumber } == true
    }

    /// The name under which a file is listed: one about to replace a part file belongs to that one.
    ///
    /// - Parameter path: relative to the store.
    /// - Returns: the path, or the part file's.
    static func listed(_ path: String) -> String { path.hasSuffix(".new") ? "\(path.dropLast(4)).part" : path }

    /// The files with numbers.
    ///
    /// - Parameter root: the store's directory.
    /// - Returns: number, path and size of each.
    /// - Throws: ``LectureError`` with `readFile`.
    static func files(in root: String) throws(LectureError) -> [(number: Int64, path: String, bytes: Int64)] {
        var files: [(number: Int64, path: String, bytes: Int64)] = []
        for bucket in try names(in: "\(root)/media") {
            for name in try names(in: "\(root)/media/\(bucket)") {
                var facts = stat()
                let path = "media/\(bucket)/\(name)"
                guard let number = number(of: path), unsafe lstat("\(root)/\(path)", &facts) == 0,
                    facts.st_mode & S_IFMT == S_IFREG
                else { continue }
                files.append((number, path, Int64(facts.st_size)))
            }
        }
        return files
    }

    private static func names(in directory: String) throws(LectureError) -> [String] {
        guard let stream = unsafe opendir(directory) else {
            if [ENOENT, ENOTDIR].contains(errno) { return [] }
            throw LectureError(.readFile, detail: directory, cause: StoreLocation.reason(errno))
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
                    unsafe String(cString: $0)
                }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}

extension StoreDatabase {
    /// The highest number of the files that were there before the database, in the table `setting`.
    static let keptMediaSetting = "media.kept_up_to"

    /// Keeps the media that are in the directory of a new database.
    static func keepMedia(_ connection: Connection, in directory: String) throws {
        guard let highest = try MediaNumbers.files(in: directory).map(\.number).max() else { return }
        try connection.execute(
            "INSERT INTO setting(name, value) VALUES (?, ?)", keptMediaSetting, String(highest))
        try connection.execute("INSERT INTO sqlite_sequence(name, seq) VALUES ('resource', ?)", highest)
    }
}

extension Connection {
    /// The highest number of the files that were there before the database; 0 for none.
    func keptMedia() throws -> Int64 {
        try first("SELECT value FROM setting WHERE name = ?", StoreDatabase.keptMediaSetting) { Int64($0.text(0)) ?? 0 }
            ?? 0
    }

    /// The files that were there before the database and that no resource has.
    ///
    /// - Parameter root: the store's directory.
    /// - Returns: the files by their numbers. One that was about to replace a part file counts as that part file, with
    ///   which it is deleted.
    /// - Throws: ``LectureError``.
    func keptFiles(in root: String) throws -> [KeptFile] {
        let limit = try keptMedia()
        guard limit > 0 else { return [] }
        let known = Set(
            try query("SELECT file_path FROM resource WHERE id <= ? AND file_path <> ''", limit) { $0.text(0) })
        let files = try MediaNumbers.files(in: root)
            .filter { $0.number <= limit && !known.contains($0.path) && MediaNumbers.isName($0.path) }
        let byPath = Dictionary(grouping: files) { MediaNumbers.listed($0.path) }
        return byPath.map { path, files in
            (files[0].number, KeptFile(path: path, bytes: files.reduce(0) { $0 + $1.bytes }))
        }
        .sorted { ($0.0, $0.1.path) < ($1.0, $1.1.path) }
        .map(\.1)
    }
}

extension SQLiteDownloadIndex {
    /// Whether a file may be deleted: a number of this database is in its name, and no resource has the path; or it is
    /// a playlist of a version that is gone.
    package func isOrphan(path: String) throws -> Bool {
        if let version = StreamPlaylistPath.version(of: path) {
            return try connection.first("SELECT 1 FROM version WHERE id = ?", version, read: { _ in true }) == nil
        }
        guard let number = MediaNumbers.number(of: path), try number > connection.keptMedia() else { return false }
        return try connection.first(
            "SELECT 1 FROM resource WHERE id = ? AND file_path = ?", number, path, read: { _ in true }) == nil
    }
}

extension StoreMaintenance {
    /// The files that were in the store's directory before its database, belong to no lecture, and are kept.
    ///
    /// - Parameter location: where the store is.
    /// - Returns: the files by their numbers.
    /// - Throws: ``LectureError``.
    package static func keptFiles(_ location: StoreLocation) throws -> [KeptFile] {
        guard let root = try location.resolved() else { return [] }
        return try StoreDatabase.openReader(location).keptFiles(in: root)
    }
}
