package import LectureModel

/// A playlist or manifest that was received.
package struct StreamDocument: Sendable {
    /// Its text.
    package var text: StreamText
    /// The URL that answered it: its references are relative to this.
    package var url: String

    /// Creates a document.
    ///
    /// - Parameters:
    ///   - text: its text.
    ///   - url: the URL that answered it.
    package init(text: StreamText, url: String) { (self.text, self.url) = (text, url) }
}

/// What follows from the playlists that were received.
package enum StreamReading: Sendable, Equatable {
    /// More playlists are needed: those of the chosen variant and renditions.
    case needs([ResourceRequest])
    /// All is known.
    case plan(StreamPlan)
    /// More is still to come: the playlists of a live stream that is captured.
    case live(LiveStreams)
}

/// The files of an adaptive lecture, and the playlists that play them.
package struct StreamPlan: Sendable, Equatable {
    /// The files in the order of play: keys, initialisation sections, segments. Their names are those in the playlists.
    package var requests: [ResourceRequest] = []
    /// The playlists, the one to begin with first. A player asks for them as `StreamPlaylistPath.name(_:)`.
    package var playlists: [String] = []
    /// What is known of the lecture.
    package var facts = ContentFacts()

    /// Creates an empty plan.
    package init() {}

    /// Whether stored playlists are those of this plan. One that its files have completed cannot be compared.
    ///
    /// - Parameter stored: the playlists.
    /// - Returns: true for the same playlists.
    package func matches(_ stored: [String]) -> Bool {
        stored.count == playlists.count
            && zip(stored, playlists).allSatisfy { $0 == $1 || StreamNote.all(in: $0).contains(.closed) }
    }

    /// Compares all but the facts.
    package static func == (left: Self, right: Self) -> Bool {
        left.requests == right.requests && left.playlists == right.playlists
    }
}

/// Names files of a stream by their positions: nothing of a name comes from a server but a known suffix.
package enum StreamFileName {
    /// The suffixes that a name may have; those of segments that players expect.
    package static let suffixes: Set<String> = [
        "ts", "m2ts", "mp4", "m4s", "m4a", "m4v", "cmfv", "cmfa", "cmft", "aac", "ac3", "ec3", "mp3", "vtt", "webvtt",
        "ttml",
    ]

    /// The name of a file.
    ///
    /// - Parameters:
    ///   - position: its position.
    ///   - url: its URL.
    ///   - standard: the suffix without a known one.
    /// - Returns: `12.ts`, for instance.
    static func name(_ position: Int, url: String, standard: String) -> String {
        let path = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let last = path.split(separator: UInt8(ascii: "/")).last ?? Substring("").utf8
        let suffix = last.split(separator: UInt8(ascii: ".")).last.map { String(Substring($0)).lowercased() } ?? ""
        return "\(position).\(suffixes.contains(suffix) ? suffix : standard)"
    }
}
