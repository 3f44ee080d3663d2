import LectureAdaptive
import LectureFormats
import Testing

struct DASHChoiceTests {
    private typealias Support = DASHSupport

    /// A set of representations: `id:height:bandwidth`, with `!` for a protected one and `~` for WebM.
    private static func set(_ attributes: String, role: String? = nil, _ representations: String...) -> String {
        let inside = representations.map { text in
            let fields = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            let name = fields[0].trimmingPrefix { "!~".contains($0) }
            let height = fields[1].isEmpty ? "" : "height='\(fields[1])'"
            let type = text.hasPrefix("~") ? "mimeType='video/webm'" : ""
            let protection =
                text.hasPrefix("!")
                ? "<ContentProtection schemeIdUri='urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed'/>" : ""
            return "<Representation id='\(name)' bandwidth='\(fields[2])' \(height) \(type)>\(protection)"
                + "<BaseURL>\(name)</BaseURL></Representation>"
        }
        let roles = role.map { "<Role schemeIdUri='urn:mpeg:dash:role:2011' value='\($0)'/>" } ?? ""
        return "<AdaptationSet \(attributes)>\(roles)\(inside.joined())</AdaptationSet>"
    }

    private static func manifest(_ periods: [String]...) throws -> DASHManifest {
        let body = periods.map { "<Period duration='PT1S'>\($0.joined())</Period>" }.joined()
        return try Support.read(Support.text("", body))
    }

    private static func chosen(
        _ manifest: DASHManifest, _ change: (inout AdaptiveLimits) -> Void = { _ in }
    ) throws -> [String] {
        var limits = AdaptiveLimits()
        change(&limits)
        return try DASHChoice(limits).choose(from: manifest).map { period in
            period.tracks.map { $0.representation.id ?? "?" }.joined(separator: " ")
        }
    }

    private static let video = set(
        "contentType='video' mimeType='video/mp4'", "a:360:300", "b:1080:900", "c:720:600", "d:720:500")
    private static let english = set("contentType='audio' lang='en'", role: "main", "e1::64", "e2::128")
    private static let british = set("contentType='audio' lang='en-GB'", "g1::96")
    private static let korean = set("contentType='audio' lang='ko'", "k1::32")
    private static let texts =
        set("contentType='text' lang='ko'", "s1::1") + set("contentType='text' lang='en'", "s2::1")

    @Test func `Limits, preferences and languages decide`() throws {
        let manifest = try Self.manifest([Self.korean, Self.video, Self.english, Self.british, Self.texts])
        let cases: [(change: (inout AdaptiveLimits) -> Void, chosen: String)] = [
            ({ _ in }, "b e2"), ({ $0.variant = .worst }, "a e1"), ({ $0.maxHeight = 720 }, "c e2"),
            ({ $0.maxHeight = 719 }, "a e2"), ({ $0.maxBandwidth = 727 }, "d e2"), ({ $0.maxBandwidth = 728 }, "c e2"),
            ({ $0.maxBandwidth = 1028 }, "b e2"), ({ $0.variant = .index(2) }, "c e2"),
            (
                {
                    $0.variant = .index(1)
                    $0.maxHeight = 1
                }, "b e2"
            ), ({ $0.audio = .all }, "b k1 e2 g1"),
            ({ $0.audio = .ranges(["ko"]) }, "b k1"), ({ $0.audio = .ranges(["fr", "EN", "ko"]) }, "b e2 g1 k1"),
            (
                {
                    $0.audio = .ranges(["en-GB"])
                    $0.subtitles = .ranges(["en"])
                }, "b g1 s2"
            ),
            ({ $0.subtitles = .all }, "b e2 s1 s2"), ({ $0.subtitles = .ranges(["fr"]) }, "b e2"),
        ]
        for (number, (change, expected)) in cases.enumerated() {
            #expect(try Self.chosen(manifest, change) == [expected], "case \(number)")
        }
        let refused: [(change: (inout AdaptiveLimits) -> Void, words: String)] = [
            ({ $0.maxHeight = 100 }, "[360, 720, 1080]"), ({ $0.maxBandwidth = 300 }, "beside 128"),
            ({ $0.maxHeight = -1 }, ""),
            ({ $0.variant = .index(4) }, "no variant 5 of 4"), ({ $0.variant = .index(-1) }, ""),
            ({ $0.audio = .ranges(["fr"]) }, "'ko', 'en', 'en-GB'"),
        ]
        for (change, words) in refused {
            let error = Support.refusal { try Self.chosen(manifest, change) }
            #expect(
                error?.kind == .nothingFits && (words.isEmpty || error?.detail.contains(words) == true),
                "\(error as Any)")
        }
    }

    @Test func `Clear media precede protected ones, and MP4 WebM; main precedes the rest`() throws {
        let type = "contentType='video' mimeType='video/mp4'"
        let cases: [([String], String)] = [
            ([Self.set(type, "!a:1080:9", "b:720:5")], "b"), ([Self.set(type, "~a:1080:9", "b:720:5")], "b"),
            ([Self.set(type, "~a:1080:9", "~b:720:5")], "a"), ([Self.set(type, "a::9", "b:720:5", "c::10")], "b"),
            ([Self.set(type, "a::0", "b::5")], "b"), ([Self.set(type, "a:9:9", "b:9:9")], "a"),
            ([Self.set(type, role: "alternate", "a:1080:9"), Self.set(type, role: "main", "b:720:5")], "b"),
            ([Self.set(type, role: "alternate", "a:1080:9"), Self.set(type, role: "sign", "b:720:5")], "a"),
            ([Self.english], "e2"), ([Self.set("mimeType='audio/mp4'", "a::5", "b::9")], "b"),
        ]
        for (sets, expected) in cases { #expect(try Self.chosen(Self.manifest(sets)) == [expected], "\(sets)") }
        #expect(try Self.chosen(Self.manifest([Self.english])) { $0.maxBandwidth = 100 } == ["e1"])
        let encrypted = try Self.manifest([Self.set(type, "!a:1:1"), Self.english])
        let error = Support.refusal { try Self.chosen(encrypted) }
        #expect(error?.kind == .protected && error?.detail.contains("Widevine") == true)
        let tracks = try Self.manifest((0...64).map { Self.set("contentType='audio' lang='x-\($0)'", "a::1") })
        #expect(Support.refusal { try Self.chosen(tracks) { $0.audio = .all } }?.kind == .limit)
        #expect(try Self.chosen(tracks) { $0.audio = .ranges(["x-64"]) } == ["a"])
        let texts = try Self.manifest([Self.texts])
        #expect(Support.refusal { try Self.chosen(texts) }?.kind == .nothingFits)
    }

    @Test func `Further periods continue what the first has`() throws {
        let type = "contentType='video' mimeType='video/mp4'"
        let avc = Self.set(type + " codecs='avc1.64'", "x1:1080:800", "x2:540:250")
        let hevc = Self.set(type + " codecs='hvc1.1'", "y1:720:600")
        let first = [Self.set(type + " id='v' codecs='avc1.42'", "a:360:300", "b:720:600"), Self.korean, Self.english]
        let cases: [(second: [String], chosen: String)] = [
            (first, "b e2"), ([Self.english, Self.korean, first[0]], "b e2"),
            ([hevc, avc, Self.british, Self.english], "x2 e2"),
            ([Self.set(type + " id='v'", "a:720:600", "b:360:300"), Self.english], "b e2"),
            ([Self.set(type + " id='w'", "b:360:300", "c:719:600"), Self.british], "c g1"),
            ([Self.set(type, "!z:720:600", "c:144:1"), Self.korean], "c k1"),
        ]
        for (number, (second, expected)) in cases.enumerated() {
            #expect(try Self.chosen(Self.manifest(first, second)) == ["b e2", expected], "case \(number)")
        }
        let refused: [([String], DASHError.Kind)] = [
            ([Self.english], .nothingFits), ([first[0]], .nothingFits),
            ([Self.set(type, "!z:720:600"), Self.english], .protected),
        ]
        for (second, kind) in refused {
            let manifest = try Self.manifest(first, second)
            #expect(Support.refusal { try Self.chosen(manifest) }?.kind == kind)
        }
    }

    @Test func `Every name of a system of content protection is known by its identifier`() throws {
        let systems = [
            ("urn:uuid:EDEF8BA9-79d6-4ace-a3c8-27dcd51d21ed", "Widevine"),
            ("urn:uuid:9A04F079-9840-4286-AB92-E65BE0885F95", "PlayReady"),
            ("urn:uuid:94ce86fb-07ff-4f43-adb8-93d2fa968ca2", "FairPlay"),
            ("urn:uuid:e2719d58-a985-b3c9-781a-b030af78d30e", "Clear Key"),
            ("urn:mpeg:dash:mp4protection:2011' value='CENC", "MPEG Common Encryption (cenc)"),
            ("urn:new", "'urn:new'"),
        ]
        for (scheme, name) in systems {
            for place in ["set", "representation"] {
                let element = "<ContentProtection schemeIdUri='\(scheme)'/>"
                let text = Support.single(place == "set" ? "" : element, set: place == "set" ? element : "")
                let error = Support.refusal { try DASHChoice().choose(from: Support.read(text)) }
                #expect(error == DASHError(.protected, "the media are protected by \(name)"), "\(scheme)")
            }
        }
    }
}
