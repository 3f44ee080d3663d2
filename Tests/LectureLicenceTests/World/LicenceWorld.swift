import LectureCrypto
import LectureEngine
import LectureLicence
import LectureModel
import LectureSimulation
import LectureStore
import LectureTestSupport
import Testing

/// The lectures of the store, as far as licences go; the test sets which are complete.
final class WorldContents: LicensedContents {
    var ids: [ContentKey: ContentID] = [:]
    var incomplete: Set<ContentKey> = []
    var sealedElsewhere: Set<ContentKey> = []
    /// How often the downloads were to follow ordered removals.
    private(set) var followed = 0
    /// How often a lecture was looked at.
    private(set) var looks = 0
    /// What opens the keys of media.
    private let vault: DeviceVault

    init(vault: DeviceVault) { self.vault = vault }

    func content(_ key: ContentKey, in transaction: any StoreTransaction) throws -> ContentPresence? {
        looks += 1
        guard let id = ids[key] else { return nil }
        let ledger = try SQLiteTransaction.rows(transaction).ledger
        var presence = ContentPresence(id: id, isComplete: !incomplete.contains(key))
        let stored = try ledger.contentKeys.key(id)
        let opens = try stored.map { try vault.opens($0) } ?? true
        presence.isSealedElsewhere = sealedElsewhere.contains(key)
        presence.grantingKeys = opens ? stored?.grantingKeys : nil
        presence.sealPurpose = stored?.purpose
        return presence
    }

    func bind(_ key: ContentKey, to keys: GrantingKeys, in transaction: any StoreTransaction) throws {
        let ledger = try SQLiteTransaction.rows(transaction).ledger
        guard let id = ids[key], let stored = try ledger.contentKeys.key(id), stored.purpose == .licensed,
            let bound = try vault.bind(stored, to: keys)
        else { return }
        try ledger.contentKeys.rewrap(of: key, stored, as: bound)
    }

    func orderRemoval(_ key: ContentKey, now: Timestamp, in transaction: any StoreTransaction) throws -> Bool {
        try SQLiteTransaction.rows(transaction).index.targets.setTargetState(key, .remove, now: now)
    }

    func followRemovals() { followed += 1 }
}

/// A store with licences, an engine, and the servers it asks, in virtual time.
final class LicenceWorld {
    static let url = "https://drm.example/callback"

    let directory: TemporaryDirectory
    let location: StoreLocation
    let clock = VirtualClock()
    let server: FakeServer
    let randomness: SeededRandom
    let anchors = MemoryAnchors()
    let authenticator: LedgerAuthenticator
    let vault: DeviceVault
    var settings: LicenceSettings
    let index: SQLiteDownloadIndex
    let ledger: SQLiteLicenceLedger
    let contents: WorldContents
    /// The configured keys, from the next ``restart()`` on.
    var verifier = SecretVerifier()
    private(set) var owner: OwnerID
    private(set) var engine: LicenceEngine
    private(set) var loop: Loop
    /// The downloads, as far as they change licences: each of these runs in the next step.
    private var downloads: Runner<Downloads>
    /// Whether the last step of the downloads failed.
    var downloadsFail: Bool { downloads.isFailing }
    private let licences = DownloadsStore()
    private let isWoken = Guarded(false)
    /// The notices, in order.
    private(set) var notices: [LicenceNotice] = []
    /// The progress of runs, licence by licence, in order; separate, since it is checked after each step.
    private(set) var progress: [(current: Int, count: Int, key: ContentKey, error: LectureError?)] = []

    /// Makes a world.
    ///
    /// - Parameters:
    ///   - seed: decides the servers' behaviour and the engine's jitter.
    ///   - configure: changes how the engine works.
    /// - Throws: when the store cannot be made.
    init(seed: UInt64 = 1, _ configure: (inout LicenceSettings) -> Void = { _ in }) throws {
        directory = try TemporaryDirectory.inMemory()
        location = try StoreLocation.copied(to: directory.file("store"))
        index = try SQLiteDownloadIndex(opening: location, now: clock.now())
        let device = try DeviceKey.generate()
        (authenticator, vault) = (try LedgerAuthenticator(device), DeviceVault(device))
        ledger = try SQLiteLicenceLedger(index: index, authenticator: authenticator)
        contents = WorldContents(vault: vault)
        server = FakeServer(clock: clock, seed: seed)
        randomness = SeededRandom(seed: seed &* 31)
        settings = LicenceSettings(
            store: try index.identity().uuid, device: authenticator.device, bootID: "boot", playerID: "player",
            deviceName: "Linux")
        configure(&settings)
        anchors.set(.beforeFirst([UInt8](repeating: 0, count: 32)), of: settings.store)
        owner = try index.owners.registerOwner(pid: 1, bootID: "boot", command: "test", now: clock.now())
        (loop, downloads) = Self.loop(index, clock, randomness, isWoken, licences)
        engine = Self.engine(
            index, contents, server, verifier, anchors, clock, randomness, settings, owner, isWoken, loop)
        licences.engine = engine
    }

    private static func loop(
        _ index: SQLiteDownloadIndex, _ clock: VirtualClock, _ randomness: SeededRandom, _ isWoken: Guarded<Bool>,
        _ store: DownloadsStore
    ) -> (Loop, Runner<Downloads>) {
        let loop = Loop(
            Loop.Ports(
                clock: clock, random: randomness, numbers: TransferNumbers(),
                transaction: { try index.transaction($0) }))
        let downloads = Runner(
            Downloads(), environment: store, inbox: Inbox(wake: { isWoken.withLock { $0 = true } }))
        loop.add(downloads)
        return (loop, downloads)
    }

    private static func engine(
        _ index: SQLiteDownloadIndex, _ contents: WorldContents, _ server: FakeServer, _ verifier: SecretVerifier,
        _ anchors: MemoryAnchors, _ clock: VirtualClock, _ randomness: SeededRandom, _ settings: LicenceSettings,
        _ owner: OwnerID, _ isWoken: Guarded<Bool>, _ loop: Loop
    ) -> LicenceEngine {
        let ports = LicenceEngine.Ports(
            store: index, contents: contents, transport: server, verifier: verifier, anchors: anchors,
            clock: clock, random: randomness, offload: { $0() })
        let engine = LicenceEngine(
            ports: ports, settings: settings, owner: owner, inbox: Inbox(wake: { isWoken.withLock { $0 = true } }),
            in: loop)
        engine.start()
        return engine
    }

    /// Another process on the same store, with another owner.
    func another() throws -> LicenceProcess {
        let index = try SQLiteDownloadIndex(opening: location, now: clock.now())
        _ = try SQLiteLicenceLedger(index: index, authenticator: authenticator)
        let contents = WorldContents(vault: vault)
        contents.ids = self.contents.ids
        let owner = try index.owners.registerOwner(pid: 2, bootID: "boot", command: "test", now: clock.now())
        let woken = Guarded(false)
        let (loop, _) = Self.loop(index, clock, randomness, woken, DownloadsStore())
        let engine = Self.engine(
            index, contents, server, verifier, anchors, clock, randomness, settings, owner, woken, loop)
        return LicenceProcess(engine: engine, index: index, isWoken: woken, loop: loop)
    }

    /// The process is killed and another starts: memory is lost, the claims of the dead process are released.
    func restart() throws {
        try index.owners.dismissOwner(owner, now: clock.now())
        owner = try index.owners.registerOwner(pid: 1, bootID: "boot", command: "test", now: clock.now())
        (loop, downloads) = Self.loop(index, clock, randomness, isWoken, licences)
        engine = Self.engine(
            index, contents, server, verifier, anchors, clock, randomness, settings, owner, isWoken, loop)
        licences.engine = engine
        try engine.open()
    }

    // MARK: Lectures

    /// A complete lecture with a granted licence.
    @discardableResult
    func licensed(
        _ name: String, url: String = LicenceWorld.url, _ change: (inout LicenceEntry) -> Void = { _ in }
    ) throws -> ContentKey {
        try index.transaction { _ in try add(name, url, change) }
        _ = try index.transaction { _ in try ledger.append(row(), source: .clocks) }
        return ContentKey(stored: name)
    }

    /// Many of them, in one commit.
    func licensed(_ names: [String], _ change: (inout LicenceEntry, Int) -> Void = { _, _ in }) throws {
        let anchor = try index.transaction { _ in
            for (number, name) in names.enumerated() { try add(name, Self.url) { change(&$0, number) } }
            return try ledger.append(row(), source: .clocks)
        }
        try anchors.keep(anchor, of: settings.store)
    }

    private func add(_ name: String, _ url: String, _ change: (inout LicenceEntry) -> Void) throws {
        let key = try content(name)
        var source = LicenceSource()
        (source.callbackURL, source.clientUserID) = (url, "learner")
        var entry = LicenceEntry(key: key, source: source)
        var policy = LicencePolicy()
        policy.expiresAt = clock.now() + .seconds(-60)
        entry.record = LicenceRecord(form: .callback, policy: policy, isVerified: true)
        change(&entry)
        try ledger.store(entry)
        _ = try ledger.append(row(), source: .clocks)
    }

    /// A lecture without a licence.
    @discardableResult
    func content(_ name: String) throws -> ContentKey {
        let key = try ContentKey(name)
        contents.ids[key] =
            try index.requests.enqueue(
                DownloadRequest(url: "http://127.0.0.1/\(name)"),
                source: RequestSource(derivedKey: key, identity: Array("identity of \(name)".utf8), isGateway: false),
                check: .list, now: clock.now()
            ).id
        return key
    }

    /// A lecture whose descriptor named a callback, waiting for its grant.
    func waiting(_ name: String, url: String = LicenceWorld.url) throws -> (content: ContentID, key: ContentKey) {
        let key = try content(name)
        var source = LicenceSource()
        source.callbackURL = url
        try change { try $0.recordSource(source, of: key, in: $1) }
        return (try #require(contents.ids[key]), key)
    }

    func entry(_ name: String) throws -> LicenceEntry { try #require(try ledger.entry(ContentKey(stored: name))) }
    func record(_ name: String) throws -> LicenceRecord { try #require(try entry(name).record) }

    private func row() -> TimeRow {
        var time = TimeLedger(
            first: ClockReading(wall: clock.now(), boot: clock.boot(), bootID: settings.bootID))
        time.update(at: time.row.reading)
        return time.row
    }

    /// The downloads have this traffic from the next step on.
    func load(_ traffic: OriginBudgets) { downloads.inbox.post(.traffic(traffic)) }

    /// The downloads record where a licence comes from, in the next step.
    func recordNext(_ source: LicenceSource?, of key: ContentKey, failing failure: LectureError? = nil) {
        downloads.inbox.post(.source(source, of: key, failure: failure))
    }

    /// Changes licences as a transaction outside the steps does.
    func change(_ body: (LicenceEngine, any StoreTransaction) throws -> Void) throws {
        let anchor = try index.transaction { transaction in
            try body(engine, transaction)
            return try engine.appendChanges(transaction)
        }
        engine.keepSoon(anchor)
    }

    /// The state of a licence as the downloads see it.
    func standing(of key: ContentKey) throws -> GrantStanding {
        try index.read { try engine.standing(of: key, in: $0) }
    }

    // MARK: Time

    /// Handles the waiting events and performs nothing: the effects are the caller's to perform.
    func commit() -> CommittedStep<LicenceEffect, LicenceNotice> {
        _ = loop.commit()
        return engine.take()
    }

    /// Steps and advances time until a condition is true.
    ///
    /// - Parameters:
    ///   - limit: how much time may pass.
    ///   - isOver: when to stop.
    /// - Returns: whether it became true.
    @discardableResult
    func run(for limit: Duration = .seconds(7200), until isOver: (LicenceWorld) throws -> Bool) rethrows -> Bool {
        let end = try server.network.run(for: limit) {
            isWoken.withLock { $0 = false }
            let step = commit()
            for effect in step.effects { engine.perform(effect) }
            recordNotices(step.notices)
            return (step.next, isWoken.withLock(\.self))
        } until: {
            try isOver(self)
        }
        if end == .spinning { Issue.record("the engine spins without any work") }
        return end == .reached
    }

    /// Steps until a run has ended.
    func renew(_ selection: RenewalSelection = .all, for limit: Duration = .seconds(7200)) throws -> RenewalReport {
        let count = summaries.count
        engine.renew(selection)
        #expect(run(for: limit) { $0.summaries.count > count })
        return try #require(summaries.last)
    }

    /// Steps until nothing happens within a time.
    func settle(for limit: Duration = .seconds(1)) { run(for: limit) { _ in false } }

    /// What applications are informed of, without the progress of runs, in order.
    var events: [LectureEvent] { notices.compactMap { if case .event(let event) = $0 { event } else { nil } } }
    /// The results of runs, as published; those who wait get the same.
    var summaries: [RenewalReport] {
        let answers = notices.compactMap { if case .renewalEnded(_, let report) = $0 { report } else { nil } }
        let published = events.compactMap { if case .renewalEnded(let report) = $0 { report } else { nil } }
        #expect(published == answers)
        return published
    }
    var grants: [GrantOutcome] { notices.compactMap { if case .granted(let outcome) = $0 { outcome } else { nil } } }
    var checks: [CheckOutcome] { notices.compactMap { if case .checked(_, let outcome) = $0 { outcome } else { nil } } }
    var exchanges: [LicenceExchange] {
        events.compactMap { if case .licenceExchange(let exchange) = $0 { exchange } else { nil } }
    }

    private func recordNotices(_ reported: [LicenceNotice]) {
        for notice in reported {
            guard case .event(.renewed(let key, let current, let count, let error)) = notice else {
                notices.append(notice)
                continue
            }
            progress.append((current, count, key, error))
        }
    }

    /// Clears the notices.
    func forget() { (notices, progress) = ([], []) }
}

/// A second process in a world.
struct LicenceProcess {
    let engine: LicenceEngine
    let index: SQLiteDownloadIndex
    let isWoken: Guarded<Bool>
    let loop: Loop

    /// Makes a step.
    func step() -> [LicenceNotice] {
        _ = loop.commit()
        let step = engine.take()
        for effect in step.effects { engine.perform(effect) }
        return step.notices
    }
}

/// A machine before that of the licences, which does what a test wants within the step.
struct Downloads: StateMachine {
    enum Event {
        /// Records where the licence of a lecture comes from, and then perhaps fails.
        case source(LicenceSource?, of: ContentKey, failure: LectureError?)
        /// Has this traffic from now on.
        case traffic(OriginBudgets)
    }

    typealias Effect = Never
    typealias Environment = DownloadsStore

    struct Store {
        weak var engine: LicenceEngine?
        let transaction: any StoreTransaction
    }

    enum Notice: StateMachineNotice {
        case failure(LectureError)
        case stopped
    }

    var isIdle: Bool { true }
    static func store(_ environment: DownloadsStore, in transaction: any StoreTransaction) -> Store {
        Store(engine: environment.engine, transaction: transaction)
    }
    var traffic = OriginBudgets()

    mutating func handle(_ event: Event, _ step: inout Step<Self>) throws {
        switch event {
        case .source(let source, let key, let failure):
            try step.store.engine?.recordSource(source, of: key, in: step.store.transaction)
            if let failure { throw failure }
        case .traffic(let traffic): self.traffic = traffic
        }
    }

    mutating func reconcile(_ step: inout Step<Self>) throws {}

    mutating func recover(
        losing events: [Event], after error: LectureError, at boot: BootInstant
    ) -> (effects: [Never], notices: [Notice]) { ([], []) }

    mutating func abandon() -> [Notice] { [] }
}

/// The licences as the downloads see them.
final class DownloadsStore {
    fileprivate(set) weak var engine: LicenceEngine?
}
