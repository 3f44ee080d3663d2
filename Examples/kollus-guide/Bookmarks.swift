// Written as applications for iOS are, which unwrap by force.
// swift-format-ignore-file: NeverForceUnwrap

import Foundation
import KollusSDK

/// The chapter on bookmarks: the list that a preparation brings, and the learner's own.
///
/// The delegates' methods are declared as wrappers in production do: only the error is optional.
class Bookmarks: NSObject, KollusPlayerDelegate, KollusPlayerBookmarkDelegate {
    /// What to change once the content is prepared.
    enum Change {
        case add(TimeInterval, String)
        case remove(TimeInterval)
    }

    let storage: KollusStorage
    let playerView = KollusPlayerView()
    var onEnd: ((Bool) -> Void)?
    var change: Change?

    init(storage: KollusStorage) { self.storage = storage }

    /// The bookmark delegate is set before the preparation, which calls it.
    func open(_ mediaContentKey: String) throws {
        playerView.storage = storage
        playerView.mediaContentKey = mediaContentKey
        playerView.delegate = self
        playerView.bookmarkDelegate = self
        playerView.surface = .none
        playerView.engineOptions["ao"] = "null"
        try playerView.prepareToPlay(withMode: .PlayerTypeKollus)
    }

    /// All bookmarks by position: those of the teacher, which nothing here changes, and the learner's.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, bookmark: [Any], enabled: Bool, error: Error?
    ) {
        print(enabled ? "bookmarks can be changed" : "bookmarks cannot be changed")
        show(bookmark)
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, prepareToPlayWithError error: Error?) {
        do {
            if let error { throw error }
            switch change {
            case .add(let position, let value): try playerView.addBookmark(position, value: value)
            case .remove(let position): try playerView.removeBookmark(position)
            case nil: return onEnd?(true) ?? ()
            }
            show(playerView.bookmarks)
            onEnd?(true)
        } catch let error as NSError {
            print("error \(error.code): \(error.localizedDescription)")
            onEnd?(false)
        }
    }

    private func show(_ list: [Any]) {
        // proof: the header says that these are bookmarks.
        for bookmark in list as! [KollusBookmark] {
            let text = bookmark.kind == .index ? bookmark.title! : bookmark.value!
            print("\(Int(bookmark.position)) s, \(bookmark.kind == .index ? "index" : "learner"): \(text)")
        }
    }
}

/// `kollus-guide bookmarks KEY [--add SECONDS TEXT | --remove SECONDS]`: promises the list, changed as asked.
extension Bookmarks: GuideChapter {
    func begin(_ words: [String], end: @escaping (Bool) -> Void) {
        onEnd = end
        let place = words.count > 2 ? TimeInterval(words[2]) : nil
        if words.count == 4, words[1] == "--add", let place { change = .add(place, words[3]) }
        if words.count == 3, words[1] == "--remove", let place { change = .remove(place) }
        do { try open(words[0]) } catch let error as NSError {
            print("error \(error.code): \(error.localizedDescription)")
            end(false)
        }
    }
}
