/// The gaps of a captured live stream, for people.
package struct CaptureGaps: Sendable, Hashable {
    /// How many gaps a text names.
    private static let named = 5

    private let gaps: [StreamGap]

    /// Finds the gaps of the first playlist that has any.
    ///
    /// - Parameters:
    ///   - texts: the playlists as stored.
    ///   - missing: names of files that their servers do not have.
    package init(_ texts: [String], missing: Set<String>) {
        gaps =
            texts.lazy.compactMap { try? LocalPlaylist($0) }.map { $0.gaps(without: missing, isMissedOnly: true) }
            .first { !$0.isEmpty } ?? []
    }

    /// Whether there is none.
    package var isEmpty: Bool { gaps.isEmpty }

    /// How many there are, how many segments they have, and where the first ones begin and end: `1 gap of 2 segments:
    /// 0:01:04–0:01:12`.
    package var text: String {
        let segments = gaps.reduce(0) { $0 + $1.segments }
        let times = gaps.prefix(Self.named).map { "\(Self.time($0.start))–\(Self.time($0.end))" }
        let more = gaps.count > Self.named ? ", …" : ""
        let count = gaps.count == 1 ? "1 gap" : "\(gaps.count) gaps"
        return "\(count) of \(segments) \(segments == 1 ? "segment" : "segments"): "
            + "\(times.joined(separator: ", "))\(more)"
    }

    /// A place in the stream: hours, minutes and seconds.
    private static func time(_ place: Duration) -> String {
        let seconds = place.components.seconds
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(seconds / 3600):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }
}
