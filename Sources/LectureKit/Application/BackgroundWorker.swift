import Glibc
import LectureFiles
public import LectureModel

/// A separate process that continues a store's downloads once this one has ended, however it ends.
///
/// It is `lecturectl precache --after-input` on the same store, started detached, in a session of its own, waiting on
/// its standard input, which closes with this process. It opens nothing while it waits. Then it fetches what is neither
/// complete nor paused nor cancelled, and ends.
///
/// | what happens | the worker |
/// | --- | --- |
/// | this process ends: `exit`, a crash, SIGKILL | continues |
/// | ``release()``, or the last reference goes | continues |
/// | ``dismiss()`` | ends |
///
/// A child that this process forks without `exec` keeps the worker waiting as well.
public final class BackgroundWorker: Sendable {
    /// The byte that ends a waiting worker.
    private static let dismissal: UInt8 = 0x0A
    private static let programName = "lecturectl"

    private let process: DetachedProcess
    /// The worker's process identifier; may be reused some time after the worker has ended.
    public var processIdentifier: Int32 { process.identifier }

    /// Starts the worker, which waits.
    ///
    /// It takes the store, the device's directory and how to fetch from the configuration: jobs, connections, rate,
    /// timetable, attempts, timeout, quota, reserve, sealing, extra roots, proxy. Keys of licence servers and report
    /// targets come from its configuration file only; ``LectureConfiguration/rateLimitPerContent`` and
    /// ``LectureConfiguration/resolver`` are not passed at all. What may be secret (the proxy's password) is passed in
    /// its environment and not on its command line.
    ///
    /// - Parameters:
    ///   - configuration: of the store.
    ///   - configurationFile: also read by the worker; nil for the environment's.
    ///   - program: the `lecturectl` to run; nil looks at `LECTURECTL`, beside this program and then along `PATH`.
    /// - Throws: ``LectureError`` with `workerMissing` when there is no `lecturectl`, or `workerFailed`.
    public init(
        _ configuration: LectureConfiguration, configurationFile: String? = nil, program: String? = nil
    ) throws(LectureError) {
        let path = try Self.find(program)
        var variables: [String: String] = [:]
        let store: String
        do {
            store = try AbsolutePath.resolve(configuration.storeDirectory)
            variables["LECTURE_DEVICE"] = try configuration.deviceDirectory.map(AbsolutePath.resolve)
            variables["LECTURE_CONFIG"] = try configurationFile.map(AbsolutePath.resolve)
        } catch {
            throw LectureError(.workerFailed, cause: (error as? LectureError)?.message ?? "\(type(of: error))")
        }
        if let proxy = configuration.proxy { variables["LECTURE_PROXY"] = proxy }
        if let group = configuration.sharedGroup { variables["LECTURE_GROUP"] = group }
        process = try DetachedProcess(
            path, ["--store", store, "--quiet", "precache", "--after-input"] + configuration.workerOptions,
            variables: variables)
    }

    /// Ends a waiting worker, so that nothing continues. One that already works is not ended.
    public func dismiss() { process.endInput(afterByte: Self.dismissal) }

    /// Lets the worker start now, beside this process.
    public func release() { process.endInput() }

    /// Waits until the worker has ended, for whatever reason.
    ///
    /// - Throws: `CancellationError` when the task is cancelled; the worker continues.
    public func untilEnded() async throws { try await process.untilEnded() }

    /// Waits as ``untilEnded()``, and holds no reference meanwhile.
    package func whenEnded() -> Task<Void, Never> { process.whenEnded() }

    // MARK: The program

    /// The `lecturectl` to run.
    private static func find(_ program: String?) throws(LectureError) -> String {
        // A program named explicitly is required: another version elsewhere is no replacement.
        if let path = program ?? variable("LECTURECTL") {
            guard isProgram(path) else { throw LectureError(.workerMissing, detail: path) }
            return path
        }
        var places: [String] = []
        if let own = ownPath(), let slash = own.lastIndex(of: "/") { places.append(String(own[..<slash])) }
        places += (variable("PATH") ?? "").split(separator: ":").map(String.init)
        // An entry that is not absolute would depend on the working directory.
        let paths = places.filter { $0.hasPrefix("/") }.map { "\($0)/\(programName)" }
        guard let path = paths.first(where: isProgram) else { throw LectureError(.workerMissing) }
        return path
    }

    private static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    private static func isProgram(_ path: String) -> Bool {
        var facts = stat()
        guard !path.isEmpty, !path.utf8.contains(0), unsafe stat(path, &facts) == 0 else { return false }
        return unsafe facts.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }

    /// The path of this program.
    private static func ownPath() -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
        return count > 0 ? String(validating: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }
}

extension LectureConfiguration {
    /// The command options for what an embedding program may have set, overriding the configuration file.
    var workerOptions: [String] {
        var options: [String] = []
        func add(_ name: String, _ value: (some CustomStringConvertible)?) {
            if let value { options.append("--\(name)=\(value)") }
        }
        add("jobs", chosenJobs)
        add("connections", connections)
        add("limit-rate", rateLimit)
        add("timetable", timetable)
        add("max-attempts", maxAttempts)
        // The command counts in whole seconds.
        add("timeout", "\(max(1, (stallTimeout.milliseconds + 999) / 1000))s")
        add("per-host", chosenPerHost)
        add("quota", quotaBytes)
        add("reserve", reserveBytes)
        add("ca-file", caFile)
        switch seal {
        case .licensed: break
        case .always: options.append("--seal")
        case .never: options.append("--no-seal")
        }
        return options
    }
}
