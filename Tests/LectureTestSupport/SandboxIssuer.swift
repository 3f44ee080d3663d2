import Foundation

/// The sandbox's issuer of licence files: a separate authority in a directory deleted with the last reference.
package final class SandboxIssuer: Sendable {
    /// A licence file or an application key; `nil` members are left out, or have the sandbox's default.
    package struct Order: Encodable, Sendable {
        /// `ES256`, `EdDSA`, `RS256`, `PS256` or `HS256`.
        package var alg = "ES256"
        /// `x5c`, `kid` or, for HS256, `secret`.
        package var by: String?
        /// The signing certificate, as named in docs/sandbox.md, for instance `expired`.
        package var leaf: String?
        /// `signature` or `unsigned`.
        package var spoil: String?
        /// The media content key.
        package var mck: String?
        /// `sub`.
        package var user: String?
        /// `iss`.
        package var iss: String?
        /// `aud`.
        package var aud: String?
        /// `jti`.
        package var jti: String?
        /// The thumbprint of the device's key, for `cnf`.
        package var device: String?
        /// `exp`, seconds from now on.
        package var expiresIn: Int?
        /// `nbf`, seconds from now on.
        package var beginsIn: Int?
        /// A number that increases with each licence of a lecture.
        package var serial: Int?
        /// The granted policy.
        package var policy: CallbackPolicy?
        /// The bundle id of an application key, which is then issued instead of a licence.
        package var app: String?
        /// The end of an application key, seconds from now on.
        package var appExpiresIn: Int?
        /// An object in JSON, merged into the claims; null removes a claim.
        package var claims: String?
        /// An object in JSON, merged into the header; null removes a member.
        package var header: String?

        /// A licence of a lecture.
        ///
        /// - Parameter mck: the media content key; `nil` for none.
        package init(mck: String? = nil) { self.mck = mck }

        private enum CodingKeys: String, CodingKey {
            case alg, by, leaf, spoil, mck, user, iss, aud, jti, device, serial, policy, app
            case expiresIn, beginsIn, appExpiresIn
        }

        /// The order in the sandbox's format.
        fileprivate func text() throws -> String {
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            var text = String(decoding: try encoder.encode(self), as: UTF8.self)
            // These two are JSON already.
            for (name, member) in [("claims", claims), ("header", header)] {
                if let member { text = text.dropLast() + ",\"\(name)\":\(member)}" }
            }
            return text
        }
    }

    /// The trust directory: `roots.pem`, `crl.pem`, `jwks.json`, `hs.key`.
    package let directory: String
    /// The root certificates, PEM.
    package var rootsFile: String { directory + "/roots.pem" }
    /// The revocation lists, PEM.
    package var listsFile: String { directory + "/crl.pem" }
    /// The public keys as a JWK set.
    package var keySetFile: String { directory + "/jwks.json" }
    /// The raw secret of HS256.
    package var secretFile: String { directory + "/hs.key" }
    private let held: TemporaryDirectory

    /// Makes an issuer.
    ///
    /// - Returns: once its files are there.
    /// - Throws: ``ChildProcess/Failure`` when the sandbox is not built or fails.
    package static func make() async throws -> SandboxIssuer {
        let held = try TemporaryDirectory()
        let issuer = SandboxIssuer(held)
        try await issuer.run("exec \"$0\" issue --dir \"$1\"", "")
        return issuer
    }

    private init(_ held: TemporaryDirectory) { (self.held, directory) = (held, held.file("trust")) }

    /// Issues a licence file.
    ///
    /// - Parameter order: its members.
    /// - Returns: the compact form.
    /// - Throws: ``ChildProcess/Failure`` when the order is not understood.
    package func issue(_ order: Order) async throws -> String {
        let tokens = try await issue([order])
        guard let token = tokens.first else { throw ChildProcess.Failure(description: "no licence was issued") }
        return token
    }

    /// Issues several licence files at once.
    ///
    /// - Parameter orders: their members.
    /// - Returns: the compact forms, in the order of the orders.
    /// - Throws: ``ChildProcess/Failure`` when an order is not understood.
    package func issue(_ orders: [Order]) async throws -> [String] {
        let file = "orders-\(UUID().uuidString)"
        try held.write(try orders.map { try $0.text() + "\n" }.joined(), to: file)
        defer { try? FileManager.default.removeItem(atPath: held.file(file)) }
        let text = try await run("exec \"$0\" issue --dir \"$1\" --batch <\"$2\"", held.file(file))
        return text.split(separator: "\n").map(String.init)
    }

    @discardableResult
    private func run(_ script: String, _ input: String) async throws -> String {
        let ending = try await ChildProcess.run(
            "/bin/sh", ["-c", script, Places.builtProduct("lecture-sandbox"), directory, input])
        guard ending.status == 0 else { throw ChildProcess.Failure(description: ending.errorText) }
        return ending.text
    }
}
