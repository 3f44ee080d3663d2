public import LectureModel

/// What an examination found about one part of an installation.
public struct Finding: Sendable, Hashable {
    /// The parts that are examined, in this order.
    public enum Subject: String, Sendable, CaseIterable {
        /// The configuration file and the files that it names.
        case configuration
        /// The store.
        case store
        /// Space on the disk.
        case disk
        /// The device's key.
        case deviceKey = "device_key"
        /// The clock.
        case clock
        /// Licences.
        case licences
        /// Lectures.
        case lectures
        /// Learning reports.
        case reports
        /// Webhooks.
        case webhooks
        /// A server: its name, the connection, TLS, and an answer.
        case server
    }

    /// How good or bad it is.
    public enum Grade: String, Sendable, CaseIterable, Comparable {
        /// As it should be.
        case ok
        /// Worth knowing.
        case note
        /// Something will fail, or has failed for some.
        case warning
        /// Something does not work.
        case failed

        /// Better ones come first.
        public static func < (one: Self, other: Self) -> Bool {
            let order = Self.allCases
            return (order.firstIndex(of: one) ?? 0) < (order.firstIndex(of: other) ?? 0)
        }
    }

    /// What was examined.
    public var subject: Subject
    /// How good or bad it is.
    public var grade: Grade
    /// Which one: a path, or the origin of a server; empty where there is only one.
    public var name: String
    /// What was found, in one sentence or two.
    public var message: String
    /// What to do about it; empty when there is nothing to do, or when the message says it.
    public var remedy: String
    /// The error that was met; its own message is in ``message``.
    public var error: LectureError?

    /// Creates a finding.
    ///
    /// - Parameters:
    ///   - subject: what was examined.
    ///   - grade: how good or bad it is.
    ///   - name: which one.
    ///   - message: what was found.
    ///   - remedy: what to do about it.
    public init(_ subject: Subject, _ grade: Grade, name: String = "", _ message: String, remedy: String = "") {
        (self.subject, self.grade, self.name) = (subject, grade, name)
        (self.message, self.remedy) = (message, remedy)
    }

    /// Creates a finding of an error, whose message has the remedy.
    ///
    /// - Parameters:
    ///   - subject: what was examined.
    ///   - error: the error.
    ///   - name: which one.
    public init(_ subject: Subject, _ error: LectureError, name: String = "") {
        self.init(subject, .failed, name: name, error.message)
        self.error = error
    }
}
