import Glibc
import LectureDownload
import LectureEngine
import LectureModel
import LectureTransport

/// Converts the public configuration to those of the parts.
extension LectureConfiguration {
    /// The engine's settings.
    ///
    /// - Returns: the settings.
    /// - Throws: ``LectureError`` with the code `parameter` for a value that cannot be used.
    func downloadSettings() throws -> DownloadSettings {
        var settings = DownloadSettings()
        settings.jobs = try Self.check(jobs, in: 1...256, "jobs")
        settings.exceedsJobs = chosenJobs == nil
        settings.connections = try connections.map { try Self.check($0, in: 1...64, "connections") }
        settings.maxAttempts = try Self.check(maxAttempts, in: 1...1000, "attempts")
        settings.rateLimit = try rateLimit.map { try Self.check($0, in: 1...Int.max, "rate limit") }
        settings.rateLimitPerItem = try rateLimitPerContent.map {
            try Self.check($0, in: 1...Int.max, "rate limit per content")
        }
        settings.timetable = try timetable.map { text throws(LectureError) in try Timetable(text) }
        settings.stallTimeout = stallTimeout
        settings.acceptsAny = acceptsAnyMedia
        settings.trustsLength = trustsLength
        settings.selection = streamSelection
        settings.connectionsPerHost = try Self.check(connectionsPerHost, in: 1...256, "connections per host")
        settings.exceedsPerHost = chosenPerHost == nil
        settings.quotaBytes = try quotaBytes.map { UInt64(try Self.check(Int($0), in: 0...Int.max, "quota")) }
        settings.reserveBytes = UInt64(try Self.check(Int(reserveBytes), in: 0...Int.max, "reserve"))
        return settings
    }

    /// Connections of all kinds of traffic to one host. Unless a number was set, each kind has its own bound.
    var mostConnectionsPerHost: Int { chosenPerHost ?? OriginBudgets.total }

    /// The transport's settings, with the current credentials from the files.
    ///
    /// - Returns: the settings.
    /// - Throws: ``LectureError``: `secretReadable`, `readFile`, `configuration` for a file of credentials.
    func transport() throws(LectureError) -> TransportConfiguration {
        var transport = TransportConfiguration()
        transport.caFile = caFile
        transport.proxy = proxy
        transport.maxHostConnections = mostConnectionsPerHost
        transport.maxTotalConnections = max(64, transport.maxHostConnections * 2, connectionsPerHost * 4)
        transport.userAgent = LectureKitVersion.userAgent
        if let credentialsFile { transport.originFields = try CredentialFiles.byOrigin(credentialsFile) }
        if let netrcFile { transport.hostAuthorization = try CredentialFiles.netrc(netrcFile) }
        if let clientCertificateFile {
            try CredentialFiles.check(certificate: clientCertificateFile, key: clientKeyFile)
            (transport.clientCertificate, transport.clientKey) = (clientCertificateFile, clientKeyFile)
        } else if clientKeyFile != nil {
            throw LectureError(.parameter, detail: "client key", cause: "it needs a client certificate")
        }
        return transport
    }

    private static func check(_ value: Int, in range: ClosedRange<Int>, _ name: String) throws -> Int {
        guard range.contains(value) else {
            throw LectureError(.parameter, detail: name, cause: "from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}

/// The version of the library.
public enum LectureKitVersion {
    /// Semantic versioning 2.0.0.
    public static let number = "0.1.0"
    /// The library's `User-Agent`.
    public static let userAgent = "lecturekit/\(number)"
}

/// Paths that survive a change of the working directory.
enum AbsolutePath {
    /// Makes a path absolute, without accessing the disk.
    ///
    /// - Parameter path: absolute, or relative to the working directory.
    /// - Returns: an absolute path.
    /// - Throws: ``LectureError`` with the code `outputRefused` for an empty path or one with a NUL.
    static func resolve(_ path: String) throws -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw LectureError(.outputRefused, detail: path) }
        if path.hasPrefix("/") { return path }
        guard let directory = unsafe getcwd(nil, 0) else { throw LectureError(.outputRefused, detail: path) }
        defer { unsafe free(directory) }
        return unsafe "\(String(cString: directory))/\(path)"
    }
}

/// This process.
enum ProcessIdentity {
    static var pid: Int32 { getpid() }
}

extension LectureError.Code {
    /// Whether the error concerns a single request, so that the others of a list continue.
    var isRefusedInput: Bool {
        [
            .urlScheme, .urlInvalid, .headerInvalid, .headerReserved, .nameRefused, .outputRefused, .outputExists,
            .parameter,
            .playlistUnsupported,
        ].contains(self)
    }
}
