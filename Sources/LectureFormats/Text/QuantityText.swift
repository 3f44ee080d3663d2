/// Numbers with units, as people type them. All arithmetic is checked: a number that overflows is refused.
package enum QuantityText {
    /// Reads a length of time: parts of a whole number and a unit (`s`, `m`, `h`, `d`, `w`), from large to small; a
    /// bare number is seconds.
    ///
    /// - Parameter text: for example `90`, `15m`, `1h30m`.
    /// - Returns: the length, at least a second, or nil.
    package static func duration(_ text: String) -> Duration? {
        if let seconds = digits(text[...]) { return seconds > 0 ? .seconds(seconds) : nil }
        var total: Int64 = 0
        var rest = text[...]
        var previous = Int64.max
        while !rest.isEmpty {
            let number = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest[number.endIndex...]
            guard let count = digits(number), let unit = rest.first.flatMap(secondsPerUnit), unit < previous else {
                return nil
            }
            rest = rest.dropFirst()
            previous = unit
            let (product, tooLarge) = count.multipliedReportingOverflow(by: unit)
            let (sum, overflow) = total.addingReportingOverflow(product)
            guard !tooLarge, !overflow else { return nil }
            total = sum
        }
        return total > 0 ? .seconds(total) : nil
    }

    /// Reads a number of bytes: a number with at most three decimals and an optional unit `K`, `M`, `G`, `T` (powers
    /// of 1024), with or without `B` or `iB`.
    ///
    /// - Parameter text: for example `157286400`, `150M`, `1.5GiB`.
    /// - Returns: the bytes, rounded down, or nil.
    package static func byteCount(_ text: String) -> Int64? {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let factor = factor(text[number.endIndex...]) else { return nil }
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = digits(parts[0]) else { return nil }
        let (bytes, overflow) = whole.multipliedReportingOverflow(by: factor)
        guard !overflow else { return nil }
        guard parts.count == 2 else { return bytes }
        guard (1...3).contains(parts[1].count), let decimals = digits(parts[1]) else { return nil }
        let scale: Int64 = [10, 100, 1000][parts[1].count - 1]
        let fraction = factor / scale * decimals + factor % scale * decimals / scale
        let (sum, tooLarge) = bytes.addingReportingOverflow(fraction)
        return tooLarge ? nil : sum
    }

    private static func digits(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { FieldText.digit($0) != nil } ? Int64(text) : nil
    }

    private static func secondsPerUnit(_ letter: Character) -> Int64? {
        switch letter {
        case "s": 1
        case "m": 60
        case "h": 3600
        case "d": 86_400
        case "w": 604_800
        default: nil
        }
    }

    private static func factor(_ unit: Substring) -> Int64? {
        switch unit.lowercased() {
        case "", "b": 1
        case "k", "kb", "kib": 1 << 10
        case "m", "mb", "mib": 1 << 20
        case "g", "gb", "gib": 1 << 30
        case "t", "tb", "tib": 1 << 40
        default: nil
        }
    }
}
