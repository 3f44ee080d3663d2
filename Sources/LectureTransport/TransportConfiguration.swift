package import LectureFormats
import LectureModel

/// How exchanges are made. Verification of TLS has no switch: it is always on.
package struct TransportConfiguration: Sendable {
    /// Where the system keeps the roots it trusts.
    package struct SystemRoots: Sendable, Hashable {
        /// One PEM file with all roots.
        package var bundle: String?
        /// A directory with one root per file, named by hash (`openssl rehash`).
        package var directory: String?

        /// Creates the locations.
        ///
        /// - Parameters:
        ///   - bundle: a PEM file.
        ///   - directory: a hashed directory.
        package init(bundle: String? = nil, directory: String? = nil) {
            self.bundle = bundle
            self.directory = directory
        }
    }

    /// A PEM file with roots that are trusted beside the system's; nil for the system's alone.
    package var caFile: String?
    /// The system's roots; nil takes the paths libcurl was built with.
    package var systemRoots: SystemRoots?
    /// Hashes of public keys of which the server must have one, `sha256//BASE64` each; empty pins nothing.
    package var pinnedPublicKeys: [String] = []
    /// The proxy's URL; nil reads the environment (`https_proxy`, `no_proxy` …), an empty string uses none.
    package var proxy: String?
    /// The `User-Agent` field, `lecturekit/VERSION`.
    package var userAgent = "lecturekit"
    /// Connections to one host, at most. Exchanges beyond it wait without counting as stalled.
    package var maxHostConnections = 16
    /// Connections altogether, at most.
    package var maxTotalConnections = 64
    /// Bytes of all header lines of an answer, 1xx heads and trailers included, at most. libcurl itself bounds a line
    /// to 100 KiB.
    package var maxHeaderBytes = 65_536
    /// How long name resolution, connection and TLS may take together; a shorter stall timeout of a request wins.
    package var connectTimeout = Duration.seconds(30)

    /// Header fields that one origin gets with every request, unless the request has a field of that name.
    package var originFields: [Origin: [HeaderField]] = [:]
    /// The `Authorization` field by host, for requests that have none; the port is ignored, as in a `.netrc` file.
    package var hostAuthorization: [String: String] = [:]
    /// A PEM file with the certificate chain for servers that ask for one.
    package var clientCertificate: String?
    /// A PEM file with the certificate's key; nil when it is in ``clientCertificate``.
    package var clientKey: String?

    /// Makes the default configuration.
    package init() {}

    /// A request with the credentials of its own origin. Redirects are requests of their own, so no other server gets
    /// them.
    ///
    /// - Parameter request: as it was requested.
    /// - Returns: the same with further fields.
    func authorised(_ request: TransferRequest) -> TransferRequest {
        guard !originFields.isEmpty || !hostAuthorization.isEmpty, let parts = try? URLParts(request.url),
            let origin = try? Origin(parts)
        else { return request }
        var request = request
        for field in originFields[origin] ?? [] where request.headers[field.name] == nil {
            request.headers.append(field)
        }
        // A user in the URL takes precedence over one in a file.
        if let value = hostAuthorization[origin.host], request.headers["Authorization"] == nil,
            !parts.authority.utf8.contains(UInt8(ascii: "@"))
        {
            request.headers.append(HeaderField(name: "Authorization", value: value))
        }
        return request
    }
}

/// Counters of a transport, for diagnostics and tests.
package struct TransportStatistics: Sendable, Hashable {
    /// Exchanges that are running or wait for a connection.
    package var running = 0
    /// Exchanges that ended.
    package var ended = 0
    /// Connections opened since the start.
    package var connections = 0
    /// Bytes of heads and bodies received since the start.
    package var bytes: Int64 = 0
    /// Whether libcurl is open for the next exchange.
    package var isPrepared = false
}
