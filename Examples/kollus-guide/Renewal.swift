// Written as applications for iOS are, which unwrap by force.
// swift-format-ignore-file: NeverForceUnwrap

import Foundation
import KollusSDK

/// The chapter on renewal: expired licences, all licences, and the servers' answers.
///
/// The delegate's methods are declared as wrappers in production do: only the error is optional.
class Renewals: NSObject, KollusStorageDelegate {
    let storage: KollusStorage
    /// Called with the number of licences that could not be renewed.
    var onEnd: ((Int) -> Void)?
    private var failures = 0
    private var wanted: Set<String> = []
    private var isLast = false
    /// Lectures that a server has revoked, and whose exchange has not been reported yet.
    private var ordered = 0

    init(storage: KollusStorage) {
        self.storage = storage
        super.init()
        storage.delegate = self
    }

    /// What has a licence, and therefore a date of its last check.
    var licensed: [KollusContent] {
        // proof: the header says that these are contents.
        let contents = storage.contents() as! [KollusContent]
        return contents.filter { $0.drmCheckDate != nil }
    }

    /// Renews all licences, or those that have ended. If there are none, no delegate method is called.
    func renew(all: Bool) {
        (failures, isLast, ordered) = (0, false, 0)
        wanted = Set((all ? licensed : licensed.filter { $0.drmExpired }).map { $0.mediaContentKey })
        guard !wanted.isEmpty else { return onEnd?(0) ?? () }
        storage.updateDownloadDRMInfo(all)
    }

    /// Called once per lecture. The iOS SDK has no event for the end: it is when `cur` reaches `count`.
    func kollusStorage(_ kollusStorage: KollusStorage, cur: Int32, count: Int32, error: Error?) {
        if let error = error as NSError? {
            if error.code == -8680 { ordered += 1 } else { failures += 1 }
            print("\(cur) of \(count): error \(error.code): \(error.localizedDescription)")
        } else {
            print("\(cur) of \(count): renewed")
        }
        isLast = cur == count
        endIfOver()
    }

    /// Lectures that are revoked by an answer outside this renewal are not counted.
    private func endIfOver() {
        guard isLast && ordered <= 0 || wanted.isEmpty else { return }
        onEnd?(failures)
        onEnd = nil
    }

    /// A request to a server and its answer. When the answer revokes a lecture, its file is already deleted.
    func kollusStorage(
        _ kollusStorage: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any], error: Error?
    ) {
        let answers = json["data"] as? [[String: Any]] ?? []
        for answer in answers where answer["content_delete"] as? Int == 1 {
            let key = answer["media_content_key"] as? String ?? ""
            print("\(key): deleted by the server")
            failures += 1
            ordered -= 1
            if wanted.remove(key) != nil { endIfOver() }
        }
    }

    func kollusStorage(_ kollusStorage: KollusStorage, downloadContent content: KollusContent, error: Error?) {}

    func kollusStorage(_ kollusStorage: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]) {}

    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {}
}

/// `kollus-guide renewal [--all]`: promises that every licence asked for is renewed.
extension Renewals: GuideChapter {
    func begin(_ words: [String], end: @escaping (Bool) -> Void) {
        onEnd = { [self] failures in
            for content in licensed {
                print("\(content.mediaContentKey!): until \(content.drmExpireDate.map { "\($0)" } ?? "for ever")")
            }
            end(failures == 0)
        }
        renew(all: words.first == "--all")
    }
}
