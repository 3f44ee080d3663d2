import LectureAdaptive
import LectureFormats
import LectureXML

/// Manifests of MPEG-DASH, as bytes of a server: XML, what it says, and what is chosen from it; and segment indices.
extension FuzzTarget {
    static let manifests = [
        FuzzTarget("manifest", longest: 2048, cost: 4, manifest),
        FuzzTarget("segment-index", longest: 256, segmentIndex),
    ]

    @Sendable private static func manifest(_ input: [UInt8]) throws {
        let limits = XMLLimits(bytes: 4096, depth: 8, elements: 100, attributes: 16, tagBytes: 1024)
        let root: XMLElement
        do throws(XMLError) { root = try LibXMLReader().element(of: input, limits: limits) } catch {
            try require(error.kind != .libraryMissing && !FieldText.hasControls(error.detail), "a refusal is one line")
            return
        }
        var elements = 0
        try check(root, limits, depth: 1, &elements)
        let read: DASHManifest
        do throws(DASHError) { read = try DASHManifest(root, url: "https://h.example/d/m.mpd?t=1") } catch {
            try require(!error.detail.isEmpty && !FieldText.hasControls(error.detail), "a refusal is one line")
            try require(error.kind != .index && error.kind != .protected, "a refusal is one of a manifest")
            return
        }
        try require(!read.periods.isEmpty, "there are periods")
        for (one, next) in zip(read.periods, read.periods.dropFirst()) {
            try require(one.start <= next.start, "periods are in their order")
        }
        for track in read.periods.flatMap(\.tracks) {
            try require(!track.representations.isEmpty, "a track has representations")
            for representation in track.representations { try check(representation) }
        }
        try checkChoice(read)
    }

    private static func check(_ element: XMLElement, _ limits: XMLLimits, depth: Int, _ elements: inout Int) throws {
        elements += 1
        try require(depth <= limits.depth && elements <= limits.elements, "limits hold")
        try require(element.attributes.count <= limits.attributes, "attributes are counted")
        try require(!element.name.isEmpty && !element.name.utf8.contains(UInt8(ascii: ":")), "a name has no prefix")
        for child in element.children { try check(child, limits, depth: depth + 1, &elements) }
    }

    private static func check(_ representation: DASHRepresentation) throws {
        try require((1...16).contains(representation.bases.count), "base addresses are bounded")
        for base in representation.bases { _ = try Origin(parsing: base) }
        switch representation.media {
        case .indexed(let file):
            for resource in [file.index, file.initialization].compactMap(\.self) { try check(resource) }
        case .segments(let segments):
            try require((1...1_000_000).contains(segments.count), "segments are bounded")
            if let initialization = segments.initialization { try check(initialization) }
            var last: DASHSegment?
            for index in 0..<min(segments.count, 40) {
                guard let segment = try? segments.segment(at: index) else { continue }
                try check(segment.resource)
                if let last, let duration = last.duration {
                    try require(duration > 0, "a duration is not zero")
                    try require(last.time < segment.time, "segments are in their order")
                }
                if let last { try require(last.number < segment.number, "numbers are in their order") }
                last = segment
            }
            _ = try segments.segment(at: segments.count - 1, base: segments.baseCount - 1)
        }
    }

    private static func check(_ resource: DASHResource) throws {
        _ = try Origin(parsing: resource.url)
        if let range = resource.range { try require(range.start < range.end, "a range is not empty") }
    }

    private static func checkChoice(_ manifest: DASHManifest) throws {
        let chosen: [DASHChosenPeriod]
        do throws(DASHError) { chosen = try DASHChoice().choose(from: manifest) } catch {
            try require([.nothingFits, .protected].contains(error.kind), "a choice is refused for what there is")
            return
        }
        try require(chosen.count == manifest.periods.count, "each period is chosen from")
        for period in chosen {
            try require(!period.tracks.isEmpty, "something is chosen")
            try require(period.tracks.map(\.kind) == chosen[0].tracks.map(\.kind), "periods have the same tracks")
            try require(period.tracks.allSatisfy { $0.representation.protections.isEmpty }, "what is chosen is clear")
        }
    }

    @Sendable private static func segmentIndex(_ input: [UInt8]) throws {
        let offset = input.last.map { UInt64(1) << ($0 & 63) } ?? 0
        let index: SegmentIndex
        do throws(DASHError) { index = try SegmentIndex(input, firstOffset: offset) } catch {
            try require(error.kind == .index && !FieldText.hasControls(error.detail), "a refusal is one of an index")
            return
        }
        try require(index.timescale > 0 && !index.entries.isEmpty, "an index has entries")
        try require(index.entries[0].range.start >= offset, "entries are behind the index")
        for (one, next) in zip(index.entries, index.entries.dropFirst()) {
            try require(one.range.end == next.range.start, "entries follow each other")
        }
    }
}
