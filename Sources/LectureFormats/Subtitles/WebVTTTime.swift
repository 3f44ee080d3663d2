/// Times of cues (WebVTT, W3C, section 4.1).
package enum WebVTTTime {
    /// A time as `00:01:02.500`.
    ///
    /// - Parameter milliseconds: since the start of the media; less than zero is zero.
    /// - Returns: hours of two digits or more, minutes, seconds and milliseconds.
    package static func text(_ milliseconds: Int64) -> String {
        let time = max(0, milliseconds)
        let clock = [time / 3_600_000, time / 60_000 % 60, time / 1000 % 60].map { DecimalText.padded($0, 2) }
        return "\(clock.joined(separator: ":")).\(DecimalText.padded(time % 1000, 3))"
    }
}
