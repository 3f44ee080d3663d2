import Foundation

/// Debian's nginx as a second, independent origin.
///
/// It runs as one process in the foreground and ends with its last reference at the latest.
package final class NginxOrigin: Sendable {
    /// Its settings.
    package struct Options: Sendable {
        /// Whether there is an https port as well.
        package var servesHTTPS = false
        /// Whether the https port speaks HTTP/2.
        package var servesHTTP2 = false
        /// The rate of each connection in bytes a second; `nil` for no limit.
        package var bytesPerSecond: Int?
        /// More directives for the only location, each with its semicolon.
        package var directives = ""
        /// More directives for the server itself, each with its semicolon.
        package var serverDirectives = ""

        /// The defaults: http, unlimited rate.
        package init() {}
    }

    /// One line of the access log.
    package struct Request: Decodable, Sendable {
        /// `GET` or `HEAD`.
        package let method: String
        /// As the client wrote it.
        package let target: String
        /// The answer's status.
        package let status: Int
        /// The `Range` field; empty when there was none.
        package let range: String
        /// The `If-Range` field; empty when there was none.
        package let ifRange: String
        /// Bytes of the body that were sent.
        package let bytes: Int
        /// `HTTP/1.1` or `HTTP/2.0`.
        package let version: String
        /// The connection's number.
        package let connection: Int
    }

    /// `http://127.0.0.1:PORT`.
    package let http: String
    /// `https://localhost:PORT`; empty without https.
    package let https: String
    /// What a client must trust for ``https``, PEM; empty without https.
    package let authorityFile: String
    private let process: ChildProcess
    private let prefix: TemporaryDirectory

    /// Serves a directory.
    ///
    /// - Parameters:
    ///   - directory: its files are the origin's.
    ///   - options: its settings.
    /// - Returns: once it listens.
    /// - Throws: ``ChildProcess/Failure`` when nginx is not installed or does not start.
    package static func start(serving directory: String, _ options: Options = .init()) async throws -> NginxOrigin {
        var last: any Error = ChildProcess.Failure(description: "nginx was never started")
        // Between reserving a free port and listening on it another program may take it.
        for _ in 0..<5 {
            do { return try await attempt(directory, options) } catch { last = error }
        }
        throw last
    }

    private static func attempt(_ directory: String, _ options: Options) async throws -> NginxOrigin {
        let nginx = try Places.command("nginx")
        let prefix = try TemporaryDirectory()
        let port = try Places.freePort()
        let securePort = try options.servesHTTPS ? Places.freePort() : nil
        if securePort != nil {
            let ending = try await ChildProcess.run(
                Places.builtProduct("lecture-sandbox"), ["certificates", "--out", prefix.file("tls")])
            guard ending.status == 0 else { throw ChildProcess.Failure(description: ending.errorText) }
        }
        let text = configuration(directory, prefix, port, securePort, options)
        let file = try prefix.write(text, to: "nginx.conf")
        let process = try ChildProcess(nginx, ["-e", "stderr", "-p", prefix.path, "-c", file])
        // nginx logs its event method once it listens.
        try await process.wait(for: .errors) { $0.range(of: Data("event method".utf8)) != nil }
        return NginxOrigin(process, prefix, port, securePort)
    }

    private init(_ process: ChildProcess, _ prefix: TemporaryDirectory, _ port: Int, _ securePort: Int?) {
        self.process = process
        self.prefix = prefix
        http = "http://127.0.0.1:\(port)"
        https = securePort.map { "https://localhost:\($0)" } ?? ""
        authorityFile = securePort == nil ? "" : prefix.file("tls/ca.pem")
    }

    private static func configuration(
        _ directory: String, _ prefix: TemporaryDirectory, _ port: Int, _ securePort: Int?, _ options: Options
    ) -> String {
        let secure = securePort.map { port in
            """
            listen 127.0.0.1:\(port) ssl\(options.servesHTTP2 ? " http2" : "");
            ssl_certificate tls/server.pem;
            ssl_certificate_key tls/server.key;
            """
        }
        // Relative paths are below the prefix, relative certificates below the configuration file; both are the same.
        return """
            daemon off;
            master_process off;
            pid nginx.pid;
            error_log stderr notice;
            events { worker_connections 1024; }
            http {
                default_type application/octet-stream;
                types { video/mp4 mp4; text/html html; application/vnd.apple.mpegurl m3u8; }
                sendfile on;
                keepalive_timeout 30;
                client_body_temp_path body;
                proxy_temp_path proxy;
                fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi;
                scgi_temp_path scgi;
                log_format lecture escape=json '{"method":"$request_method","target":"$request_uri",'
                    '"status":$status,"range":"$http_range","ifRange":"$http_if_range","bytes":$body_bytes_sent,'
                    '"version":"$server_protocol","connection":$connection}';
                access_log /dev/stdout lecture;
                server {
                    listen 127.0.0.1:\(port);
                    \(secure ?? "")
                    root "\(directory)";
                    \(options.serverDirectives)
                    location / {
                        \(options.bytesPerSecond.map { "limit_rate \($0);" } ?? "")
                        \(options.directives)
                    }
                }
            }

            """
    }

    /// The requests so far; nginx logs one when its answer is over.
    ///
    /// - Parameter count: waits until there are this many.
    /// - Returns: in the order in which they ended.
    /// - Throws: ``ChildProcess/Failure`` when nginx ended before.
    package func requests(atLeast count: Int = 0) async throws -> [Request] {
        let log = try await process.wait(for: .output) { log in
            log.count { $0 == UInt8(ascii: "\n") } >= count
        }
        return try log.split(separator: UInt8(ascii: "\n")).map { try JSONDecoder().decode(Request.self, from: $0) }
    }

    /// Ends nginx.
    package func stop() async {
        // Not SIGTERM: as one process, nginx looks for it before it waits for events, and misses one in between.
        process.send(SIGKILL)
        _ = await process.ending()
    }
}
