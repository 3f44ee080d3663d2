import Glibc
import LectureCrypto
import LectureDownload
import LectureFiles
import LectureLicence
import LectureModel
import LectureStore

/// This device's ledger of licences, and the service that keeps them valid; each is opened when it is first needed. On
/// the core queue.
final class LicenceAccess: CorePart {
    unowned let core: StoreCore
    /// Keeps licences valid; opened with the first lecture that needs one.
    private(set) var service: LicenceService?
    /// The text the application adds to every request to licence servers.
    var parameter: String? { didSet { service?.engine.configure(.extra(parameter)) } }
    /// The reader of licences, with the device's key.
    private var openedQueries: SQLiteContentQueries?
    private var openedAuthenticator: (any RowAuthenticator)?
    /// The ledger with the device's key, for queries and for the ciphers.
    private var openedLedger: DeviceLedger?

    init(_ core: StoreCore) { self.core = core }

    /// The service; created when first needed.
    ///
    /// - Parameter accepting: whether this device takes over a store that another one has written.
    /// - Returns: the service.
    /// - Throws: ``LectureError``: `storeCopied` for a store of another device, which is left as it is;
    ///   `deviceKeyRefused`, `configuration`, a store's or a disk's code.
    @discardableResult
    func open(accepting: Bool = false) throws -> LicenceService {
        if let service { return service }
        if isClosed, core.state.host == nil { throw LectureError(.closing) }
        let own = try ownLedger(accepting: accepting)
        if !accepting, try own.isKnownToBeUnsettled() { throw LectureError(.storeCopied) }
        let made: LicenceService
        do {
            made = try LicenceService(
                configuration, index: writer, host: try openHost(), device: own, accepting: accepting,
                followRemovals: { [weak core] in core?.followRemovals() })
        } catch let error as LectureError where error.code == .storeCopied {
            // Cached: otherwise every lecture of a list would inspect the whole ledger again.
            _ = try own.outlook()
            throw error
        }
        made.engine.configure(.extra(parameter))
        service = made
        core.state.host?.wake()
        return made
    }

    /// The ledger with this device's key, to be written. A key is created for a store that loses nothing by it.
    private func ownLedger(accepting: Bool) throws -> DeviceLedger {
        let own = try deviceLedger()
        guard own.isTemporary else { return own }
        if !accepting, try own.ledger.hasBelievedLicences() { throw LectureError(.storeCopied) }
        let made = try DeviceLedger(configuration, index: writer, clock: clock, creating: true)
        (openedLedger, openedQueries, openedAuthenticator) = (made, nil, nil)
        return made
    }

    /// The ledger with this device's key; opened when first needed, and nothing is written to the store.
    ///
    /// - Returns: the ledger.
    /// - Throws: ``LectureError``: `deviceKeyRefused`, `configuration`, a store's or a disk's code.
    func deviceLedger() throws -> DeviceLedger {
        if let openedLedger { return openedLedger }
        let made = try DeviceLedger(configuration, index: writer, clock: clock)
        openedLedger = made
        return made
    }

    /// The service, which its owner stops; nil when none is open.
    func takeService() -> LicenceService? {
        defer { service = nil }
        return service
    }

    /// The licence interface of downloads.
    func forDownloads() -> any DownloadLicensing {
        DeferredLicensing(
            present: { [weak core] in core?.licensing.service },
            open: { [weak core] in
                guard let core else { throw LectureError(.closing) }
                return try core.licensing.open()
            })
    }

    /// What lists use to evaluate licences now.
    func judge() throws -> LicenceJudge {
        let own = try deviceLedger()
        // An open engine has already inspected the ledger.
        let outlook = service == nil ? try own.outlook() : nil
        let newest = try own.ledger.newestTime()
        var time = outlook?.time ?? newest.map { TimeLedger($0) } ?? TimeLedger(first: own.reading)
        time.update(at: own.reading)
        return LicenceJudge(
            time: time.time, device: own, isStrict: configuration.rights.isStrict, suspicion: outlook?.suspicion,
            takesMarksBack: outlook.map { $0.suspicion == nil } ?? false,
            isAnchorUnwritable: own.anchors.obstacle(of: own.store) != nil)
    }

    /// The reader of licences, which checks their codes.
    func queriesOfLicences() throws -> SQLiteContentQueries {
        if let openedQueries { return openedQueries }
        let made = try queries.checking(rowAuthenticator())
        openedQueries = made
        return made
    }

    /// The device's key as the codes of rows use it.
    private func rowAuthenticator() throws -> any RowAuthenticator {
        if let openedAuthenticator { return openedAuthenticator }
        let made = try LedgerAuthenticator(try configuration.deviceKey(for: writer).key)
        openedAuthenticator = made
        return made
    }
}

extension LectureConfiguration {
    /// Shares the store and the device's directory with ``sharedGroup``, where both are this user's.
    func share() throws {
        guard let sharedGroup else { return }
        try GroupSharing.share(storeDirectory, with: sharedGroup)
        try GroupSharing.share(deviceHome().directory, with: sharedGroup)
    }

    /// This device's key for a store. None is created for a store that another device has written.
    ///
    /// - Parameters:
    ///   - index: the store's writer.
    ///   - creating: whether a key is created for any store.
    /// - Returns: the key, and whether it is only in memory and fits nothing.
    /// - Throws: ``LectureError``: `deviceKeyRefused`, `configuration`, a store's or a disk's code.
    func deviceKey(
        for index: SQLiteDownloadIndex, creating: Bool = false
    ) throws -> (key: DeviceKey, isTemporary: Bool) {
        let home = try deviceHome()
        if !creating, !home.isInUse(), try index.knowsDevice() { return (try DeviceKey.generate(), true) }
        return (try home.key(), false)
    }

    /// Where this device's key is.
    ///
    /// - Returns: the directory.
    /// - Throws: ``LectureError`` with the code `configuration` when neither the configuration nor the environment
    ///   names one.
    func deviceHome() throws -> DeviceHome {
        if let deviceDirectory { return DeviceHome(directory: deviceDirectory) }
        var environment: [String: String] = [:]
        for name in ["LECTURE_DEVICE", "STATE_DIRECTORY", "XDG_DATA_HOME", "HOME"] {
            guard let value = unsafe getenv(name) else { continue }
            environment[name] = unsafe String(cString: value)
        }
        guard let directory = DeviceHome.directory(in: environment) else {
            throw LectureError(.configuration, detail: "storage.device_dir", cause: "no place for the device's key")
        }
        return DeviceHome(directory: directory)
    }
}

extension DeviceHome {
    /// Whether a device key already exists.
    func isInUse() -> Bool { unsafe access("\(directory)/\(Self.keyName)", F_OK) == 0 }
}
