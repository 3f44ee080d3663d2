import LectureModel

extension StreamOutline {
    /// The outline for people, a line for each variant and one for what would be kept.
    var lines: [String] {
        var lines = variants.map { variant in
            let mark = variant.number == chosen ? "*" : " "
            let size = variant.width.flatMap { width in variant.height.map { "\(width)x\($0)" } } ?? "unknown size"
            let rate = variant.bandwidth.map { ", \(Self.bitRate($0))" } ?? ""
            return "\(mark) variant \(variant.number): \(size)\(rate)"
        }
        if !audioLanguages.isEmpty { lines.append("  audio: \(audioLanguages.joined(separator: ", "))") }
        if !subtitleLanguages.isEmpty { lines.append("  subtitles: \(subtitleLanguages.joined(separator: ", "))") }
        if refusal != nil { return lines }
        let time = duration.map { ", \(HumanText.duration(seconds: Int64($0 / .seconds(1))))" } ?? ""
        let size = estimatedBytes.map { ", about \(HumanText.byteCount($0))" } ?? ""
        if isLive { lines.append("  live: what is listed now; more is kept as it comes") }
        lines.append("  \(segments) segments in \(files) files\(time)\(size)")
        return lines
    }

    private static func bitRate(_ bits: Int) -> String {
        bits >= 1_000_000
            ? "\(bits / 1_000_000).\(bits % 1_000_000 / 100_000) Mbit/s" : "\(max(1, bits / 1000)) kbit/s"
    }
}
