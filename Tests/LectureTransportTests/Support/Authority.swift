import LectureTestSupport
import Testing

/// A certificate authority for one test, made by `openssl`.
struct Authority {
    /// The root, PEM.
    var root: String { directory.file("root.pem") }
    private let directory: TemporaryDirectory

    /// A server's certificate and key.
    struct Identity {
        /// The certificate, PEM.
        let certificate: String
        /// The key, PEM.
        let key: String
        /// The public key's hash, as `CURLOPT_PINNEDPUBLICKEY` wants it.
        let pin: String
    }

    /// Makes a root.
    static func make() async throws -> Authority {
        let authority = Authority(directory: try TemporaryDirectory())
        try await authority.openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout root.key -out root.pem -days 2",
            ["-subj", "/CN=Root \(UInt64.random(in: 0...UInt64.max))"])
        return authority
    }

    /// Makes a server's certificate.
    ///
    /// - Parameters:
    ///   - host: the name it is for.
    ///   - days: how long it is valid; below zero it has expired.
    /// - Returns: its files.
    /// - Throws: when `openssl` fails.
    func issue(for host: String = "localhost", days: Int = 2) async throws -> Identity {
        let name = "\(host)\(days)"
        try await openssl(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout \(name).key -out \(name).csr",
            ["-subj", "/CN=\(host)", "-addext", "subjectAltName=DNS:\(host)"])
        try await openssl(
            "x509 -req -in \(name).csr -CA root.pem -CAkey root.key -CAcreateserial -copy_extensions copy",
            ["-days", "\(days)", "-out", "\(name).pem"])
        let script = "openssl pkey -in \(name).key -pubout -outform der | openssl dgst -sha256 -binary | base64"
        let hash = try await ChildProcess.run("/bin/sh", ["-c", script], directory: directory.path)
        return Identity(
            certificate: directory.file("\(name).pem"), key: directory.file("\(name).key"),
            pin: "sha256//\(hash.text.filter { !$0.isWhitespace })")
    }

    /// A directory with this root under its hash.
    func hashedDirectory() async throws -> String {
        let hash = try await ChildProcess.run(
            "openssl", ["x509", "-in", "root.pem", "-noout", "-hash"], directory: directory.path)
        let name = "hashed/\(hash.text.filter { !$0.isWhitespace }).0"
        let root = try await ChildProcess.run("/bin/cat", ["root.pem"], directory: directory.path)
        try directory.write(root.text, to: name)
        return directory.file("hashed")
    }

    private func openssl(_ words: String, _ rest: [String]) async throws {
        let ending = try await ChildProcess.run(
            "openssl", words.split(separator: " ").map(String.init) + rest, directory: directory.path)
        try #require(ending.status == 0, "\(ending.errorText)")
    }
}
