import LectureFormats

/// A media playlist whose files are kept, and what is not known of it before they are.
struct StreamTrack {
    /// Its segments.
    var playlist: MediaPlaylist
    /// What its references are relative to.
    var url: StreamURL
    /// The suffix of a segment whose URL has no known one; nil for that of HLS.
    var suffix: String?
    /// Segments that are whole files, and the bytes of the segment index in each, by their places.
    var indexes: [Int: ByteRange] = [:]
    /// The places of segments that may not exist.
    var optional: [Int] = []

    init(_ playlist: MediaPlaylist, _ url: StreamURL) { (self.playlist, self.url) = (playlist, url) }
}

/// What a stored playlist has behind its end: comment lines, which players ignore (RFC 8216 section 4.1).
enum StreamNote: Hashable {
    /// A segment is a whole file; its segments are in its index, a `sidx` box.
    case index(file: String, range: ByteRange)
    /// A segment whose number was computed from a duration that is rounded up: it may not exist.
    case optional(file: String)
    /// The playlist is another one than the source led to, since its files are there.
    case closed
    /// It is a capture of a live stream that goes on.
    case capturing
    /// It is a capture of a live stream that has ended.
    case captured
    /// How a capture goes on: the number of the next segment at its server, that of the first one since the server has
    /// last begun anew, and the discontinuity sequence number of the last one.
    case live(next: Int64, first: Int64, discontinuities: Int64)

    private static let indexed = "#LECTURE-INDEX:"
    private static let uncertain = "#LECTURE-OPTIONAL:"
    private static let closing = "#LECTURE-CLOSED"
    private static let beingCaptured = "#LECTURE-CAPTURE"
    private static let wasCaptured = "#LECTURE-CAPTURED"
    private static let following = "#LECTURE-LIVE:"

    /// The line, with its end.
    var line: String {
        switch self {
        case .index(let file, let range): "\(Self.indexed)\(file),\(range.start)-\(range.end)\n"
        case .optional(let file): "\(Self.uncertain)\(file)\n"
        case .closed: "\(Self.closing)\n"
        case .capturing: "\(Self.beingCaptured)\n"
        case .captured: "\(Self.wasCaptured)\n"
        case .live(let next, let first, let discontinuities):
            "\(Self.following)\(next),\(first),\(discontinuities)\n"
        }
    }

    /// Reads a line; nil for any other.
    init?(_ line: Substring) {
        let marks = [Self.closing: Self.closed, Self.beingCaptured: .capturing, Self.wasCaptured: .captured]
        if let mark = marks[String(line)] {
            self = mark
            return
        }
        if line.hasPrefix(Self.following) {
            let numbers = line.dropFirst(Self.following.count).split(separator: ",").compactMap { Int64($0) }
            guard numbers.count == 3 else { return nil }
            self = .live(next: numbers[0], first: numbers[1], discontinuities: numbers[2])
            return
        }
        if line.hasPrefix(Self.uncertain) {
            self = .optional(file: String(line.dropFirst(Self.uncertain.count)))
            return
        }
        guard line.hasPrefix(Self.indexed) else { return nil }
        let parts = line.dropFirst(Self.indexed.count).split(separator: ",")
        guard parts.count == 2 else { return nil }
        let ends = parts[1].split(separator: "-").map { FieldText.decimal($0) }
        guard ends.count == 2, case .value(let start) = ends[0], case .value(let end) = ends[1],
            let range = ByteRange(start: start, end: end)
        else { return nil }
        self = .index(file: String(parts[0]), range: range)
    }

    /// The notes at the end of a playlist, in their order.
    static func all(in text: String) -> [StreamNote] {
        var found: [StreamNote] = []
        var rest = text.utf8[...]
        while rest.last == UInt8(ascii: "\n") {
            rest.removeLast()
            let start = rest.lastIndex(of: UInt8(ascii: "\n")).map { rest.index(after: $0) } ?? rest.startIndex
            guard let note = StreamNote(Substring(rest[start...])) else { break }
            found.append(note)
            rest = rest[..<start]
        }
        return found.reversed()
    }
}
