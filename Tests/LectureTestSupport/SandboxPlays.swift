import Foundation

extension SandboxOrigin {
    /// A request to the play callback or to the duplicate check.
    package struct PlayRequest: Decodable, Sendable {
        /// The server's path.
        package let path: String
        /// 1 or 3; 0 at the duplicate check.
        package let kind: Int
        /// The answer's status.
        package let status: Int
        /// Whether the answer permits it.
        package let permitted: Bool
        /// When it was answered, milliseconds since 1970.
        package let timeMs: Int64
        /// The learner.
        package let clientUserId: String
        /// The installation.
        package let playerId: String
        /// The device's model.
        package let deviceName: String
        /// The lecture.
        package let mediaContentKey: String
        /// A JSON object as text.
        package let uservalues: String
        /// The application's own field.
        package let extraDrmParam: String?
        /// `play` or `end` at the duplicate check.
        package let state: String?
        /// The play at the duplicate check.
        package let playId: String?
    }

    /// Sets the behaviour of the play callback or of the duplicate check.
    ///
    /// - Parameters:
    ///   - habits: as in docs/sandbox.md, for instance `expired;after=2`; empty for none.
    ///   - path: the server.
    /// - Throws: ``ChildProcess/Failure`` when a habit is not understood.
    package func set(playHabits habits: String, on path: String = "/play/callback") async throws {
        let body = try JSONEncoder().encode(["path": path, "habits": habits])
        try await control("/_play", String(decoding: body, as: UTF8.self))
    }

    /// Sets what the play callback permits.
    ///
    /// - Parameters:
    ///   - text: a JSON object, sent with its types; `null` for everything.
    ///   - kind: only for this kind.
    /// - Throws: ``ChildProcess/Failure`` when the text is no object.
    package func set(playPolicy text: String, kind: Int? = nil) async throws {
        let member = kind.map { ",\"kind\":\($0)" } ?? ""
        try await control("/_play", "{\"policy\":\(text)\(member)}")
    }

    /// The requests so far.
    ///
    /// - Returns: in the order of the answers.
    /// - Throws: ``ChildProcess/Failure`` when the sandbox is gone.
    package func plays() async throws -> [PlayRequest] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try await control("/_play").split(separator: "\n").map {
            try decoder.decode(PlayRequest.self, from: Data($0.utf8))
        }
    }
}
