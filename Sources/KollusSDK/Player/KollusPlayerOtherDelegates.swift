public import Foundation

/// The exchanges of a player with a licence server. Spellings, queue and actors are those of ``KollusPlayerDelegate``.
public protocol KollusPlayerDRMDelegate: NSObjectProtocol {
    /// A licence server was asked about the content while the player prepared or played, and answered or not; the
    /// members are those of ``KollusStorageDelegate``. Contains user ids.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, request: [AnyHashable: Any]!, json: [AnyHashable: Any]!,
        error: (any Error)!)
    /// As above; `json` is empty if there was no answer.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, request: [AnyHashable: Any], json: [AnyHashable: Any],
        error: (any Error)?)
    /// As above; `json` is nil if there was no answer.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, request: [AnyHashable: Any], json: [AnyHashable: Any]?,
        error: (any Error)?)
}

/// Empty defaults.
extension KollusPlayerDRMDelegate {
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, request: [AnyHashable: Any]!, json: [AnyHashable: Any]!,
        error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, request: [AnyHashable: Any], json: [AnyHashable: Any],
        error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, request: [AnyHashable: Any], json: [AnyHashable: Any]?,
        error: (any Error)?
    ) { Unheard.record() }
}

/// The learning reports of a player, as they are sent. Spellings, queue and actors are those of
/// ``KollusPlayerDelegate``; each event is also declared as in 2021, when the second parameter was `json`.
public protocol KollusPlayerLMSDelegate: NSObjectProtocol {
    /// A report about the content was sent to an LMS: the data, and the LMS's answer.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, lmsData: String!, resultJson: [AnyHashable: Any]!)
    /// As above; `resultJson` is empty if the answer was not a JSON object.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, lmsData: String, resultJson: [AnyHashable: Any])
    /// As above; `resultJson` is nil if the answer was not a JSON object.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, lmsData: String, resultJson: [AnyHashable: Any]?)

    /// The same in the form of 2021; `error` is nil when the LMS accepted the report.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, lmsData: String!, json: [AnyHashable: Any]!, error: (any Error)!)
    /// As above; `json` is empty if the answer was not a JSON object.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, lmsData: String, json: [AnyHashable: Any], error: (any Error)?)
    /// As above; `json` is nil if the answer was not a JSON object.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, lmsData: String, json: [AnyHashable: Any]?, error: (any Error)?)
}

/// Empty defaults.
extension KollusPlayerLMSDelegate {
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, lmsData: String!, resultJson: [AnyHashable: Any]!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, lmsData: String, resultJson: [AnyHashable: Any]
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, lmsData: String, resultJson: [AnyHashable: Any]?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, lmsData: String!, json: [AnyHashable: Any]!, error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, lmsData: String, json: [AnyHashable: Any], error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, lmsData: String, json: [AnyHashable: Any]?, error: (any Error)?
    ) { Unheard.record() }
}

/// The bookmarks of a player. Spellings, queue and actors are those of ``KollusPlayerDelegate``.
public protocol KollusPlayerBookmarkDelegate: NSObjectProtocol {
    /// The bookmarks of the content that is being prepared, as ``KollusBookmark``, and whether the learner's can be
    /// changed. Once for each preparation, before its result.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, bookmark: [Any]!, enabled: Bool, error: (any Error)!)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, bookmark: [Any], enabled: Bool, error: (any Error)?)
    /// As above; `bookmark` is nil if they could not be read.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, bookmark: [Any]?, enabled: Bool, error: (any Error)?)
}

/// Empty defaults.
extension KollusPlayerBookmarkDelegate {
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, bookmark: [Any]!, enabled: Bool, error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, bookmark: [Any], enabled: Bool, error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, bookmark: [Any]?, enabled: Bool, error: (any Error)?
    ) { Unheard.record() }
}
