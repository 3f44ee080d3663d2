// An application from before Swift's concurrency checks: a global, a singleton, closures that keep whatever they like.
// swift-format-ignore-file: NeverForceUnwrap

import Foundation
import KollusSDK
import KollusTestSupport
import Testing

var gKollusStorage: KollusStorage!

class DownloadCenter: NSObject, KollusStorageDelegate {
    static var shared = DownloadCenter()

    var completion: [String: (NSError?) -> Void] = [:]
    var progress: [String: UInt] = [:]

    func load(_ url: String?, done: @escaping (String?, NSError?) -> Void) {
        DispatchQueue.global().async {
            do {
                let mck = try gKollusStorage.loadContentURL(url)
                DispatchQueue.main.async { done(mck, nil) }
            } catch let error as NSError {
                DispatchQueue.main.async { done(nil, error) }
            }
        }
    }

    func download(_ mck: String!, done: @escaping (NSError?) -> Void) {
        completion[mck] = done
        do { try gKollusStorage.downloadContent(mck) } catch let error as NSError {
            completion.removeValue(forKey: mck)!(error)
        }
    }

    func kollusStorage(_ kollusStorage: KollusStorage!, downloadContent content: KollusContent!, error: Error!) {
        let mck = content.mediaContentKey!
        if error != nil {
            completion.removeValue(forKey: mck)?(error as NSError?)
        } else if content.downloaded {
            completion.removeValue(forKey: mck)?(nil)
        } else {
            progress[mck] = content.downloadProgress
        }
    }
}

/// Only in Swift 5 mode: in Swift 6 mode the compiler refuses the global and the singleton.
@Suite(.timeLimit(.minutes(1)))
struct LegacyClientNetTests {
    @Test
    func `globals, singletons and closures of Swift 5 behave as before`() async throws {
        let academy = try await Academy.open()
        gKollusStorage = KollusStorage()
        academy.configure(gKollusStorage)
        try gKollusStorage.start()
        gKollusStorage.delegate = DownloadCenter.shared
        let (mck, failure): (String?, NSError?) = await withCheckedContinuation { continuation in
            DownloadCenter.shared.load(academy.media("300K", 1)) { continuation.resume(returning: ($0, $1)) }
        }
        #expect(failure == nil)
        let key = try #require(mck)
        let error: NSError? = await withCheckedContinuation { continuation in
            DispatchQueue.main.async {
                DownloadCenter.shared.download(key) { continuation.resume(returning: $0) }
            }
        }
        #expect(error == nil)
        #expect((gKollusStorage.contents() as! [KollusContent]).map { $0.downloaded } == [true])
        let missing: (String?, NSError?) = await withCheckedContinuation { continuation in
            DownloadCenter.shared.load(nil) { continuation.resume(returning: ($0, $1)) }
        }
        #expect(missing.1?.code == -8613)
        gKollusStorage.close()
        await academy.close()
    }
}
