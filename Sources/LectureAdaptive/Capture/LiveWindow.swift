/// Which segments of a live playlist are new: what it has shown before, by media sequence numbers (RFC 8216 section
/// 6.3.4).
///
///     first list ──▶ following ── new segments ──▶ following
///                       │  ├── numbers were skipped ──▶ following: they are missed
///                       │  ├── nothing new, or a copy that is a little older ──▶ following: nothing happens
///                       │  └── numbers go back, jump ahead, or have other segments ──▶ following anew
///
/// A value, whose size does not depend on how long the stream is.
package struct LiveWindow: Sendable, Hashable {
    /// A segment that was seen.
    package struct Seen: Sendable, Hashable {
        /// Its media sequence number.
        package var number: Int64
        /// The last part of the path of its URL: servers, tokens and sessions may change, names do not.
        package var name: String
        /// Its duration.
        package var nanoseconds: Int64

        /// Describes a segment.
        ///
        /// - Parameters:
        ///   - number: its media sequence number.
        ///   - uri: as a playlist has it.
        ///   - nanoseconds: its duration.
        package init(_ number: Int64, uri: String, nanoseconds: Int64) {
            let path = uri.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
            let last = path.lastIndex(of: UInt8(ascii: "/")).map { path[path.index(after: $0)...] } ?? path
            (self.number, name, self.nanoseconds) = (number, String(Substring(last)), nanoseconds)
        }
    }

    /// What a list brings.
    package struct News: Sendable, Hashable {
        /// The places of the new segments in the list.
        package var fresh: Range<Int>
        /// How many segments before them were never listed.
        package var missed = 0
        /// Whether the server has begun anew: nothing in the list continues what was seen.
        package var isRestart = false
        /// Whether a discontinuity whose tag was never listed is before the first new one.
        package var isDiscontinuity = false
    }

    /// How many segments are remembered, to recognise a list that changes its past.
    package static let memory = 64
    /// The most numbers that count as missed; a larger jump is a restart.
    package static let longestGap: Int64 = 4096
    /// By how many segments a list may be older than one before it, as copies of caches are.
    package static let longestDelay: Int64 = 3

    /// The number of the segment that comes next; nil before the first list.
    package private(set) var next: Int64?
    /// The number of the first segment since the server has last begun anew.
    package private(set) var first: Int64 = 0
    /// The discontinuity sequence number of the last segment.
    package private(set) var discontinuities: Int64 = 0
    /// The last segments, the newest last.
    private var seen: [Seen] = []

    /// Nothing was seen.
    package init() {}

    /// Continues.
    ///
    /// - Parameters:
    ///   - next: the number of the segment that comes next.
    ///   - first: the number of the first segment since the server has last begun anew.
    ///   - discontinuities: the discontinuity sequence number of the last segment.
    ///   - seen: the last segments, the newest last.
    package init(next: Int64, first: Int64, discontinuities: Int64, seen: [Seen]) {
        (self.next, self.first, self.discontinuities) = (next, first, discontinuities)
        self.seen = Array(seen.suffix(Self.memory))
    }

    /// Compares a list with what was seen, and remembers it.
    ///
    /// - Parameter list: as it was loaded.
    /// - Returns: what it brings; nil when it has nothing new.
    package mutating func take(_ list: MediaPlaylist) -> News? {
        guard !list.segments.isEmpty else { return nil }
        guard let next else {
            first = list.mediaSequence
            return remember(News(fresh: list.segments.indices), of: list)
        }
        let end = list.number(ofSegment: list.segments.count)
        let missed = max(0, list.mediaSequence - next)
        let past = places(in: list)
        // The last list is no older copy.
        let isOther = list.isEnded && end <= next && past.isEmpty || past.contains { !isSame($0, list.segments[$1]) }
        if missed > Self.longestGap || end < next - Self.longestDelay || isOther {
            (first, seen) = (list.mediaSequence, [])
            return remember(News(fresh: list.segments.indices, missed: 1, isRestart: true), of: list)
        }
        // What was missed may be listed by an older copy: it is not taken, and stays a gap.
        guard end > next else { return nil }
        let start = Int(max(0, next - list.mediaSequence))
        var news = News(fresh: start..<list.segments.count, missed: Int(missed))
        news.isDiscontinuity = missed > 0 && list.discontinuitySequence(ofSegment: start) > discontinuities
        return remember(news, of: list)
    }

    /// The places in a list of the segments that were seen.
    private func places(in list: MediaPlaylist) -> [(one: Seen, place: Int)] {
        seen.compactMap { one in
            let place = Int(clamping: one.number - list.mediaSequence)
            return list.segments.indices.contains(place) ? (one, place) : nil
        }
    }

    private func isSame(_ one: Seen, _ segment: PlaylistSegment) -> Bool {
        Seen(one.number, uri: segment.uri, nanoseconds: segment.nanoseconds) == one
    }

    private mutating func remember(_ news: News, of list: MediaPlaylist) -> News {
        for index in news.fresh.suffix(Self.memory) {
            let segment = list.segments[index]
            seen.append(Seen(list.number(ofSegment: index), uri: segment.uri, nanoseconds: segment.nanoseconds))
        }
        seen.removeFirst(max(0, seen.count - Self.memory))
        next = list.number(ofSegment: news.fresh.upperBound)
        discontinuities = list.discontinuitySequence(ofSegment: news.fresh.upperBound - 1)
        return news
    }
}
