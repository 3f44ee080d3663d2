import LectureFormats
import LectureModel

/// Which files of an adaptive lecture are encrypted with AES-128, and how: 40 bytes for each part, since there may be a
/// million of them.
package struct EncryptedFiles: Sendable {
    private struct Row {
        /// The position in the name of the file.
        var position: Int32
        /// The place of the key in ``keys``.
        var key: Int32
        /// The byte range; empty for the whole file.
        var start: UInt64
        var count: UInt64
        /// The vector, big endian.
        var vector: (high: UInt64, low: UInt64)

        var range: ByteRange? { ByteRange(start: start, count: count) }
    }

    /// In the order of their positions.
    private var rows: [Row] = []
    private var keys: [String] = []

    /// None is.
    package init() {}

    /// Reads local media playlists. One that cannot be read names no file; it cannot be played either.
    ///
    /// - Parameter playlists: those with keys; others add nothing.
    package init(_ playlists: [String]) {
        var places: [String: Int32] = [:]
        for text in playlists {
            guard let playlist = try? LocalPlaylist(text), playlist.isEncrypted else { continue }
            for piece in playlist.pieces {
                guard let cipher = piece.cipher, let position = Self.position(of: piece.file) else { continue }
                let key = places[cipher.key] ?? Int32(keys.count)
                if Int(key) == keys.count {
                    places[cipher.key] = key
                    keys.append(cipher.key)
                }
                rows.append(
                    Row(
                        position: position, key: key, start: piece.range?.start ?? 0, count: piece.range?.count ?? 0,
                        vector: (Self.number(cipher.vector.prefix(8)), Self.number(cipher.vector.suffix(8)))))
            }
        }
        rows.sort { ($0.position, $0.start) < ($1.position, $1.start) }
    }

    /// Whether no file is encrypted.
    package var isEmpty: Bool { rows.isEmpty }

    /// The encrypted parts of a file, in the order of their bytes. One that several segments have is there once.
    ///
    /// - Parameter name: of the file: `12.ts`.
    /// - Returns: none for a file in clear.
    package func parts(of name: String) -> [EncryptedPart] {
        guard let position = Self.position(of: name) else { return [] }
        var parts: [EncryptedPart] = []
        for row in rows[first(position)...].prefix(while: { $0.position == position }) {
            let vector = Self.bytes(row.vector.high) + Self.bytes(row.vector.low)
            let part = EncryptedPart(key: keys[Int(row.key)], range: row.range, vector: vector)
            if part != parts.last { parts.append(part) }
        }
        return parts
    }

    /// The keys that decrypt none of the files that are there: each is likely to be another one than that of the
    /// segments.
    ///
    /// - Parameters:
    ///   - refused: positions of files that were refused.
    ///   - kept: positions of files that are there.
    /// - Returns: names of keys that a refused file needs, and no other one that is there.
    package func doubtfulKeys(refused: Set<Int>, kept: Set<Int>) -> [String] {
        var (needed, proven): (Set<Int32>, Set<Int32>) = ([], [])
        for row in rows {
            if refused.contains(Int(row.position)) { needed.insert(row.key) }
            if kept.contains(Int(row.position)) { proven.insert(row.key) }
        }
        return needed.subtracting(proven).sorted().map { keys[Int($0)] }
    }

    /// The first row of a position or a later one.
    private func first(_ position: Int32) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].position < position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func position(of name: String) -> Int32? { Int32(name.prefix { $0 != "." }) }

    private static func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * (7 - UInt64($0)))) }
    }
}
