import LectureFormats

/// Playlists as the RTMP module of nginx writes them.
///
/// It computes durations without a sign: a last fragment whose only sound comes before its picture is written with
/// 204,963,823,041,217 s, which no player accepts. Such a fragment has a picture or two.
enum NginxPlaylist {
    /// More seconds than any fragment has.
    private static let limit = 3600.0
    /// What a fragment with an impossible duration gets, in seconds: one picture at 25 a second.
    private static let shortest = "0.040"

    /// The playlist with durations that can be.
    ///
    /// - Parameters:
    ///   - text: as nginx has written it.
    ///   - isOver: whether the session is over, so that its end mark belongs there.
    /// - Returns: the same lines; another `EXTINF` for what cannot be, and a `EXT-X-TARGETDURATION` that fits
    ///   (RFC 8216 section 4.3.3.1).
    static func corrected(_ text: String, isOver: Bool) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var longest = 1.0
        for (place, line) in lines.enumerated() {
            guard line.hasPrefix("#EXTINF:") else { continue }
            let duration = line.dropFirst(8).split(separator: ",").first.flatMap { Double($0) }
            if let duration, (0...limit).contains(duration) {
                longest = max(longest, duration)
            } else {
                lines[place] = "#EXTINF:\(shortest),"
            }
        }
        let target = "#EXT-X-TARGETDURATION:"
        for (place, line) in lines.enumerated() where line.hasPrefix(target) {
            let written = Double(line.dropFirst(target.count)) ?? .infinity
            if !(longest.rounded()...limit).contains(written) { lines[place] = target + "\(Int(longest.rounded()))" }
        }
        let corrected = lines.joined(separator: "\n")
        return isOver && !corrected.hasSuffix("#EXT-X-ENDLIST\n") ? corrected + "#EXT-X-ENDLIST\n" : corrected
    }

    /// The end of a long playlist, for viewers: nginx lists all fragments of a session.
    ///
    /// - Parameters:
    ///   - text: as nginx has written it.
    ///   - count: how many fragments are listed at most.
    /// - Returns: the same lines without those of earlier fragments, and `EXT-X-MEDIA-SEQUENCE` that fits (RFC 8216
    ///   section 4.3.3.2).
    static func window(_ text: String, count: Int) -> String {
        let parsed = Parsed(text)
        let left = parsed.fragments.count - count
        guard left > 0 else { return text }
        let head = parsed.head.map { line in
            line.hasPrefix(sequence) ? sequence + "\((Int(line.dropFirst(sequence.count)) ?? 0) + left)" : line
        }
        return (head + parsed.fragments[left...].flatMap(\.lines) + parsed.rest).joined(separator: "\n")
    }

    /// All fragments of a room's sessions, one session after another, for programs that keep the lecture: a playlist
    /// of the type EVENT, which only grows (RFC 8216 section 4.3.3.5).
    ///
    /// - Parameters:
    ///   - sessions: the numbers of the sessions, and their playlists as nginx has written them, in order. A fragment
    ///     is named `SESSION-NUMBER.ts`.
    ///   - fragment: how long fragments are to be. One may take twice as long, up to the next key frame.
    ///   - isOver: whether the room is over.
    /// - Returns: the playlist.
    static func whole(_ sessions: [(number: Int, text: String)], fragment: Duration, isOver: Bool) -> String {
        var target = Int((2 * Double(fragment.milliseconds) / 1000).rounded(.up))
        var body = ""
        for session in sessions {
            let fragments = Parsed(corrected(session.text, isOver: false)).fragments
            if !body.isEmpty && !fragments.isEmpty { body += "#EXT-X-DISCONTINUITY\n" }
            for fragment in fragments {
                guard let name = fragment.lines.last else { continue }
                for line in fragment.lines.dropLast() {
                    if line.hasPrefix("#EXTINF:"), let seconds = Double(line.dropFirst(8).prefix { $0 != "," }) {
                        target = max(target, Int(seconds.rounded()))
                    }
                    body += line + "\n"
                }
                body += "\(session.number)-\(name)\n"
            }
        }
        let head =
            "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-PLAYLIST-TYPE:EVENT\n\(sequence)0\n#EXT-X-TARGETDURATION:\(target)\n"
        return head + body + (isOver ? "#EXT-X-ENDLIST\n" : "")
    }

    private static let sequence = "#EXT-X-MEDIA-SEQUENCE:"

    /// The lines of a playlist by what they belong to.
    private struct Parsed {
        struct Fragment {
            var lines: [String]
        }
        /// Those before the first fragment.
        var head: [String] = []
        /// Those of a fragment; its name is the last one.
        var fragments: [Fragment] = []
        /// Those behind the last fragment.
        var rest: [String] = []

        init(_ text: String) {
            var pending: [String] = []
            for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
                let isOfFragment = line.hasPrefix("#EXTINF:") || line == "#EXT-X-DISCONTINUITY"
                if fragments.isEmpty && pending.isEmpty && line.hasPrefix("#") && !isOfFragment {
                    head.append(line)
                    continue
                }
                pending.append(line)
                guard !line.isEmpty, !line.hasPrefix("#") else { continue }
                fragments.append(Fragment(lines: pending))
                pending = []
            }
            rest = pending
        }
    }
}
