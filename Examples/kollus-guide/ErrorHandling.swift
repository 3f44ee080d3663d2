// Written as applications for iOS are, which unwrap by force.
// swift-format-ignore-file: NeverForceUnwrap

import Foundation
import KollusSDK

/// How an application handles an error, by the groups of the vendor's guide.
enum Advice: String {
    case checkKey = "check the application key"
    case freeSpace = "free some space, then download again"
    case checkDisk = "check the disk"
    case wait = "wait for the download that runs"
    case play = "play it: it is complete"
    case load = "load it again"
    case renew = "renew the licence"
    case refresh = "refresh the list: the server has deleted it"
    case retry = "try again when there is a network"
    case newLink = "ask for a new link"
    case askProvider = "ask the provider"

    init(_ error: NSError) {
        switch error.code {
        case -2107 ... -2103: self = .checkKey
        case -8623: self = .freeSpace
        case -8600, -8601, -8602, -8611, -8023: self = .checkDisk
        case -8631: self = .wait
        case -9000: self = .play
        case -8614, -8621, -8628, -8638: self = .load
        case -8643, -8644, -8683, -8687: self = .renew
        case -8680: self = .refresh
        case -4085: self = .newLink
        // libcurl's numbers and the 5xx statuses of content and licence servers.
        case -8099 ... -8001, -9099 ... -9001, -8599 ... -8500, -9599 ... -9500: self = .retry
        default: self = .askProvider
        }
    }
}

/// The chapter on errors: every call that throws, every event with an error, one place that handles them.
class ErrorHandling: NSObject, KollusStorageDelegate {
    let storage: KollusStorage
    var onEnd: ((Bool) -> Void)?

    init(storage: KollusStorage) {
        self.storage = storage
        super.init()
        storage.delegate = self
    }

    func download(_ url: String) {
        DispatchQueue.global(qos: .userInitiated).async {
            do {
                let mediaContentKey = try self.storage.loadContentURL(url)
                try self.storage.downloadContent(mediaContentKey)
            } catch let error as NSError {
                DispatchQueue.main.async { self.show(error) }
            }
        }
    }

    /// Where a view controller would present an alert: the message, and what to do.
    func show(_ error: NSError) {
        print("error \(error.code): \(error.localizedDescription)")
        print("advice: \(Advice(error).rawValue)")
        onEnd?(false)
    }

    func kollusStorage(_ kollusStorage: KollusStorage!, downloadContent content: KollusContent!, error: Error!) {
        if let error = error as NSError? {
            show(error)
        } else if content.downloaded {
            print("\(content.mediaContentKey!): complete")
            onEnd?(true)
        }
    }
}

/// `kollus-guide errors URL`: promises that it is complete; otherwise prints what to do.
extension ErrorHandling: GuideChapter {
    func begin(_ words: [String], end: @escaping (Bool) -> Void) {
        onEnd = end
        download(words.first ?? "")
    }
}
