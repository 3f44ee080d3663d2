// An application written as the vendor's Swift sample. Changed for Linux: the import, and no `@objc`.
// swift-format-ignore-file: NeverForceUnwrap

import Foundation
import KollusSDK
import KollusTestSupport

/// A row of the sample's list: a folder or a lecture.
class FileItem: NSObject {
    var fileType = 0
    var name: String!
    var content: KollusContent!

    init(directory: String!) {
        super.init()
        fileType = 1
        name = directory
    }

    init(content: KollusContent!) {
        super.init()
        self.content = content
        name = content.title
    }
}

/// First spelling: everything implicitly unwrapped, as the headers are imported. A plain class.
class SampleStorageManager: NSObject, KollusStorageDelegate {
    var kollusStorage: KollusStorage! = KollusStorage()
    var contents: [KollusContent] = []
    let queue = DispatchQueue(label: "com.example.academy.storage")
    let journal: Journal

    required init(journal: Journal) {
        self.journal = journal
        super.init()
    }

    func initKollusStorage(_ values: Academy.Values) throws {
        let formatter = DateFormatter()
        formatter.calendar = Calendar(identifier: .gregorian)
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy/MM/dd"

        kollusStorage.applicationKey = values.key
        kollusStorage.applicationBundleID = values.bundleID
        kollusStorage.applicationExpireDate = formatter.date(from: values.expires)
        kollusStorage.keychainGroup = nil
        kollusStorage.serverPort = 8388
        // What Linux has and iOS does not.
        kollusStorage.settings = values.settings
        kollusStorage.delegateQueue = queue
        if !kollusStorage.setKollusPath(values.path) {
            print("the path was not taken")
        }
        do {
            try kollusStorage.start()
        } catch let error as NSError {
            print("start: \(error.code) \(error.localizedDescription)")
            throw error
        }
        kollusStorage.delegate = self
        kollusStorage.setNetworkTimeOut(30, retry: 3)
        kollusStorage.setCacheSize(100)
        kollusStorage.setBackgroundDownload(false)
        reload()
    }

    func reload() {
        if let array = kollusStorage.contents() {
            contents = array as! [KollusContent]
        }
    }

    // MARK: KollusStorageDelegate

    func kollusStorage(_ kollusStorage: KollusStorage!, downloadContent content: KollusContent!, error: Error!) {
        dispatchPrecondition(condition: .onQueue(queue))
        if error != nil {
            print("\(content.title!): \((error as NSError).code) \(error.localizedDescription)")
        } else if content.downloaded {
            reload()
        }
        journal.download(content, error)
    }

    func kollusStorage(
        _ kollusStorage: KollusStorage!, request: [AnyHashable: Any]!, json: [AnyHashable: Any]!, error: Error!
    ) {
        reload()
        journal.exchange(kollusStorage, request, json, error)
    }

    func kollusStorage(_ kollusStorage: KollusStorage!, cur: Int32, count: Int32, error: Error!) {
        journal.renewal(cur, count, error)
    }

    func kollusStorage(_ kollusStorage: KollusStorage!, lmsData: String!, resultJson: [AnyHashable: Any]!) {
        journal.report(lmsData, resultJson)
    }

    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {
        journal.record(.sent(success: successCount, fail: failCount))
    }
}

extension SampleStorageManager: StudyApp {
    var kollus: KollusStorage { kollusStorage }

    func launch(_ values: Academy.Values) throws { try initKollusStorage(values) }

    func register(_ url: String) throws -> String {
        let mck: String! = try kollusStorage.loadContentURL(url)
        reload()
        return mck
    }

    func fetch(_ mediaContentKey: String) throws { try kollusStorage.downloadContent(mediaContentKey) }

    func stop(_ mediaContentKey: String) throws { try kollusStorage.downloadCancelContent(mediaContentKey) }

    func erase(_ mediaContentKey: String) throws {
        try kollusStorage.removeContent(mediaContentKey)
        reload()
    }

    func renew(all: Bool) { kollusStorage.updateDownloadDRMInfo(all) }

    func sendReports() { kollusStorage.sendStoredLms() }

    func screen(_ screen: Screen, now: Date) -> [String] {
        let list = kollusStorage.contents() as! [KollusContent]
        switch screen {
        case .inProgress:
            return list.filter {
                ($0.contentType == .downloading || $0.contentType == .adaptiveDownload)
                    && Double($0.downloadSize) / Double($0.fileSize) < 1
            }.map { $0.mediaContentKey! }
        case .completed:
            return list.filter {
                $0.contentType == .downloading && $0.downloaded
                    || $0.contentType == .adaptiveDownload && $0.downloadProgress == 100
            }.map { $0.mediaContentKey }
        case .recent:
            let seven = now.timeIntervalSince1970 - 7 * 24 * 60 * 60
            return list.filter { $0.downloaded && Double($0.downloadedTime) >= seven }
                .sorted { $0.downloadedTime > $1.downloadedTime }.map { $0.mediaContentKey }
        case .library(let folders):
            var items = Set(folders.values).map { FileItem(directory: $0) }
            items += list.filter { folders[$0.mediaContentKey!] == nil }.map { FileItem(content: $0) }
            items.sort { $0.fileType != $1.fileType ? $0.fileType > $1.fileType : $0.name! < $1.name! }
            return items.map { $0.fileType == 1 ? $0.name! + "/" : $0.content!.mediaContentKey! }
        }
    }
}
