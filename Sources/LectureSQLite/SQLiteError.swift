import CSQLite
import Glibc
package import LectureModel

/// SQLite's error for one call: its extended result code and its message.
///
/// SQLite's messages name tables, columns and files. They never hold a bound value, so they may be printed.
package struct SQLiteError: Error, Sendable, Hashable {
    /// The extended result code, for example 2067 for a violated UNIQUE constraint.
    package let code: Int32
    /// SQLite's sentence.
    package let message: String
    /// The kernel's error number, where it refused to open, read or write; else 0.
    package let systemError: Int32

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: the extended result code.
    ///   - message: SQLite's sentence.
    ///   - systemError: the underlying `errno`, or 0.
    package init(code: Int32, message: String, systemError: Int32 = 0) {
        self.code = code
        self.message = message
        self.systemError = systemError
    }

    /// The result code without its extension.
    package var primaryCode: Int32 { code & 0xFF }

    /// The error as the rest of the program uses it.
    ///
    /// - Parameter detail: what it was about, for example the path of the database.
    /// - Returns: the catalogue's code with SQLite's number and sentence as the cause.
    package func lectureError(detail: String = "") -> LectureError {
        LectureError(catalogueCode, detail: detail, cause: "SQLite \(code): \(message)")
    }

    private var catalogueCode: LectureError.Code {
        switch primaryCode {
        case SQLITE_FULL: .storageFull
        // Without an inode for its log SQLite only says that it cannot open it.
        case SQLITE_CANTOPEN where [ENOSPC, EDQUOT].contains(systemError),
            SQLITE_IOERR where [ENOSPC, EDQUOT].contains(systemError):
            .storageFull
        case SQLITE_BUSY, SQLITE_LOCKED: .storeBusy
        case SQLITE_CORRUPT, SQLITE_NOTADB: .storeDamaged
        case SQLITE_READONLY: .storeReadOnly
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: .openStore
        case SQLITE_IOERR: isReading ? .readFile : .writeFile
        case SQLITE_INTERRUPT: .interrupted
        default: .storeFailed
        }
    }

    /// SQLITE_IOERR_READ and SQLITE_IOERR_SHORT_READ, which are cast macros that Swift does not import.
    private var isReading: Bool { code == SQLITE_IOERR | (1 << 8) || code == SQLITE_IOERR | (2 << 8) }
}
