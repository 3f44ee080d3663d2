// Written as applications for iOS are, which unwrap by force.
// swift-format-ignore-file: NeverForceUnwrap

import Foundation
import KollusSDK

/// The chapter on downloads: load, check for space, download, follow, cancel and continue.
///
/// The delegate's methods are declared as Xcode shows the headers: everything implicitly unwrapped.
class Downloads: NSObject, KollusStorageDelegate {
    let storage: KollusStorage
    /// At this percentage a download is cancelled once, as if a learner had tapped on it.
    var cancelPercent: UInt?
    /// Called when no download is left; a view controller would update its views.
    var onIdle: ((Bool) -> Void)?
    private var addresses: [String] = []
    private var isComplete = true

    init(storage: KollusStorage) {
        self.storage = storage
        super.init()
        storage.delegate = self
    }

    /// Downloads several lectures, one after the other.
    func download(_ urls: [String]) {
        addresses += urls
        next()
    }

    /// Loading waits for a server, so it runs off the main queue.
    private func next() {
        guard !addresses.isEmpty else { return onIdle?(isComplete) ?? () }
        let url = addresses.removeFirst()
        DispatchQueue.global(qos: .userInitiated).async {
            do {
                let mediaContentKey = try self.storage.loadContentURL(url)
                DispatchQueue.main.async { self.start(mediaContentKey) }
            } catch let error as NSError {
                DispatchQueue.main.async { self.fail(url, error) }
            }
        }
    }

    private func start(_ mediaContentKey: String) {
        guard hasSpace(for: mediaContentKey) else {
            print("\(mediaContentKey): not enough space")
            isComplete = false
            return next()
        }
        do {
            try storage.downloadContent(mediaContentKey)
        } catch let error as NSError where error.code == -9000 {
            print("\(mediaContentKey): complete already")
            next()
        } catch let error as NSError {
            fail(mediaContentKey, error)
        }
    }

    /// The vendor's samples require 150 MB besides the lecture.
    private func hasSpace(for mediaContentKey: String) -> Bool {
        // proof: the header says that these are contents.
        let contents = storage.contents() as! [KollusContent]
        let content = contents.first { $0.mediaContentKey == mediaContentKey }
        let left = (content?.fileSize ?? 0) - (content?.downloadSize ?? 0)
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: storage.storagePath)
        guard let free = attributes?[.systemFreeSize] as? NSNumber else { return true }
        return free.int64Value >= left + 150_000_000
    }

    private func fail(_ name: String, _ error: NSError) {
        print("\(name): error \(error.code): \(error.localizedDescription)")
        isComplete = false
        next()
    }

    /// One method for everything: an error, completion, or progress.
    func kollusStorage(_ kollusStorage: KollusStorage!, downloadContent content: KollusContent!, error: Error!) {
        let key = content.mediaContentKey!
        if let error = error as NSError? {
            // iOS reports no event for a cancel; here it is the final event of the download.
            if error.code == -8615 { return resume(content) }
            fail(key, error)
        } else if content.downloaded {
            print("\(key): complete, \(content.fileSize) bytes")
            next()
        } else {
            print("\(key): \(content.downloadProgress) %")
            if let percent = cancelPercent, content.downloadProgress >= percent {
                cancelPercent = nil
                try? storage.downloadCancelContent(key)
            }
        }
    }

    /// Downloading again continues after the data that was kept.
    private func resume(_ content: KollusContent) {
        print("\(content.mediaContentKey!): cancelled at \(content.downloadProgress) %")
        start(content.mediaContentKey)
    }

    func kollusStorage(
        _ kollusStorage: KollusStorage!, request: [AnyHashable: Any]!, json: [AnyHashable: Any]!, error: Error!
    ) {}

    func kollusStorage(_ kollusStorage: KollusStorage!, cur: Int32, count: Int32, error: Error!) {}

    func kollusStorage(_ kollusStorage: KollusStorage!, lmsData: String!, resultJson: [AnyHashable: Any]!) {}

    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {}
}

/// `kollus-guide download [--cancel-at PERCENT] URL…`: promises that all of them are complete.
extension Downloads: GuideChapter {
    func begin(_ words: [String], end: @escaping (Bool) -> Void) {
        var urls = words
        if urls.first == "--cancel-at", urls.count > 1 {
            cancelPercent = UInt(urls[1])
            urls.removeFirst(2)
        }
        onIdle = end
        download(urls)
    }
}
