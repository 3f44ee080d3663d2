import Foundation

extension SandboxOrigin {
    /// A report as recorded by an LMS.
    package struct LMSEvent: Decodable, Sendable {
        /// The id of the event or the statement; otherwise the id of the request.
        package let id: String
        /// How often it was received in a valid request.
        package let came: Int
        /// How often it took effect, by the keys of the requests; by its own id in xAPI.
        package let effects: Int
    }

    /// A request to an LMS.
    package struct LMSVisit: Decodable, Sendable {
        /// From 1.
        package let number: Int
        /// `GET` or `POST`.
        package let method: String
        /// `Idempotency-Key`; empty without.
        package let key: String
        /// How many reports it held, as far as it was read.
        package let reports: Int
        /// The length of the body.
        package let bytes: Int
        /// `Content-Encoding`; empty without.
        package let encoding: String
        /// Whether it had an `Authorization`.
        package let authorized: Bool
        /// How many reports it had, as far as it was read.
        package let status: Int
        /// Whether the answer was sent whole.
        package let acknowledged: Bool
        /// `taken`, `replayed`, `conflict`, `refused` or `bad`.
        package let outcome: String
    }

    /// Sums over everything that an LMS was sent.
    package struct LMSSummary: Decodable, Sendable {
        /// Requests.
        package let requests: Int
        /// Requests whose reports took effect.
        package let taken: Int
        /// Repeated requests that took no effect again.
        package let replayed: Int
        /// Requests whose key or reports are known with another body.
        package let conflicts: Int
        /// Requests that were refused.
        package let refused: Int
        /// Requests that could not be read.
        package let bad: Int
        /// Requests that took effect, now or before, and whose answer was not sent whole.
        package let lost: Int
        /// Values of `Idempotency-Key`.
        package let keys: Int
        /// Reports.
        package let events: Int
        /// Reports that took effect once.
        package let once: Int
        /// Reports that took effect more than once.
        package let more: Int
        /// Reports that never took effect.
        package let never: Int
        /// How often reports were received, in all.
        package let came: Int
        /// Pairs of learner and session.
        package let lanes: Int
        /// Reports that took effect after a later one of their session.
        package let outOfOrder: Int
        /// Requests whose key was used with other bytes before.
        package let keyViolations: Int
        /// Reports whose id took effect with another body before.
        package let contentViolations: Int
        /// The largest body.
        package let largest: Int
        /// How often each status was due.
        package let statuses: [String: Int]
    }

    /// The path of an LMS; several are distinguished by name.
    ///
    /// - Parameters:
    ///   - format: `kollus`, `json` or `xapi`.
    ///   - name: which one.
    /// - Returns: its path on the sandbox; a target in xAPI ends before `/statements`.
    package static func lmsPath(_ format: String, _ name: String = "") -> String {
        let suffix = name.isEmpty ? "" : "/" + name
        return switch format {
        case "json": "/lms/json" + suffix
        case "xapi": "/xAPI\(suffix)/statements"
        default: "/lms" + suffix
        }
    }

    /// Sets the behaviour of an LMS.
    ///
    /// - Parameters:
    ///   - habits: as in docs/sandbox.md, for instance `lose:30,slow:5`; empty for none.
    ///   - path: of the LMS.
    /// - Throws: ``ChildProcess/Failure`` when a habit is not understood.
    package func setLMS(habits: String, on path: String = "/lms/json") async throws {
        let body = try JSONEncoder().encode(["path": path, "habits": habits])
        try await control("/_lms", String(decoding: body, as: UTF8.self))
    }

    /// Sums over all requests to an LMS.
    package func lmsSummary(_ path: String = "/lms/json") async throws -> LMSSummary {
        let text = try await control("/_lms/summary?path=\(path)")
        return try Self.lmsDecoder().decode(LMSSummary.self, from: Data(text.utf8))
    }

    /// The reports received by an LMS, in order of first arrival.
    package func lmsEvents(_ path: String = "/lms/json") async throws -> [LMSEvent] {
        try Self.lmsLines(try await control("/_lms?path=\(path)"))
    }

    /// The requests to an LMS, the last 100,000.
    package func lmsVisits(_ path: String = "/lms/json") async throws -> [LMSVisit] {
        try Self.lmsLines(try await control("/_lms/requests?path=\(path)"))
    }

    private static func lmsLines<Line: Decodable>(_ text: String) throws -> [Line] {
        let decoder = lmsDecoder()
        return try text.split(separator: "\n").map { try decoder.decode(Line.self, from: Data($0.utf8)) }
    }

    private static func lmsDecoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }
}
