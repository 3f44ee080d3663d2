import LectureFormats
package import LectureLive
package import LectureModel

/// A server with the member API, and the token of the member that calls it.
///
/// The token is in no description, error or log.
package struct LiveServer: Sendable, CustomStringConvertible, CustomReflectable {
    /// Scheme, authority and path, without a slash at the end.
    package let base: String
    /// `Authorization`, as it is sent.
    let authorization: HeaderField

    /// Checks an address and a token.
    ///
    /// - Parameters:
    ///   - address: `http://…` or `https://…`, with a path or without one.
    ///   - accessToken: the token of a member.
    /// - Throws: `LiveFailure(.noServerAddress)` for an address that has another scheme, a user, a query or a fragment;
    ///   `LiveFailure(.unauthorized)` for a token that is empty or cannot be sent.
    package init(address: String, accessToken: String) throws(LiveFailure) {
        guard !accessToken.isEmpty,
            let field = try? HeaderField(checking: "Authorization", value: "Bearer \(accessToken)")
        else { throw LiveFailure(.unauthorized, "the access token is empty, or has characters that no token has") }
        try self.init(address: address, authorization: field)
    }

    /// Checks an address.
    init(address: String, authorization: HeaderField) throws(LiveFailure) {
        guard let parts = try? URLParts(parsing: address), parts.scheme == "http" || parts.scheme == "https",
            !parts.authority.isEmpty, !parts.authority.utf8.contains(UInt8(ascii: "@")), parts.query == nil,
            parts.fragment == nil
        else {
            throw LiveFailure(.noServerAddress, "the address of the server is no http or https URL")
        }
        var path = parts.path[...]
        while path.hasSuffix("/") { path.removeLast() }
        base = "\(parts.scheme)://\(parts.authority)\(path)"
        self.authorization = authorization
    }

    /// Makes a call.
    ///
    /// - Parameters:
    ///   - path: after ``base``.
    ///   - body: what is sent, in JSON, by `POST`; nil for `GET`.
    ///   - method: a method in place of `POST`; nil for none.
    ///   - transport: makes the exchange.
    ///   - code: the number of what is tried.
    /// - Returns: the answer; nil when it has no body, or one that is no JSON.
    /// - Throws: `LiveFailure`.
    func call(
        _ path: String, body: String?, method: String? = nil, _ transport: any Transport, _ code: LiveFailure.Code
    ) async throws(LiveFailure) -> JSONValue? {
        let sink = AnswerSink(limit: MemberClient.answerLimit)
        var request = TransferRequest(id: TransferNumbers.next(), url: base + path, sink: sink)
        request.headers.append(authorization)
        request.headers.append(HeaderField(name: "Accept", value: "application/json"))
        request.body = body.map { RequestBody(Array($0.utf8), mediaType: "application/json", method: method) }
        request.totalTimeout = MemberClient.callLimit
        transport.start(request)
        let answer: AnswerSink.Answer
        do {
            answer = try await sink.answer.value()
        } catch {
            transport.cancel(request.id)
            throw LiveFailure(code, "the call was cancelled")
        }
        return try answer.json(code)
    }

    /// Without the token.
    package var description: String { base }
    /// Without the token.
    package var customMirror: Mirror { Mirror(self, children: ["base": base]) }
}

/// Numbers of exchanges; those of one transport must differ.
enum TransferNumbers {
    private static let last = Guarded<UInt64>(1 << 48)

    /// One that was not used before.
    static func next() -> TransferID {
        TransferID(
            last.withLock { last in
                last += 1
                return last
            })
    }
}

/// How long to wait, and how: tests use their own time.
package struct LiveTime: Sendable {
    /// The clock.
    package let clock: any LectureClock
    /// The randomness of waits.
    package let random: any RandomSource
    /// Waits; ends early when its task is cancelled.
    package let pause: @Sendable (Duration) async -> Void

    /// Creates a time.
    ///
    /// - Parameters:
    ///   - clock: the clock.
    ///   - random: the randomness of waits.
    ///   - pause: waits; ends early when its task is cancelled.
    package init(
        clock: any LectureClock, random: any RandomSource,
        // proof: waits between attempts, ended with their task
        pause: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        (self.clock, self.random, self.pause) = (clock, random, pause)
    }
}
