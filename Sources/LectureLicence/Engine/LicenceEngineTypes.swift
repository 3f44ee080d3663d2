package import LectureModel

/// How the licence engine is to work.
package struct LicenceSettings: Sendable {
    /// The store's UUID, under which its anchor is kept.
    package var store: String
    /// The thumbprint of this device's key, 32 bytes.
    package var device: [UInt8]
    /// Which run of the machine this is.
    package var bootID: String
    /// The installation, as licence servers see it.
    package var playerID: String
    /// The device's model, as licence servers see it.
    package var deviceName: String
    /// What the application adds to every request (`extraDrmParam`); in no record, no error and no log.
    package var extra: String?
    /// Whether a lecture is locked until its server has accepted the completed download.
    package var isStrict = false
    /// Whether debts are paid.
    package var paysDebts = true
    /// Licences in one request at the most.
    package var groupSize = RenewalPlan.groupSize
    /// How often a licence is asked for within a run before it has failed.
    package var attempts = 5
    /// How often a breaker opens in a row before an origin is given up for a run.
    package var openings = 5
    /// How many licences of a run are taken from the ledger ahead of the requests.
    package var lookAhead = 1000
    /// A run does not wait for longer than this: it ends unfinished, and the next one goes on with it.
    package var longestWait: Duration = .seconds(300)
    /// How long without a byte is too long.
    package var stallTimeout: Duration = .seconds(30)
    /// How long an exchange may take.
    package var totalTimeout: Duration = .seconds(60)
    /// How long an exchange that has ordered lectures away is held back while none of them goes.
    package var removalPatience: Duration = .seconds(10)
    /// How long a check that was permitted holds for the play it was made for.
    package var permitLifetime: Duration = .seconds(60)
    /// Bounds of the pace.
    package var pace = CallbackPace.Limits()

    /// Settings with the defaults.
    ///
    /// - Parameters:
    ///   - store: the store's UUID.
    ///   - device: the thumbprint of this device's key.
    ///   - bootID: which run of the machine this is.
    ///   - playerID: the installation.
    ///   - deviceName: the device's model.
    package init(store: String, device: [UInt8], bootID: String, playerID: String, deviceName: String) {
        (self.store, self.device, self.bootID) = (store, device, bootID)
        (self.playerID, self.deviceName) = (playerID, deviceName)
    }
}

/// What comes back from other threads.
package enum LicenceEvent: Sendable {
    /// An exchange is over.
    case answered(TransferID, CallbackReply)
    /// An anchor was kept, or could not be.
    case anchored(LectureError?)
    /// Something was asked for; a step looks at it.
    case poked
}

/// Takes the engine's events from any thread and wakes its executor once for many.
package final class LicenceInbox: Sendable {
    private let events = Guarded<[LicenceEvent]>([])
    private let wake: @Sendable () -> Void

    /// Makes an inbox.
    ///
    /// - Parameter wake: called when the first event of a batch has come, on the thread that brings it; makes the
    ///   engine's executor run a step soon.
    package init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Queues an event.
    package func post(_ event: LicenceEvent) {
        let isFirst = events.withLock { events in
            events.append(event)
            return events.count == 1
        }
        if isFirst { wake() }
    }

    func take() -> [LicenceEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}

/// What became of a request for a grant.
package struct GrantOutcome: Hashable, Sendable {
    /// The content.
    package var content: ContentID
    /// Its key.
    package var key: ContentKey
    /// Why there is no licence; nil when it is granted.
    package var error: LectureError?
    /// Whether asking again is useless.
    package var isFinal = false
    /// When it may be asked again; nil when the server did not say.
    package var retryAt: Timestamp?
}

/// What became of a check before a play.
package enum CheckOutcome: Hashable, Sendable {
    /// The server permits the play.
    case permitted
    /// It does not, or has ended the licence.
    case refused(LectureError)
    /// Nobody was there to be asked, or answered anything that counts: the stored licence decides.
    case unreachable(LectureError)
}

/// One exchange with a licence server, without its secrets.
package struct ExchangeRecord: Hashable, Sendable {
    /// The server, without path and query.
    package var origin: String
    /// What was asked.
    package var kind: CallbackAnswer.Kind
    /// The items of the request as a JSON array, without session keys.
    package var questions: String
    /// The payload of the answer, without session keys; nil when none verified.
    package var payload: JSONValue?
    /// Why there is none.
    package var error: LectureError?
}

/// How a batch renewal went.
package struct RenewalSummary: Hashable, Sendable {
    /// How many licences it wants in all.
    package var total = 0
    /// Renewed, those of earlier processes included.
    package var renewed = 0
    /// Failed, likewise.
    package var failed = 0
    /// Left for a later run, because their servers asked to wait.
    package var waiting = 0
    /// When the first of those may be asked.
    package var nextDue: Timestamp?
    /// What became of those that were renewed.
    package var tally = RenewalTally()

    /// Nothing.
    package init() {}
}

/// What the engine tells the outside, after the commit that makes it true.
package enum LicenceNotice: Sendable {
    /// A request for a grant was answered, also when it is that nobody could be reached.
    case granted(GrantOutcome)
    /// A check before a play was answered.
    case checked(ContentKey, CheckOutcome)
    /// A batch renewal was begun or is gone on with.
    case renewalStarted(RenewalRunID, total: Int, done: Int, isContinued: Bool)
    /// A licence of a run is done: the `current`th of `count`; with the error when it failed.
    case renewalProgress(RenewalRunID, current: Int, count: Int, ContentKey, LectureError?, etaSeconds: Double?)
    /// A run is over, or waits for longer than it may.
    case renewalEnded(RenewalRunID, RenewalSummary)
    /// An exchange is over; once for each. One that has ordered lectures away is told when they are gone, or when
    /// none has gone for ``LicenceSettings/removalPatience``.
    case exchange(ExchangeRecord)
    /// A server has ended a licence.
    case ended(ContentKey)
    /// A server has ordered a lecture away, and it is gone.
    case deleted(ContentKey, message: String?)
    /// A server was told that a download is complete, or has refused it for good.
    case debtPaid(ContentKey, LectureError?)
    /// The store or an anchor could not be written; it is tried again.
    case trouble(LectureError)
    /// The store was found to be another one than this device last wrote; its licences wait for their servers.
    case suspected(ClockDoubt)
    /// Everything that was stopped by ``LicenceEngine/stop()`` has come to rest.
    case stopped
}

// MARK: Work

/// What is asked for a content, and for whom.
enum AskPurpose: Sendable {
    case check(deadline: BootInstant)
    case grant(ContentID)
    case renewal(RenewalRunID)
    /// A new grant for a licence that is not believed.
    case regrant(RenewalRunID)
    case debt(LicenceDebt)

    var kind: CallbackAnswer.Kind {
        switch self {
        case .check, .renewal: .check
        case .grant, .regrant: .grant
        case .debt: .completion
        }
    }

    /// The batch that it belongs to; nil for none.
    var run: RenewalRunID? {
        switch self {
        case .renewal(let run), .regrant(let run): run
        case .check, .grant, .debt: nil
        }
    }

    /// Who goes first: a person waits for a check, a download for a grant.
    var rank: Int {
        switch self {
        case .check: 0
        case .grant: 1
        case .renewal, .regrant: 2
        case .debt: 3
        }
    }
}

/// An item that waits to be asked for, or is being asked for.
struct Asked: Sendable {
    var key: ContentKey
    var purpose: AskPurpose
    /// Whether it was not answered: it is asked for alone, once.
    var isAlone = false
    /// Whether requests with it have failed again and again: it is asked for alone, so that it spoils no other.
    var isIsolated = false
}

/// Items that may share a request.
struct Lane: Hashable, Comparable {
    var rank: Int
    var url: String
    var keyID: String
    /// Tells runs apart.
    var run: RenewalRunID?

    static func < (left: Self, right: Self) -> Bool {
        (left.rank, left.url, left.keyID, left.run?.value ?? 0)
            < (right.rank, right.url, right.keyID, right.run?.value ?? 0)
    }
}

/// A request on its way.
struct CallbackExchange {
    var id: TransferID
    var lane: Lane
    var origin: Origin
    var items: [Asked]
    var questions: [CallbackQuestion]
    var begun: BootInstant
    var asked: Timestamp

    var kind: CallbackAnswer.Kind { items[0].purpose.kind }
}

/// An exchange that is told when the lectures are gone that it has ordered away.
struct HeldExchange {
    let record: ExchangeRecord
    /// Those that are still there.
    var waiting: Set<ContentKey>
    let since: BootInstant
}

/// What became of the licences that a batch has renewed.
package struct RenewalTally: Hashable, Sendable {
    /// How many may be played now.
    package var playable = 0
    /// Those that are still not believed.
    package var unbelieved: [ContentKey] = []

    /// Nothing.
    package init() {}
}

/// A batch renewal of this process.
struct RunWork {
    var id: RenewalRunID
    var kind = RenewalKind.renewal
    var tally = RenewalTally()
    var total: Int
    var done: Int
    /// How many this process has settled, and since when.
    var settled = 0
    var begun: BootInstant
    /// Claimed and neither settled nor given back.
    var claimed: Set<ContentKey> = []
    /// How often each that failed was asked for, and how often its server was too busy.
    var attempts: [ContentKey: Int] = [:]
    var overloads: [ContentKey: Int] = [:]
    /// Those that are asked for alone, since a request with others has failed because of one of them.
    var isolated: Set<ContentKey> = []
    /// Nothing more can be claimed before this moment; nil when something may be there.
    var claimAt: BootInstant?

    /// A licence is done.
    mutating func settle(_ key: ContentKey) {
        claimed.remove(key)
        (attempts[key], overloads[key]) = (nil, nil)
        isolated.remove(key)
        done += 1
        settled += 1
    }
}
