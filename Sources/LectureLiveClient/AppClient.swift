package import LectureFormats
package import LectureLive
package import LectureModel

/// What the server of an application calls (FlipFlop Cloud, `/v2/apps/me/…`): it logs members in.
///
/// The application's key and secret are in no description, error or log.
package struct AppClient: Sendable {
    /// A member that is logged in.
    package struct Login: Sendable, CustomStringConvertible, CustomReflectable {
        /// What the member calls the member API with, a secret.
        package let accessToken: String
        /// The member.
        package let userID: String
        /// The member's name.
        package let userName: String
        /// Until when the token is valid; nil when the server does not say so.
        package let expiresAt: Timestamp?

        /// Without the token.
        package var description: String { userID }
        /// Without the token.
        package var customMirror: Mirror { Mirror(self, children: ["userID": userID]) }
    }

    private let server: LiveServer
    private let transport: any Transport

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - address: the address of the server; see ``LiveServer``.
    ///   - credentials: `KEY:SECRET`.
    ///   - transport: makes the exchanges.
    /// - Throws: `LiveFailure(.noServerAddress)`; `LiveFailure(.unauthorized)` for credentials of another form.
    package init(address: String, credentials: String, transport: any Transport) throws(LiveFailure) {
        let parts = credentials.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let isComplete = parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
        guard isComplete, credentials.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw LiveFailure(.unauthorized, "the credentials of the application have not the form KEY:SECRET")
        }
        let value = "Basic \(Base64.text(Array(credentials.utf8)))"
        server = try LiveServer(address: address, authorization: HeaderField(name: "Authorization", value: value))
        self.transport = transport
    }

    /// Logs a member in, who is created on the way.
    ///
    /// - Parameters:
    ///   - userID: the member, in letters, digits, `.`, `_`, `-` and `@`.
    ///   - name: the member's name; nil for the member's id.
    /// - Returns: the member and the token.
    /// - Throws: `LiveFailure`: 80203 for a key or a secret that is wrong, 80401 for another refusal.
    package func logIn(userID: String, name: String? = nil) async throws(LiveFailure) -> Login {
        let body = JSONWriter.object { json in
            json.member("appUserId", userID)
            json.member("appUserName", name)
        }
        let answer: JSONValue?
        do throws(LiveFailure) {
            answer = try await server.call("/v2/apps/me/members/login", body: body, transport, .serverUnexpected)
        } catch  where error.code == .unauthorized {
            throw LiveFailure(
                .unauthorized, "the key or the secret of the application is wrong", serverCode: error.serverCode)
        }
        guard let answer, let token = answer["accessToken"]?.string, !token.isEmpty else {
            throw LiveFailure(.serverUnexpected, "the server has answered with something else than was asked for")
        }
        let member = answer["member"]
        return Login(
            accessToken: token, userID: member?["appUserId"]?.string ?? userID,
            userName: member?["appUserName"]?.string ?? name ?? userID,
            expiresAt: answer["accessTokenExpiresAt"]?.moment)
    }
}
