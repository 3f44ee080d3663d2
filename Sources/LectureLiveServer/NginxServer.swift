import Dispatch
import Glibc
import LectureFiles
import LectureModel

/// nginx with its module for RTMP, as a child of this process: started, watched, and started again when it dies.
///
/// ```
/// stopped ──start──▶ running ──dies──▶ (feeds are lost) ──▶ running …
///                       └──stop, or this process dies──▶ stopped
/// ```
///
/// The kernel kills it with the thread that started it (`PR_SET_PDEATHSIG`, set by setpriv(1)); that thread waits for
/// it as long as the server runs.
final class NginxServer: Sendable {
    /// What the configuration is made of.
    struct Setup: Sendable {
        var program: String
        var modules: String
        /// Its directory, for its owner only.
        var directory: String
        /// Where it writes fragments.
        var fragments: String
        /// Where it writes recordings; nil for none.
        var recordings: String?
        /// Where it listens for RTMP.
        var address: String
        var port: UInt16
        /// Where this process answers hooks, with the secret in the path and without a slash at the end.
        var hooks: String
        /// The application that makes files. Only this process and nginx know its name.
        var filesApplication: String
        var fragmentMilliseconds: Int64

        /// How many fragments nginx lists: those of half a day, and no more than a program that keeps a lecture takes.
        /// The server cuts the list for viewers.
        var listedFragments: Int64 { min(12 * 3_600_000 / fragmentMilliseconds, 50_000) }
    }

    private struct State {
        var process: pid_t?
        var isStopping = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// Whether a thread starts it and waits for it, and no longer does.
        var isSupervised = false
        var hasEnded = false
        var problem = ""
    }

    private let setup: Setup
    private let died: @Sendable () -> Void
    private let state = Guarded(State())

    /// Describes a server, and starts nothing.
    ///
    /// - Parameters:
    ///   - setup: its configuration.
    ///   - died: called when it has died and before it is started again.
    init(_ setup: Setup, died: @escaping @Sendable () -> Void) { (self.setup, self.died) = (setup, died) }

    private var controlSocket: String { "\(setup.directory)/nginx.sock" }
    private var configurationFile: String { "\(setup.directory)/nginx.conf" }

    // MARK: Start and end

    /// Starts it, and waits until it listens.
    ///
    /// - Throws: `LectureError`: `configuration` when it is not installed, `loopbackFailed` when it does not start.
    func start() async throws {
        for path in [setup.program, "\(setup.modules)/ngx_rtmp_module.so", "/usr/bin/setpriv"] {
            guard unsafe access(path, R_OK) == 0 else {
                throw LectureError(
                    .configuration, detail: path, cause: "it is missing; install libnginx-mod-rtmp and util-linux")
            }
        }
        guard controlSocket.utf8.count < 108 else {
            throw LectureError(.configuration, detail: setup.directory, cause: "the path is too long for a socket")
        }
        killLeftover()
        try write()
        state.withLock { $0.isSupervised = true }
        // A block that lasts as long as nginx: its thread must not end before.
        DispatchQueue(label: "lecture.live.nginx").async { [self] in supervise() }
        var patience = 500
        while !isListening {
            patience -= 1
            if patience == 0 || state.withLock(\.hasEnded) {
                await stop()
                throw LectureError(
                    .loopbackFailed, detail: "\(setup.address):\(setup.port)", cause: problem)
            }
            await Self.pause(milliseconds: 20)
        }
    }

    /// Ends it, and waits for that.
    func stop() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                state.isStopping = true
                // Not SIGTERM: as one process nginx looks for it before it waits for events, and misses one between.
                if let process = state.process { kill(process, SIGKILL) }
                if state.hasEnded || !state.isSupervised { return true }
                state.waiting.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// The process; nil while there is none.
    var process: Int32? { state.withLock(\.process) }

    /// Why it does not run: what it has logged last, which has no secret.
    private var problem: String {
        let lines = FileText.read("\(setup.directory)/nginx.log")?.split(separator: "\n") ?? []
        return lines.last.map(String.init) ?? state.withLock(\.problem)
    }

    private func supervise() {
        var failures = 0
        while failures < 5 {
            let began = ContinuousClock.now
            guard let child = launch() else { break }
            _ = ChildProgram.reap(child) { state.withLock { $0.process = nil } }
            if state.withLock(\.isStopping) { break }
            died()
            // One that dies at once cannot run here; one that dies later is started again at once.
            failures = .now - began < .seconds(2) ? failures + 1 : 0
        }
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    private func launch() -> pid_t? {
        let words = [
            "--pdeathsig", "KILL", "--", setup.program, "-e", "\(setup.directory)/nginx.log", "-p", setup.directory,
            "-c", configurationFile,
        ]
        unsafe unlink(controlSocket)
        return state.withLock { state in
            guard !state.isStopping else { return nil }
            do throws(LectureError) {
                let child = try ChildProgram.start("/usr/bin/setpriv", words)
                state.process = child
                return child
            } catch {
                state.problem = error.message
                return nil
            }
        }
    }

    /// Kills what a former server has left, should the kernel not have: the file names the process, and the process
    /// names the file.
    private func killLeftover() {
        guard let text = FileSource("\(setup.directory)/nginx.pid")?.text(),
            let process = Int32(text.filter(\.isNumber)),
            let line = FileText.read("/proc/\(process)/cmdline"), line.contains(configurationFile)
        else { return }
        kill(process, SIGKILL)
    }

    private static func pause(milliseconds: Int) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { continuation.resume() }
        }
    }

    // MARK: Configuration

    private func write() throws {
        guard FileText.write(configuration, to: configurationFile) else {
            throw LectureError(
                .createFile, detail: configurationFile, cause: unsafe String(cString: strerror(errno)))
        }
    }

    private var recording: String {
        guard let path = setup.recordings else { return "" }
        return """

                        record all;
                        record_path "\(path)";
                        record_unique off;
                        on_record_done "\(setup.hooks)/recorded";
            """
    }

    private var local: String { LiveOptions.local(setup.address) }
    private var listedMilliseconds: Int64 { setup.listedFragments * setup.fragmentMilliseconds }

    /// Three applications: `live` takes feeds under their keys, and its hook sends each on, under a public name, to the
    /// one that makes files; that sends it on to `egress`, which players reach. Redirected within one
    /// application, fragments would have the key's name.
    ///
    /// Files are made where publishing has no hook. nginx begins fragments before it asks a hook, and a recording only
    /// when that was answered: if a key frame came in between, the recording began a group of pictures later than what
    /// viewers saw. So that no other program of this machine publishes there, the name of the application is a secret.
    var configuration: String {
        """
        load_module "\(setup.modules)/ngx_rtmp_module.so";
        daemon off;
        master_process off;
        pid "\(setup.directory)/nginx.pid";
        error_log "\(setup.directory)/nginx.log" emerg;
        events { worker_connections 512; }
        rtmp {
            server {
                listen \(setup.address):\(setup.port);
                access_log off;
                ping 30s;
                ping_timeout 10s;
                notify_method post;
                application live {
                    live on;
                    deny play all;
                    drop_idle_publisher 5s;
                    on_publish "\(setup.hooks)/publish";
                    on_publish_done "\(setup.hooks)/publish-done";
                }
                application \(setup.filesApplication) {
                    live on;
                    allow publish \(local);
                    deny publish all;
                    deny play all;
                    push rtmp://\(local):\(setup.port)/egress;
                    drop_idle_publisher 5s;
                    on_publish_done "\(setup.hooks)/files-done";
                    hls on;
                    hls_path "\(setup.fragments)";
                    hls_nested on;
                    hls_fragment \(setup.fragmentMilliseconds)ms;
                    hls_playlist_length \(listedMilliseconds)ms;
                    hls_cleanup off;\(recording)
                }
                application egress {
                    live on;
                    allow publish \(local);
                    deny publish all;
                    idle_streams off;
                    publish_notify on;
                    drop_idle_publisher 5s;
                    on_publish "\(setup.hooks)/egress";
                    on_play "\(setup.hooks)/play";
                    on_play_done "\(setup.hooks)/play-done";
                }
            }
        }
        http {
            access_log off;
            client_body_temp_path "\(setup.directory)/body";
            proxy_temp_path "\(setup.directory)/proxy";
            fastcgi_temp_path "\(setup.directory)/fastcgi";
            uwsgi_temp_path "\(setup.directory)/uwsgi";
            scgi_temp_path "\(setup.directory)/scgi";
            server {
                listen "unix:\(controlSocket)";
                location /control { rtmp_control all; }
            }
        }

        """
    }

    // MARK: Control

    private var isListening: Bool { UnixSocket(controlSocket) != nil }

    /// Drops a connection.
    ///
    /// - Parameter connection: a broadcaster or a player.
    /// - Returns: once nginx has answered, whether it knew the connection.
    func drop(_ connection: NginxConnection) async -> Bool {
        switch connection {
        case .publisher(let key, _): await control("drop/publisher?app=live&name=\(key)") > 0
        case .player(let name, let client): await control("drop/client?app=egress&name=\(name)&clientid=\(client)") > 0
        }
    }

    /// - Returns: how many connections the order was for, which is what nginx answers.
    private func control(_ order: String) async -> Int {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                let body = UnixSocket(controlSocket)?.ask("/control/\(order)") ?? []
                continuation.resume(returning: Int(String(decoding: body, as: UTF8.self)) ?? 0)
            }
        }
    }
}
