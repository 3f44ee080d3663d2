import LectureCrypto
import LectureFiles
import LectureLicence
import LectureModel
import LectureStore

/// The ledger of a store as this device sees it: opened for a look without a word being written, so that every list
/// says what the next play will find.
///
/// `@unchecked Sendable`: it belongs to one manager, and every method must be called on its core queue.
final class DeviceLedger: @unchecked Sendable {
    let ledger: SQLiteLicenceLedger
    let vault: any ContentVault
    let anchors: any AnchorKeeper
    /// The thumbprint of this device's key.
    let device: [UInt8]
    /// The same as licence servers see it.
    let playerID: String
    /// The store's UUID.
    let store: String
    private let clock: any LectureClock
    /// What the last look has found, and the newest row at that time: whatever is stored appends a row.
    private var known: (newest: TimeRow?, outlook: LedgerOutlook?)?

    /// Opens the ledger with this device's key, which is drawn when there is none.
    ///
    /// - Throws: ``LectureError``: `deviceKeyRefused`, `configuration`, a store's or a disk's code.
    init(
        _ configuration: LectureConfiguration, index: SQLiteDownloadIndex, clock: any LectureClock
    ) throws {
        let home = try configuration.deviceHome()
        let key = try home.key()
        let authenticator = try LedgerAuthenticator(key)
        (device, playerID) = (authenticator.device, try key.thumbprint())
        vault = DeviceVault(key)
        anchors = try home.anchors(key)
        ledger = try SQLiteLicenceLedger(index: index, authenticator: authenticator)
        store = try index.identity().uuid
        self.clock = clock
    }

    /// What a look at both clocks shows.
    var reading: ClockReading { ClockReading(wall: clock.now(), boot: clock.boot(), bootID: Machine.bootID()) }

    /// What speaks against the whole ledger.
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

    /// Whether a look has already found that the store must be settled first, and nothing has changed since.
    ///
    /// - Returns: false also where nobody has looked.
    /// - Throws: ``LectureError``: a store's code.
    func isKnownToBeUnsettled() throws -> Bool {
        guard let known, known.newest == (try ledger.newestTime()) else { return false }
        return try known.outlook?.mustBeSettled(ledger) ?? false
    }

    /// Whether the media of a content is sealed with a key that this device cannot take out.
    ///
    /// - Parameter key: the content.
    /// - Returns: false also for media in clear.
    /// - Throws: ``LectureError``: a store's code, `cryptography`.
    func isSealedElsewhere(_ key: ContentKey) throws -> Bool {
        guard let stored = try ledger.contentKey(of: key) else { return false }
        return try !vault.opens(wrapped: stored.wrapped, purpose: stored.purpose)
    }
}

/// What lists judge by: the same as a play, without anything being written or anybody being asked.
struct LicenceJudge {
    let time: TrustedTime
    let device: DeviceLedger
    let isStrict: Bool
    /// What speaks against every licence.
    let suspicion: LicenceSuspicion?

    /// Judges a licence.
    ///
    /// - Parameters:
    ///   - entry: the row.
    ///   - isPlayable: whether a complete version is on the disk.
    /// - Returns: the verdict with the licence.
    /// - Throws: ``LectureError``: a store's code.
    func status(_ entry: LicenceEntry, isPlayable: Bool) throws -> LicenceStatus {
        var entry = entry
        entry.suspicion = suspicion ?? entry.suspicion
        var facts = LicenceVerdict.Facts(
            licence: entry.record, isMediaProven: isPlayable, time: time, deviceThumbprint: device.device)
        facts.suspicion = entry.suspicion
        facts.owesCompletion = isStrict && entry.owesCompletion
        facts.isSealedElsewhere = try device.isSealedElsewhere(entry.key)
        return LicenceStatus(entry, reasons: LicenceVerdict.judge(facts).reasons)
    }
}
