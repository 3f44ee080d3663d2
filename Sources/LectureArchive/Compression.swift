/// How a stream of bytes is compressed.
package enum Compression: String, Sendable, CaseIterable {
    /// gzip (RFC 1952).
    case gzip
    /// Zstandard (RFC 8878).
    case zstd

    /// The compression for the extension of a file name; nil for none.
    ///
    /// - Parameter path: a path.
    package init?(path: String) {
        if path.hasSuffix(".gz") {
            self = .gzip
        } else if path.hasSuffix(".zst") {
            self = .zstd
        } else {
            return nil
        }
    }
}
