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
}
