public import Foundation

/// A moment of a lecture that somebody has marked.
open class KollusBookmark: NSObject, @unchecked Sendable {
    /// Seconds from the beginning.
    public let position: TimeInterval
    /// When it was set; nil when unknown.
    public let time: Date!
    /// The text of an index bookmark.
    public let title: String!
    /// The text of a learner's bookmark.
    public let value: String!
    /// Who set it.
    public let kind: KollusBookmarkKind

    /// A bookmark.
    ///
    /// - Parameters:
    ///   - position: seconds from the beginning.
    ///   - kind: who set it.
    ///   - text: its text.
    ///   - time: when it was set; nil when unknown.
    public init(position: TimeInterval, kind: KollusBookmarkKind, text: String, time: Date? = nil) {
        (self.position, self.kind, self.time) = (position, kind, time)
        title = kind == .index ? text : nil
        value = kind == .user ? text : nil
    }
}

/// A part of a lecture that may be watched, in seconds.
open class KPSection: NSObject {
    /// Where it begins.
    open var startTime = 0
    /// Where it ends.
    open var endTime = 0
}

/// A subtitle file.
open class SubTitleInfo: NSObject {
    /// Its name.
    open var strName: String!
    /// Where it comes from.
    open var strUrl: String!
    /// Its language, BCP 47.
    open var strLanguage: String!
    /// Whether a machine wrote it.
    open var isAISubtitles = false
}

/// A chapter of a lecture.
open class Chapter: NSObject {
    /// Seconds from the beginning.
    open var position: TimeInterval = 0
    /// Its name.
    open var value = ""
}

/// The chapters of one language.
open class ChapterDict: NSObject {
    /// The language, BCP 47.
    open var strLanguage = ""
    /// ``Chapter`` objects, by position.
    open var listChapter = NSMutableArray()
}
