// Written as applications for iOS are, which unwrap by force.
// swift-format-ignore-file: NeverForceUnwrap

import Foundation
import KollusSDK

/// The chapter on preparation: key, bundle id and date, the start, and the settings that the vendor recommends.
///
/// Applications keep one such object for as long as they run.
class Preparation: NSObject {
    let storage = KollusStorage()

    /// Opens the storage; no network is needed for that.
    ///
    /// - Parameters:
    ///   - key: the key that the provider has issued.
    ///   - bundleID: the bundle id that the key is issued for.
    ///   - expires: the day on which the key expires, `yyyy/MM/dd`, as issued.
    ///   - path: the storage's directory; nil for the usual one.
    /// - Throws: `NSError`: −2107, −2106, −2103, −2105 or −2104 when the values do not agree; the storage's own.
    func prepare(key: String?, bundleID: String?, expires: String?, path: String? = nil) throws {
        storage.applicationKey = key
        storage.applicationBundleID = bundleID
        storage.applicationExpireDate = day(expires)
        // Only before a start.
        if let path { storage.setKollusPath(path) }
        try storage.start()

        storage.setNetworkTimeOut(30, retry: 3)
        storage.setCacheSize(500)
        storage.setBackgroundDownload(false)
    }
}

/// A day in the format of providers.
func day(_ text: String?) -> Date? {
    let formatter = DateFormatter()
    formatter.calendar = Calendar(identifier: .gregorian)
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "yyyy/MM/dd"
    return text.flatMap { formatter.date(from: $0) }
}

/// `kollus-guide preparation`: promises a storage that is started.
extension Preparation: GuideChapter {
    func begin(_ words: [String], end: @escaping (Bool) -> Void) {
        print("version \(storage.applicationVersion!)")
        print("player \(storage.applicationDeviceID!)")
        print("device \(storage.deviceType!), \(storage.appUserAgent!)")
        print("path \(storage.storagePath!)")
        print("\(storage.storageSize) bytes of contents, \(storage.cacheDataSize) bytes of cache")
        end(storage.contents() != nil)
    }
}
