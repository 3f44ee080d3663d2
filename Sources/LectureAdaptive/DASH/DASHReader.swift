import LectureFormats

/// Reads the elements of a manifest from the outside to the inside.
struct DASHReader {
    /// What an element inherits.
    private struct Scope {
        var bases: [URLParts]
        /// The elements from here outwards, which may describe segments.
        var parents: [XMLElement] = []
        /// The duration of the period.
        var duration: UInt64?
    }

    /// When a period is.
    private struct Span {
        let start: UInt64
        let duration: UInt64?
    }

    private var representations = 0
    /// How many more entries of timelines and lists representations may have in all, those that they inherit included.
    private var entries = 1_000_000
    /// What has been read at a level and is inherited, so that it is not read for each representation.
    private var timelines: [Place: [DASHTimelineEntry]] = [:]
    private var lists: [Int: [DASHSegments.Item]] = [:]

    private struct Place: Hashable {
        let kind: String
        let depth: Int
    }
    private var skipped: [String] = []

    // MARK: MPD (section 5.3.1)

    mutating func manifest(
        _ root: XMLElement, at url: String
    ) throws(DASHError) -> (duration: UInt64?, periods: [DASHPeriod]) {
        // Old writers have capital letters in the namespace.
        guard root.name == "MPD", FieldText.lowercased(root.namespace).hasPrefix("urn:mpeg:dash:schema:mpd:") else {
            throw DASHError(.notManifest, "the document is no MPD of MPEG-DASH")
        }
        switch root["type"] {
        case nil, "static": break
        case "dynamic": throw DASHError(.live, "the manifest describes a live stream (MPD@type is 'dynamic')")
        case let type?: throw DASHError(.unsupported, "MPD@type is \(DASHText.quoted(type))")
        }
        try Self.refuseRemote(root)
        if let property = Self.unknownProperty(root) {
            throw DASHError(.unsupported, "the manifest demands \(property)")
        }
        let scope = Scope(bases: try Self.bases(root, [try DASHAddress.parse(url)]))
        let total = try DASHText.duration(root, "mediaPresentationDuration")
        let elements = root.all("Period")
        guard !elements.isEmpty else { throw DASHError(.invalid, "the manifest has no Period") }
        let spans = try Self.spans(elements, total: total)
        var periods: [DASHPeriod] = []
        for (element, span) in zip(elements, spans) where span.duration != 0 {
            periods.append(try period(element, span, scope))
        }
        guard !periods.isEmpty else { throw DASHError(.invalid, "no Period of the manifest has a duration") }
        return (total, periods)
    }

    /// Parts at other addresses would have to be fetched before the manifest can be understood (section 5.5).
    private static func refuseRemote(_ element: XMLElement) throws(DASHError) {
        if element.attribute("href", namespace: "http://www.w3.org/1999/xlink") != nil {
            throw DASHError(.remoteElement, "\(DASHText.quoted(element.name)) is at another address (xlink:href)")
        }
        for child in element.children { try refuseRemote(child) }
    }

    /// Starts and durations (section 5.3.2.1).
    private static func spans(_ elements: [XMLElement], total: UInt64?) throws(DASHError) -> [Span] {
        guard elements.count <= DASHBounds.parts else { throw DASHError(.limit, "the manifest has too many periods") }
        var starts: [UInt64] = []
        var durations: [UInt64?] = []
        var next: UInt64? = 0
        for element in elements {
            guard let start = try DASHText.duration(element, "start") ?? next else {
                throw DASHError(.invalid, "the start of a Period is unknown")
            }
            if let last = starts.last, start < last { throw DASHError(.invalid, "the periods are not in their order") }
            let duration = try DASHText.duration(element, "duration")
            starts.append(start)
            durations.append(duration)
            next = duration.map { start + $0 }
        }
        var spans: [Span] = []
        for (index, start) in starts.enumerated() {
            let isLast = index + 1 == starts.count
            let end = isLast ? total : starts[index + 1]
            if isLast, durations[index] == nil, let total, total < start {
                throw DASHError(.invalid, "the last Period starts after the end of the presentation")
            }
            spans.append(Span(start: start, duration: durations[index] ?? end.map { $0 - start }))
        }
        return spans
    }

    // MARK: Period, AdaptationSet, Representation (sections 5.3.2, 5.3.3, 5.3.5)

    private mutating func period(
        _ element: XMLElement, _ span: Span, _ outer: Scope
    ) throws(DASHError) -> DASHPeriod {
        if let property = Self.unknownProperty(element) {
            throw DASHError(.unsupported, "a Period demands \(property)")
        }
        var scope = outer
        scope.bases = try Self.bases(element, outer.bases)
        scope.parents = [Self.segmentElements(of: element)]
        scope.duration = span.duration
        skipped = []
        forget(from: 1)
        var tracks: [DASHTrack] = []
        for set in element.all("AdaptationSet") {
            if let property = Self.unknownProperty(set) {
                skipped.append("an AdaptationSet demands \(property)")
            } else if let track = try track(set, scope) {
                tracks.append(track)
            }
        }
        return DASHPeriod(
            id: element["id"], start: span.start, duration: span.duration, tracks: tracks, skipped: skipped)
    }

    private mutating func track(_ set: XMLElement, _ outer: Scope) throws(DASHError) -> DASHTrack? {
        var scope = outer
        scope.bases = try Self.bases(set, outer.bases)
        scope.parents = [Self.segmentElements(of: set)] + outer.parents
        let protections = Self.protections(set)
        forget(from: 2)
        var found: [DASHRepresentation] = []
        for element in set.all("Representation") {
            if let property = Self.unknownProperty(element) {
                skipped.append("a Representation demands \(property)")
                continue
            }
            found.append(try representation(element, set, scope, protections))
        }
        guard let first = found.first else { return nil }
        let roles = set.all("Role").filter { $0["schemeIdUri"] == "urn:mpeg:dash:role:2011" }.compactMap { $0["value"] }
        let language = set["lang"].map { String(DASHText.trimmed($0)) }
        return DASHTrack(
            id: set["id"], kind: Self.kind(set["contentType"], first.format),
            language: language?.isEmpty == true ? nil : language, roles: roles, representations: found)
    }

    private mutating func representation(
        _ element: XMLElement, _ set: XMLElement, _ outer: Scope, _ inherited: [DASHProtection]
    ) throws(DASHError) -> DASHRepresentation {
        representations += 1
        guard representations <= DASHBounds.parts else {
            throw DASHError(.limit, "the manifest has too many representations")
        }
        var scope = outer
        scope.bases = try Self.bases(element, outer.bases)
        scope.parents = [element] + outer.parents
        forget(from: 3)
        let bandwidth = try DASHText.number(element, "bandwidth")
        return DASHRepresentation(
            id: element["id"], bandwidth: bandwidth ?? 0, format: try Self.format(element, set),
            protections: inherited + Self.protections(element).filter { !inherited.contains($0) },
            media: try media(scope, id: element["id"], bandwidth: bandwidth), bases: scope.bases.map(\.text))
    }

    /// The common attributes (section 5.3.7): the representation's, else those of its adaptation set.
    private static func format(
        _ element: XMLElement, _ set: XMLElement
    ) throws(DASHError) -> DASHRepresentation.Format {
        func number(_ name: String) throws(DASHError) -> UInt64? {
            if let number = try DASHText.number(element, name) { return number }
            return try DASHText.number(set, name)
        }
        let type = (element["mimeType"] ?? set["mimeType"] ?? "").prefix { $0 != ";" }
        // One number, or the two of a range.
        let rate = (element["audioSamplingRate"] ?? set["audioSamplingRate"] ?? "").split(separator: " ").first
        var samplingRate: UInt64?
        if let rate, case .value(let value) = FieldText.decimal(rate) { samplingRate = value }
        return DASHRepresentation.Format(
            mimeType: FieldText.lowercased(FieldText.trimmed(type)), codecs: element["codecs"] ?? set["codecs"] ?? "",
            width: try number("width"), height: try number("height"), samplingRate: samplingRate,
            frameRate: (element["frameRate"] ?? set["frameRate"]).flatMap { DASHText.frameRate($0) })
    }

    /// The systems of an element, each once; a few are enough to refuse it.
    private static func protections(_ element: XMLElement) -> [DASHProtection] {
        var found: [DASHProtection] = []
        for line in element.all("ContentProtection") where found.count < 8 {
            let protection = DASHProtection(line)
            if !found.contains(protection) { found.append(protection) }
        }
        return found
    }

    /// An element with only what its representations look for in it, so that none of them searches all the others.
    private static func segmentElements(of element: XMLElement) -> XMLElement {
        let kept = DASHSegmentElements.kinds.compactMap { element.first($0) }
        return XMLElement(element.name, namespace: element.namespace, children: kept)
    }

    private static func kind(_ contentType: String?, _ format: DASHRepresentation.Format) -> DASHTrack.Kind {
        switch contentType ?? "" {
        case "video": return .video
        case "audio": return .audio
        case "text": return .subtitles
        case "image", "application": return isText(format) ? .subtitles : .other
        default: break
        }
        if isText(format) { return .subtitles }
        if format.mimeType.hasPrefix("video/") { return .video }
        return format.mimeType.hasPrefix("audio/") ? .audio : .other
    }

    /// Timed text, by itself or in MP4 (`stpp`, `wvtt`: ISO/IEC 14496-30).
    private static func isText(_ format: DASHRepresentation.Format) -> Bool {
        if format.mimeType.hasPrefix("text/") || format.mimeType == "application/ttml+xml" { return true }
        return format.mimeType == "application/mp4" && ["stpp", "wvtt"].contains { format.codecs.hasPrefix($0) }
    }

    // MARK: What may stand in several elements

    /// What an element demands and this reader does not know (section 5.8.4.8), quoted; nil when there is nothing.
    private static func unknownProperty(_ element: XMLElement) -> String? {
        // How colours are to be shown (ISO/IEC 23091-2): the player's business.
        let known = "urn:mpeg:mpegb:cicp:"
        let unknown = element.all("EssentialProperty").map { $0["schemeIdUri"] ?? "" }.first { scheme in
            !FieldText.lowercased(scheme).hasPrefix(known)
        }
        return unknown.map { DASHText.quoted($0) }
    }

    /// The base addresses of an element (section 5.6): each of its own, resolved against each that it inherits.
    private static func bases(_ element: XMLElement, _ outer: [URLParts]) throws(DASHError) -> [URLParts] {
        let own = element.all("BaseURL")
        guard !own.isEmpty else { return outer }
        if own.contains(where: { $0["byteRange"] != nil }) {
            throw DASHError(.unsupported, "a BaseURL turns ranges into addresses (BaseURL@byteRange)")
        }
        var found: [URLParts] = []
        for base in outer {
            for reference in own where found.count < DASHBounds.bases {
                found.append(try DASHAddress.resolve(String(DASHText.trimmed(reference.text)), base))
            }
        }
        return found
    }

    // MARK: Segments (section 5.3.9)

    private mutating func media(
        _ scope: Scope, id: String?, bandwidth: UInt64?
    ) throws(DASHError) -> DASHRepresentation.Media {
        guard let elements = DASHSegmentElements(scope.parents) else {
            let timing = DASHTiming(period: scope.duration)
            return .segments(try DASHSegments(.file, timing, bases: scope.bases, initialization: nil))
        }
        // Each representation searches the elements that it inherits.
        try count(elements.levels.reduce(0) { $0 + $1.children.count })
        switch elements.kind {
        case "SegmentTemplate": return .segments(try templated(elements, scope, id, bandwidth))
        case "SegmentList": return .segments(try listed(elements, scope))
        default: return try single(elements, scope)
        }
    }

    /// The entries of the timeline of a representation, nil when there is none.
    private mutating func timeline(_ elements: DASHSegmentElements) throws(DASHError) -> [DASHTimelineEntry]? {
        guard let element = elements.child("SegmentTimeline") else { return nil }
        if element.first("Pattern") != nil { throw DASHError(.unsupported, "a SegmentTimeline has patterns") }
        let place = Place(kind: elements.kind, depth: elements.depth(of: "SegmentTimeline"))
        var found = timelines[place] ?? []
        if found.isEmpty {
            for line in element.all("S") { found.append(try DASHTimelineEntry(line)) }
            timelines[place] = found
        }
        try count(found.count)
        return found
    }

    private mutating func count(_ more: Int) throws(DASHError) {
        entries -= more
        guard entries >= 0 else { throw DASHError(.limit, "the timelines and lists have too many entries") }
    }

    /// What was read of a level, and of those inside it, belongs to another element from here on.
    private mutating func forget(from depth: Int) {
        timelines = timelines.filter { $0.key.depth < depth }
        lists = lists.filter { $0.key < depth }
    }

    private mutating func templated(
        _ elements: DASHSegmentElements, _ scope: Scope, _ id: String?, _ bandwidth: UInt64?
    ) throws(DASHError) -> DASHSegments {
        guard let text = elements.text("media") else {
            throw DASHError(.invalid, "a SegmentTemplate has no address of media")
        }
        let template = try DASHTemplate(text, id: id, bandwidth: bandwidth)
        let timeline = try timeline(elements)
        let timing = try DASHTiming(elements, period: scope.duration, listed: nil, timeline: timeline)
        if template.uses(.time), timeline == nil {
            throw DASHError(.invalid, "an address has $Time$, but there is no SegmentTimeline")
        }
        if !template.uses(.time), !template.uses(.number), timing.runs.count > 1 || timing.runs.first?.count ?? 0 > 1 {
            throw DASHError(.invalid, "all segments of a representation have the same address")
        }
        var initialization = try Self.initialization(elements, scope)
        if let text = elements.text("initialization") {
            let address = try DASHTemplate(text, id: id, bandwidth: bandwidth)
            guard !address.uses(.number), !address.uses(.time) else {
                throw DASHError(.invalid, "the address of an initialization has $Number$ or $Time$")
            }
            let url = try DASHAddress.resolve(address.reference(number: 0, time: 0), scope.bases[0])
            initialization = DASHResource(url: url.text, range: nil)
        }
        return try DASHSegments(.template(template), timing, bases: scope.bases, initialization: initialization)
    }

    private mutating func listed(_ elements: DASHSegmentElements, _ scope: Scope) throws(DASHError) -> DASHSegments {
        let depth = elements.depth(of: "SegmentURL")
        var items = lists[depth] ?? []
        if items.isEmpty {
            for line in elements.children("SegmentURL") {
                let range = try DASHText.range(line, "mediaRange")
                items.append(DASHSegments.Item(reference: line["media"] ?? "", range: range))
            }
            lists[depth] = items
        }
        guard !items.isEmpty else { throw DASHError(.invalid, "a SegmentList is empty") }
        let timing = try DASHTiming(
            elements, period: scope.duration, listed: items.count, timeline: try timeline(elements))
        return try DASHSegments(
            .list(items), timing, bases: scope.bases, initialization: try Self.initialization(elements, scope))
    }

    private func single(_ elements: DASHSegmentElements, _ scope: Scope) throws(DASHError) -> DASHRepresentation.Media {
        let file = scope.bases[0].text
        let initialization = try Self.initialization(elements, scope)
        let index: DASHResource
        if let separate = elements.child("RepresentationIndex") {
            index = try Self.resource(separate, scope)
        } else if let range = try elements.range("indexRange") {
            index = DASHResource(url: file, range: range)
        } else {
            let timing = DASHTiming(period: scope.duration)
            return .segments(try DASHSegments(.file, timing, bases: scope.bases, initialization: nil))
        }
        let timescale = try elements.number("timescale") ?? 1
        guard timescale > 0 else { throw DASHError(.invalid, "SegmentBase@timescale is 0") }
        return .indexed(
            DASHIndexedFile(
                url: file, index: index, initialization: initialization,
                presentationTimeOffset: try elements.number("presentationTimeOffset") ?? 0, timescale: timescale))
    }

    private static func initialization(
        _ elements: DASHSegmentElements, _ scope: Scope
    ) throws(DASHError) -> DASHResource? {
        guard let element = elements.child("Initialization") else { return nil }
        return try resource(element, scope)
    }

    /// An element of the type URLType (section 5.3.9.2.2): the base address is what has no address of its own.
    private static func resource(_ element: XMLElement, _ scope: Scope) throws(DASHError) -> DASHResource {
        DASHResource(
            url: try DASHAddress.resolve(element["sourceURL"] ?? "", scope.bases[0]).text,
            range: try DASHText.range(element, "range"))
    }
}
