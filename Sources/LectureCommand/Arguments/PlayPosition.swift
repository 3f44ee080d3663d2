import LectureFormats

/// Positions and speeds of a player as they are typed.
package enum PlayPosition {
    /// Reads a position.
    ///
    /// - Parameter text: seconds, minutes and hours with colons, or a length of time: `90`, `12:30`, `1:02:03.5`,
    ///   `1h2m`.
    /// - Returns: from the start of the lecture; nil when it is none.
    package static func read(_ text: String) -> Duration? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let last = parts.last, parts.count <= 3 else { return nil }
        guard parts.count > 1 || seconds(last) != nil else { return Quantity.duration(text) }
        guard var sum = seconds(last), parts.count == 1 || sum < 60 else { return nil }
        for (part, factor) in zip(parts.dropLast().reversed(), [60.0, 3600]) {
            guard (1...6).contains(part.utf8.count), part.utf8.allSatisfy(isDigit), let number = Double(part) else {
                return nil
            }
            // Of three parts the one in the middle is minutes.
            guard factor == 3600 || parts.count == 2 || number < 60 else { return nil }
            sum += number * factor
        }
        return .seconds(sum)
    }

    /// A position as ``read(_:)`` reads it: `12:30`, `1:02:03`, with milliseconds where it has some.
    ///
    /// - Parameter position: from the start of the lecture.
    /// - Returns: the text.
    package static func text(_ position: Duration) -> String {
        let milliseconds = max(0, position.milliseconds)
        let seconds = milliseconds / 1000
        let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60)
        let tail = rest < 10 ? "0\(rest)" : "\(rest)"
        let whole = hours > 0 ? "\(hours):\(minutes < 10 ? "0" : "")\(minutes):\(tail)" : "\(minutes):\(tail)"
        let fraction = "\(1000 + milliseconds % 1000)".dropFirst()
        return milliseconds % 1000 == 0 ? whole : "\(whole).\(fraction)"
    }

    /// Reads a part of a lecture.
    ///
    /// - Parameter text: two positions with a hyphen between them.
    /// - Returns: the part; nil when it is none, or empty.
    package static func section(_ text: String) -> Range<Duration>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let start = read(String(ends[0])), let end = read(String(ends[1])), start < end else {
            return nil
        }
        return start..<end
    }

    /// Reads a speed.
    ///
    /// - Parameter text: for example `1.25`.
    /// - Returns: 0.5 to 10; nil when it is none.
    package static func speed(_ text: String) -> Double? {
        seconds(text[...]).flatMap { (0.5...10).contains($0) ? $0 : nil }
    }

    /// A decimal number without a sign, as it is typed.
    private static func seconds(_ text: Substring) -> Double? {
        guard (1...16).contains(text.utf8.count), text.utf8.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: ".") }),
            text.utf8.first.map(isDigit) == true, text.utf8.last.map(isDigit) == true
        else { return nil }
        return Double(text)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { FieldText.digit(byte) != nil }
}
