import Glibc
import LectureFormats
import LectureModel

/// What an operator should know: one line of JSON for each failure, and for each archive that is made.
///
/// No line has a secret: errors of this package have none, and what others throw is named by its type only.
public struct LiveLog: Sendable {
    private let write: @Sendable (String) -> Void

    /// Creates a log.
    ///
    /// - Parameter write: gets each line, with its line end; called on any thread.
    public init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    /// Writes to standard error.
    public static let standardError = LiveLog { line in
        var bytes = Array(line.utf8)
        // One call for a line, so that those of several threads are not mixed.
        _ = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Reports a failure.
    ///
    /// - Parameters:
    ///   - event: what was being done, in `snake_case`.
    ///   - error: why it failed.
    func failure(_ event: String, _ error: any Error) {
        let (code, sentence) = Self.words(of: error)
        note(event) { json in
            json.member("code", code)
            json.member("message", sentence)
        }
    }

    /// Reports an event.
    ///
    /// - Parameters:
    ///   - event: its name, in `snake_case`.
    ///   - members: writes its members.
    func note(_ event: String, _ members: (inout JSONWriter) -> Void) {
        let line = JSONWriter.object { json in
            json.member("event", event)
            members(&json)
        }
        write(line + "\n")
    }

    private static func words(of error: any Error) -> (code: String, sentence: String) {
        switch error {
        case let error as LectureError: (error.code.name, error.message)
        case let refusal as LiveRefusal: (refusal.code.lowercased(), refusal.message)
        default: ("unexpected", "An error of the type \(type(of: error)).")
        }
    }
}
