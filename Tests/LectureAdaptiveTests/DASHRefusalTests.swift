import LectureAdaptive
import LectureFormats
import Testing

struct DASHRefusalTests {
    private typealias Support = DASHSupport

    private static let file = "<BaseURL>x</BaseURL>"

    @Test func `What is not on demand, not here or not known is refused by name`() {
        let property = "<EssentialProperty schemeIdUri='urn:new'/>"
        let cases: [(text: String, kind: DASHError.Kind, words: String)] = [
            ("<html/>", .notManifest, "no MPD"), ("<MPD/>", .notManifest, ""),
            ("<MPD xmlns='urn:x'/>", .notManifest, ""),
            (Support.single(Self.file, "type='dynamic'"), .live, "live"),
            (Support.single(Self.file, "type='other'"), .unsupported, "'other'"),
            (Support.text("", "<Period xlink:href='p.xml'/>"), .remoteElement, "'Period'"),
            (
                Support.single(Self.file, set: "<SegmentList xlink:href='s' xlink:actuate='onLoad'/>"), .remoteElement,
                "xlink"
            ),
            (Support.text("", property + "<Period/>"), .unsupported, "'urn:new'"),
            (Support.single(Self.file, period: property), .unsupported, "'urn:new'"),
            (Support.single("<BaseURL byteRange='$base$'>x</BaseURL>"), .unsupported, "byteRange"),
            (Support.single("<SegmentTemplate media='$SubNumber$' duration='1'/>"), .unsupported, "identifier"),
            (
                Support.single(
                    "<SegmentTemplate media='$Number$'><SegmentTimeline><Pattern/></SegmentTimeline>"
                        + "</SegmentTemplate>"), .unsupported, "patterns"
            ),
            (Support.single("<BaseURL>ftp://h/x</BaseURL>"), .url, ""),
            (Support.single("<BaseURL>a\\b</BaseURL>"), .url, ""),
            (Support.single("<SegmentTemplate media='file:///$Number$' duration='1'/>"), .url, ""),
            (Support.single("<SegmentTemplate media='$Number$' initialization='data:,x' duration='1'/>"), .url, ""),
            (Support.single("<SegmentList><SegmentURL media='javascript:x'/></SegmentList>"), .url, ""),
        ]
        for (text, kind, words) in cases {
            let error = Support.refusal { try Support.read(text) }
            #expect(
                error?.kind == kind && (words.isEmpty || error?.detail.contains(words) == true),
                "\(text): \(error as Any)")
        }
    }

    private static func template(_ attributes: String, _ timeline: String? = nil) -> String {
        let lines = timeline.map { "<SegmentTimeline>\($0)</SegmentTimeline>" } ?? ""
        return Support.single("<SegmentTemplate media='$Number$' \(attributes)>\(lines)</SegmentTemplate>")
    }

    @Test func `Contradictory numbers are errors with a sentence`() {
        let huge = "99999999999999999999"
        let invalid = [
            Self.template("duration='0'"), Self.template("duration='-1'"), Self.template("duration='1.5'"),
            Self.template("duration=''"),
            Self.template("duration='\(huge)'"), Self.template("timescale='0' duration='1'"),
            Self.template("timescale='4294967296'"),
            Self.template("startNumber='x' duration='1'"), Self.template("startNumber='3' endNumber='2' duration='1'"),
            Self.template("", ""), Self.template("", "<S/>"), Self.template("", "<S d='0'/>"),
            Self.template("", "<S d='1' r='x'/>"),
            Self.template("", "<S t='-1' d='1'/>"), Self.template("", "<S t='5' d='1'/><S t='5' d='1'/>"),
            Self.template("", "<S t='5' d='1' r='3'/><S t='8' d='1'/>"),
            Self.template("", "<S d='1' n='5'/><S d='1' n='5'/>"),
            Self.template("", "<S d='1' r='-1'/><S d='1'/>"), Self.template("", "<S t='10' d='1' r='-1'/>"),
            Self.template("duration='1'").replacing(" mediaPresentationDuration='PT10S'", with: ""),
            Self.template("", "<S d='1' r='-1'/>").replacing(" mediaPresentationDuration='PT10S'", with: ""),
            Support.single("<SegmentTemplate duration='1'/>"),
            Support.single("<SegmentTemplate media='x' duration='1'/>"),
            Support.single("<SegmentTemplate media='$Time$' duration='1'/>"),
            Support.single("<SegmentTemplate media='$Number' duration='1'/>"),
            Support.single("<SegmentTemplate media='$Number%5d$' duration='1'/>"),
            Support.single("<SegmentTemplate media='$Number%099999999d$' duration='1'/>"),
            Support.single("<SegmentTemplate media='$Number%0d$' duration='1'/>").replacing("%0d", with: "%0x"),
            Support.single("<SegmentTemplate media='$RepresentationID%03d$' duration='99'/>"),
            Support.single("<SegmentTemplate media='$Bandwidth$' duration='99'/>").replacing(
                "bandwidth=\"700\"", with: ""),
            Support.single("<SegmentTemplate media='$RepresentationID$' duration='99'/>").replacing(
                "id=\"r1\"", with: ""),
            Support.single("<SegmentTemplate media='$Number$' initialization='$Number$' duration='1'/>"),
            Support.single("<SegmentList/>"), Support.single("<SegmentBase indexRange='9-8'/>"),
            Support.single(
                "<SegmentList><SegmentTimeline><S d='1' r='1'/></SegmentTimeline><SegmentURL/></SegmentList>"),
            Support.single("<SegmentBase indexRange='0-1' timescale='0'/>"),
            Support.single("<SegmentBase indexRange='1'/>"),
            Support.single("<SegmentBase indexRange='0-\(huge)'/>"),
            Support.single("<SegmentList><SegmentURL mediaRange='-5'/></SegmentList>"),
            Support.single(Self.file).replacing("bandwidth=\"700\"", with: "bandwidth='-700'"), Support.text("", ""),
        ]
        for text in invalid {
            let error = Support.refusal { try Support.read(text) }
            #expect(error?.kind == .invalid && error?.detail.isEmpty == false, "\(text): \(error as Any)")
        }
    }

    @Test func `Hostile numbers are refused before they cost time or memory`() {
        let most = "9223372036854775807"
        let limits = [
            Self.template("duration='1' timescale='1000000'"), Self.template("", "<S d='1' r='1000000'/>"),
            Self.template("", "<S d='1' r='\(most)'/>"), Self.template("", "<S d='\(most)' r='999999'/>"),
            Self.template("", "<S t='\(most)' d='1'/>"), Self.template("startNumber='\(most)' duration='1'"),
            Self.template("duration='1' endNumber='\(most)'"), Self.template("duration='\(most)'"),
            Self.template("presentationTimeOffset='\(most)' duration='1'"),
            Self.template("", "<S d='4000000000' r='9'/>"),
            Self.template("", "<S d='1' r='600000'/><S d='1' r='600000'/>"),
            Support.text("", String(repeating: "<Period/>", count: 10_001)),
            Support.text(
                "",
                "<Period><AdaptationSet>"
                    + String(repeating: "<Representation/>", count: 10_001) + "</AdaptationSet></Period>"),
            // Each representation reads the timeline that it inherits.
            Support.text(
                "",
                "<Period><SegmentTemplate media='$Number$'><SegmentTimeline>"
                    + String(repeating: "<S d='1'/>", count: 20_000)
                    + "</SegmentTimeline></SegmentTemplate><AdaptationSet>"
                    + String(repeating: "<Representation/>", count: 51) + "</AdaptationSet></Period>"),
        ]
        for text in limits {
            let error = Support.refusal { try Support.read(text) }
            #expect(error?.kind == .limit, "\(text.prefix(300)): \(error as Any)")
        }
    }

    @Test func `A million segments take no memory, and the last one is found`() throws {
        let text = Support.single(
            "<SegmentTemplate media='$Number$-$Time$'><SegmentTimeline><S d='7' r='499999'/><S d='3' r='499999'/>"
                + "</SegmentTimeline></SegmentTemplate>")
        let segments = try #require(Support.segments(try Support.representation(text)))
        #expect(segments.count == 1_000_000 && segments.microseconds == 5_000_000_000_000)
        #expect(try Support.line(segments.segment(at: 499_999).resource) == "500000-3499993")
        #expect(try Support.line(segments.segment(at: 500_000).resource) == "500001-3500000")
        #expect(try Support.line(segments.segment(at: 999_999).resource) == "1000000-4999997")
    }

    @Test func `Errors are one short printable line`() {
        for text in ["a&#10;b", String(repeating: "x", count: 900), "&#x202E;&#x2028;&#x85;"] {
            let cases = [
                Support.single(Self.file, "type='\(text)'"), Support.single("<SegmentTemplate duration='\(text)'/>"),
                Support.single(Self.file, period: "<EssentialProperty schemeIdUri='\(text)'/>"),
            ]
            for manifest in cases {
                let detail = Support.refusal { try Support.read(manifest) }?.detail ?? ""
                #expect(!detail.isEmpty && detail.count < 120 && !FieldText.hasControls(detail), "\(detail)")
                #expect(!detail.unicodeScalars.contains { [0x202E, 0x2028, 0x85].contains($0.value) }, "\(detail)")
            }
        }
    }

    @Test func `Sets and representations that demand the unknown are skipped, and colours are not`() throws {
        let unknown = "<EssentialProperty schemeIdUri='http://dashif.org/guidelines/trickmode' value='1'/>"
        let colours = "<EssentialProperty schemeIdUri='urn:mpeg:mpegB:cicp:ColourPrimaries' value='1'/>"
        let body = """
            <Period><AdaptationSet id="1">\(unknown)<Representation>\(Self.file)</Representation></AdaptationSet>
            <AdaptationSet id="2"><Representation id="a">\(unknown)\(Self.file)</Representation></AdaptationSet>
            <AdaptationSet id="3">\(colours)<Representation id="b">\(unknown)\(Self.file)</Representation>
            <Representation id="c" mimeType="video/webm">\(colours)\(Self.file)</Representation></AdaptationSet>
            </Period>
            """
        let period = try Support.read(Support.text("", body)).periods[0]
        #expect(period.tracks.map(\.id) == ["3"] && period.tracks[0].representations.map(\.id) == ["c"])
        #expect(period.skipped.count == 3 && period.skipped.allSatisfy { $0.contains("trickmode") })
        #expect(period.tracks[0].representations[0].container == .webM)
        let none = try Support.read(Support.text("", "<Period><AdaptationSet>\(unknown)</AdaptationSet></Period>"))
        #expect(Support.refusal { try DASHChoice().choose(from: none) }?.detail.contains("trickmode") == true)
    }
}
