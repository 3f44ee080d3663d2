/// An error a user or a program can meet: a stable code, a sentence that says what to do, and the cause.
///
/// Two errors are equal when their codes are equal, so that tests and callers compare what happened and not its
/// wording. ``description`` holds only the code, because descriptions end up in logs; ``message`` may name what the
/// user typed (a path, a line number) and is meant for that person.
public struct LectureError: Error, Sendable {
    /// What happened.
    public let code: Code
    /// What this occurrence was about: a line number, a path, a server's host. May be empty. Never a secret.
    public let detail: String
    /// The underlying error, for example an SQLite or a libcurl message. May be empty. Never a secret.
    public let cause: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: what happened.
    ///   - detail: what it was about.
    ///   - cause: the underlying error.
    public init(_ code: Code, detail: String = "", cause: String = "") {
        self.code = code
        self.detail = detail
        self.cause = cause
    }

    /// The whole sentence for a person: what happened, about what, and what to do.
    public var message: String {
        var text = detail.isEmpty ? code.summary : "\(detail): \(code.summary)"
        if !cause.isEmpty { text += " (\(cause))" }
        return code.remedy.isEmpty ? "\(text)." : "\(text). \(code.remedy)"
    }
}

extension LectureError: Equatable, Hashable {
    /// Compares codes only.
    public static func == (left: LectureError, right: LectureError) -> Bool { left.code == right.code }
    /// Hashes the code only.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension LectureError: CustomStringConvertible {
    /// The code's name and number: constant text that may label a metric or a log line.
    public var description: String { "\(code.name) (\(code.number))" }
}

extension LectureError {
    /// What happened, as a frozen number, a frozen name, a sentence and a remedy.
    ///
    /// Numbers between −8600 and −9000 are those of the Kollus storage manager, those between −2100 and −2199 of its
    /// application key; −8000−n is libcurl's result n below 100 or the HTTP status n from 300 on, −9000−n the same of a
    /// licence server, −10000−n of a play callback, −n the number n of a video gateway from 4001 to 4101; numbers from
    /// −20000 down are LectureKit's own.
    public struct Code: Sendable {
        /// The frozen number, negative.
        public let number: Int
        /// The frozen name, `snake_case`.
        public let name: String
        /// What happened, without a full stop.
        public let summary: String
        /// What to do, as full sentences; empty when there is nothing to do.
        public let remedy: String
        /// Why it happens, as a sentence. Empty for the families (transfers, HTTP, gateways), and for a number that
        /// only a newer version knows.
        package let reason: String

        init(_ number: Int, _ name: String, _ summary: String, _ remedy: String, reason: String = "") {
            self.number = number
            self.name = name
            self.summary = summary
            self.remedy = remedy
            self.reason = reason
        }
    }
}

extension LectureError.Code: Hashable {
    /// Compares numbers only.
    public static func == (left: Self, right: Self) -> Bool { left.number == right.number }
    /// Hashes the number only.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

extension LectureError {
    /// Any error as one of the catalogue: a cancelled task is ``Code/cancelled``, and what is unknown ``Code/bug``.
    ///
    /// - Parameter error: what was thrown.
    /// - Returns: the error itself where it is one of the catalogue.
    package static func known(_ error: any Error) -> LectureError {
        switch error {
        case let error as LectureError: error
        case is CancellationError: LectureError(.cancelled)
        default: LectureError(.bug, cause: "\(type(of: error))")
        }
    }
}
