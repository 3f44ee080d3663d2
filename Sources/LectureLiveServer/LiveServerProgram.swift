import Dispatch
import Glibc
import LectureFiles
import LectureFormats
import LectureModel

/// The program `lecture-live-server`.
public enum LiveServerProgram {
    static let help = """
        lecture-live-server --state DIR --credentials FILE [OPTION…]

        Serves live lectures: the member API with chat and event streams over HTTP, and feeds over RTMP by nginx.

          --state DIR            the store and the fragments; made for its owner only
          --credentials FILE     a file that only its owner may read, with KEY:SECRET of the application's server
          --listen ADDRESS:PORT  where to listen for HTTP; 127.0.0.1:8088 unless another is given, port 0 for any
          --rtmp-port PORT       where to listen for RTMP; 1935 unless another is given, 0 for any, 'none' for no feeds
          --nginx PATH           nginx; /usr/sbin/nginx unless another is given
          --nginx-modules DIR    its modules; /usr/lib/nginx/modules unless others are given
          --public-url URL       what is before the paths of this server in links, for one behind a proxy
          --ingest-url URL       what is before the key in the address of a feed, for RTMP behind a proxy
          --token-lifetime S     how many seconds an access token works; 86400 unless given
          --end-grace S          how many seconds the rest of an ended room can be read; 120 unless given
          --fragment MS          how long a fragment is in milliseconds; 2000 unless given
          --help                 this text

        When it is ready it writes one line of JSON to standard output. SIGTERM and SIGINT end it.
        Exit status: 0 ended, 64 command line, 65 store refused, 69 or 70 failure, 73 a port or a directory cannot be
        had, 74 input or output, 75 another server has the store, 77 not permitted, 78 configuration.

        """

    /// Runs the program to its end.
    ///
    /// - Parameter arguments: without the program's name.
    /// - Returns: the exit status, of sysexits(3).
    public static func run(_ arguments: [String]) async -> Int32 {
        if arguments == ["--help"] {
            write(help, to: STDOUT_FILENO)
            return 0
        }
        var options: LiveOptions
        do throws(LiveArguments.Problem) {
            options = try LiveArguments(arguments).options()
        } catch {
            write("lecture-live-server: \(error.text)\n", to: STDERR_FILENO)
            return error.status
        }
        options.mostConnections = min(options.mostConnections, raiseOpenFiles())
        let signals = EndingSignals()
        do {
            let server = try await LiveServer.start(options)
            let line = JSONWriter.object { json in
                json.member("event", "listening")
                json.member("url", server.url)
                json.member("port", Int(server.port))
                json.member("ingestUrl", server.ingestURL)
                if let port = server.rtmpPort { json.member("rtmpPort", Int(port)) }
                if let process = server.mediaProcess { json.member("nginxProcess", Int(process)) }
            }
            write(line + "\n", to: STDOUT_FILENO)
            await signals.first()
            await server.stop()
            return 0
        } catch let error as LectureError {
            write("lecture-live-server: \(error.message)\n", to: STDERR_FILENO)
            return status(of: error)
        } catch {
            write("lecture-live-server: \(type(of: error))\n", to: STDERR_FILENO)
            return 70
        }
    }

    static func status(of error: LectureError) -> Int32 {
        switch error.code {
        case .createDirectory, .createFile, .loopbackFailed: 73
        case .storeBusy: 75
        case .storeForeign, .storeNewer, .storeDamaged, .migrationChanged: 65
        case .storeExposed: 77
        case .configuration, .loopbackMissing: 78
        case .openStore, .readFile, .writeFile, .storeReadOnly, .storeUnsafe, .storageFull: 74
        default: 70
        }
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// As many open files as the system permits.
    ///
    /// - Returns: how many connections that is enough for.
    private static func raiseOpenFiles() -> UInt32 {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 256 }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return UInt32(clamping: max(64, limit.rlim_cur.subtractingReportingOverflow(64).partialValue / 2))
    }
}

/// The command line.
struct LiveArguments {
    /// Why it is refused.
    struct Problem: Error, Hashable {
        let text: String
        var status: Int32 = 64
    }

    private static let names: Set = [
        "--state", "--credentials", "--listen", "--rtmp-port", "--nginx", "--nginx-modules", "--public-url",
        "--ingest-url", "--token-lifetime", "--end-grace", "--fragment",
    ]
    private var values: [String: String] = [:]

    /// Reads arguments.
    ///
    /// - Parameter arguments: without the program's name.
    /// - Throws: ``Problem``.
    init(_ arguments: [String]) throws(Problem) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard Self.names.contains(name) else { throw Problem(text: "there is no option '\(name)'; see --help") }
            guard let value = rest.popFirst(), !value.isEmpty else { throw Problem(text: "\(name) needs a value") }
            guard values.updateValue(value, forKey: name) == nil else { throw Problem(text: "\(name) is given twice") }
        }
    }

    /// The options; the file of the credentials is read.
    ///
    /// - Throws: ``Problem``.
    func options() throws(Problem) -> LiveOptions {
        guard let state = values["--state"], let file = values["--credentials"] else {
            throw Problem(text: "--state and --credentials are needed; see --help")
        }
        var options = LiveOptions(stateDirectory: state, credentials: try credentials(file))
        options.port = 8088
        if let text = values["--listen"] {
            let ends = text.split(separator: ":", omittingEmptySubsequences: false)
            guard ends.count == 2, let port = UInt16(ends[1]) else {
                throw Problem(text: "--listen must be ADDRESS:PORT, such as 127.0.0.1:8088")
            }
            (options.address, options.port) = (String(ends[0]), port)
        }
        if let text = values["--rtmp-port"] {
            let port = UInt16(text)
            guard port != nil || text == "none" else { throw Problem(text: "--rtmp-port must be a port or 'none'") }
            options.rtmpPort = port
        }
        if let path = values["--nginx"] { options.nginx = path }
        if let path = values["--nginx-modules"] { options.nginxModules = path }
        (options.publicURL, options.ingestURL) = (values["--public-url"], values["--ingest-url"])
        options.tokenLifetime = .seconds(try number("--token-lifetime", 24 * 3600, 1...31_536_000))
        options.endGrace = .seconds(try number("--end-grace", 120, 0...86_400))
        options.fragment = .milliseconds(try number("--fragment", 2000, 200...10_000))
        return options
    }

    private func number(_ name: String, _ fallback: Int, _ range: ClosedRange<Int>) throws(Problem) -> Int {
        guard let text = values[name] else { return fallback }
        guard let value = Int(text), range.contains(value) else {
            throw Problem(text: "\(name) must be from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    private func credentials(_ path: String) throws(Problem) -> LiveCredentials {
        let bytes: [UInt8]
        do throws(LectureError) { bytes = try SecretFile.open(path, limit: 1 << 16).bytes() } catch {
            let isExposed = error.code == .secretReadable
            let text = isExposed ? "can be read by others; use chmod 600" : "cannot be read"
            throw Problem(text: "\(path) \(text)", status: 78)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let credentials = LiveCredentials(text) else {
            throw Problem(
                text: "\(path) must have KEY:SECRET in one line, the secret of 16 characters or more", status: 78)
        }
        return credentials
    }
}

/// The signals that end the program.
final class EndingSignals: Sendable {
    private let stream: AsyncStream<Void>
    private let sources: Guarded<[any DispatchSourceSignal]>

    init() {
        let (stream, report) = AsyncStream.makeStream(of: Void.self)
        self.stream = stream
        let made = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { report.yield() }
            source.activate()
            return source as any DispatchSourceSignal
        }
        sources = Guarded(made)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Waits for the first one.
    func first() async { for await _ in stream { return } }
}
