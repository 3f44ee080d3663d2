import Foundation
import LectureModel
import LectureTestSupport

/// Debian's nginx as a media server: it records what is published, and gives it to readers.
///
/// It asks a control server for each stream, as a real installation does: a name that begins with `refused` is answered
/// with 403, and the control server learns when a recording is complete.
package final class RTMPServer: Sendable {
    /// The port for RTMP.
    package let port: Int
    private let process: ChildProcess
    private let prefix: TemporaryDirectory
    private let control: ControlServer

    /// Starts it.
    ///
    /// - Returns: once it listens.
    /// - Throws: when nginx is missing or does not start.
    package static func start() async throws -> RTMPServer {
        var last: any Error = Missing("nginx was never started")
        // Between reserving a free port and listening on it another program may take it.
        for _ in 0..<5 {
            do { return try await RTMPServer(attempt: try Places.freePort()) } catch { last = error }
        }
        throw last
    }

    private init(attempt port: Int) async throws {
        let module = "/usr/lib/nginx/modules/ngx_rtmp_module.so"
        guard FileManager.default.fileExists(atPath: module) else {
            throw Missing("libnginx-mod-rtmp is not installed: run Tools/setup")
        }
        control = try ControlServer()
        prefix = try TemporaryDirectory()
        self.port = port
        try FileManager.default.createDirectory(atPath: prefix.file("recordings"), withIntermediateDirectories: false)
        let file = try prefix.write(Self.configuration(module, prefix, port, control.http), to: "nginx.conf")
        process = try ChildProcess(try Places.command("nginx"), ["-e", "stderr", "-p", prefix.path, "-c", file])
        // nginx logs its event method once it listens.
        try await process.wait(for: .errors) { $0.range(of: Data("event method".utf8)) != nil }
    }

    private static func configuration(
        _ module: String, _ prefix: TemporaryDirectory, _ port: Int, _ control: String
    ) -> String {
        """
        load_module \(module);
        daemon off;
        master_process off;
        pid nginx.pid;
        error_log stderr notice;
        events { worker_connections 256; }
        rtmp {
            server {
                listen 127.0.0.1:\(port);
                application live {
                    live on;
                    idle_streams off;
                    publish_notify on;
                    drop_idle_publisher 5s;
                    record all;
                    record_path \(prefix.file("recordings"));
                    on_publish \(control)/;
                    on_record_done \(control)/;
                }
                application closed {
                    live on;
                    deny publish all;
                }
            }
        }

        """
    }

    /// The address of a stream.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - application: `live`, or `closed`, where nothing can be published.
    /// - Returns: a URL.
    package func url(_ name: String, application: String = "live") -> String {
        "rtmp://127.0.0.1:\(port)/\(application)/\(name)"
    }

    /// Waits for the recording of a stream: the whole file.
    ///
    /// - Parameter name: the stream.
    /// - Returns: the path.
    /// - Throws: when there is none.
    package func recording(of name: String) async throws -> String {
        try await Conditions.wait(for: "recording of \(name)") { control.recordings[name] != nil }
        return control.recordings[name] ?? ""
    }

    /// Ends nginx at once, as a power cut would.
    package func kill() async {
        process.send(SIGKILL)
        _ = await process.ending()
    }
}

/// Answers nginx's requests.
private final class ControlServer: Sendable {
    private let server: RawServer
    private let received = Guarded<[String: String]>([:])

    init() throws {
        let received = received
        server = try RawServer { peer in
            let head = peer.readHead().lowercased()
            let length = head.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
            var body = ""
            let count = length.flatMap { Int($0.dropFirst(15).drop { $0 == " " }) } ?? 0
            while body.utf8.count < count {
                let bytes = peer.read(count - body.utf8.count)
                if bytes.isEmpty { break }
                body += String(decoding: bytes, as: UTF8.self)
            }
            let fields = Self.fields(body)
            if fields["call"] == "record_done" {
                received.withLock { $0[fields["name"] ?? ""] = fields["path"] }
            }
            let isRefused = fields["call"] == "publish" && fields["name"]?.hasPrefix("refused") == true
            peer.send("HTTP/1.1 \(isRefused ? "403 Forbidden" : "200 OK")\r\nContent-Length: 0\r\n\r\n")
        }
    }

    var http: String { server.http }
    /// Paths of complete recordings by the stream's name.
    var recordings: [String: String] { received.withLock(\.self) }

    private static func fields(_ body: String) -> [String: String] {
        Dictionary(
            body.split(separator: "&").map { field in
                let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (String(parts[0]), parts.count < 2 ? "" : String(parts[1]).removingPercentEncoding ?? "")
            }, uniquingKeysWith: { _, last in last })
    }
}
