// An application that imports the SDK through its own wrapper module. Changed for Linux: nothing.
import Foundation
import KollusSDKBinary
import KollusTestSupport

/// Second spelling: nothing optional but the error. A class of the main actor with a conformance from before isolated
/// conformances.
@MainActor
final class OfflineLibrary: NSObject, @preconcurrency KollusStorageDelegate {
    enum Failure: Error {
        case notStarted
    }

    private(set) var rows: [KollusContent] = []
    private let storage = KollusStorage()
    private let journal: Journal

    init(journal: Journal) {
        self.journal = journal
        super.init()
        // Before the start, so that no event is lost.
        storage.delegate = self
    }

    // MARK: KollusStorageDelegate

    func kollusStorage(_ kollusStorage: KollusStorage, downloadContent content: KollusContent, error: Error?) {
        dispatchPrecondition(condition: .onQueue(.main))
        if let index = rows.firstIndex(of: content) { rows[index] = content }
        journal.download(content, error)
    }

    func kollusStorage(
        _ kollusStorage: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any], error: Error?
    ) {
        reload()
        journal.exchange(kollusStorage, request, json, error)
    }

    func kollusStorage(_ kollusStorage: KollusStorage, cur: Int32, count: Int32, error: Error?) {
        if cur == count { reload() }
        journal.renewal(cur, count, error)
    }

    func kollusStorage(_ kollusStorage: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]) {
        journal.report(lmsData, resultJson)
    }

    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {
        journal.record(.sent(success: successCount, fail: failCount))
    }

    private func reload() { rows = storage.contents() as? [KollusContent] ?? [] }
}

extension OfflineLibrary: StudyApp {
    var kollus: KollusStorage { storage }

    func launch(_ values: Academy.Values) throws {
        let formatter = DateFormatter()
        formatter.calendar = Calendar(identifier: .gregorian)
        formatter.dateFormat = "yyyy/MM/dd"
        guard let date = formatter.date(from: values.expires), storage.setKollusPath(values.path) else {
            throw Failure.notStarted
        }
        storage.applicationKey = values.key
        storage.applicationBundleID = values.bundleID
        storage.applicationExpireDate = date
        storage.settings = values.settings
        try storage.startWithCheck()
        storage.setNetworkTimeOut(30, retry: 3)
        reload()
    }

    /// Blocking calls off the main thread, as the vendor's guide asks for.
    func register(_ url: String) async throws -> String {
        let storage = storage
        let key: String = try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async {
                continuation.resume(with: Result { try storage.loadContentURL(url) })
            }
        }
        reload()
        return key
    }

    func fetch(_ mediaContentKey: String) throws { try storage.downloadContent(mediaContentKey) }

    func stop(_ mediaContentKey: String) throws { try storage.downloadCancelContent(mediaContentKey) }

    func erase(_ mediaContentKey: String) throws {
        try storage.removeContent(mediaContentKey)
        reload()
    }

    func renew(all: Bool) { storage.updateDownloadDRMInfo(all) }

    func sendReports() { storage.sendStoredLms() }

    func screen(_ screen: Screen, now: Date) -> [String] {
        reload()
        switch screen {
        case .inProgress:
            return rows.filter { content in
                switch content.contentType {
                case .downloading, .adaptiveDownload: !content.downloaded && content.downloadProgress < 100
                default: false
                }
            }.map(\.mediaContentKey)
        case .completed: return rows.filter(\.downloaded).map(\.mediaContentKey)
        case .recent:
            let begin = now.addingTimeInterval(-7 * 86_400)
            return rows.filter { content in
                let date = Date(timeIntervalSince1970: TimeInterval(content.downloadedTime))
                return content.downloadedTime > 0 && date >= begin
            }.sorted { $0.downloadedTime > $1.downloadedTime }.map(\.mediaContentKey)
        case .library(let folders):
            let loose = rows.filter { folders[$0.mediaContentKey] == nil }.sorted { $0.title < $1.title }
            return Set(folders.values).sorted().map { "\($0)/" } + loose.map(\.mediaContentKey)
        }
    }
}
