package import LectureModel
import LectureSQLite

/// Where finished files are also due, and which files LectureKit has put there. Tables output and output_file.
///
/// Confined to the owner of the store's writer, like its connection.
package struct OutputRows: OutputStore {
    let connection: Connection

    /// Places where the finished file is also due.
    package func pending(_ content: ContentID) throws -> [PendingOutput] {
        try connection.query("SELECT path, may_replace FROM output WHERE content_id = ? ORDER BY path", content) {
            PendingOutput(path: $0.text(0), mayReplace: $0.bool(1))
        }
    }

    /// Removes a finished output.
    package func delete(_ content: ContentID, path: String) throws {
        try connection.execute("DELETE FROM output WHERE content_id = ? AND path = ?", content, path)
    }

    /// The files that were written for a lecture. Kept when the lecture is removed: the files are still there, and a
    /// later download of the same lecture may replace them.
    package func written(_ key: ContentKey) throws -> [OutputFacts] {
        try connection.query(
            "SELECT inode, bytes, modified_ns FROM output_file WHERE content_key = ? ORDER BY path", key
        ) { OutputFacts(inode: $0.int64(0), bytes: $0.int64(1), modifiedNanoseconds: $0.int64(2)) }
    }

    /// Records a file that was written outside the store.
    package func record(_ key: ContentKey, path: String, _ facts: OutputFacts, now: Timestamp) throws {
        try connection.execute(
            """
            INSERT INTO output_file(path, content_key, inode, bytes, modified_ns, written_ms) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (path) DO UPDATE SET content_key = excluded.content_key, inode = excluded.inode,
                bytes = excluded.bytes, modified_ns = excluded.modified_ns, written_ms = excluded.written_ms
            """, path, key, facts.inode, facts.bytes, facts.modifiedNanoseconds, now)
    }

    /// The keys of the lectures for which a file was written.
    ///
    /// - Parameter facts: the file.
    /// - Returns: nothing when LectureKit did not write it, or it was changed afterwards.
    /// - Throws: ``LectureError``.
    package func owners(_ facts: OutputFacts) throws -> [ContentKey] {
        let keys: [String] = try connection.query(
            "SELECT DISTINCT content_key FROM output_file WHERE inode = ? AND bytes = ? AND modified_ns = ?",
            facts.inode, facts.bytes, facts.modifiedNanoseconds
        ) { $0.text(0) }
        return keys.compactMap { try? ContentKey($0) }
    }

    /// Adds a place. A later request for the same place may add the right to replace what is there, and never takes it
    /// away.
    func add(_ request: DownloadRequest, content: ContentID) throws {
        guard let path = request.outputPath else { return }
        try connection.execute(
            """
            INSERT INTO output(content_id, path, may_replace) VALUES (?, ?, ?)
            ON CONFLICT (content_id, path) DO UPDATE SET may_replace = max(may_replace, excluded.may_replace)
            """, content, path, request.replacesOutput)
    }
}
