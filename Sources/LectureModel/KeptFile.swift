/// A media file that is older than the store's database: that of a database that was lost or moved away.
public struct KeptFile: Sendable, Hashable {
    /// Relative to the store.
    public let path: String
    /// Its length in bytes; of a part file, with that of the file about to replace it.
    public let bytes: Int64

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - path: relative to the store.
    ///   - bytes: its length.
    package init(path: String, bytes: Int64) { (self.path, self.bytes) = (path, bytes) }
}

/// What was made from a kept file.
public enum RebuildOutcome: Sendable, Hashable {
    /// It is a complete lecture again.
    case recorded(ContentKey)
    /// Its lecture is complete without it: nothing needs it.
    case present(ContentKey)
    /// Its lecture needs a licence, and licensed media is never stored unsealed.
    case licensed(ContentKey)
    /// None of the listed lectures has its digest.
    case unlisted
    /// It does not begin like media: its key was in the lost database, or it never was media.
    case sealed
    /// A download that had not ended: which bytes it has was in the lost database.
    case partial
    /// A subtitle or a picture: which lecture it belongs to was in the lost database.
    case companion
    /// A part of an adaptive lecture (a playlist, a segment, a key): which one was in the lost database.
    case stream

    /// The word in JSON.
    public var name: String {
        switch self {
        case .recorded: "recorded"
        case .present: "present"
        case .licensed: "licensed"
        case .unlisted: "unlisted"
        case .sealed: "sealed"
        case .partial: "partial"
        case .companion: "companion"
        case .stream: "stream"
        }
    }

    /// The lecture, where it is known.
    public var key: ContentKey? {
        switch self {
        case .recorded(let key), .present(let key), .licensed(let key): key
        case .unlisted, .sealed, .partial, .companion, .stream: nil
        }
    }

    /// Whether nothing can ever be made from the file without the lost database.
    public var isUnusable: Bool {
        switch self {
        case .recorded, .unlisted: false
        case .present, .licensed, .sealed, .partial, .companion, .stream: true
        }
    }
}

/// What reading a whole unsealed file once shows: all that its rows need.
package struct FileSurvey: Hashable, Sendable {
    /// Its length in bytes.
    package let bytes: UInt64
    /// How it is cut into chunks.
    package let grid: ChunkGrid
    /// The beginning, as long as was requested; all of a shorter file.
    package let beginning: [UInt8]
    /// Its SHA-256.
    package let sha256: [UInt8]
    /// New proofs of all its chunks, in order.
    package let chunks: [WrittenChunk]

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - bytes: its length.
    ///   - grid: how it is cut into chunks.
    ///   - beginning: its first bytes.
    ///   - sha256: its digest.
    ///   - chunks: proofs of all its chunks.
    package init(bytes: UInt64, grid: ChunkGrid, beginning: [UInt8], sha256: [UInt8], chunks: [WrittenChunk]) {
        (self.bytes, self.grid, self.beginning) = (bytes, grid, beginning)
        (self.sha256, self.chunks) = (sha256, chunks)
    }
}
