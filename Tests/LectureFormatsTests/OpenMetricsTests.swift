import LectureFormats
import LectureTestSupport
import Testing

@Suite struct OpenMetricsTests {
    private static func line(_ value: MetricFamily.Value, _ labels: [MetricFamily.Label] = []) -> String {
        var family = MetricFamily("a_metric", "Help.")
        family.add(value, labels)
        let text = String(decoding: OpenMetrics.text([family]), as: UTF8.self)
        let head = "# HELP a_metric Help.\n# TYPE a_metric gauge\na_metric"
        return text.hasPrefix(head) && text.hasSuffix("\n# EOF\n")
            ? String(text.unicodeScalars.dropFirst(head.unicodeScalars.count).dropLast(7)) : text
    }

    @Test(
        arguments: [
            (.integer(0), "0"), (.integer(-7), "-7"), (.integer(.max), "9223372036854775807"),
            (.integer(.min), "-9223372036854775808"), (.integer(1 << 60), "1152921504606846976"),
            (.milliseconds(0), "0"), (.milliseconds(1), "0.001"), (.milliseconds(20), "0.02"),
            (.milliseconds(300), "0.3"),
            (.milliseconds(-1_050), "-1.05"), (.milliseconds(1_700_000_000_000), "1700000000"),
            (.milliseconds(1_700_000_000_123), "1700000000.123"), (.milliseconds(.min), "-9223372036854775.808"),
        ] as [(MetricFamily.Value, String)])
    func `numbers are exact and have no exponent`(value: MetricFamily.Value, text: String) {
        #expect(Self.line(value) == " \(text)")
    }

    @Test(arguments: [
        ("", ""), ("plain", "plain"), (#"a"b"#, #"a\"b"#), (#"a\b"#, #"a\\b"#), ("a\nb", #"a\nb"#),
        ("a\r\nb", "a\r\\nb"), (#"\n"#, #"\\n"#), ("{a=\"b\"} 1\n", #"{a=\"b\"} 1\n"#), ("선형대수 é", "선형대수 é"),
        ("a\0b", "a\u{FFFD}b"), ("\"\u{301}", "\\\"\u{301}"),
    ])
    func `whatever a label's value is, it stays one value on one line`(value: String, text: String) {
        let line = Self.line(.integer(1), [.init("one", value), .init("two", "x")])
        #expect(Array(line.utf8) == Array("{one=\"\(text)\",two=\"x\"} 1".utf8))
    }

    @Test(arguments: [
        ("a", true, true), ("Az_09", true, true), ("_a", true, true), ("__a", true, false), ("", false, false),
        ("9a", false, false), ("a-b", false, false), ("a:b", false, false), ("é", false, false), ("a b", false, false),
        ("@", false, false), ("[", false, false), ("`", false, false), ("{", false, false), ("a\n", false, false),
    ])
    func `names are letters, digits and underscores`(text: String, isMetric: Bool, isLabel: Bool) {
        #expect(OpenMetrics.isMetricName(text) == isMetric)
        #expect(OpenMetrics.isLabelName(text) == isLabel)
    }

    @Test func `what would make a reader refuse the text is left out, and nothing else`() {
        var twice = MetricFamily("twice", "A \"quoted\"\nand \\escaped\\ help")
        twice.add(.integer(1))
        twice.add(.integer(2))
        twice.add(.integer(3), [.init("a", "x"), .init("a", "y")])
        twice.add(.integer(4), [.init("a-b", "x")])
        twice.add(.integer(5), [.init("a", "e\u{301}")])
        twice.add(.integer(6), [.init("a", "\u{E9}")])
        twice.add(.integer(7), [.init("a", "\u{E9}")])
        let wrong = MetricFamily("wrong-name", "h", .integer(1))
        let text = OpenMetrics.text([
            twice, wrong, MetricFamily("none", "h", nil), MetricFamily("last", "h", .integer(8)),
        ])
        let due = """
            # HELP twice A 'quoted' and /escaped/ help
            # TYPE twice gauge
            twice 1
            twice{a="e\u{301}"} 5
            twice{a="\u{E9}"} 6
            # HELP last h
            # TYPE last gauge
            last 8
            # EOF

            """
        #expect(text == Array(due.utf8))
    }

    @Test func `labels of all samples come first, and with them a sample that repeats one is left out`() {
        var family = MetricFamily("a", "h")
        family.add(.integer(1))
        family.add(.integer(2), [.init("b", "x")])
        family.add(.integer(3), [.init("store", "x")])
        let text = String(decoding: OpenMetrics.text([family], labels: [.init("store", "s")]), as: UTF8.self)
        #expect(text == "# HELP a h\n# TYPE a gauge\na{store=\"s\"} 1\na{store=\"s\",b=\"x\"} 2\n# EOF\n")
        #expect(OpenMetrics.text([]) == Array("# EOF\n".utf8))
    }

    /// Reads the samples of a text: a reader of its own, byte by byte, as the grammar of the text format has it.
    private static func samples(_ text: [UInt8]) -> [MetricFamily.Sample]? {
        var (rest, samples) = (text[...], [MetricFamily.Sample]())
        func word(_ ends: String) -> String {
            let word = rest.prefix { !ends.utf8.contains($0) }
            rest = rest.dropFirst(word.count)
            return String(decoding: word, as: UTF8.self)
        }
        while rest.first != UInt8(ascii: "#") || !rest.starts(with: "# EOF\n".utf8) {
            if rest.first == UInt8(ascii: "#") {
                rest = rest.drop { $0 != 0x0A }.dropFirst()
                continue
            }
            guard word("{ ") == "a_metric" else { return nil }
            var labels: [MetricFamily.Label] = []
            while rest.first == UInt8(ascii: labels.isEmpty ? "{" : ",") {
                rest = rest.dropFirst()
                let name = word("=")
                var value: [UInt8] = []
                rest = rest.dropFirst(2)
                while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
                    guard byte != 0x0A else { return nil }
                    guard byte == UInt8(ascii: "\\") else {
                        value.append(byte)
                        continue
                    }
                    guard let escaped = rest.popFirst() else { return nil }
                    value.append(escaped == UInt8(ascii: "n") ? 0x0A : escaped)
                }
                labels.append(MetricFamily.Label(name, String(decoding: value, as: UTF8.self)))
            }
            if !labels.isEmpty { guard rest.popFirst() == UInt8(ascii: "}") else { return nil } }
            guard rest.popFirst() == 0x20, let number = Int64(word("\n")), rest.popFirst() == 0x0A else { return nil }
            var one = MetricFamily("a_metric", "")
            one.add(.integer(number), labels)
            samples += one.samples
        }
        return rest.count == 6 ? samples : nil
    }

    @Test func `what another reader reads is what was written`() {
        var random = SeededGenerator(seed: 1_0_0)
        let letters = Array("ab\\\"\n\r\t {}=,#\u{7F}\u{1B}é수\u{301}\u{1F600}")
        for _ in 0..<2_000 {
            var family = MetricFamily("a_metric", "h")
            for number in 0..<Int64.random(in: 0...4, using: &random) {
                // The number makes each set of labels another one.
                let labels = (0..<Int.random(in: 0...3, using: &random)).map { place in
                    let text = (0..<Int.random(in: 0...6, using: &random)).compactMap { _ in
                        letters.randomElement(using: &random)
                    }
                    return MetricFamily.Label("l\(place)", String(text))
                }
                family.add(
                    .integer(Int64.random(in: .min ... .max, using: &random)),
                    labels + [MetricFamily.Label("n", "\(number)")])
            }
            let read = Self.samples(OpenMetrics.text([family]))
            #expect(read?.map(\.value) == family.samples.map(\.value))
            let bytes = { (samples: [MetricFamily.Sample]?) in samples?.map { $0.labels.map { Array($0.value.utf8) } } }
            #expect(bytes(read) == bytes(family.samples))
        }
    }
}
