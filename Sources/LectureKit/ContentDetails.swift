import LectureDownload
import LectureFormats
public import LectureModel

/// Everything a list shows of a lecture: its row, its description, its pictures and its licence, read from the store at
/// one moment.
public struct ContentDetails: Sendable, Hashable {
    /// The lecture itself.
    public var content: Content
    /// The number of its row: unique in its store, never reused.
    public var number: Int64
    /// Who publishes it; empty when unknown.
    public var company: String
    /// What it is about; empty when unknown.
    public var synopsis: String
    /// A page about it; empty when unknown.
    public var descriptionURL: String
    /// The picture's width in pixels; 0 when unknown.
    public var width: Int
    /// The picture's height in pixels; 0 when unknown.
    public var height: Int
    /// The absolute path of a still picture; nil until it is fetched.
    public var snapshotPath: String?
    /// The absolute path of a sheet of small pictures; nil until it is fetched.
    public var thumbnailPath: String?
    /// Total bytes, as known or as its source announced them when it was loaded; nil when unknown.
    public var announcedBytes: Int64?
    /// Where a player resumes.
    public var resumePoint: Duration
    /// Its licence, evaluated against the current store; nil when it needs none.
    public var licence: LicenceStatus?

    /// Creates details.
    package init(content: Content, number: Int64) {
        (self.content, self.number) = (content, number)
        (company, synopsis, descriptionURL) = ("", "", "")
        (width, height, resumePoint) = (0, 0, .zero)
    }
}

/// What a lecture's description lists: subtitles, chapters, bookmarks, rules of the player. Unreadable parts of a
/// gateway's answer are left out.
public struct ContentOutline: Sendable, Hashable {
    /// A subtitle file.
    public struct Subtitle: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// Its language, BCP 47; empty when unknown.
        public var language: String
        /// Where it comes from.
        public var url: String
        /// Whether it was machine-generated.
        public var isMachineMade: Bool
    }

    /// The chapters of one language.
    public struct Chapters: Sendable, Hashable {
        /// The language, BCP 47; empty when unknown.
        public var language: String
        /// The chapters, by position.
        public var items: [Mark]
    }

    /// A named position.
    public struct Mark: Sendable, Hashable {
        /// Seconds from the start.
        public var position: Double
        /// Its name.
        public var value: String
        /// Whether a learner set it; chapters and index marks are the teacher's.
        public var isLearners: Bool
    }

    /// A text that is drawn over the picture, such as the learner's name.
    public struct Watermark: Sendable, Hashable {
        /// The text.
        public var text: String
        /// How opaque it is, 0 to 1.
        public var opacity: Double
        /// Its height in pixels of a picture that is 720 high.
        public var fontSize: Int
        /// Red, green and blue, 8 bits each.
        public var color: UInt32
        /// How long it is shown at once.
        public var showTime: Duration
        /// How long it is hidden then; zero shows it always.
        public var hideTime: Duration

        /// Creates a watermark.
        public init(
            text: String, opacity: Double, fontSize: Int, color: UInt32, showTime: Duration, hideTime: Duration
        ) {
            (self.text, self.opacity, self.fontSize) = (text, opacity, fontSize)
            (self.color, self.showTime, self.hideTime) = (color, showTime, hideTime)
        }
    }

    /// Subtitle files, in their order.
    public var subtitles: [Subtitle] = []
    /// Chapters, one element per language.
    public var chapters: [Chapters] = []
    /// Bookmarks, by position.
    public var bookmarks: [Mark] = []
    /// The text over the picture; nil without one.
    public var watermark: Watermark?
    /// What its gateway permits a player.
    public var playback = PlaybackRules()

    /// Creates an empty outline.
    package init() {}
}

// MARK: Reading a descriptor

extension ContentOutline {
    /// Reads a gateway's stored answer; what cannot be read is left out.
    ///
    /// - Parameter text: the whole answer.
    init(descriptor text: String) {
        self.init((try? JSONScanner.value(of: text, limits: ContentDescriptor.limits)) ?? .null)
    }

    /// Reads a gateway's answer that was parsed.
    init(_ value: JSONValue) {
        subtitles = (value["subtitles"]?.elements ?? []).compactMap(Self.subtitle)
        for element in value["chapters"]?.elements ?? [] { add(element) }
        for index in chapters.indices { chapters[index].items.sort { $0.position < $1.position } }
        bookmarks = (value["bookmarks"]?.elements ?? []).compactMap(Self.bookmark)
        bookmarks.sort { $0.position < $1.position }
        watermark = value["watermark"].flatMap(Self.watermark)
        playback = PlaybackRules(value["playback"] ?? .null)
    }

    /// Values outside of what a player can show are those that the vendor's players begin with.
    private static func watermark(_ value: JSONValue) -> Watermark? {
        guard let text = value["text"]?.string, !text.isEmpty else { return nil }
        func number(_ name: String, _ range: ClosedRange<Double>, or standard: Double) -> Double {
            value[name]?.double.flatMap { range.contains($0) ? $0 : nil } ?? standard
        }
        let digits = value["font_color"]?.string ?? ""
        let color = digits.utf8.count == 6 ? UInt32(digits, radix: 16) : nil
        return Watermark(
            text: text, opacity: number("alpha", 0...100, or: 50) / 100,
            fontSize: Int(number("font_size", 4...200, or: 28)), color: color ?? 0xFFFFFF,
            showTime: .seconds(number("show_time", 1...86_400, or: 5)),
            hideTime: .seconds(number("hide_time", 0...86_400, or: 0)))
    }

    private static func subtitle(_ value: JSONValue) -> Subtitle? {
        guard let url = value["url"]?.string, (try? Origin(url: url)) != nil else { return nil }
        return Subtitle(
            name: value["name"]?.string ?? "", language: value["language"]?.string ?? "", url: url,
            isMachineMade: value["ai"]?.bool ?? false)
    }

    /// Adds chapters; a second element of a language extends the first.
    private mutating func add(_ value: JSONValue) {
        guard let elements = value["items"]?.elements else { return }
        let language = value["language"]?.string ?? ""
        let items = elements.compactMap { item -> Mark? in
            guard let position = Self.position(item), let name = item["value"]?.string else { return nil }
            return Mark(position: position, value: name, isLearners: false)
        }
        if let index = chapters.firstIndex(where: { $0.language.utf8.elementsEqual(language.utf8) }) {
            chapters[index].items += items
        } else {
            chapters.append(Chapters(language: language, items: items))
        }
    }

    /// A bookmark may have no title. One without a kind is the teacher's.
    private static func bookmark(_ value: JSONValue) -> Mark? {
        guard let position = position(value) else { return nil }
        let isLearners: Bool
        switch value["kind"] ?? .null {
        case .integer(0), .string("user"): isLearners = true
        case .integer(1), .string("index"), .null: isLearners = false
        default: return nil
        }
        return Mark(position: position, value: (value["title"] ?? value["value"])?.string ?? "", isLearners: isLearners)
    }

    /// Seconds from the start, at most a hundred years: the range `MemberReader` accepts for a duration.
    private static func position(_ value: JSONValue) -> Double? {
        value["position"]?.double.flatMap { (0...3_153_600_000).contains($0) ? $0 : nil }
    }
}
