import LectureCrypto
import LectureDownload
import LectureEngine
import LectureFormats
import LectureLicence
import LectureModel
import LectureStatistics
import LectureStore
import LectureTestSupport

/// What the licences and reports of all programs of a world share, and what outlives a program.
final class Partners {
    /// The key of the device, which all programs use.
    let device: DeviceKey
    /// Outside the store, so that it survives when a store is replaced.
    let anchors = MemoryAnchors()

    init() throws { device = try DeviceKey.generate() }
}

/// The licences and reports of one program, in the same loop as its downloads.
final class Companions {
    /// The program that they are part of.
    struct Host {
        let world: VirtualWorld
        let number: Int
        let index: SQLiteDownloadIndex
        let owner: OwnerID
        let transport: ScriptedTransport
    }

    let licences: LicenceEngine
    let ledger: SQLiteLicenceLedger
    private let reports: Runner<ReportMachine>
    private let outbox: SQLiteOutbox
    private let performer: ExchangePerformer
    private let world: VirtualWorld
    private let program: Int
    private var orders = 0
    private var isSending = false
    private var stopped = 0

    /// Opens the ledger and adds both machines to the loop.
    ///
    /// - Parameters:
    ///   - partners: what outlives the program.
    ///   - host: the program.
    ///   - loop: its loop.
    ///   - wake: wakes the program.
    ///   - followRemovals: makes its downloads follow an ordered removal.
    /// - Throws: an error of the store.
    init(
        _ partners: Partners, _ host: Host, in loop: Loop, wake: @escaping @Sendable () -> Void,
        followRemovals: @escaping () -> Void
    ) throws {
        let (index, world, number) = (host.index, host.world, host.number)
        (self.world, program) = (world, number)
        let authenticator = try LedgerAuthenticator(partners.device)
        ledger = try SQLiteLicenceLedger(index: index, authenticator: authenticator)
        outbox = SQLiteOutbox(index: index)
        let settings = LicenceSettings(
            store: try index.identity().uuid, device: authenticator.device, bootID: "world", playerID: "player",
            deviceName: "Linux")
        let ports = LicenceEngine.Ports(
            store: index, contents: WorldLicences(followRemovals), transport: host.transport,
            verifier: SecretVerifier(), anchors: partners.anchors, clock: world.clock,
            random: WorldRandom(world: world),
            offload: { work in world.after(.milliseconds(2), program: number, "keeps an anchor", work) })
        licences = LicenceEngine(
            ports: ports, settings: settings, owner: host.owner, inbox: Inbox(wake: wake), in: loop)
        let inbox = Inbox<ReportEvent>(wake: wake)
        let functions = ReportFunctions(
            newID: { "request-\(WorldRandom(world: world).next())" }, compress: { _, bytes in bytes },
            wantsExchanges: { false })
        reports = Runner(
            ReportMachine(
                StatisticsSettings(bootID: "world"), functions, hash: { Array($0.prefix(32)) }, owner: host.owner),
            environment: (), inbox: inbox, rank: 2)
        performer = ExchangePerformer(host.transport, clock: world.clock) { inbox.post(.answered($0, $1)) }
        let finding = try licences.open()
        if case .suspect(let doubt, _) = finding { world.found("the ledger of licences is suspect: \(doubt)") }
        licences.start()
        loop.add(reports)
    }

    /// Whether nothing is requested, and no report waits.
    var isIdle: Bool { !licences.isBusy && reports.machine.isIdle && !isSending }

    /// Whether both machines have stopped.
    var isStopped: Bool { stopped == 2 }

    /// Performs what the last step led to, and reports it.
    ///
    /// - Parameter downloads: receives the results of grants.
    func finishStep(_ downloads: Inbox<EngineEvent>) {
        let step = licences.take()
        for effect in step.effects { licences.perform(effect) }
        let reported = reports.take()
        for effect in reported.effects { performer.perform(effect) }
        guard world.isAlive(program) else { return }
        for notice in step.notices { observe(notice, downloads) }
        for notice in reported.notices { observe(notice) }
    }

    /// What applications get when the store is not the one that this device last wrote.
    private static let doubts: Set<LectureError.Code> = [
        .storeRolledBack, .storeCopied, .ledgerForged, .clockUntrusted,
    ]

    private func observe(_ notice: LicenceNotice, _ downloads: Inbox<EngineEvent>) {
        switch notice {
        case .granted(let outcome): downloads.post(.granted(outcome.content, outcome.answer))
        case .event(.trouble(let error)) where Self.doubts.contains(error.code):
            world.found("a licence is suspect: \(error.code.name)")
        case .event(.trouble(let error)) where error.code == .bug, .failure(let error) where error.code == .bug:
            world.found("licences found a bug: \(error.cause)")
        case .stopped: stopped += 1
        default: break
        }
    }

    private func observe(_ notice: ReportNotice) {
        switch notice {
        case .ended: isSending = false
        case .event(.reportRefused(let id, let reason, _)): world.found("report \(id) was refused: \(reason)")
        case .failure(let error) where error.code == .bug: world.found("reports found a bug: \(error.cause)")
        case .stopped: stopped += 1
        default: break
        }
    }

    /// Sends what is due, unless that is being done.
    func send() {
        guard !isSending else { return }
        isSending = true
        orders += 1
        reports.inbox.post(.send(SendOrder(id: orders)))
    }

    /// Ends both machines; after the downloads have stopped.
    func stop() {
        licences.stop()
        reports.stop()
    }
}

/// The lectures as the licences see them. Media is not sealed in this world.
private final class WorldLicences: LicensedContents {
    private let follow: () -> Void

    init(_ follow: @escaping () -> Void) { self.follow = follow }

    func content(_ key: ContentKey, in transaction: any StoreTransaction) throws -> ContentPresence? {
        try SQLiteTransaction.rows(transaction).index.contents.item(key).map {
            ContentPresence(id: $0.id, isComplete: $0.currentVersion != nil)
        }
    }

    func bind(_ key: ContentKey, to keys: GrantingKeys, in transaction: any StoreTransaction) throws {}

    func orderRemoval(_ key: ContentKey, now: Timestamp, in transaction: any StoreTransaction) throws -> Bool {
        try SQLiteTransaction.rows(transaction).index.targets.setTargetState(key, .remove, now: now)
    }

    func followRemovals() { follow() }
}
