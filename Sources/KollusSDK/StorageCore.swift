import Dispatch
import Foundation
import LectureKit
import LectureModel

/// The implementation of ``KollusStorage``: opens the library's manager, translates requests, and turns events into
/// deliveries.
///
/// ```
/// new ──start──▶ running ──close──▶ closed
///  ▲───refused───┘
/// ```
///
/// `@unchecked Sendable`: all state is behind the lock; work on the manager's queue is called by the manager.
final class StorageCore: @unchecked Sendable {
    /// Values that an application sets, before the start or later.
    struct Values {
        var applicationKey: String?
        var bundleID: String?
        var keychainGroup: String?
        var expireDate: Date?
        var path: String?
        var serverPort = 0
        var extraParameter: String?
        var settings = KollusSettings()
        var timeout: Int?
        var retries: Int?
        var cacheMegabytes: Int?
        var isBackgroundDownload = false
    }

    /// A requested download without its final event yet.
    struct Ticket {
        var isPaused = false
        /// What was reported last; it only grows, also from a pause to the end.
        var percent: UInt = 0
        var bytes: Int64 = -1
    }

    /// The state after a start.
    struct Running {
        let manager: LectureManager
        let playerID: String
        let path: String
        let configurationFile: String?
        let configuration: LectureConfiguration
        var worker: BackgroundWorker?
    }

    struct State {
        var values = Values()
        var running: Running?
        var isClosed = false
        var tickets: [ContentKey: Ticket] = [:]
        /// How downloads ended, if the store does not keep the reason.
        var lastErrors: [ContentKey: KollusError] = [:]
        /// Contents that the application has removed: their events are no longer reported.
        var removed: Set<ContentKey> = []
        /// Contents whose removal a licence server has ordered.
        var ordered: Set<ContentKey> = []
        /// Cancelled downloads that are being ended: their final event follows.
        var ending: [ContentKey: Ticket] = [:]
        /// The details of running downloads.
        var known = KnownDetails()
    }

    let state: Guarded<State>
    let hub: EventHub<KollusEvent>
    let deliverer: Deliverer
    let players = PlayerRegistry()
    let webServers = WebServers()
    let router: EventRouter
    /// One start at a time.
    private let gate = NSLock()

    init() {
        (state, hub, deliverer) = (Guarded(State()), EventHub<KollusEvent>(), Deliverer())
        router = EventRouter(state: state, hub: hub, deliverer: deliverer, players: players)
    }

    // MARK: Start and end

    /// How a start treats the player id.
    enum StartMode {
        /// Created when there is none.
        case plain
        /// As the caller says: created on a first run, required on a later one.
        case first(Bool)
        /// Created on the first run of this store, required on a later one, with three attempts.
        case check
        /// A new one.
        case new
    }

    func start(_ mode: StartMode) throws {
        try gate.withLock {
            let (values, isRunning, isClosed) = state.withLock { ($0.values, $0.running != nil, $0.isClosed) }
            if isClosed { throw KollusError(.ERROR_CANNOT_CALL_API) }
            if isRunning { return }
            let opened = try translating { try open(values, mode) }
            state.withLock { $0.running = opened }
            begin(opened, values)
        }
    }

    private func open(_ values: Values, _ mode: StartMode) throws -> Running {
        let environment = ProcessInfo.processInfo.environment
        let key = try ApplicationValues(values, environment)
        let place = try StoragePlace(values, environment)
        try key.check(place.trust, now: Timestamp(Date()))
        let manager = try listening(place.configuration)
        do {
            // A clock that was set back does not make a key valid again.
            let seen = try manager.licences.wait { try $0.time() }
            if seen > Timestamp(Date()) { try key.check(place.trust, now: seen) }
            let identity = try PlayerIdentity.find(mode, manager)
            // Work of a killed run is in the store as if it were still running.
            manager.downloads.wait { try? $0.tidyAfterCrash() }
            return Running(
                manager: manager, playerID: identity.playerID, path: place.configuration.storeDirectory,
                configurationFile: place.configurationFile, configuration: place.configuration)
        } catch {
            try? waiting { await manager.close() }
            throw error
        }
    }

    /// A manager whose events are routed from the first one: reports that wait may be sent at once, by themselves. What
    /// a start tidies up is no event for the application.
    private func listening(_ configuration: LectureConfiguration) throws -> LectureManager {
        try configuration.open { manager in
            manager.observe { [weak self] manager, event in
                guard let self else { return }
                if case .reportExchange = event {} else if state.withLock({ $0.running == nil }) { return }
                router.route(event, manager)
            }
        }
    }

    /// Work after a start that is not waited for.
    private func begin(_ running: Running, _ values: Values) {
        let licences = running.manager.licences
        licences.wait { $0.setParameter(values.extraParameter) }
        if let megabytes = values.cacheMegabytes { setCacheLimit(megabytes) }
        if values.isBackgroundDownload { setBackground(true) }
        // Callbacks still pending from the last run, for instance of completed downloads.
        beginning { [weak self] in
            do {
                if try await !licences.pendingCallbacks().isEmpty { try await licences.sendPendingCallbacks() }
            } catch { self?.notify(.trouble(KollusError.of(error))) }
        }
    }

    /// Ends everything cleanly and waits for it. A second call does nothing.
    func close() async {
        let running = state.withLock { state -> Running? in
            state.isClosed = true
            defer { (state.running, state.tickets, state.ending) = (nil, [:], [:]) }
            return state.running
        }
        deliverer.close()
        // A player must have stopped before its store is closed.
        await players.end()
        await webServers.end()
        if let running { await Self.end(running) }
        hub.finish()
    }

    /// Hands unfinished downloads to the worker, if there is one, and closes.
    private static func end(_ running: Running) async {
        let counts = (try? await running.manager.status().counts) ?? [:]
        let unfinished = [ItemState.queued, .loading, .downloading, .verifying].contains { counts[$0, default: 0] > 0 }
        await running.manager.close()
        if unfinished { running.worker?.release() } else { running.worker?.dismiss() }
    }

    /// For a storage that is released without having been closed.
    func abandon() {
        let running = state.withLock { state -> Running? in
            state.isClosed = true
            defer { state.running = nil }
            return state.running
        }
        deliverer.close()
        hub.finish()
        guard let running else { return }
        beginning { [players, webServers] in
            await players.end()
            await webServers.end()
            await Self.end(running)
        }
    }

    // MARK: Questions about the state

    /// The manager of a started storage.
    ///
    /// - Throws: −8614 before a start, −8661 after the end.
    func manager() throws -> LectureManager {
        let (running, isClosed) = state.withLock { ($0.running, $0.isClosed) }
        if isClosed { throw KollusError(.ERROR_CANNOT_CALL_API) }
        guard let running else { throw KollusError(.ERROR_NOT_LOAD, detail: "start") }
        return running.manager
    }

    /// The same for calls that cannot throw: errors go to the log.
    func managerOrLog(_ call: String) -> LectureManager? {
        do { return try manager() } catch {
            LogUtil.utilLog("\(call): \(error.localizedDescription)")
            return nil
        }
    }

    func notify(_ event: KollusEvent) { hub.send(event) }

    /// A value that an application has set or reads.
    subscript<Value>(path: WritableKeyPath<Values, Value>) -> Value {
        get { state.withLock { $0.values[keyPath: path] } }
        set { state.withLock { $0.values[keyPath: path] = newValue } }
    }
}

/// The key, the bundle id and the date of an application.
struct ApplicationValues {
    private let application: ApplicationConfiguration

    /// - Throws: −2107 when one of them is missing.
    init(_ values: StorageCore.Values, _ environment: [String: String]) throws {
        guard let key = values.applicationKey, !key.isEmpty, let date = values.expireDate,
            let bundle = ApplicationBundle.identifier(values, environment)
        else { throw KollusError(.NOT_ENOUGH_AUTH_INFO) }
        application = ApplicationConfiguration(key: key, bundleID: bundle, expires: Self.text(date))
    }

    /// The vendor's samples parse the date from `yyyy/MM/dd`, which gives a midnight; such a date means the day.
    private static func text(_ date: Date) -> String {
        for zone in [TimeZone.current, TimeZone(secondsFromGMT: 0)].compactMap(\.self) {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = zone
            let parts = calendar.dateComponents([.year, .month, .day], from: date)
            guard calendar.startOfDay(for: date) == date, let year = parts.year, let month = parts.month,
                let day = parts.day
            else { continue }
            return [year, month, day].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: "/")
        }
        return "\(Int64(date.timeIntervalSince1970.rounded(.down)))"
    }

    func check(_ trust: LicenceTrust, now: Timestamp) throws {
        try ApplicationKey.check(application, trust: trust, now: now)
    }
}

/// The location of a storage, and its configuration.
struct StoragePlace {
    let configuration: LectureConfiguration
    let configurationFile: String?
    let trust: LicenceTrust

    init(_ values: StorageCore.Values, _ environment: [String: String]) throws {
        let settings = values.settings
        var configuration = LectureConfiguration(storeDirectory: values.path ?? Self.path(environment))
        // Reports go out at the next opportunity, as the vendor promises, unless the configuration says otherwise.
        (configuration.statistics.delivery, configuration.isLongRunning) = (.automatic, true)
        configurationFile = settings.configurationFile ?? LectureConfiguration.file(in: environment)
        if let configurationFile {
            for warning in try configuration.apply(file: configurationFile) { LogUtil.utilLog(warning) }
        }
        configuration.programName = "KollusSDK"
        if let timeout = values.timeout { configuration.stallTimeout = .seconds(timeout) }
        if let retries = values.retries { configuration.maxAttempts = retries + 1 }
        let device =
            settings.deviceDirectory ?? configuration.deviceDirectory ?? DeviceHome.directory(in: environment)
        configuration.deviceDirectory = try Self.device(device, group: values.keychainGroup)
        trust =
            try settings.trustDirectory.map { LicenceTrust(directory: $0) }
            ?? ApplicationKey.trust(configuration, environment: environment)
        configuration.streamSelection = settings.streamSelection
        settings.adjust?(&configuration)
        self.configuration = configuration
    }

    /// The default directory: that of the command, so that both see the same lectures.
    static func path(_ environment: [String: String]) -> String {
        if let path = environment["LECTURE_STORE"], !path.isEmpty { return path }
        if let path = ServiceDirectories(environment).store { return path }
        // A relative path is ignored, as the XDG Base Directory Specification requires.
        if let base = environment["XDG_DATA_HOME"], base.hasPrefix("/") { return "\(base)/lecturekit" }
        return "\(NSHomeDirectory())/.local/share/lecturekit"
    }

    /// Applications of one keychain group share a device's key.
    private static func device(_ base: String?, group: String?) throws -> String? {
        guard let group, !group.isEmpty, let base else { return base }
        guard group != ".", group != "..", !group.contains(where: { "/\0".contains($0) }) else {
            throw KollusError(.ERROR_PARAM_VALUE, detail: "keychainGroup")
        }
        return "\(base)/groups/\(group)"
    }
}

/// Finds the player id, or creates one.
enum PlayerIdentity {
    /// The note in which a store keeps the player id of its first run.
    private static let note = "kollus.player_id"

    static func find(_ mode: StorageCore.StartMode, _ manager: LectureManager) throws -> DeviceIdentity {
        let (home, known) = try manager.wait { (try $0.deviceHome(), try $0.note(note)) }
        let identity: DeviceIdentity
        switch mode {
        case .plain, .first(true): identity = try home.identity()
        case .check where known == nil: identity = try home.identity()
        case .check, .first(false): identity = try present(home, known)
        case .new:
            identity = try home.presentIdentity() == nil ? home.identity() : home.replaceKey()
            // The caller requested it: from now on the store belongs to the new device.
            try manager.licences.wait { try $0.acceptDevice() }
        }
        if identity.playerID != known { try manager.wait { try $0.setNote(note, identity.playerID) } }
        return identity
    }

    /// Three attempts, since a home directory on a network may be late.
    private static func present(_ home: DeviceHome, _ known: String?) throws -> DeviceIdentity {
        var last: (any Error)?
        for attempt in 0..<3 {
            // proof: a start blocks its caller anyway, and this lasts two tenths of a second in all.
            if attempt > 0 { Thread.sleep(forTimeInterval: 0.1) }
            do {
                if let identity = try home.presentIdentity(), known == nil || identity.playerID == known {
                    return identity
                }
            } catch { last = error }
        }
        throw last
            ?? LectureError(
                .deviceKeyRefused, detail: home.directory, cause: "this storage's player id was not found")
    }
}
