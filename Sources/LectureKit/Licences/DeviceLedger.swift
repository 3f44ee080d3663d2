import LectureCrypto
import LectureFiles
import LectureLicence
import LectureModel
import LectureStore

/// The ledger of a store as this device sees it: opened for inspection without writing anything, so that every list
/// shows what the next play will find.
///
/// `@unchecked Sendable`: it belongs to one manager, and every method must be called on its core queue.
final class DeviceLedger: @unchecked Sendable {
    let ledger: SQLiteLicenceLedger
    let vault: any ContentVault
    let anchors: any AnchorKeeper
    /// The thumbprint of this device's key.
    let device: [UInt8]
    /// The same in the form used with licence servers.
    let playerID: String
    /// The store's UUID.
    let store: String
    /// Whether the device has no key: this one is only in memory, and nothing may be written with it.
    let isTemporary: Bool
    private let clock: any LectureClock
    /// The result of the last inspection, and the newest row at that time: every write appends a row.
    private var known: (newest: TimeRow?, outlook: LedgerOutlook?)?

    /// Opens the ledger with this device's key. If there is none, it is created for a store that knows no device. For
    /// another one a key in memory takes its place, which fits nothing: a command with a wrong directory changes
    /// nothing.
    ///
    /// - Parameters:
    ///   - configuration: names the device's directory.
    ///   - index: the store's writer.
    ///   - clock: both clocks.
    ///   - creating: whether a key is created for any store.
    /// - Throws: ``LectureError``: `deviceKeyRefused`, `configuration`, a store's or a disk's code.
    init(
        _ configuration: LectureConfiguration, index: SQLiteDownloadIndex, clock: any LectureClock,
        creating: Bool = false
    ) throws {
        let key: DeviceKey
        (key, isTemporary) = try configuration.deviceKey(for: index, creating: creating)
        let authenticator = try LedgerAuthenticator(key)
        (device, playerID) = (authenticator.device, try key.thumbprint())
        vault = DeviceVault(key)
        anchors = isTemporary ? NoAnchors() : try configuration.deviceHome().anchors(key)
        ledger = try SQLiteLicenceLedger(index: index, authenticator: authenticator)
        store = try index.identity().uuid
        self.clock = clock
    }

    /// A reading of both clocks.
    var reading: ClockReading { ClockReading(wall: clock.now(), boot: clock.boot(), bootID: Machine.bootID()) }

    /// The objection to the whole ledger.
    ///
    /// - Returns: nil when it is the one that this device last wrote.
    /// - Throws: ``LectureError``: a store's or a disk's code.
    func outlook() throws -> LedgerOutlook? {
        let newest = try ledger.newestTime()
        if let known, known.newest == newest { return known.outlook }
        let anchor = try anchors.anchor(of: store)
        let outlook = LedgerOutlook(try ledger.inspect(against: anchor), anchor, at: reading)
        known = (newest, outlook)
        return outlook
    }

    /// Whether an inspection has already found that the store must be settled first, and nothing has changed since.
    ///
    /// - Returns: false also without an inspection.
    /// - Throws: ``LectureError``: a store's code.
    func isKnownToBeUnsettled() throws -> Bool {
        guard let known, known.newest == (try ledger.newestTime()) else { return false }
        return try known.outlook?.mustBeSettled(ledger) ?? false
    }

    /// How the media of a lecture is sealed.
    struct Seal {
        /// Whether its key is one that this device cannot unwrap.
        var isElsewhere = false
        /// The granting keys to which its key is bound; nil for none.
        var grantingKeys: GrantingKeys?
    }

    /// How the media of a lecture is sealed.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - rows: the keys of sealed files; those of a transaction within one.
    /// - Returns: the seal; also for unsealed media, which this device can open.
    /// - Throws: ``LectureError``: a store's code, `cryptography`.
    func seal(of key: ContentKey, _ rows: ContentKeyRows) throws -> Seal {
        try seal(of: try rows.key(of: key))
    }

    /// How media with this key is sealed.
    ///
    /// - Parameter stored: its wrapped key; nil for media that is not sealed.
    /// - Returns: the seal.
    /// - Throws: ``LectureError`` with the code `cryptography`.
    func seal(of stored: WrappedKey?) throws -> Seal {
        guard let stored else { return Seal() }
        guard try vault.opens(stored) else { return Seal(isElsewhere: true) }
        return Seal(grantingKeys: stored.grantingKeys)
    }

    /// Binds the key of a lecture's licensed media to the granting keys of its licence.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - keys: the granting keys.
    ///   - rows: the keys of sealed files.
    /// - Throws: ``LectureError``: a store's code, `cryptography`.
    func bind(_ key: ContentKey, to keys: GrantingKeys, _ rows: ContentKeyRows) throws {
        guard let stored = try rows.key(of: key), stored.purpose == .licensed,
            stored.grantingKeys != keys,
            let bound = try vault.bind(stored, to: keys)
        else { return }
        try rows.rewrap(of: key, stored, as: bound)
    }
}

/// The anchors of a device without a key.
private struct NoAnchors: AnchorKeeper {
    func anchor(of store: String) throws(LectureError) -> LedgerAnchor? { nil }
    func keep(_ anchor: LedgerAnchor, of store: String) throws(LectureError) { throw LectureError(.storeCopied) }
    func obstacle(of store: String) -> LectureError? { nil }
    func newestTimes() throws(LectureError) -> AnchoredTimes { AnchoredTimes() }
}

/// Evaluates licences for lists: as for a play, but without writing anything or asking a server.
struct LicenceJudge {
    let time: TrustedTime
    let device: DeviceLedger
    let isStrict: Bool
    /// The objection to every licence.
    let suspicion: LicenceSuspicion?
    /// Whether the next play takes back the marks that another device has left on every licence.
    let takesMarksBack: Bool
    /// Whether a play could not be recorded in the device's directory.
    let isAnchorUnwritable: Bool

    /// Evaluates a licence.
    ///
    /// - Parameters:
    ///   - entry: the row.
    ///   - isPlayable: whether a complete version is on disk.
    /// - Returns: the verdict with the licence.
    /// - Throws: ``LectureError``: a store's code.
    func status(_ entry: LicenceEntry, isPlayable: Bool) throws -> LicenceStatus {
        var entry = entry
        entry.suspicion = takesMarksBack ? nil : suspicion ?? entry.suspicion
        var facts = LicenceVerdict.Facts(
            licence: entry.record, isMediaComplete: isPlayable, time: time, deviceThumbprint: device.device)
        facts.suspicion = entry.suspicion
        facts.owesCompletion = isStrict && entry.owesCompletion
        let seal = try device.seal(of: entry.key, device.ledger.contentKeys)
        facts.isSealedElsewhere = seal.isElsewhere
        facts.isGrantedElsewhere = entry.isGrantedElsewhere(seal.grantingKeys)
        facts.isAnchorUnwritable = isAnchorUnwritable
        return LicenceStatus(entry, reasons: LicenceVerdict.judge(facts).reasons)
    }
}
