public import Foundation

/// The events of a storage: the five methods of the iOS SDK.
///
/// On iOS an Objective-C protocol accepts any optionality. In Swift only an identical one binds, so each event is
/// declared in every spelling that is in use, each with an empty default, and the storage calls them all: the one that
/// an application implements is called once. A method with another spelling would silently never be called; therefore
/// setting ``KollusStorage/delegate`` reports it through ``LogUtil``.
///
/// | spelling | origin |
/// | --- | --- |
/// | all types implicitly unwrapped or optional | the headers as Xcode shows them |
/// | nothing optional but `error: Error?` | wrappers in production |
/// | the same with `json: [AnyHashable: Any]?` | the vendor's guide |
///
/// Delivered on the main queue, or on ``KollusStorage/delegateQueue``. A class of the main actor conforms with
/// `@MainActor KollusStorageDelegate` or `@preconcurrency KollusStorageDelegate`.
public protocol KollusStorageDelegate: NSObjectProtocol {
    // MARK: Transfers

    /// A transfer has changed: failed when there is an `error`, finished when `content.downloaded`, else in progress.
    func kollusStorage(
        _ kollusStorage: KollusStorage!, downloadContent content: KollusContent!, error: (any Error)!)
    /// As above.
    func kollusStorage(_ kollusStorage: KollusStorage, downloadContent content: KollusContent, error: (any Error)?)

    // MARK: Licences

    /// An exchange with a licence server. `request` has the members of the (first) item and all `items`, `json` the
    /// decoded answer with its `data` and the members of the (first) answer. When it has `content_delete` 1, the file
    /// is gone already. Contains user ids.
    func kollusStorage(
        _ kollusStorage: KollusStorage!, request: [AnyHashable: Any]!, json: [AnyHashable: Any]!, error: (any Error)!)
    /// As above; `json` is empty if there was no answer.
    func kollusStorage(
        _ kollusStorage: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any], error: (any Error)?)
    /// As above; `json` is nil if there was no answer.
    func kollusStorage(
        _ kollusStorage: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any]?, error: (any Error)?)
    /// One licence of a batch was renewed, or failed and is unchanged. `cur` runs from 1 to `count`.
    func kollusStorage(_ kollusStorage: KollusStorage!, cur: Int32, count: Int32, error: (any Error)!)
    /// As above.
    func kollusStorage(_ kollusStorage: KollusStorage, cur: Int32, count: Int32, error: (any Error)?)

    // MARK: Learning reports

    /// A report was sent to an LMS: the data, and the LMS's answer.
    func kollusStorage(_ kollusStorage: KollusStorage!, lmsData: String!, resultJson: [AnyHashable: Any]!)
    /// As above; `resultJson` is empty if the answer was not a JSON object.
    func kollusStorage(_ kollusStorage: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any])
    /// As above; `resultJson` is nil if the answer was not a JSON object.
    func kollusStorage(_ kollusStorage: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]?)
    /// A call of ``KollusStorage/sendStoredLms()`` is over: the numbers of accepted and other reports.
    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32)
}

/// Empty defaults for all events.
///
/// Each default records that it was called: if all spellings of an event end here, the delegate has not received it.
extension KollusStorageDelegate {
    /// Does nothing.
    public func kollusStorage(
        _ kollusStorage: KollusStorage!, downloadContent content: KollusContent!, error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusStorage(
        _ kollusStorage: KollusStorage, downloadContent content: KollusContent, error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusStorage(
        _ kollusStorage: KollusStorage!, request: [AnyHashable: Any]!, json: [AnyHashable: Any]!, error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusStorage(
        _ kollusStorage: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any], error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusStorage(
        _ kollusStorage: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any]?, error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusStorage(_ kollusStorage: KollusStorage!, cur: Int32, count: Int32, error: (any Error)!) {
        Unheard.record()
    }
    /// Does nothing.
    public func kollusStorage(_ kollusStorage: KollusStorage, cur: Int32, count: Int32, error: (any Error)?) {
        Unheard.record()
    }
    /// Does nothing.
    public func kollusStorage(_ kollusStorage: KollusStorage!, lmsData: String!, resultJson: [AnyHashable: Any]!) {
        Unheard.record()
    }
    /// Does nothing.
    public func kollusStorage(_ kollusStorage: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]) {
        Unheard.record()
    }
    /// Does nothing.
    public func kollusStorage(_ kollusStorage: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]?) {
        Unheard.record()
    }
    /// Does nothing.
    public func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) { Unheard.record() }
}
