package import LectureEngine
package import LectureFormats
package import LectureModel

/// The licence engine's settings.
package struct LicenceSettings: Sendable {
    /// The store's UUID, under which its anchor is stored.
    package var store: String
    /// The thumbprint of this device's key, 32 bytes.
    package var device: [UInt8]
    /// Identifies this boot of the machine.
    package var bootID: String
    /// The installation, as licence servers see it.
    package var playerID: String
    /// The device's model, as licence servers see it.
    package var deviceName: String
    /// What the application adds to every request (`extraDrmParam`); in no record, no error and no log.
    package var extra: String?
    /// Whether a lecture is locked until its server has accepted the completed download.
    package var isStrict = false
    /// Whether servers are also verified with roots that the user has named: then the `Date` of a server that grants no
    /// licences says nothing, since the user could be that server.
    package var hasOwnAuthority = false
    /// Whether pending callbacks are sent.
    package var sendsPendingCallbacks = true
    /// Licences in one request at the most.
    package var groupSize = RenewalPlan.groupSize
    /// How often a licence is requested within a run before it fails.
    package var attempts = 5
    /// How often a breaker opens in a row before a run abandons the origin.
    package var openings = 5
    /// How many licences of a run are claimed from the ledger ahead of the requests.
    package var lookAhead = 1000
    /// A run does not wait longer than this: it ends unfinished, and the next one continues it.
    package var longestWait: Duration = .seconds(300)
    /// How long an exchange may go without a byte.
    package var stallTimeout: Duration = .seconds(30)
    /// How long an exchange may take.
    package var totalTimeout: Duration = .seconds(60)
    /// How long the notice of an exchange that ordered removals is held back while none of them completes.
    package var removalPatience: Duration = .seconds(10)
    /// How long a permitted check is valid for the play it was made for.
    package var permitLifetime: Duration = .seconds(60)
    /// The pace of requests.
    package var pace = OriginPacer.Rules.callbacks

    /// Settings with the defaults.
    ///
    /// - Parameters:
    ///   - store: the store's UUID.
    ///   - device: the thumbprint of this device's key.
    ///   - bootID: identifies this boot of the machine.
    ///   - playerID: the installation.
    ///   - deviceName: the device's model.
    package init(store: String, device: [UInt8], bootID: String, playerID: String, deviceName: String) {
        (self.store, self.device, self.bootID) = (store, device, bootID)
        (self.playerID, self.deviceName) = (playerID, deviceName)
    }
}

/// What other threads report, and what the application requests.
package enum LicenceEvent: Sendable {
    /// An exchange is over.
    case answered(TransferID, ExchangeReply)
    /// An anchor was stored, or could not be.
    case anchored(LectureError?)
    /// A row was appended to the chain outside the loop's steps; its anchor is to be stored soon.
    case rowAppended(LedgerAnchor)
    /// The downloads have changed licences in this transaction, which therefore ends with a row of the chain.
    case licencesChanged
    /// A server has named the time (`Date`) over a verified connection, at this moment.
    case witnessed(Timestamp, at: BootInstant)
    /// The store differs from the one this device last wrote.
    case suspected(ClockDoubt)
    /// Asks whether a lecture may be downloaded (kind 1).
    case grant(ContentID, ContentKey)
    /// Asks whether a lecture may be played now (kind 3); someone waits for it until the deadline.
    case check(ContentKey, deadline: BootInstant)
    /// Renews a selection, or continues an unfinished run of the same one.
    case renew(RenewalSelection, RenewalKind)
    /// A lecture was removed from the disk.
    case removed(ContentKey)
    /// Pending callbacks are looked up in the next step.
    case callbacksAdded
    /// Changes settings; they apply to requests that start from now on.
    case change(LicenceSettingsChange)
}

/// A change of the settings of a running engine.
package enum LicenceSettingsChange: Sendable {
    /// The pace of requests.
    case pace(OriginPacer.Rules)
    /// How often a licence is requested within a run before it fails.
    case attempts(Int)
    /// What the application adds to every request, including repeated ones.
    case extra(String?)
    /// How long an exchange may go without a byte, and how long it may take.
    case timeouts(stall: Duration, total: Duration)
}

/// The outcome of a grant request.
package struct GrantOutcome: Hashable, Sendable {
    /// The lecture.
    package var content: ContentID
    /// Its key.
    package var key: ContentKey
    /// Why there is no licence; nil when it is granted.
    package var error: LectureError?
    /// Whether a retry is useless.
    package var isFinal = false
    /// How long to wait before it is requested again; nil when a retry is useless or nothing has failed.
    package var retryAfter: Duration?

    /// The same for the download that waits for it.
    package var answer: GrantAnswer {
        guard let error else { return .settled }
        if isFinal { return .refused(error) }
        // The one error of a server that was not asked.
        if error.code == .serverWait, let retryAfter { return .postponed(error, retryAfter) }
        return .failed(error)
    }
}

/// The outcome of a check before a play.
package enum CheckOutcome: Hashable, Sendable {
    /// The server permits the play.
    case permitted
    /// The server refuses it, or has ended the licence.
    case refused(LectureError)
    /// The server could not be reached or gave no usable answer: the stored licence decides.
    case unreachable(LectureError)
}

/// What a step led to, after the commit that makes it true.
package enum LicenceNotice: StateMachineNotice, Hashable {
    /// What applications are informed of. An exchange that ordered lectures to be removed is reported when they are
    /// gone, or when none has gone for ``LicenceSettings/removalPatience``.
    case event(LectureEvent)
    /// A grant request has an outcome, which may be that the server could not be reached.
    case granted(GrantOutcome)
    /// A check before a play has an outcome.
    case checked(ContentKey, CheckOutcome)
    /// A batch renewal was started or continued.
    case renewalStarted(RenewalRunID, isContinued: Bool)
    /// A run is over, or would have to wait longer than it may.
    case renewalEnded(RenewalRunID, RenewalReport)
    /// A run was stopped; the next program continues it. The report has what the ledger does not know: whether it was
    /// continued, and how the renewed licences are.
    case renewalStopped(RenewalRunID, RenewalReport)
    /// The store could not be written; the step is repeated.
    case failure(LectureError)
    /// All work that ``LicenceEngine/stop()`` ended is finished; the engine is idle.
    case stopped
}

// MARK: Work

/// What is requested for a lecture, and why.
enum AskPurpose: Sendable {
    case check(deadline: BootInstant)
    case grant(ContentID)
    case renewal(RenewalRunID)
    /// A new grant for an untrusted licence.
    case regrant(RenewalRunID)
    case pendingCallback(PendingCallback)

    var kind: CallbackAnswer.Kind {
        switch self {
        case .check, .renewal: .check
        case .grant, .regrant: .grant
        case .pendingCallback: .completion
        }
    }

    /// Its batch; nil for none.
    var run: RenewalRunID? {
        switch self {
        case .renewal(let run), .regrant(let run): run
        case .check, .grant, .pendingCallback: nil
        }
    }

    /// The order of requests: a person waits for a check, a download for a grant.
    var rank: Int {
        switch self {
        case .check: 0
        case .grant: 1
        case .renewal, .regrant: 2
        case .pendingCallback: 3
        }
    }
}

/// An item whose request waits or is running.
struct Asked: Sendable {
    var key: ContentKey
    var purpose: AskPurpose
    /// Whether it was not answered: it is requested alone, once.
    var isAlone = false
    /// Whether requests with it have failed repeatedly: it is requested alone, so that it fails no others.
    var isIsolated = false

    /// Whether someone waits for the answer; otherwise it is asked again after a failure.
    var isAwaited: Bool { purpose.rank < 2 }

    /// The notice of a failure for which no server is the cause; nil where it is asked again.
    func failure(_ error: LectureError) -> LicenceNotice? {
        switch purpose {
        case .check: .checked(key, .unreachable(error))
        case .grant(let content): .granted(GrantOutcome(content: content, key: key, error: error))
        case .renewal, .regrant, .pendingCallback: nil
        }
    }
}

extension LicenceEvent {
    /// What the application asks for; nil for other events.
    var asked: Asked? {
        switch self {
        case .grant(let content, let key): Asked(key: key, purpose: .grant(content))
        case .check(let key, let deadline): Asked(key: key, purpose: .check(deadline: deadline))
        case .answered, .anchored, .rowAppended, .licencesChanged, .witnessed, .suspected, .renew, .removed,
            .callbacksAdded,
            .change:
            nil
        }
    }
}

/// Items that may share a request.
struct BatchQueue: Hashable, Comparable {
    var rank: Int
    var url: String
    var keyID: String
    /// Distinguishes runs.
    var run: RenewalRunID?

    static func < (left: Self, right: Self) -> Bool {
        (left.rank, left.url, left.keyID, left.run?.value ?? 0)
            < (right.rank, right.url, right.keyID, right.run?.value ?? 0)
    }
}

/// A running request.
struct CallbackExchange: Sendable {
    var id: TransferID
    var queue: BatchQueue
    var origin: Origin
    var items: [Asked]
    var questions: [CallbackQuestion]
    var asked: Timestamp

    var kind: CallbackAnswer.Kind { items[0].purpose.kind }
}

/// The state of the licences that a batch has renewed.
package struct RenewalTally: Hashable, Sendable {
    /// How many may be played now.
    package var playable = 0
    /// Those that are still untrusted.
    package var unbelieved: [ContentKey] = []

    /// Makes an empty value.
    package init() {}
}

extension LectureError.Code {
    /// Whether it is a licence server's own answer.
    var isServersRefusal: Bool {
        switch self {
        case .grantRefused, .completionRefused, .playRefused, .licenceDeleted, .licenceForceExpired, .sessionMismatch:
            true
        default: false
        }
    }
}
