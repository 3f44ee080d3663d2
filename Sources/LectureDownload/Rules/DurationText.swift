import LectureFormats
package import LectureModel

/// Durations as people type them: `90s`, `15m`, `2h`, `3d`, `1h30m`.
package enum DurationText {
    private static let units: [(letter: UInt8, seconds: Int64)] = [
        (UInt8(ascii: "d"), 86_400), (UInt8(ascii: "h"), 3600), (UInt8(ascii: "m"), 60), (UInt8(ascii: "s"), 1),
    ]

    /// Reads a duration: numbers with a unit each, the larger unit first, no unit twice.
    ///
    /// - Parameter text: the text, for example `1h30m`; a number without a unit is refused, since it could mean any.
    /// - Returns: the duration, at most 100 years.
    /// - Throws: `LectureError(.parameter)`.
    package static func duration(_ text: String) throws(LectureError) -> Duration {
        let refusal = LectureError(
            .parameter, detail: "duration '\(text.prefix(32))'", cause: "a duration is 90s, 15m, 2h, 3d or 1h30m")
        var seconds: Int64 = 0
        var rest = text.utf8[...]
        var nextUnit = 0
        if rest.isEmpty { throw refusal }
        while !rest.isEmpty {
            let digits = rest.prefix { FieldText.digit($0) != nil }
            rest = rest.dropFirst(digits.count)
            guard case .value(let value) = FieldText.decimal(String(Substring(digits))), let letter = rest.first,
                let index = units[nextUnit...].firstIndex(where: { $0.letter == letter }), value <= 3_153_600_000
            else { throw refusal }
            rest = rest.dropFirst()
            nextUnit = index + 1
            seconds += Int64(value) * units[index].seconds
            if seconds > 3_153_600_000 { throw refusal }
        }
        return .seconds(seconds)
    }

    /// Writes a duration so that ``duration(_:)`` reads it back.
    ///
    /// - Parameter duration: the duration; parts of a second are cut off, and a negative one counts as zero.
    /// - Returns: for example `1h30m`, `0s`.
    package static func text(_ duration: Duration) -> String {
        var rest = max(0, duration.components.seconds)
        var text = ""
        for (letter, seconds) in units where rest >= seconds {
            text += "\(rest / seconds)\(Character(Unicode.Scalar(letter)))"
            rest %= seconds
        }
        return text.isEmpty ? "0s" : text
    }
}
