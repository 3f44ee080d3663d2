import CSQLite
import LectureModel

extension Connection {
    /// Copies the whole database as of one moment, while others read and write it.
    ///
    /// All pages are copied in one step: in WAL mode that is one read transaction, which blocks no writer, and the copy
    /// never restarts because of a write.
    ///
    /// - Parameter target: an open, empty database; overwritten.
    /// - Throws: ``LectureError``.
    package func copy(to target: Connection) throws {
        let result = unsafe withHandle { source in
            unsafe target.withHandle { destination in
                guard let backup = unsafe sqlite3_backup_init(destination, "main", source, "main") else {
                    return unsafe sqlite3_extended_errcode(destination)
                }
                unsafe sqlite3_backup_step(backup, -1)
                return unsafe sqlite3_backup_finish(backup)
            }
        }
        guard result == SQLITE_OK else {
            let message = unsafe String(cString: sqlite3_errstr(result))
            throw SQLiteError(code: result, message: message).lectureError(detail: target.path)
        }
    }
}
