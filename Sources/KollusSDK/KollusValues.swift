public import Foundation

/// A bookmarked position of a lecture. Tests of applications make their own, with ``init()`` and
/// ``setValue(_:forKey:)`` or as a subclass.
///
/// `@unchecked Sendable`: both properties are constant and Sendable; the compiler does not check a class that is open.
open class KollusBookmark: NSObject, @unchecked Sendable {
    private let own: (position: TimeInterval, kind: KollusBookmarkKind, text: String?, time: Date?)
    /// Values that an application's tests have set by name.
    private let given = KeyedValues()

    /// Seconds from the start.
    open var position: TimeInterval { given.seconds("position", own.position) }
    /// When it was set; nil when unknown.
    open var time: Date! { given.date("time", own.time) }
    /// The text of an index bookmark.
    open var title: String! { given.text("title", own.kind == .index ? own.text : nil) }
    /// The text of a learner's bookmark.
    open var value: String! { given.text("value", own.kind == .user ? own.text : nil) }
    /// Who set it.
    open var kind: KollusBookmarkKind {
        KollusBookmarkKind(rawValue: given.integer("kind", own.kind.rawValue)) ?? own.kind
    }

    /// Makes a learner's bookmark at the start, without a text.
    public override init() {
        own = (0, .user, nil, nil)
        super.init()
    }

    /// Makes a bookmark.
    ///
    /// - Parameters:
    ///   - position: seconds from the start.
    ///   - kind: who set it.
    ///   - text: its text.
    ///   - time: when it was set; nil when unknown.
    public init(position: TimeInterval, kind: KollusBookmarkKind, text: String, time: Date? = nil) {
        own = (position, kind, text, time)
        super.init()
    }

    private static let kinds: [String: KeyedValues.Kind] = [
        "position": .seconds, "time": .date, "title": .text, "value": .text, "kind": .integer,
    ]

    /// Sets a property by its name, for tests of applications. `NSObject` has this on iOS and not on Linux.
    ///
    /// - Parameters:
    ///   - value: as in ``KollusContent/setValue(_:forKey:)``.
    ///   - key: the property's name.
    open func setValue(_ value: Any?, forKey key: String) {
        guard let kind = Self.kinds[key] else { return LogUtil.utilLog("KollusBookmark has no property \(key).") }
        if !given.set(value, key, kind) { LogUtil.utilLog("KollusBookmark cannot take this value for \(key).") }
    }

    /// A property by its name.
    ///
    /// - Parameter key: the property's name.
    /// - Returns: its value; nil if it is nil, and for an unknown name.
    open func value(forKey key: String) -> Any? {
        switch key {
        case "position": return position
        case "time": return time
        case "title": return title
        case "value": return value
        case "kind": return kind
        default:
            LogUtil.utilLog("KollusBookmark has no property \(key).")
            return nil
        }
    }
}

/// The chat of a live lecture: a name that applications mention. It has no members here, since live lectures are not
/// supported.
open class KollusChat: NSObject {
    /// Makes a chat.
    public override init() { super.init() }
}

/// A part of a lecture that may be watched, in seconds.
open class KPSection: NSObject {
    /// Where it starts.
    open var startTime = 0
    /// Where it ends.
    open var endTime = 0
}

extension KPSection {
    /// A section in whole seconds.
    convenience init(_ section: Range<Duration>) {
        self.init()
        (startTime, endTime) = (Int(section.lowerBound / .seconds(1)), Int(section.upperBound / .seconds(1)))
    }
}

/// A subtitle file.
open class SubTitleInfo: NSObject {
    /// Its name.
    open var strName: String!
    /// Its URL.
    open var strUrl: String!
    /// Its language, BCP 47.
    open var strLanguage: String!
    /// Whether a machine wrote it.
    open var isAISubtitles = false
}

/// A chapter of a lecture.
open class Chapter: NSObject {
    /// Seconds from the start.
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
