import Foundation
import LectureTestSupport

/// nginx with a certificate of the test's choice: HTTPS, HTTP/2 when asked for.
final class SecureOrigin: Sendable {
    /// `https://localhost:PORT`.
    let https: String
    private let process: ChildProcess
    private let directory: TemporaryDirectory

    /// Starts nginx.
    ///
    /// - Parameters:
    ///   - identity: certificate and key.
    ///   - files: names and contents.
    ///   - servesHTTP2: whether HTTP/2 is offered.
    ///   - directives: further directives of the server, each with its semicolon.
    /// - Returns: once it listens.
    /// - Throws: when nginx does not start.
    static func start(
        _ identity: Authority.Identity, files: [String: [UInt8]] = ["file": Array("bytes".utf8)],
        servesHTTP2: Bool = false, directives: String = ""
    ) async throws -> SecureOrigin {
        let directory = try TemporaryDirectory()
        for (name, bytes) in files { try directory.write(bytes, to: "root/\(name)") }
        let port = try Places.freePort()
        try directory.write(
            """
            daemon off; master_process off; pid nginx.pid; error_log stderr notice;
            events { worker_connections 512; }
            http {
                access_log /dev/stdout combined;
                client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3;
                uwsgi_temp_path t4; scgi_temp_path t5;
                server {
                    listen 127.0.0.1:\(port) ssl\(servesHTTP2 ? " http2" : "");
                    ssl_certificate \(identity.certificate);
                    ssl_certificate_key \(identity.key);
                    root "\(directory.file("root"))";
                    \(directives)
                }
            }
            """, to: "nginx.conf")
        let process = try ChildProcess(
            Places.command("nginx"), ["-e", "stderr", "-p", directory.path, "-c", directory.file("nginx.conf")])
        try await process.wait(for: .errors) { $0.range(of: Data("event method".utf8)) != nil }
        return SecureOrigin(https: "https://localhost:\(port)", process: process, directory: directory)
    }

    private init(https: String, process: ChildProcess, directory: TemporaryDirectory) {
        self.https = https
        self.process = process
        self.directory = directory
    }
}
