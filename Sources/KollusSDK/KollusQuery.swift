public import Foundation
import LectureKit
import LectureModel

/// Selects and sorts contents: the filters and orders of the vendor's chapter on lists.
public struct KollusQuery: Sendable, Hashable {
    /// The orders of a list.
    public enum Order: Sendable, Hashable {
        /// In the order of registration.
        case registered
        /// By title, letter case ignored.
        case title
        /// Latest completed first, unfinished ones last.
        case downloaded
        /// Largest first.
        case size
        /// The licence that ends first, contents without an end last.
        case expiry
        /// Contents in folders first, by folder and title; then those at top level.
        case foldersFirst
    }

    var filter = ContentFilter()
    var sort = ContentSort.added
    var page = ContentPage()

    /// All contents.
    public static var all: Self { Self() }

    /// Incomplete contents: downloading, waiting, stopped or failed.
    public static var inProgress: Self {
        var query = Self()
        query.filter.states = [.queued, .loading, .downloading, .verifying, .stopped, .failed]
        return query
    }

    /// Complete contents.
    public static var completed: Self {
        var query = Self()
        query.filter.states = [.completed]
        return query
    }

    /// Contents that became complete within the last days.
    ///
    /// - Parameters:
    ///   - days: seven in the vendor's guide.
    ///   - now: the end of these days.
    /// - Returns: the query, latest first.
    public static func recent(days: Int = 7, now: Date = Date()) -> Self {
        var query = Self.completed
        query.filter.completedSince = Timestamp(now.addingTimeInterval(-86_400 * Double(days)))
        query.sort = .downloaded
        return query
    }

    /// Only this folder, without those below it; empty for the top level.
    public func inFolder(_ folder: String) -> Self { changing { $0.filter.folder = folder } }

    /// Only this course.
    public func ofCourse(_ course: String) -> Self { changing { $0.filter.course = course } }

    /// Only this type.
    public func ofType(_ type: KollusContentType) -> Self {
        changing { $0.filter.type = ContentType(rawValue: type.rawValue) }
    }

    /// Only contents with a licence that ends before a moment.
    public func expiring(before date: Date) -> Self { changing { $0.filter.expiresBefore = Timestamp(date) } }

    /// In this order.
    public func sorted(by order: Order) -> Self {
        changing { query in
            query.sort =
                switch order {
                case .registered: .added
                case .title: .title
                case .downloaded: .downloaded
                case .size: .size
                case .expiry: .expiry
                case .foldersFirst: .folder
                }
        }
    }

    /// A part of the list.
    ///
    /// - Parameters:
    ///   - offset: how many to skip.
    ///   - limit: how many at most.
    /// - Returns: the query.
    public func page(offset: Int = 0, limit: Int) -> Self {
        changing { $0.page = ContentPage(offset: offset, limit: limit) }
    }

    private func changing(_ change: (inout Self) -> Void) -> Self {
        var query = self
        change(&query)
        return query
    }
}

/// What a content's description lists.
public struct KollusOutline {
    /// Subtitle files, in order.
    public let subtitles: [SubTitleInfo]
    /// Chapters, one element per language.
    public let chapters: [ChapterDict]
    /// Bookmarks, by position.
    public let bookmarks: [KollusBookmark]

    init(_ outline: ContentOutline) {
        subtitles = outline.subtitles.map { subtitle in
            let info = SubTitleInfo()
            (info.strName, info.strUrl, info.strLanguage) = (subtitle.name, subtitle.url, subtitle.language)
            info.isAISubtitles = subtitle.isMachineMade
            return info
        }
        chapters = outline.chapters.map { list in
            let chapters = ChapterDict()
            chapters.strLanguage = list.language
            for item in list.items {
                let chapter = Chapter()
                (chapter.position, chapter.value) = (item.position, item.value)
                chapters.listChapter.add(chapter)
            }
            return chapters
        }
        bookmarks = outline.bookmarks.map {
            KollusBookmark(position: $0.position, kind: $0.isLearners ? .user : .index, text: $0.value)
        }
    }
}
