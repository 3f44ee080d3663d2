import LectureAdaptive
import LectureFormats
import LectureXML

/// Manifests of tests, read as from `https://h.example/d/m.mpd`.
enum DASHSupport {
    static let attributes = "type='static' mediaPresentationDuration='PT10S'"

    /// A manifest with these attributes and elements.
    static func text(_ attributes: String = attributes, _ body: String) -> String {
        """
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:xlink="http://www.w3.org/1999/xlink"
         \(attributes)>\(body)</MPD>
        """
    }

    /// A manifest with a single representation of video.
    static func single(_ inside: String, set: String = "", period: String = "", _ attributes: String = attributes)
        -> String
    {
        text(
            attributes,
            """
            <Period>\(period)<AdaptationSet mimeType="video/mp4">\(set)<Representation id="r1"
             bandwidth="700">\(inside)</Representation></AdaptationSet></Period>
            """)
    }

    static func read(_ text: String) throws -> DASHManifest {
        try DASHManifest(
            LibXMLReader().element(of: Array(text.utf8), limits: XMLLimits()), url: "https://h.example/d/m.mpd")
    }

    /// The first representation.
    static func representation(_ text: String) throws -> DASHRepresentation? {
        try read(text).periods.first?.tracks.first?.representations.first
    }

    /// The segments of a representation; nil when it is in an indexed file.
    static func segments(_ representation: DASHRepresentation?) -> DASHSegments? {
        guard case .segments(let segments) = representation?.media else { return nil }
        return segments
    }

    /// The segments of the first representation as lines: address without the base, range, time, duration.
    static func lines(_ text: String) throws -> [String] {
        guard let segments = segments(try representation(text)) else { return [] }
        return try segments.all().map { "\(line($0.resource)) \($0.time)+\($0.duration ?? 0)" }
    }

    static func line(_ resource: DASHResource?) -> String {
        guard let resource else { return "-" }
        let url = resource.url.replacing("https://h.example/d/", with: "")
        return url + (resource.range.map { "[\($0.start)-\($0.end - 1)]" } ?? "")
    }

    static func refusal<Value>(_ body: () throws -> Value) -> DASHError? {
        do { _ = try body() } catch { return error as? DASHError }
        return nil
    }
}
