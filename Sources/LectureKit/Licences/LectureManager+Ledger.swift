import Glibc
import LectureCrypto
import LectureDownload
import LectureFiles
import LectureLicence
import LectureModel
import LectureStore

/// Opening the ledger of licences: when it is first needed, and for whom.
extension LectureManager {
    /// The part of the manager that looks after licences; made when first needed.
    ///
    /// - Parameter accepting: whether this device takes over a store that another one has written.
    /// - Returns: the room.
    /// - Throws: ``LectureError``: `storeCopied` for a store of another device, which is left as it is;
    ///   `deviceKeyRefused`, `configuration`, a store's or a disk's code.
    @discardableResult
    func openLicences(accepting: Bool = false) throws -> LicenceRoom {
        if let licences { return licences }
        if isClosed, seat == nil { throw LectureError(.closing) }
        let own = try deviceLedger()
        if !accepting, try own.isKnownToBeUnsettled() { throw LectureError(.storeCopied) }
        let made: LicenceRoom
        do {
            made = try LicenceRoom(
                configuration, index: writer, executor: executor, hub: hub, seat: try openSeat(), device: own,
                accepting: accepting)
        } catch let error as LectureError where error.code == .storeCopied {
            // Remembered: every lecture of a list would look at the whole ledger again.
            _ = try own.outlook()
            throw error
        }
        made.engine.configure(extra: licenceParameter)
        made.downloads = room?.engine.inbox
        made.followRemovals = { [weak self] in self?.assumeIsolated { $0.followRemovals() } }
        licences = made
        made.wake()
        return made
    }

    /// Makes the store this device's, whichever device has written it last. Its licences are not believed until their
    /// servers have granted them anew (``regrantLicences(_:_:)``); media that another device has sealed stays closed
    /// until that device's key is imported. A store that is this device's already stays as it is.
    ///
    /// - Throws: ``LectureError``: `deviceKeyRefused`, `configuration`, a store's or a disk's code.
    public func acceptDevice() throws {
        guard try writer.hasLicences() else { return }
        try openLicences(accepting: true)
    }

    /// The ledger with this device's key; opened when first needed, and nothing is written.
    ///
    /// - Returns: the ledger.
    /// - Throws: ``LectureError``: `deviceKeyRefused`, `configuration`, a store's or a disk's code.
    func deviceLedger() throws -> DeviceLedger {
        if let openedLedger { return openedLedger }
        let made = try DeviceLedger(configuration, index: writer, clock: clock)
        openedLedger = made
        return made
    }

    /// Whoever works on contents deletes what a server has ordered away.
    private func followRemovals() {
        guard let room = try? openRoom() else { return }
        room.engine.poke()
        room.wake()
    }

    /// What a download asks of licences.
    func makeDesk() -> (EngineInbox) -> any DownloadLicensing {
        let index = writer
        return { [weak self] _ in
            LicenceDesk(
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
        let made = try LedgerAuthenticator(try configuration.deviceHome().key())
        openedAuthenticator = made
        return made
    }
}

extension LectureConfiguration {
    /// Where this device's key is.
    ///
    /// - Returns: the place.
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
    /// Whether a device's key is there already.
    func isInUse() -> Bool { unsafe access("\(directory)/\(Self.keyName)", F_OK) == 0 }
}

extension LectureManager {
    /// Keeps a licence file for the content it names. It is verified first, and kept only when nothing speaks against
    /// it but that it begins later.
    ///
    /// - Parameters:
    ///   - token: the compact token.
    ///   - trust: what it is judged by; nil for the public keys and roots of the configuration. Its secrets are shared
    ///     with callbacks, and do not count here.
    /// - Returns: the licence, judged now.
    /// - Throws: ``LectureError``: `licenceFileRefused` with every reason, `unknownContent` for a content that is not
    ///   in the store, `licenceKeyMissing`, `sealRequired` when its media lies there in clear.
    public func importLicence(_ token: String, trust: LicenceTrust? = nil) throws -> LicenceStatus {
        let trust = try trust ?? LicenceTrust(configuration.rights).withoutSecrets
        if trust.isEmpty { throw LectureError(.licenceKeyMissing, detail: "licence files need a public one") }
        let room = try openLicences()
        let verifier = LicenceVerifier(trust: trust)
        guard case let time = try room.engine.time(), let now = time.noEarlierThan else {
            throw LectureError(.clockUntrusted)
        }
        var context = LicenceFileContext(now: now)
        context.device = Base64URL.text(room.device)
        context.needsContent = true
        let first = try verifier.verify(token: token, context: context)
        let reasons = first.reasonNames.filter { $0 != LicenceFileReason.notYetValid.name }
        // A file that is bound to no device at all is nobody's in particular, and permitted.
        let isUnbound = first.file.map { $0.thumbprint == nil && $0.deviceKey == nil } ?? false
        let left = reasons.filter { !(isUnbound && $0 == LicenceFileReason.deviceMissing.name) }
        guard left.isEmpty, let file = first.file, let text = file.content else {
            throw LectureError(.licenceFileRefused, cause: left.joined(separator: ", "))
        }
        let key = try ContentKey(text)
        guard let item = try index.item(key) else { throw LectureError(.unknownContent, detail: key.text) }
        let user = try room.ledger.entry(key)?.source.clientUserID ?? ""
        if !user.isEmpty, let named = file.user, named != user {
            throw LectureError(.licenceFileRefused, detail: key.text, cause: "it names another user")
        }
        // Licensed media never lies in clear: what was fetched in clear cannot become licensed where it lies.
        if item.currentVersion != nil, try placedMedia(key).seal == .plain {
            throw LectureError(.sealRequired, detail: key.text, cause: "its media lies there in clear")
        }
        let entry = try room.engine.keepFile(file, token: token, key: key)
        return try judge().status(entry, isPlayable: try isPlayable(key))
    }
}
