public import LectureModel

/// Everything a list shows of a content: its row, its description, its pictures and its licence, as they stood in the
/// store at one moment.
public struct ContentDetails: Sendable, Hashable {
    /// The content itself.
    public var content: Content
    /// The number of its row: unique in its store, never used again.
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
    /// Where a player goes on.
    public var resumePoint: Duration
    /// Its licence, judged as the store stands; nil when it needs none.
    public var licence: LicenceStatus?

    /// Puts details together.
    package init(content: Content, number: Int64) {
        (self.content, self.number) = (content, number)
        (company, synopsis, descriptionURL) = ("", "", "")
        (width, height, resumePoint) = (0, 0, .zero)
    }
}

/// What a content's description lists: subtitles, chapters, bookmarks. Whatever a gateway sent, what cannot be read is
/// left out.
public struct ContentOutline: Sendable, Hashable {
    /// A subtitle file.
    public struct Subtitle: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// Its language, BCP 47; empty when unknown.
        public var language: String
        /// Where it comes from.
        public var url: String
        /// Whether a machine wrote it.
        public var isMachineMade: Bool
    }

    /// The chapters of one language.
    public struct Chapters: Sendable, Hashable {
        /// The language, BCP 47; empty when unknown.
        public var language: String
        /// The chapters, by position.
        public var items: [Mark]
    }

    /// A named moment.
    public struct Mark: Sendable, Hashable {
        /// Seconds from the beginning.
        public var position: Double
        /// Its name.
        public var value: String
        /// Whether a learner set it; chapters and an index are the teacher's.
        public var isLearners: Bool
    }

    /// Subtitle files, in their order.
    public var subtitles: [Subtitle] = []
    /// Chapters, one element a language.
    public var chapters: [Chapters] = []
    /// Bookmarks, by position.
    public var bookmarks: [Mark] = []

    /// Nothing.
    package init() {}
}
