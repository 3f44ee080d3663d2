import Glibc
import LectureCrypto
import LectureDownload
import LectureFiles
import LectureLicence
import LectureModel
import LectureStore

/// Opening the ledger of licences when it is first needed.
extension LectureManager {
    /// The part of the manager that handles licences; created when first needed.
    ///
    /// - Parameter accepting: whether this device takes over a store that another one has written.
    /// - Returns: the service.
    /// - Throws: ``LectureError``: `storeCopied` for a store of another device, which is left as it is;
    ///   `deviceKeyRefused`, `configuration`, a store's or a disk's code.
    @discardableResult
    func openLicences(accepting: Bool = false) throws -> LicenceService {
        if let licences { return licences }
        if isClosed, core.state.session == nil { throw LectureError(.closing) }
        let own = try ownLedger(accepting: accepting)
        if !accepting, try own.isKnownToBeUnsettled() { throw LectureError(.storeCopied) }
        let made: LicenceService
        do {
            made = try LicenceService(
                configuration, index: writer, executor: executor, hub: hub, session: try openSession(), device: own,
                accepting: accepting)
        } catch let error as LectureError where error.code == .storeCopied {
            // Cached: otherwise every lecture of a list would inspect the whole ledger again.
            _ = try own.outlook()
            throw error
        }
        made.engine.configure(extra: licenceParameter)
        made.downloads = service?.engine.inbox
        made.followRemovals = { [weak self] in self?.assumeIsolated { $0.followRemovals() } }
        licences = made
        made.wake()
        return made
    }

    /// Makes the store this device's, whichever device wrote it last. Its licences are not trusted until their servers
    /// have granted them again (``regrantLicences(_:_:)``); media that another device sealed stays unreadable until
    /// that device's key is imported. A store that is already this device's stays as it is.
    ///
    /// - Throws: ``LectureError``: `deviceKeyRefused`, `configuration`, a store's or a disk's code.
    public func acceptDevice() throws {
        guard try writer.hasLicences() else { return }
        try openLicences(accepting: true)
    }

    /// The ledger with this device's key, to be written. A key is created for a store that loses nothing by it.
    private func ownLedger(accepting: Bool) throws -> DeviceLedger {
        let own = try deviceLedger()
        guard own.isTemporary else { return own }
        if !accepting, try own.ledger.hasBelievedLicences() { throw LectureError(.storeCopied) }
        let made = try DeviceLedger(configuration, index: writer, clock: clock, creating: true)
        (openedLedger, openedLicenceQueries, openedAuthenticator) = (made, nil, nil)
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

    /// Has the download engine delete what a server has ordered removed.
    private func followRemovals() {
        guard let service = try? openService() else { return }
        service.engine.setNeedsStep()
        service.wake()
    }

    /// The licence interface of downloads.
    func deferredLicensing() -> (EngineInbox) -> any DownloadLicensing {
        let index = writer
        return { [weak self] _ in
            DeferredLicensing(
                index, present: { self?.assumeIsolated { $0.licences } },
                open: {
                    guard let self else { throw LectureError(.closing) }
                    return try self.assumeIsolated { try $0.openLicences() }
                })
        }
    }

    /// The reader of licences, which checks their codes.
    func licenceQueries() throws -> SQLiteContentQueries {
        if let openedLicenceQueries { return openedLicenceQueries }
        let made = try SQLiteContentQueries(opening: location, authenticator: try rowAuthenticator())
        openedLicenceQueries = made
        return made
    }

    /// The device's key as the codes of rows use it.
    func rowAuthenticator() throws -> any RowAuthenticator {
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
        for name in ["LECTURE_DEVICE", "XDG_DATA_HOME", "HOME"] {
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

extension LectureManager {
    /// Stores a licence file for the lecture it names. It is verified first, and stored only when there is no objection
    /// except that it starts later. For a lecture that already has a licence only the key that granted it counts.
    ///
    /// - Parameters:
    ///   - token: the compact token.
    ///   - trust: what it is verified with, for a lecture that has no licence yet and no server to ask; nil for the
    ///     public keys and roots of the configuration. Its secrets are shared with callbacks, and do not count here.
    /// - Returns: the licence, evaluated now.
    /// - Throws: ``LectureError``: `licenceFileRefused` with every reason, `keyNotGranting` or `trustNotConfigured` for
    ///   a key that does not count, `unknownContent` for a lecture that is not in the store, `licenceKeyMissing`,
    ///   `sealRequired` when its media is unsealed.
    public func importLicence(_ token: String, trust: LicenceTrust? = nil) throws -> LicenceStatus {
        let used = try trust ?? LicenceTrust(configuration.rights).withoutSecrets
        if used.isEmpty { throw LectureError(.licenceKeyMissing, detail: "licence files need a public one") }
        let service = try openLicences()
        let verifier = LicenceVerifier(trust: used)
        guard case let time = try service.engine.time(), let now = time.noEarlierThan else {
            throw LectureError(.clockUntrusted)
        }
        let device = Base64URL.text(service.device)
        var claims = try verifier.claims(token, device: device, now: now)
        var refusal: LectureError?
        // A new file may end a doubt about the clock: then it is the wall clock that counts.
        if claims.file == nil, !time.isTrusted, case let wall = clock.now(), wall < now {
            let other = try verifier.claims(token, device: device, now: wall)
            if other.file != nil { (refusal, claims) = (claims.refusal, other) }
        }
        let signer = claims.signer
        guard let file = claims.file, let text = file.content else { throw claims.refusal }
        let key = try ContentKey(text)
        guard let item = try index.item(key) else { throw LectureError(.unknownContent, detail: key.text) }
        let user = try service.ledger.entry(key)?.source.clientUserID ?? ""
        if !user.isEmpty, let named = file.user, named != user {
            throw LectureError(.licenceFileRefused, detail: key.text, cause: "it names another user")
        }
        // Licensed media is never stored unsealed: what was downloaded unsealed cannot become licensed in place.
        if item.currentVersion != nil, try finalizedMedia(key).seal == .plain {
            throw LectureError(.sealRequired, detail: key.text, cause: "its media is stored unsealed")
        }
        let isConfigured = trust == nil || service.engine.configuredKeys.files.contains(signer)
        let entry = try service.engine.keepFile(
            file, token: token, key: key, signer: FileSigner(thumbprint: signer, isConfigured: isConfigured),
            unlessClockIsConfirmed: refusal)
        return try judge().status(entry, isPlayable: try isPlayable(key))
    }
}

extension LicenceVerifier {
    /// What a licence file says at a time.
    fileprivate struct Claims {
        /// Its claims; nil where something other than a later start is against it.
        var file: LicenceFile?
        /// The thumbprint of the key that signed it.
        var signer: String
        /// What is against it.
        var refusal: LectureError
    }

    fileprivate func claims(_ token: String, device: String, now: Timestamp) throws(LectureError) -> Claims {
        var context = LicenceFileContext(now: now)
        context.device = device
        context.needsContent = true
        let (verdict, signer) = try verifySigner(token: token, context: context)
        let reasons = verdict.reasonNames.filter { $0 != LicenceFileReason.notYetValid.name }
        // A file that is not bound to any device is permitted.
        let isUnbound = verdict.file.map { $0.thumbprint == nil && $0.deviceKey == nil } ?? false
        let left = reasons.filter { !(isUnbound && $0 == LicenceFileReason.deviceMissing.name) }
        let refusal = LectureError(.licenceFileRefused, cause: left.joined(separator: ", "))
        return Claims(file: left.isEmpty ? verdict.file : nil, signer: signer, refusal: refusal)
    }
}
