import LectureFormats
import LectureModel

extension ParsedCommand {
    /// What the options select of an adaptive lecture's streams; nil without any of them.
    var streamSelection: StreamSelection? {
        var selection = StreamSelection()
        let names = ["variant", "max-height", "max-bandwidth", "audio", "subtitles"]
        guard flag("allow-gaps") || flag("capture") || names.contains(where: { text($0) != nil }) else { return nil }
        selection.variant = text("variant").flatMap(StreamSelection.variant) ?? .best
        selection.maxHeight = integer("max-height")
        selection.maxBandwidth = text("max-bandwidth").flatMap(BitRate.bits)
        selection.audioLanguages = languages("audio")
        selection.subtitleLanguages = languages("subtitles")
        selection.allowsGaps = flag("allow-gaps")
        if flag("capture") { selection.capture = duration("capture").map { .duration($0) } ?? .untilEnd }
        return selection
    }

    private func languages(_ name: String) -> [String] {
        (text(name) ?? "").split(separator: ",").map { String(FieldText.trimmed($0)) }.filter { !$0.isEmpty }
    }
}

/// Bits per second as users write them.
package enum BitRate {
    /// Reads `800000`, `800K`, `2M`, `1.5M`; powers of 1000, as in playlists.
    ///
    /// - Parameter text: the value.
    /// - Returns: bits per second; nil for anything else and for 0.
    package static func bits(_ text: String) -> Int? {
        var digits = Substring(text)
        var scale = 1
        switch digits.last {
        case "K", "k": scale = 1_000
        case "M", "m": scale = 1_000_000
        case "G", "g": scale = 1_000_000_000
        default: break
        }
        if scale > 1 { digits = digits.dropLast() }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 9 }),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }), let whole = Int(parts[0])
        else { return nil }
        var value = whole * scale
        if parts.count == 2, var fraction = Int(parts[1]) {
            guard scale > 1 else { return nil }
            fraction *= scale
            for _ in parts[1] { fraction /= 10 }
            value += fraction
        }
        return value > 0 ? value : nil
    }
}
