import LectureFormats

/// The lexical forms of a manifest's attributes (ISO/IEC 23009-1 annex B, XML Schema part 2).
enum DASHText {
    /// The text for an error: short, one line, printable.
    static func quoted(_ text: some StringProtocol) -> String {
        let shown = text.unicodeScalars.prefix(DASHBounds.quoted).map { scalar in
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.properties.generalCategory == .format
                || scalar.value == 0x2028 || scalar.value == 0x2029
                ? "?" : String(scalar)
        }
        return "'\(shown.joined())'"
    }

    /// The text without white space at both ends (XML Schema part 2 section 4.3.6).
    static func trimmed(_ text: String) -> Substring {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        let bytes = text.utf8
        guard let first = bytes.firstIndex(where: { !isSpace($0) }),
            let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return text[first..<bytes.index(after: last)]
    }

    /// An unsigned number of an attribute, below 2^63.
    ///
    /// - Returns: the number, nil when there is no attribute.
    static func number(_ element: XMLElement, _ name: String) throws(DASHError) -> UInt64? {
        guard let text = element[name] else { return nil }
        guard case .value(let value) = FieldText.decimal(trimmed(text)) else {
            throw DASHError(.invalid, "\(element.name)@\(name) is no usable number: \(quoted(text))")
        }
        return value
    }

    /// A number of an attribute that may be negative.
    static func signedNumber(_ element: XMLElement, _ name: String) throws(DASHError) -> Int64? {
        guard let text = element[name] else { return nil }
        let digits = trimmed(text)
        let isNegative = digits.utf8.first == UInt8(ascii: "-")
        guard case .value(let value) = FieldText.decimal(isNegative ? digits.dropFirst() : digits),
            let number = Int64(exactly: value)
        else { throw DASHError(.invalid, "\(element.name)@\(name) is no usable number: \(quoted(text))") }
        return isNegative ? -number : number
    }

    /// A duration of an attribute (XML Schema part 2 section 3.2.6), such as `PT1H2M3.5S`.
    ///
    /// - Returns: microseconds, nil when there is no attribute.
    static func duration(_ element: XMLElement, _ name: String) throws(DASHError) -> UInt64? {
        guard let text = element[name] else { return nil }
        guard let value = microseconds(ofDuration: trimmed(text)) else {
            throw DASHError(.invalid, "\(element.name)@\(name) is no usable duration: \(quoted(text))")
        }
        return value
    }

    /// Reads a duration.
    ///
    /// - Parameter text: `PnYnMnDTnHnMn.nS`; years and months, whose length varies, may only be zero.
    /// - Returns: microseconds, nil for another form, a negative duration, and one above a hundred years.
    static func microseconds(ofDuration text: Substring) -> UInt64? {
        var rest = text.utf8[...]
        guard rest.popFirst() == UInt8(ascii: "P"), !rest.isEmpty else { return nil }
        var units: [(letter: UInt8, seconds: UInt64)] = [
            (UInt8(ascii: "Y"), 0), (UInt8(ascii: "M"), 0), (UInt8(ascii: "D"), 86_400),
        ]
        var total: UInt64 = 0
        var isTime = false
        while let byte = rest.first {
            if byte == UInt8(ascii: "T"), !isTime {
                rest.removeFirst()
                isTime = true
                units = [(UInt8(ascii: "H"), 3_600), (UInt8(ascii: "M"), 60), (UInt8(ascii: "S"), 1)]
                if rest.isEmpty { return nil }
                continue
            }
            guard let value = microseconds(&rest), let letter = rest.popFirst(),
                let index = units.firstIndex(where: { $0.letter == letter }),
                value.isWhole || letter == UInt8(ascii: "S"), units[index].seconds > 0 || value.number == 0
            else { return nil }
            let (product, overflow) = value.number.multipliedReportingOverflow(by: units[index].seconds)
            let (sum, carry) = total.addingReportingOverflow(product)
            guard !overflow, !carry, sum <= DASHBounds.seconds * 1_000_000 else { return nil }
            total = sum
            units.removeSubrange(...index)
        }
        return total
    }

    /// A decimal number in millionths; further digits are dropped.
    private static func microseconds(_ rest: inout Substring.UTF8View) -> (number: UInt64, isWhole: Bool)? {
        let digits = Substring(rest.prefix { FieldText.digit($0) != nil })
        guard case .value(let whole) = FieldText.decimal(digits), whole <= DASHBounds.seconds else { return nil }
        rest = rest.dropFirst(digits.utf8.count)
        guard rest.first == UInt8(ascii: ".") else { return (whole * 1_000_000, true) }
        let fraction = rest.dropFirst().prefix { FieldText.digit($0) != nil }
        guard !fraction.isEmpty else { return nil }
        rest = rest.dropFirst(1 + fraction.count)
        let digitsOfMillionths = Array(fraction.prefix(6)).map { UInt64($0) - 0x30 }
        let millionths = (0..<6).reduce(UInt64(0)) { sum, index in
            sum * 10 + (index < digitsOfMillionths.count ? digitsOfMillionths[index] : 0)
        }
        return (whole * 1_000_000 + millionths, false)
    }

    /// A frame rate, `25` or `30000/1001` (ISO/IEC 23009-1 section 5.3.7.2).
    ///
    /// - Parameter text: the value.
    /// - Returns: pictures in 1,000 seconds, rounded; nil for another form, 0, and above a million pictures a second.
    static func frameRate(_ text: String) -> UInt64? {
        let parts = trimmed(text).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, case .value(let frames) = FieldText.decimal(first) else { return nil }
        var seconds: UInt64 = 1
        if parts.count == 2 {
            guard case .value(let value) = FieldText.decimal(parts[1]) else { return nil }
            seconds = value
        }
        guard (1...1_000_000_000).contains(frames), (1...1_000_000).contains(seconds) else { return nil }
        let rate = (frames * 1_000 + seconds / 2) / seconds
        return (1...1_000_000_000).contains(rate) ? rate : nil
    }

    /// A range of bytes of an attribute, `first-last` with both included (ISO/IEC 23009-1 section 5.3.9.2.2).
    ///
    /// - Returns: the range, nil when there is no attribute.
    static func range(_ element: XMLElement, _ name: String) throws(DASHError) -> ByteRange? {
        guard let text = element[name] else { return nil }
        let parts = trimmed(text).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, case .value(let first) = FieldText.decimal(parts[0]),
            case .value(let last) = FieldText.decimal(parts[1]), let range = ByteRange(start: first, end: last + 1)
        else { throw DASHError(.invalid, "\(element.name)@\(name) is no range of bytes: \(quoted(text))") }
        return range
    }
}

/// Times in units of a timescale.
enum DASHTime {
    /// A time in microseconds, rounded down; nil when it is above a hundred years.
    static func microseconds(_ ticks: UInt64, timescale: UInt64) -> UInt64? {
        converted(ticks, from: timescale, to: 1_000_000, roundsUp: false)
    }

    /// Microseconds in units of a timescale, rounded up; nil when they do not fit.
    static func ticks(_ microseconds: UInt64, timescale: UInt64) -> UInt64? {
        converted(microseconds, from: 1_000_000, to: timescale, roundsUp: true)
    }

    /// A time in nanoseconds, rounded down; nil when it does not fit.
    static func nanoseconds(_ ticks: UInt64, timescale: UInt64) -> Int64? {
        converted(ticks, from: timescale, to: 1_000_000_000, roundsUp: false).flatMap { Int64(exactly: $0) }
    }

    private static func converted(_ value: UInt64, from: UInt64, to: UInt64, roundsUp: Bool) -> UInt64? {
        let product = value.multipliedFullWidth(by: to)
        guard from > 0, product.high < from else { return nil }
        let (quotient, remainder) = from.dividingFullWidth(product)
        guard quotient < UInt64(Int64.max) else { return nil }
        return roundsUp && remainder > 0 ? quotient + 1 : quotient
    }
}
