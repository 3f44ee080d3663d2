// An application written as the vendor's guide shows it, with its own names. Changed for Linux: the import.
import Foundation
import KollusSDK
import KollusTestSupport

/// Third spelling: the guide's, with the first parameter named `storage` and an optional answer. A class of
/// the main actor with an isolated conformance.
@MainActor
class KollusManager: NSObject, @MainActor KollusStorageDelegate {
    let storage = KollusStorage()
    var onFailure: ((String) -> Void)?
    private let journal: Journal

    required init(journal: Journal) { self.journal = journal }

    func setupStorage(_ values: Academy.Values) throws {
        storage.applicationKey = values.key
        storage.applicationBundleID = values.bundleID
        let formatter = DateFormatter()
        formatter.calendar = Calendar(identifier: .gregorian)
        formatter.dateFormat = "yyyy/MM/dd"
        storage.applicationExpireDate = formatter.date(from: values.expires)
        storage.settings = values.settings
        _ = storage.setKollusPath(values.path)
        do {
            try storage.start(withFirst: !FileManager.default.fileExists(atPath: values.path))
            storage.delegate = self
            storage.setNetworkTimeOut(30, retry: 3)
            storage.setCacheSize(500)
        } catch {
            onFailure?((error as NSError).localizedDescription)
            throw error
        }
    }

    // MARK: KollusStorageDelegate

    func kollusStorage(_ storage: KollusStorage, downloadContent content: KollusContent, error: Error?) {
        MainActor.assertIsolated()
        if let error = error as NSError? {
            switch error.code {
            case -8623: onFailure?("There is not enough space.")
            default: onFailure?(error.localizedDescription)
            }
        }
        journal.download(content, error)
    }

    func kollusStorage(
        _ storage: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any]?, error: Error?
    ) {
        journal.exchange(storage, request, json, error)
    }

    func kollusStorage(_ storage: KollusStorage, cur: Int32, count: Int32, error: Error?) {
        journal.renewal(cur, count, error)
    }

    func kollusStorage(_ storage: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]?) {
        journal.report(lmsData, resultJson)
    }

    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {
        journal.record(.sent(success: successCount, fail: failCount))
    }

    // MARK: The chapter on playing offline

    /// The guide's four conditions, with both of its spellings.
    func canPlayOffline(_ content: KollusContent) -> Bool {
        if content.DRMExpired { return false }
        if let date = content.drmExpireDate, date < Date() { return false }
        if content.drmTotalExpirePlayTime > 0, content.DRMExpirePlayTime <= 0 { return false }
        if content.drmExpireCountMax > 0, content.drmExpireCount <= 0 { return false }
        return content.downloaded
    }
}

extension KollusManager: StudyApp {
    var kollus: KollusStorage { storage }

    func launch(_ values: Academy.Values) throws { try setupStorage(values) }

    func register(_ url: String) async throws -> String {
        let storage = storage
        return try await Task.detached { try storage.loadContentURL(url) }.value
    }

    func fetch(_ mediaContentKey: String) throws { try storage.downloadContent(mediaContentKey) }

    func stop(_ mediaContentKey: String) throws { try storage.downloadCancelContent(mediaContentKey) }

    func erase(_ mediaContentKey: String) throws { try storage.removeContent(mediaContentKey) }

    func renew(all: Bool) { storage.updateDownloadDRMInfo(all) }

    func sendReports() { storage.sendStoredLms() }

    func screen(_ screen: Screen, now: Date) -> [String] {
        guard let contents = storage.contents() as? [KollusContent] else { return [] }
        var keys: [String] = []
        switch screen {
        case .inProgress:
            for content in contents where content.contentType == .downloading && !content.downloaded {
                keys.append(content.mediaContentKey)
            }
        case .completed:
            for content in contents where content.downloadProgress == 100 { keys.append(content.mediaContentKey) }
        case .recent:
            let sevenDaysAgo = Calendar.current.date(byAdding: .day, value: -7, to: now) ?? now
            for content in contents where content.downloaded {
                let date = Date(timeIntervalSince1970: TimeInterval(content.downloadedTime))
                if date > sevenDaysAgo { keys.append(content.mediaContentKey) }
            }
        case .library(let folders):
            keys = Set(folders.values).sorted().map { $0 + "/" }
            let loose = contents.filter { !folders.keys.contains($0.mediaContentKey) }
            keys += loose.sorted(by: { $0.title.compare($1.title) == .orderedAscending }).map { $0.mediaContentKey }
        }
        return keys
    }
}
