// Written as applications for iOS are, which unwrap by force.
// swift-format-ignore-file: NeverForceUnwrap

import Foundation
import KollusSDK

/// The chapter on events: one delegate for everything, and what each of the five methods means.
///
/// The methods are declared as the vendor's guide prints them: `storage`, and a `json` that may be missing.
class EventLog: NSObject, KollusStorageDelegate {
    let storage: KollusStorage
    /// Called when all downloads have ended and the reports are sent.
    var onIdle: ((Bool) -> Void)?
    /// How many downloads have not ended.
    private(set) var running = 0
    private var isGood = true

    init(storage: KollusStorage) {
        self.storage = storage
        super.init()
        storage.delegate = self
    }

    /// Starts downloads, then sends the reports stored meanwhile.
    func begin(_ urls: [String]) {
        running = urls.count
        if urls.isEmpty { storage.sendStoredLms() }
        DispatchQueue.global(qos: .userInitiated).async {
            for url in urls {
                do {
                    try self.storage.downloadContent(self.storage.loadContentURL(url))
                } catch let error as NSError {
                    DispatchQueue.main.async { self.over(url, error) }
                }
            }
        }
    }

    private func over(_ name: String, _ error: NSError?) {
        print("download \(name): \(error.map { "error \($0.code)" } ?? "complete")")
        if error != nil { isGood = false }
        running -= 1
        if running == 0 { storage.sendStoredLms() }
    }

    /// A download has changed: failed, finished, or in progress.
    func kollusStorage(_ storage: KollusStorage, downloadContent content: KollusContent, error: Error?) {
        if let error = error as NSError? {
            over(content.mediaContentKey, error)
        } else if content.downloaded {
            over(content.mediaContentKey, nil)
        } else {
            print("progress \(content.mediaContentKey!): \(content.downloadSize) of \(content.fileSize) bytes")
        }
    }

    /// A licence server was asked. Both dictionaries may contain user ids: keep them out of logs.
    func kollusStorage(
        _ storage: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any]?, error: Error?
    ) {
        let kind = request["kind"] as? Int ?? 0
        let result = json?["result"] as? Int ?? 0
        print("licence server: kind \(kind), result \(result)")
    }

    /// A licence of a batch was renewed, or failed.
    func kollusStorage(_ storage: KollusStorage, cur: Int32, count: Int32, error: Error?) {
        print("renewal: \(cur) of \(count)")
    }

    /// A learning report was sent.
    func kollusStorage(_ storage: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]?) {
        print("report: \(lmsData.utf8.count) bytes, answer \(resultJson == nil ? "none" : "JSON")")
    }

    /// The stored reports were sent, as far as possible.
    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {
        print("reports: \(successCount) sent, \(failCount) not")
        onIdle?(isGood && failCount == 0)
    }
}

/// `kollus-guide events URL…`: promises complete downloads and that no report is left.
extension EventLog: GuideChapter {
    func begin(_ words: [String], end: @escaping (Bool) -> Void) {
        onIdle = end
        begin(words)
    }
}
