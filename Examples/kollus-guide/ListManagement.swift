// Written as applications for iOS are, which unwrap by force.
// swift-format-ignore-file: NeverForceUnwrap

import Foundation
import KollusSDK

/// The chapter on lists: complete, in progress, completed this week, and folders first.
class ContentList: NSObject {
    /// A line of the application's table.
    enum Row {
        /// The iOS SDK has no folders; an application makes its own, here from the courses.
        case folder(String, [KollusContent])
        case content(KollusContent)

        var title: String {
            switch self {
            case .folder(let name, _): name
            case .content(let content): content.title
            }
        }
    }

    let storage: KollusStorage

    init(storage: KollusStorage) { self.storage = storage }

    /// All contents; none before a start, when the storage returns nil.
    var contents: [KollusContent] {
        guard let contents = storage.contents() else { return [] }
        // proof: the header says that these are contents.
        return contents as! [KollusContent]
    }

    /// A file is complete when the storage says so, HLS when all of it is present.
    func isComplete(_ content: KollusContent) -> Bool {
        switch content.contentType {
        case .downloading: return content.downloaded
        case .adaptiveDownload: return content.downloadProgress == 100
        default: return false
        }
    }

    var completed: [KollusContent] { contents.filter(isComplete) }

    var inProgress: [KollusContent] {
        contents.filter { ($0.contentType == .downloading || $0.contentType == .adaptiveDownload) && !isComplete($0) }
    }

    /// What became complete within the last days, latest first.
    func recent(days: Double = 7, now: Date = Date()) -> [KollusContent] {
        let start = now.timeIntervalSince1970 - days * 86_400
        return completed.filter { TimeInterval($0.downloadedTime) >= start }
            .sorted { $0.downloadedTime > $1.downloadedTime }
    }

    /// Folders first, each part by title.
    var rows: [Row] {
        var folders: [String: [KollusContent]] = [:]
        var others: [Row] = []
        for content in contents {
            if content.course.isEmpty {
                others.append(.content(content))
            } else {
                folders[content.course, default: []].append(content)
            }
        }
        let first = folders.map { Row.folder($0.key, $0.value) }
        return [first, others].flatMap { $0.sorted { $0.title.localizedCompare($1.title) == .orderedAscending } }
    }

    /// Whether it plays without a network: the four conditions of the vendor's guide.
    func isPlayable(_ content: KollusContent) -> Bool {
        guard isComplete(content), !content.drmExpired else { return false }
        if let date = content.drmExpireDate, date <= Date() { return false }
        if content.drmTotalExpirePlayTime > 0, content.drmExpirePlayTime <= 0 { return false }
        if content.drmExpireCountMax > 0, content.drmExpireCount <= 0 { return false }
        return true
    }
}

/// `kollus-guide list [completed|in-progress|recent|folders]`: promises the list of a storage that is started.
extension ContentList: GuideChapter {
    func begin(_ words: [String], end: @escaping (Bool) -> Void) {
        switch words.first ?? "all" {
        case "all": contents.forEach(show)
        case "completed": completed.forEach(show)
        case "in-progress": inProgress.forEach(show)
        case "recent": recent().forEach(show)
        case "folders":
            for row in rows {
                if case .folder(let name, let contents) = row { print("\(name)/ \(contents.count)") }
                if case .content(let content) = row { show(content) }
            }
        case let word:
            print("no list '\(word)'")
            return end(false)
        }
        end(storage.contents() != nil)
    }

    private func show(_ content: KollusContent) {
        let sign = isPlayable(content) ? "plays" : "waits"
        print("\(content.mediaContentKey!) \(content.downloadProgress) % \(sign) \(content.title!)")
    }
}
