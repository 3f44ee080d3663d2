public import Foundation

/// What an application is told by its storage: the five methods of the iOS SDK.
///
/// On iOS an Objective-C protocol forgives every optionality. In Swift only an identical one binds, so each event is
/// declared in every spelling that is in use, each with an empty default, and the storage calls them all: whichever an
/// application chose is called once. What no spelling binds would never be called, and nobody would notice; therefore
/// setting ``KollusStorage/delegate`` tells it through ``LogUtil``.
///
/// | spelling | where it comes from |
/// | --- | --- |
/// | everything implicitly unwrapped or optional | the headers as Xcode shows them |
/// | nothing optional but `error: Error?` | wrappers in production |
/// | as that, with `json: [AnyHashable: Any]?` | the vendor's guide |
///
/// Delivered on the main queue, or on ``KollusStorage/delegateQueue``. A class of the main actor conforms with
/// `@MainActor KollusStorageDelegate` or `@preconcurrency KollusStorageDelegate`.
public protocol KollusStorageDelegate: NSObjectProtocol {
    // MARK: Transfers

    /// A transfer has changed: failed when there is an `error`, finished when `content.downloaded`, else on its way.
    func kollusStorage(
        _ kollusStorage: KollusStorage!, downloadContent content: KollusContent!, error: (any Error)!)
    /// As above.
    func kollusStorage(_ kollusStorage: KollusStorage, downloadContent content: KollusContent, error: (any Error)?)

    // MARK: Licences

    /// A licence server was asked. `request` has the members of the (first) item and all `items`, `json` the decoded
    /// answer with its `data` and the members of the (first) answer. When it has `content_delete` 1, the file is gone
    /// already. Holds user ids.
    func kollusStorage(
        _ kollusStorage: KollusStorage!, request: [AnyHashable: Any]!, json: [AnyHashable: Any]!, error: (any Error)!)
    /// As above; `json` is empty where there was no answer.
    func kollusStorage(
        _ kollusStorage: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any], error: (any Error)?)
    /// As above; `json` is nil where there was no answer.
    func kollusStorage(
        _ kollusStorage: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any]?, error: (any Error)?)
    /// One licence of a batch is renewed, or has failed and is as it was. `cur` runs from 1 to `count`.
    func kollusStorage(_ kollusStorage: KollusStorage!, cur: Int32, count: Int32, error: (any Error)!)
    /// As above.
    func kollusStorage(_ kollusStorage: KollusStorage, cur: Int32, count: Int32, error: (any Error)?)

    // MARK: Learning reports

    /// A report went to an LMS: what was sent, and what it answered.
    func kollusStorage(_ kollusStorage: KollusStorage!, lmsData: String!, resultJson: [AnyHashable: Any]!)
    /// As above; `resultJson` is empty where the answer was no JSON object.
    func kollusStorage(_ kollusStorage: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any])
    /// As above; `resultJson` is nil where the answer was no JSON object.
    func kollusStorage(_ kollusStorage: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]?)
    /// A call of ``KollusStorage/sendStoredLms()`` is over: so many reports were taken, so many were not.
    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32)
}

/// Nothing for whoever does not want to know.
///
/// Each default notes that it was called: where all spellings of an event end here, nobody has heard it.
extension KollusStorageDelegate {
    /// Nothing.
    public func kollusStorage(
        _ kollusStorage: KollusStorage!, downloadContent content: KollusContent!, error: (any Error)!
    ) { Unheard.note() }
    /// Nothing.
    public func kollusStorage(
        _ kollusStorage: KollusStorage, downloadContent content: KollusContent, error: (any Error)?
    ) { Unheard.note() }
    /// Nothing.
    public func kollusStorage(
        _ kollusStorage: KollusStorage!, request: [AnyHashable: Any]!, json: [AnyHashable: Any]!, error: (any Error)!
    ) { Unheard.note() }
    /// Nothing.
    public func kollusStorage(
        _ kollusStorage: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any], error: (any Error)?
    ) { Unheard.note() }
    /// Nothing.
    public func kollusStorage(
        _ kollusStorage: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any]?, error: (any Error)?
    ) { Unheard.note() }
    /// Nothing.
    public func kollusStorage(_ kollusStorage: KollusStorage!, cur: Int32, count: Int32, error: (any Error)!) {
        Unheard.note()
    }
    /// Nothing.
    public func kollusStorage(_ kollusStorage: KollusStorage, cur: Int32, count: Int32, error: (any Error)?) {
        Unheard.note()
    }
    /// Nothing.
    public func kollusStorage(_ kollusStorage: KollusStorage!, lmsData: String!, resultJson: [AnyHashable: Any]!) {
        Unheard.note()
    }
    /// Nothing.
    public func kollusStorage(_ kollusStorage: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]) {
        Unheard.note()
    }
    /// Nothing.
    public func kollusStorage(_ kollusStorage: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]?) {
        Unheard.note()
    }
    /// Nothing.
    public func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) { Unheard.note() }
}
