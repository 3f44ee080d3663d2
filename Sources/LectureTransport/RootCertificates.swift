import CCurl
import Glibc
import LectureFormats
package import LectureModel

/// The roots that servers' certificates are verified against: the system's, and in addition those of a file.
///
/// A root option of libcurl replaces a default instead of adding to it, and reading Debian's bundle costs 20–30 ms of
/// the transport's only thread for every connection. So there are two ways, both about 1 ms a connection:
///
/// - Without extra roots: the bundle, and no directory, because libcurl keeps a parsed store in memory only when it
///   comes from a file alone (`CURLOPT_CA_CACHE_TIMEOUT`).
/// - With extra roots: they are passed as `CURLOPT_CAINFO_BLOB`, which replaces the bundle but not the directory;
///   OpenSSL looks up the system's roots in the hashed directory one by one. Where there is no such directory, the
///   bundle is read before the extra roots.
package struct RootCertificates: Sendable {
    /// The options a handle gets.
    struct Options: Sendable, Equatable {
        /// `CURLOPT_CAINFO_BLOB`; nil sets none.
        var blob: [UInt8]?
        /// `CURLOPT_CAINFO`; nil keeps libcurl's.
        var bundle: String?
        /// `CURLOPT_CAPATH`; nil sets none at all.
        var directory: String?
    }

    private static let marker = Array("-----BEGIN CERTIFICATE-----".utf8)
    private let extra: [UInt8]?

    /// Reads the extra roots, so that a wrong path is reported before the first exchange.
    ///
    /// - Parameter caFile: a PEM file; nil for none.
    /// - Throws: `LectureError(.configuration)` when it cannot be read or holds no certificate.
    package init(caFile: String?) throws(LectureError) {
        guard let caFile else {
            extra = nil
            return
        }
        guard let bytes = Self.read(caFile) else {
            throw LectureError(.configuration, detail: "the CA file '\(caFile)' cannot be read")
        }
        guard bytes.contains(Self.marker) else {
            throw LectureError(.configuration, detail: "the CA file '\(caFile)' holds no PEM certificate")
        }
        extra = bytes
    }

    /// The options that make libcurl trust the system's roots and the extra ones.
    ///
    /// - Parameter system: where the system's roots are.
    /// - Returns: what every handle gets.
    func options(system: TransportConfiguration.SystemRoots) -> Options {
        guard let extra else {
            let directory = system.bundle == nil ? system.directory : nil
            return Options(blob: nil, bundle: system.bundle, directory: directory)
        }
        if let directory = system.directory, Self.isHashed(directory) {
            return Options(blob: extra, bundle: nil, directory: directory)
        }
        let bundle = system.bundle.flatMap(Self.read) ?? []
        return Options(blob: bundle + [0x0A] + extra, bundle: nil, directory: nil)
    }

    /// Whether a directory holds a name of the form `9d66eef0.0`, as `openssl rehash` makes them.
    private static func isHashed(_ directory: String) -> Bool {
        guard let stream = unsafe opendir(directory) else { return false }
        defer { unsafe closedir(stream) }
        while let entry = unsafe readdir(stream) {
            let isHash = unsafe withUnsafeBytes(of: entry.pointee.d_name) { name in
                let hash = unsafe name.prefix(8)
                return unsafe hash.allSatisfy { Hexadecimal.digit($0) != nil } && name[8] == UInt8(ascii: ".")
            }
            if isHash { return true }
        }
        return false
    }

    /// The bytes of a file below 16 MiB; nil when it cannot be read.
    private static func read(_ path: String) -> [UInt8]? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < 16 << 20 {
            let count = unsafe block.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
            if count == 0 { return bytes }
            guard count > 0 else { return nil }
            bytes += block[..<count]
        }
        return nil
    }
}
