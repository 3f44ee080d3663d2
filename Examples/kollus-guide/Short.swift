// Written as applications for iOS are, which unwrap by force.
// swift-format-ignore-file: NeverForceUnwrap

import Foundation
import KollusSDK

/// The short version: the example of the README.
class Lectures: NSObject, KollusStorageDelegate {
    let storage = KollusStorage()
    var onEnd: ((NSError?) -> Void)?

    func fetch(_ url: String, key: String, date: Date) throws {
        storage.applicationKey = key
        storage.applicationBundleID = "com.example.academy"
        storage.applicationExpireDate = date
        try storage.start()
        storage.delegate = self
        let mediaContentKey = try storage.loadContentURL(url)
        try storage.downloadContent(mediaContentKey)
    }

    func kollusStorage(_ kollusStorage: KollusStorage!, downloadContent content: KollusContent!, error: Error!) {
        if let error = error as NSError? { return onEnd?(error) ?? () }
        print("\(content.title!): \(content.downloadProgress) %")
        if content.downloaded { onEnd?(nil) }
    }
}

/// `kollus-guide short URL`: promises that it is complete.
extension Lectures {
    func begin(_ url: String, _ issued: Issued, end: @escaping (Bool) -> Void) throws {
        onEnd = { error in
            if let error { print("error \(error.code): \(error.localizedDescription)") }
            end(error == nil)
        }
        try fetch(url, key: issued.key ?? "", date: day(issued.expires) ?? Date())
    }
}
