/// One kind of figure with all its samples. Every family is a gauge: a file that is written now and then has no
/// counters of one process's life.
package struct MetricFamily: Hashable, Sendable {
    /// A figure.
    package enum Value: Hashable, Sendable {
        /// A number of things, or of bytes.
        case integer(Int64)
        /// A time since 1970, or a length of time, in milliseconds; written in seconds.
        case milliseconds(Int64)
    }

    /// What distinguishes a figure from others of its family.
    package struct Label: Hashable, Sendable {
        /// The name: ``OpenMetrics/isLabelName(_:)``.
        package let name: String
        /// Any text.
        package let value: String

        /// Creates a label.
        ///
        /// - Parameters:
        ///   - name: the name.
        ///   - value: any text.
        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    /// One figure.
    package struct Sample: Hashable, Sendable {
        /// Its labels, in the order in which they are written.
        package let labels: [Label]
        /// Its value.
        package let value: Value
    }

    /// The name: ``OpenMetrics/isMetricName(_:)``.
    package let name: String
    /// What it is, as a sentence.
    package let help: String
    /// The figures, in the order in which they are written.
    package private(set) var samples: [Sample] = []

    /// Creates a family without samples.
    ///
    /// - Parameters:
    ///   - name: with its base unit at the end, `_bytes` or `_seconds`, where it has one.
    ///   - help: a sentence.
    package init(_ name: String, _ help: String) { (self.name, self.help) = (name, help) }

    /// Creates a family of one figure without labels.
    ///
    /// - Parameters:
    ///   - name: as for ``init(_:_:)``.
    ///   - help: a sentence.
    ///   - value: the figure; nil where it is unknown.
    package init(_ name: String, _ help: String, _ value: Value?) {
        self.init(name, help)
        if let value { add(value) }
    }

    /// Adds a figure.
    ///
    /// - Parameters:
    ///   - value: the figure.
    ///   - labels: what distinguishes it from the others.
    package mutating func add(_ value: Value, _ labels: [Label] = []) {
        samples.append(Sample(labels: labels, value: value))
    }
}

/// Figures as text for Prometheus: OpenMetrics 1.0 (the ABNF in its section "Overall Structure"), written so that a
/// reader of Prometheus's text format 0.0.4, such as node_exporter's textfile collector, reads the same.
///
/// To the older format `# EOF` is a comment; it knows no `# UNIT` and no type `info`, and in a help text no escaped
/// quote. So none of them is used.
package enum OpenMetrics {
    /// Writes families.
    ///
    /// One wrong line makes a reader refuse the whole text. So a family is left out if its name is not one, and a
    /// sample if one of its labels has a wrong name or comes twice, or if its labels are those of a sample before it. A
    /// family without samples is left out, too.
    ///
    /// - Parameters:
    ///   - families: in the order in which they are written; their names differ.
    ///   - labels: added to every sample, before its own.
    /// - Returns: the text in UTF-8, with its last line.
    package static func text(_ families: [MetricFamily], labels: [MetricFamily.Label] = []) -> [UInt8] {
        var bytes: [UInt8] = []
        for family in families where isMetricName(family.name) {
            let head = bytes.count
            bytes += "# HELP \(family.name) \(helpText(family.help))\n# TYPE \(family.name) gauge\n".utf8
            let start = bytes.count
            var known: Set<[UInt8]> = []
            for sample in family.samples {
                let all = labels + sample.labels
                let names = Set(all.map(\.name))
                guard names.count == all.count, names.allSatisfy(isLabelName) else { continue }
                let place = bytes.count
                append(family.name, all, to: &bytes)
                // A copy: a slice would make each following line copy the whole text.
                if known.insert(Array(bytes[place...])).inserted {
                    append(sample.value, to: &bytes)
                } else {
                    bytes.removeSubrange(place...)
                }
            }
            if bytes.count == start { bytes.removeSubrange(head...) }
        }
        bytes += "# EOF\n".utf8
        return bytes
    }

    /// Whether a text is the name of a metric: ASCII letters, digits and `_`, no digit first. Colons are for the rules
    /// of a server (OpenMetrics, "Naming").
    ///
    /// - Parameter text: the candidate.
    /// - Returns: true for a name.
    package static func isMetricName(_ text: String) -> Bool {
        guard let first = text.utf8.first, FieldText.digit(first) == nil else { return false }
        return text.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || FieldText.digit(byte) != nil || (0x61...0x7A).contains(byte | 0x20)
        }
    }

    /// Whether a text is the name of a label: as of a metric, and not one of those that begin with `__`, which are a
    /// server's own.
    ///
    /// - Parameter text: the candidate.
    /// - Returns: true for a name.
    package static func isLabelName(_ text: String) -> Bool { isMetricName(text) && !text.utf8.starts(with: "__".utf8) }

    /// A help text in which no character needs an escape: the two formats escape differently.
    private static func helpText(_ text: String) -> String {
        let bytes = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "\\"): UInt8(ascii: "/")
            case UInt8(ascii: "\""): UInt8(ascii: "'")
            case 0..<0x20, 0x7F: UInt8(ascii: " ")
            default: byte
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func append(_ name: String, _ labels: [MetricFamily.Label], to bytes: inout [UInt8]) {
        bytes += name.utf8
        guard !labels.isEmpty else { return }
        var separator = UInt8(ascii: "{")
        for label in labels {
            bytes.append(separator)
            bytes += label.name.utf8
            bytes += "=\"".utf8
            append(escaping: label.value, to: &bytes)
            bytes.append(UInt8(ascii: "\""))
            separator = UInt8(ascii: ",")
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Three characters have an escape, and one has none: to a reader in Go or C a zero ends the text.
    private static func append(escaping text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"), UInt8(ascii: "\""): bytes += [UInt8(ascii: "\\"), byte]
            case 0x0A: bytes += "\\n".utf8
            case 0: bytes += "\u{FFFD}".utf8
            default: bytes.append(byte)
            }
        }
    }

    /// A space, the value, and the end of the line. A number has no exponent and no rounding.
    private static func append(_ value: MetricFamily.Value, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: " "))
        switch value {
        case .integer(let number): DecimalText.append(number, to: &bytes)
        case .milliseconds(let number):
            let (seconds, rest) = number.magnitude.quotientAndRemainder(dividingBy: 1000)
            if number < 0 { bytes.append(UInt8(ascii: "-")) }
            DecimalText.append(Int64(seconds), to: &bytes)
            if rest > 0 {
                var digits = Array(".\(1000 + rest)".utf8)
                digits.remove(at: 1)
                while digits.last == UInt8(ascii: "0") { digits.removeLast() }
                bytes += digits
            }
        }
        bytes.append(0x0A)
    }
}
