import Glibc
import LectureModel

/// The `errno` of a failed call, for callers that distinguish cases before it becomes a ``LectureError``.
struct SystemError: Error {
    /// The value of `errno`.
    let number: Int32

    /// The C library's text for it. `strerror` keeps its text per thread since glibc 2.32.
    var text: String { unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)" }
}

/// The purpose of a call, which decides the error code of a failure.
enum FileIntent {
    /// A directory of the store is created or synced.
    case makeDirectory
    /// A file of the store is created or renamed.
    case makeFile
    /// A file of the store is read.
    case read
    /// A file of the store is written, synced or deleted.
    case write
    /// A finished file is put where the user wants it.
    case output

    /// Turns the number of a failed call into the error that is stored and shown.
    ///
    /// - Parameters:
    ///   - failure: the kernel's error number.
    ///   - subject: the path it was about.
    /// - Returns: an error whose cause is the C library's text.
    func error(_ failure: SystemError, _ subject: String) -> LectureError {
        switch (failure.number, self) {
        case (ENOSPC, _), (EDQUOT, _): LectureError(.storageFull, detail: subject, cause: failure.text)
        case (_, .output): LectureError(.outputRefused, detail: subject, cause: failure.text)
        case (EROFS, _): LectureError(.storeReadOnly, detail: subject, cause: failure.text)
        case (_, .makeDirectory): LectureError(.createDirectory, detail: subject, cause: failure.text)
        case (_, .makeFile): LectureError(.createFile, detail: subject, cause: failure.text)
        case (_, .read): LectureError(.readFile, detail: subject, cause: failure.text)
        case (_, .write): LectureError(.writeFile, detail: subject, cause: failure.text)
        }
    }
}

/// Calls the C library, again when a signal interrupted it.
///
/// Not for `close`: Linux has released the descriptor even when it returns `EINTR`.
///
/// - Parameter body: one call that answers −1 and sets `errno` when it fails.
/// - Returns: what the call answered.
/// - Throws: ``SystemError``.
@discardableResult
func systemCall<Answer: SignedInteger>(_ body: () -> Answer) throws(SystemError) -> Answer {
    while true {
        let answer = body()
        if answer != -1 { return answer }
        let number = errno
        if number != EINTR { throw SystemError(number: number) }
    }
}

/// As ``systemCall(_:)``, for callers that only pass the failure on.
///
/// - Parameters:
///   - intent: decides the code of the error.
///   - subject: the path it is about.
///   - body: one call that answers −1 and sets `errno` when it fails.
/// - Returns: what the call answered.
/// - Throws: ``LectureError``.
@discardableResult
func systemCall<Answer: SignedInteger>(
    _ intent: FileIntent, _ subject: String, _ body: () -> Answer
) throws(LectureError) -> Answer {
    do {
        return try systemCall(body)
    } catch {
        throw intent.error(error, subject)
    }
}
