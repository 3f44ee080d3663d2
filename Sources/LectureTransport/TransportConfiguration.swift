import LectureModel

/// How exchanges are made. Verification of TLS has no switch: it is always on.
package struct TransportConfiguration: Sendable {
    /// Where the system keeps the roots it trusts.
    package struct SystemRoots: Sendable, Hashable {
        /// One PEM file with all roots.
        package var bundle: String?
        /// A directory with one root a file, named by hash (`openssl rehash`).
        package var directory: String?

        /// Names the places.
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
    /// The system's roots; nil takes the places libcurl was built with.
    package var systemRoots: SystemRoots?
    /// Hashes of public keys of which the server must have one, `sha256//BASE64` each; empty pins nothing.
    package var pinnedPublicKeys: [String] = []
    /// The proxy's URL; nil reads the environment (`https_proxy`, `no_proxy` …), an empty text uses none.
    package var proxy: String?
    /// The `User-Agent` field, `lecturekit/VERSION`.
    package var userAgent = "lecturekit"
    /// Connections to one host, at most. Exchanges beyond it wait without being counted as silent.
    package var maxHostConnections = 16
    /// Connections altogether, at most.
    package var maxTotalConnections = 64
    /// Bytes of all header lines of an answer, 1xx heads and trailers included, at most. libcurl itself bounds a line
    /// to 100 KiB.
    package var maxHeaderBytes = 65_536
    /// How long name resolution, connection and TLS may take together; a shorter stall timeout of a request wins.
    package var connectTimeout = Duration.seconds(30)

    /// Makes the default configuration.
    package init() {}
}

/// Counters of a transport, for diagnostics and tests.
package struct TransportStatistics: Sendable, Hashable {
    /// Exchanges that are running or wait for a connection.
    package var running = 0
    /// Exchanges that ended.
    package var ended = 0
    /// Connections opened since the beginning.
    package var connections = 0
    /// Bytes of heads and bodies received since the beginning.
    package var bytes: Int64 = 0
}
