import LectureModel
import LectureTestSupport
import LectureUpkeep
import Testing

/// Everything that a rule may say, in every spelling, and everything that it may not.
@Suite struct RetentionRuleTableTests {
    private static let durations: [(text: String, seconds: Int64)] = [
        ("1", 1), ("90", 90), ("1s", 1), ("90s", 90), ("1m", 60), ("15m", 900), ("1h", 3600), ("12h", 43_200),
        ("1d", 86_400), ("30d", 2_592_000), ("1w", 604_800), ("2w", 1_209_600), ("1d12h", 129_600),
        ("1h30m", 5400), ("2w3d", 1_468_800), ("1w1d1h1m1s", 694_861), ("0d1s", 1), ("007d", 604_800),
        ("1D", 86_400), ("1W2D", 777_600), ("5M", 300), ("36500d", 3_153_600_000),
    ]

    @Test(arguments: durations) func `a length of time has one meaning wherever it stands`(
        text: String, seconds: Int64
    ) throws {
        let time = Duration.seconds(seconds)
        for course in [nil, "M"] as [String?] {
            let end = course.map { " for course \($0)" } ?? ""
            let play = try RetentionRule("keep \(text) after play\(end)")
            #expect(play.kind == .keepAfterPlay(time) && play.course == course)
            let download = try RetentionRule("\tKeep  \(text)\nAFTER  downLoad\(end)  ")
            #expect(download.kind == .keepAfterDownload(time) && download.course == course)
        }
    }

    @Test(arguments: [
        "0", "0s", "0d0h", "d", "-1d", "+1d", "1.5d", "1,5d", "1d1d", "1h1d", "1s1m", "1m1w", "1y", "1mo", "1d12", "१d",
        "1d-1h", "9223372036854775807w", "9223372036854775808", "15250284452471w1w", "forever", "30days", "∞", "d1",
        "1dd",
    ])
    func `what is no length of time is named as it was written`(text: String) {
        for end in [" after play", " after download for course M", ""] {
            let rule = "keep \(text)\(end)"
            let error = #expect(throws: LectureError.self) { try RetentionRule(rule) }
            #expect(error?.code == .parameter && error?.detail == "'\(rule)', character 6")
            #expect(error?.cause == "'\(text)' is no length of time such as 30d, 12h or 2w")
        }
    }

    @Test func `every spelling of a unit of bytes is the same power of 1024`() throws {
        for (power, letter) in ["", "k", "m", "g", "t"].enumerated() {
            for ending in letter.isEmpty ? ["", "b"] : ["", "b", "ib"] {
                let unit = letter + ending
                for spelling in Set([
                    unit, unit.uppercased(), letter.uppercased() + ending, letter + ending.uppercased(),
                ]) {
                    for space in ["", " ", "   "] {
                        let rule = try RetentionRule("never below 7\(space)\(spelling)")
                        #expect(rule.kind == .neverBelow(7 << (10 * Int64(power))), "\(rule.text)")
                        #expect(rule.course == nil)
                    }
                }
            }
        }
    }

    private static let sizes: [(text: String, bytes: Int64)] = [
        ("1.5K", 1536), ("0.5M", 524_288), ("1.25G", 1_342_177_280), ("0.001K", 1), ("0.999K", 1022),
        ("1.001TiB", 1_100_611_139_403), ("1.0B", 1), ("1.9B", 1), ("1.9", 1), ("007M", 7 << 20),
        ("8388607T", 8_388_607 << 40), ("9223372036854775807", .max), ("9223372036854775807B", .max),
        ("2.500 GiB", 5 << 29), ("0.25 tib", 1 << 38),
    ]

    @Test(arguments: sizes) func `a size is rounded down to bytes`(text: String, bytes: Int64) throws {
        #expect(try RetentionRule("never below \(text)").kind == .neverBelow(bytes))
    }

    @Test(arguments: [
        "0", "0.0", "0G", "0.5", "0.5B", "0.0001G", "1.", "1.G", ".5G", "1.2.3G", "1P", "1GBi", "1GG", "G", "-1G",
        "+1G",
        "1,5G", "1e3", "８G", "9223372036854775808", "8388608T", "half", "20%", "1_000", "0x10",
    ])
    func `what is no size is named as it was written`(text: String) {
        let error = #expect(throws: LectureError.self) { try RetentionRule("never below \(text)") }
        #expect(error?.code == .parameter && error?.detail == "'never below \(text)', character 13")
        #expect(error?.cause == "'\(text)' is no size such as 20GiB or '500 MiB'")
    }

    @Test(arguments: [
        ("never below 1 P", 15, "P"), ("never below 20 000", 16, "000"), ("never below 1 5GiB", 15, "5GiB"),
        ("never below 1 .5GiB", 15, ".5GiB"), ("never below 1 GiB x", 19, "x"), ("never below 1GiB GiB", 18, "GiB"),
        ("never below 1 and", 15, "and"), ("never below 1M for course M", 16, "for"),
    ])
    func `two numbers are never read as one, and nothing follows a size`(text: String, place: Int, word: String) {
        let error = #expect(throws: LectureError.self) { try RetentionRule(text) }
        #expect(error?.detail == "'\(text)', character \(place)")
        #expect(error?.cause == "'\(word)' is too much; the disk is the same for all courses")
    }

    /// What stands before a word, the words that may stand there, and what completes the rule.
    private static let places: [(before: String, known: [String], after: String)] = [
        ("", ["keep"], " 1d after play"), ("", ["never"], " below 1G"), ("", ["drop"], " what has expired"),
        ("keep 1d ", ["after"], " play"), ("keep 1d after ", ["play", "download"], ""),
        ("keep 1d after ", ["download", "play"], " for course M"), ("never ", ["below"], " 1G"),
        ("drop ", ["what"], " has expired"), ("drop what ", ["has"], " expired"),
        ("drop what has ", ["expired"], " for course M"), ("drop what has expired ", ["for"], " course M"),
        ("keep 1d after play for ", ["course"], " M"), ("drop what has expired for ", ["course"], " 'M'"),
    ]

    /// All words that one slip of a finger makes of a word.
    private static func slips(of word: String) -> Set<String> {
        let letters = Array(word)
        var slips: Set<String> = []
        for place in letters.indices {
            var other = letters
            other.remove(at: place)
            slips.insert(String(other))
            other = letters
            other[place] = "x"
            slips.insert(String(other))
            other = letters
            other.insert("q", at: place)
            slips.insert(String(other))
            guard place > 0 else { continue }
            other = letters
            other.swapAt(place, place - 1)
            slips.insert(String(other))
        }
        return slips.subtracting([word])
    }

    @Test(arguments: places) func `one slip in any word is found at its place, and the word is offered`(
        before: String, known: [String], after: String
    ) throws {
        let word = known[0]
        _ = try RetentionRule(before + word + after)
        _ = try RetentionRule((before + word).uppercased() + after)
        for slip in Self.slips(of: word) {
            for written in [slip, slip.uppercased()] {
                let text = before + written + after
                let error = #expect(throws: LectureError.self) { try RetentionRule(text) }
                #expect(error?.detail == "'\(text)', character \(before.count + 1)")
                let cause = error?.cause ?? ""
                #expect(cause.hasPrefix("'\(written)' is not '"), "\(cause)")
                #expect(cause.hasSuffix(" (did you mean '\(word)'?)"), "\(cause)")
            }
        }
        let far = #expect(throws: LectureError.self) { try RetentionRule(before + "zzzzzz" + after) }
        #expect(far?.cause.contains("did you mean") == false && far?.cause.contains("'\(word)'") == true)
    }

    @Test(arguments: [
        ("keep 1d", 8, "'after' is missing"), ("keep 1d   ", 11, "'after' is missing"),
        ("keep 1d after", 14, "'play' or 'download' is missing"), ("never", 6, "'below' is missing"),
        ("  ", 3, "'keep' or 'never' or 'drop' is missing"), ("drop", 5, "'what' is missing"),
        ("drop what has", 14, "'expired' is missing"), ("drop what has expired for", 26, "'course' is missing"),
        ("keep 1d after play for course  ", 32, "the name of the course is missing"),
        ("keep 1d after play for course \"\"", 31, "the name of the course is missing"),
        ("never below ", 13, "'' is no size such as 20GiB or '500 MiB'"),
        ("keep ", 6, "'' is no length of time such as 30d, 12h or 2w"),
    ])
    func `a rule that ends too early says what is missing`(text: String, place: Int, cause: String) {
        let error = #expect(throws: LectureError.self) { try RetentionRule(text) }
        #expect(error?.detail == "'\(text)', character \(place)" && error?.cause == cause, "\(error?.cause ?? "")")
    }

    private static let names: [(written: String, name: String)] = [
        ("M", "M"), ("'M'", "M"), ("\"M\"", "M"), ("'M", "'M"), ("M'", "M'"), ("'M\"", "'M\""), ("'", "'"),
        ("' '", " "), ("it's", "it's"), ("'a' b'", "a' b"), ("a  b", "a  b"), ("for course", "for course"),
        ("after play", "after play"), ("'\"M\"'", "\"M\""), ("線形代数 II", "線形代数 II"), ("👩‍🏫", "👩‍🏫"), ("Ä/ö", "Ä/ö"),
        ("KEEP", "KEEP"), ("'''", "'"),
    ]

    @Test(arguments: names) func `the name of a course is taken as it is written`(written: String, name: String) throws
    {
        for start in ["keep 1d after play", "keep 1d after download", "drop what has expired"] {
            for (gap, end) in [(" ", ""), ("   ", "  "), ("\t", "\n")] {
                let text = "\(start) FOR Course\(gap)\(written)\(end)"
                let rule = try RetentionRule(text)
                #expect(rule.course == name && rule.text == text)
                #expect(try rule.kind == RetentionRule(start).kind && RetentionRule(rule.text) == rule)
            }
        }
    }

    @Test func `a list is read in its order, and its first fault is numbered`() throws {
        let texts = ["keep 1d after play", "never below 1G", "drop what has expired", "keep 2d after download"]
        #expect(try RetentionRule.rules(texts).map(\.text) == texts && RetentionRule.rules([]).isEmpty)
        for place in texts.indices {
            var faulty = texts
            faulty[place] = "kep"
            faulty.append("nevr")
            let error = #expect(throws: LectureError.self) { try RetentionRule.rules(faulty) }
            #expect(error?.detail == "rule \(place + 1): 'kep', character 1" && error?.code == .parameter)
        }
        // What is shown of a long text is bounded, its place is not.
        let long = "keep 1d after play" + String(repeating: " ", count: 200) + "foo"
        let error = #expect(throws: LectureError.self) { try RetentionRule(long) }
        #expect(error?.detail == "'\(long.prefix(80))', character 219")
        #expect(error?.cause == "'foo' is not 'for' (did you mean 'for'?)")
    }
}
