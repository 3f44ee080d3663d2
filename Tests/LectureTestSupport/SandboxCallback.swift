import Foundation

/// What the sandbox's DRM callback grants; `nil` members are left out. The ranges of the callback's documents are not
/// enforced: a server may send anything.
package struct CallbackPolicy: Encodable, Sendable {
    /// `offline_bookmark`.
    package struct Bookmark: Encodable, Sendable {
        /// 0, 1 or 2.
        package var download: Int
        /// 0 or 1.
        package var readonly: Int

        /// The rights on bookmarks.
        package init(download: Int, readonly: Int) { (self.download, self.readonly) = (download, readonly) }
    }

    /// 1, or 0 for a refusal.
    package var result: Int?
    /// A message for users.
    package var message: String?
    /// The end, seconds since 1970.
    package var expirationDate: Int64?
    /// The end, seconds from the answer on.
    package var expirationIn: Int?
    /// How many plays.
    package var expirationCount: Int?
    /// How many seconds of play.
    package var expirationPlaytime: Int?
    /// The unit of these seconds, 0 or 1.
    package var expirationPlaytimeType: Int?
    /// Whether the user is asked before a renewal.
    package var expirationRefreshPopup: Int?
    /// Whether every play needs a permission.
    package var checkAbuse: Int?
    /// When the server must be asked at the latest, seconds since 1970.
    package var checkExpirationDate: Int64?
    /// When the server must be asked at the latest, seconds from the answer on.
    package var checkExpirationIn: Int?
    /// 1 ends the licence.
    package var contentExpired: Int?
    /// 1 restores it.
    package var contentExpireReset: Int?
    /// 1 orders the deletion of the file.
    package var contentDelete: Int?
    /// The rights on bookmarks.
    package var offlineBookmark: Bookmark?

    /// A grant without bounds.
    package init() {}

    /// A grant that ends.
    ///
    /// - Parameter seconds: from the answer on.
    /// - Returns: the policy.
    package static func ending(in seconds: Int) -> Self {
        var policy = Self()
        policy.expirationIn = seconds
        return policy
    }

    /// A refusal.
    ///
    /// - Parameter message: its message.
    /// - Returns: the policy.
    package static func refusal(_ message: String) -> Self {
        var policy = Self()
        (policy.result, policy.message) = (0, message)
        return policy
    }
}

extension SandboxOrigin {
    /// Issues a licence file from the sandbox's own directory, which is then a trust directory.
    ///
    /// - Parameter order: JSON, as described in docs/sandbox.md.
    /// - Returns: the compact form.
    /// - Throws: ``ChildProcess/Failure`` when the order is not understood.
    package func issue(_ order: String) async throws -> String {
        try await control("/_issue", order)
    }

    /// One item of a request to the DRM callback.
    package struct CallbackItem: Decodable, Sendable {
        /// From 1, in the order of the answers.
        package let number: Int
        /// The number of its request in the request log.
        package let request: Int
        /// The time, milliseconds since 1970.
        package let timeMs: Int64
        /// Which callback.
        package let path: String
        /// 1, 2 or 3.
        package let kind: Int
        /// The media content key.
        package let key: String
        /// A digest of the session key; empty without.
        package let session: String
        /// 1 in a renewal.
        package let resetReq: Int
        /// `client_user_id`.
        package let user: String
        /// `player_id`.
        package let player: String
        /// The status of the answer.
        package let status: Int
        /// `granted`, `refused`, `missing`, `spoiled` or `failed`.
        package let outcome: String
        /// The `extra_drm_param` of its request; nil without one.
        package let extra: String?
    }

    /// How often a lecture was requested, in one kind.
    package struct CallbackCount: Decodable, Sendable {
        /// The media content key.
        package let key: String
        /// 1, 2 or 3.
        package let kind: Int
        /// How many items were requested.
        package let asked: Int
        /// How many session keys they had.
        package let sessions: Int
        /// How many were answered with `result` 1.
        package let granted: Int
        /// How many were answered with `result` 0.
        package let refused: Int
        /// How many were left out of a valid answer.
        package let missing: Int
        /// How many were in an answer that no client may accept.
        package let spoiled: Int
        /// How many were not answered.
        package let failed: Int
    }

    /// The requests of one second.
    package struct CallbackRate: Decodable, Sendable {
        /// Since 1970.
        package let second: Int64
        /// Requests, also those that were refused.
        package let requests: Int
        /// Items in them.
        package let items: Int
        /// Requests beyond the limit.
        package let limited: Int
        /// Requests that could not be read.
        package let bad: Int
    }

    /// Sums over all requests to the DRM callback.
    package struct CallbackSums: Decodable, Sendable {
        /// Requests.
        package let requests: Int
        /// Requests beyond the limit.
        package let limited: Int
        /// Requests that could not be read.
        package let bad: Int
        /// The most requests of any second.
        package let peakPerSecond: Int
        /// Items.
        package let items: Int
        /// Items answered with `result` 1.
        package let granted: Int
        /// Pairs of lecture and kind.
        package let contents: Int
        /// Those that were granted.
        package let contentsGranted: Int
        /// Those that were granted more than once.
        package let contentsGrantedAgain: Int
        /// Those that were requested and never granted.
        package let contentsNeverGranted: Int
    }

    /// Sets what the DRM callback grants.
    ///
    /// - Parameters:
    ///   - policy: the grant; `nil` removes a policy.
    ///   - contents: media content keys, or `*` for all without a policy of their own.
    ///   - kind: only for this kind, sent unchanged; otherwise each kind gets its own fields.
    /// - Throws: ``ChildProcess/Failure`` when the sandbox is gone.
    package func set(policy: CallbackPolicy?, for contents: [String] = ["*"], kind: Int? = nil) async throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let text = try policy.map { String(decoding: try encoder.encode($0), as: UTF8.self) } ?? "null"
        try await set(policyJSON: text, for: contents, kind: kind)
    }

    /// Sets what the DRM callback grants, as any JSON.
    ///
    /// - Parameters:
    ///   - text: an object, sent with its types.
    ///   - contents: media content keys, or `*`.
    ///   - kind: only for this kind.
    /// - Throws: ``ChildProcess/Failure`` when the text is no object.
    package func set(policyJSON text: String, for contents: [String] = ["*"], kind: Int? = nil) async throws {
        let keys = String(decoding: try JSONEncoder().encode(contents), as: UTF8.self)
        let member = kind.map { ",\"kind\":\($0)" } ?? ""
        try await control("/_drm", "{\"content\":\(keys),\"policy\":\(text)\(member)}")
    }

    /// Sets the behaviour of the DRM callback.
    ///
    /// - Parameters:
    ///   - habits: as in docs/sandbox.md, for instance `type:text/html,first-only`; empty for none.
    ///   - path: of the callback; others are below the usual one.
    /// - Throws: ``ChildProcess/Failure`` when a habit is not understood.
    package func set(habits: String, on path: String = "/drm/callback") async throws {
        let body = try JSONEncoder().encode(["path": path, "habits": habits])
        try await control("/_drm", String(decoding: body, as: UTF8.self))
    }

    /// The items of requests to the DRM callback.
    ///
    /// - Parameter number: only those after this one.
    /// - Returns: in the order of the answers.
    /// - Throws: ``ChildProcess/Failure`` when the sandbox is gone.
    package func callbackItems(after number: Int = 0) async throws -> [CallbackItem] {
        try Self.lines(try await control("/_drm/items?after=\(number)"))
    }

    /// How often each lecture was requested.
    ///
    /// - Returns: in the order of the keys, then of the kinds.
    /// - Throws: ``ChildProcess/Failure`` when the sandbox is gone.
    package func callbackCounts() async throws -> [CallbackCount] {
        try Self.lines(try await control("/_drm/contents"))
    }

    /// The requests of each second.
    ///
    /// - Returns: in the order of time, without seconds that had no request.
    /// - Throws: ``ChildProcess/Failure`` when the sandbox is gone.
    package func callbackRates() async throws -> [CallbackRate] {
        try Self.lines(try await control("/_drm/rates"))
    }

    /// Sums over everything.
    ///
    /// - Returns: since the start or the last reset.
    /// - Throws: ``ChildProcess/Failure`` when the sandbox is gone.
    package func callbackSums() async throws -> CallbackSums {
        try Self.decoder().decode(CallbackSums.self, from: Data(try await control("/_drm").utf8))
    }

    private static func lines<Line: Decodable>(_ text: String) throws -> [Line] {
        let decoder = decoder()
        return try text.split(separator: "\n").map { try decoder.decode(Line.self, from: Data($0.utf8)) }
    }

    private static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }
}
