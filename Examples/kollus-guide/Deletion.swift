// Written as applications for iOS are, which unwrap by force.
// swift-format-ignore-file: NeverForceUnwrap

import Foundation
import KollusSDK

/// The chapter on deletion: one lecture, all lectures except samples, the streaming cache.
class Deletion: NSObject {
    let storage: KollusStorage

    init(storage: KollusStorage) { self.storage = storage }

    /// Deletes files and record; a running transfer is ended first.
    func remove(_ mediaContentKey: String) throws {
        try storage.removeContent(mediaContentKey)
    }

    /// Deletes everything except samples.
    func removeAll() throws {
        // proof: the header says that these are contents.
        for content in storage.contents() as! [KollusContent] where content.contentType != .sample {
            try storage.removeContent(content.mediaContentKey)
        }
    }

    /// Deletes the streaming cache, except what is being streamed.
    func removeCache() throws {
        try storage.removeCache()
    }
}

/// `kollus-guide deletion KEY…|--all|--cache`: promises that it is gone.
extension Deletion: GuideChapter {
    func begin(_ words: [String], end: @escaping (Bool) -> Void) {
        do {
            switch words.first {
            case "--all": try removeAll()
            case "--cache": try removeCache()
            default: try words.forEach(remove)
            }
            // proof: the header says that these are contents.
            let left = storage.contents() as! [KollusContent]
            print("\(left.count) contents, \(storage.storageSize) bytes, \(storage.cacheDataSize) bytes of cache")
            end(words.first == "--cache" ? storage.cacheDataSize == 0 : !left.contains { isGone(words, $0) })
        } catch let error as NSError {
            print("error \(error.code): \(error.localizedDescription)")
            end(false)
        }
    }

    /// Whether it should be deleted.
    private func isGone(_ words: [String], _ content: KollusContent) -> Bool {
        words.first == "--all" ? content.contentType != .sample : words.contains(content.mediaContentKey)
    }
}
