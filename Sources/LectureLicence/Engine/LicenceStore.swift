import LectureFormats
package import LectureModel

/// What is needed besides the rows to judge and change licences: the lectures, the anchor outside the store, and whose
/// signatures count.
package struct LicenceEnvironment {
    let contents: any LicensedContents
    let anchors: any AnchorKeeper
    let verifier: any AnswerVerifier
    /// The store's UUID, under which its anchor is stored.
    let id: String
    /// The thumbprint of this device's key.
    let device: [UInt8]
    let bootID: String
    let isStrict: Bool
    let hasOwnAuthority: Bool

    init(_ ports: LicenceEngine.Ports, _ settings: LicenceSettings) {
        (contents, anchors, verifier) = (ports.contents, ports.anchors, ports.verifier)
        (id, device, bootID) = (settings.store, settings.device, settings.bootID)
        (isStrict, hasOwnAuthority) = (settings.isStrict, settings.hasOwnAuthority)
    }
}

/// The stored licences, and the lectures that they are for, within one transaction.
package struct LicenceStore {
    /// The rows.
    package let ledger: any LicenceLedger
    let environment: LicenceEnvironment
    private let transaction: any StoreTransaction

    init(_ environment: LicenceEnvironment, _ transaction: any StoreTransaction) throws {
        (self.environment, self.transaction, ledger) = (environment, transaction, try transaction.licences)
    }

    var anchors: any AnchorKeeper { environment.anchors }
    var verifier: any AnswerVerifier { environment.verifier }

    /// Begins a transaction, or a look at the licences that changes nothing.
    ///
    /// - Parameter clock: read after the newest row, so that the boot clock is never behind that of a row written by
    ///   another process.
    /// - Returns: the transaction.
    /// - Throws: ``LectureError``: a store's code.
    func begin(_ clock: any LectureClock) throws -> LicenceTransaction {
        let newest = try ledger.newestTime()
        return try LicenceTransaction(self, newest: newest, now: clock.now(), boot: clock.boot())
    }

    // MARK: Lectures

    /// A lecture; nil when it does not exist.
    func content(_ key: ContentKey) throws -> ContentPresence? {
        try environment.contents.content(key, in: transaction)
    }

    /// Binds the key of a lecture's licensed media to the granting keys of its licence.
    func bind(_ key: ContentKey, to keys: GrantingKeys) throws {
        try environment.contents.bind(key, to: keys, in: transaction)
    }

    /// Requests the removal of a lecture; whether that is news.
    func orderRemoval(_ key: ContentKey, now: Timestamp) throws -> Bool {
        try environment.contents.orderRemoval(key, now: now, in: transaction)
    }
}

/// What is constant within one transaction of the licences, and what it adds to the chain of the time ledger.
package struct LicenceTransaction {
    let store: LicenceStore
    let now: Timestamp
    let boot: BootInstant
    let reading: ClockReading
    /// The time ledger, continued from its newest row.
    var time: TimeLedger
    /// Whether the ledger has no row yet.
    let isFirst: Bool
    /// Where the newest information about the time came from.
    var source = TimeRow.Source.clocks
    /// Whether a licence was stored or a time observed.
    var mustAppend = false
    /// Licences as the transaction has read or stored them.
    private var known: [ContentKey: LicenceEntry] = [:]
    /// Lectures as the transaction has read them: to look at one means to unwrap the key of its media.
    private var seen: [ContentKey: ContentPresence] = [:]
    /// Why a play could not be recorded: the same for every licence of the transaction.
    private let anchorObstacle: AnchorObstacle

    /// Continues the time ledger.
    ///
    /// - Parameters:
    ///   - store: the licences.
    ///   - newest: the newest row of the chain.
    ///   - now: the wall clock.
    ///   - boot: the boot clock; not behind that of the row.
    /// - Throws: ``LectureError`` of the anchors, for a ledger without a row.
    init(_ store: LicenceStore, newest: TimeRow?, now: Timestamp, boot: BootInstant) throws {
        (self.store, self.now, self.boot) = (store, now, boot)
        anchorObstacle = AnchorObstacle(store.environment)
        reading = ClockReading(wall: now, boot: boot, bootID: store.environment.bootID)
        isFirst = newest == nil
        if let newest {
            time = TimeLedger(newest)
            time.update(at: reading)
        } else {
            time = TimeLedger(first: reading, noEarlierThan: try store.anchors.newestTimes())
        }
    }

    var ledger: any LicenceLedger { store.ledger }

    /// Appends a row to the chain if one is due. Before the first one the store gets its first anchor: without it, a
    /// copy of the store from before the first anchor could be put back.
    ///
    /// - Parameter random: 64 random bits.
    /// - Returns: the matching anchor, when a row was appended.
    /// - Throws: ``LectureError``: a store's or a disk's code.
    func end(_ random: () -> UInt64) throws -> LedgerAnchor? { mustAppend ? try append(random) : nil }

    /// Appends a row to the chain.
    func append(_ random: () -> UInt64) throws -> LedgerAnchor {
        guard isFirst else { return try ledger.append(time.row, source: source) }
        let first = LedgerAnchor.beforeFirst((0..<4).flatMap { _ in random().bigEndianBytes })
        try store.anchors.keep(first, of: store.environment.id)
        return try ledger.append(time.row, source: source, after: first)
    }

    /// A licence; nil when there is none. One that the transaction has read or stored is not read again.
    mutating func entry(_ key: ContentKey) throws -> LicenceEntry? {
        if let entry = known[key] { return entry }
        let entry = try ledger.entry(key)
        known[key] = entry
        return entry
    }

    /// A lecture; nil when it does not exist. One that the transaction has read is not read again.
    mutating func content(_ key: ContentKey) throws -> ContentPresence? {
        if let presence = seen[key] { return presence }
        let presence = try store.content(key)
        seen[key] = presence
        return presence
    }

    /// Binds the key of a lecture's licensed media to the granting keys of its licence.
    mutating func bind(_ key: ContentKey, to keys: GrantingKeys) throws {
        // One that is bound to them already is its key with the same wrapping.
        if seen[key]?.grantingKeys == keys { return }
        try store.bind(key, to: keys)
        seen[key] = nil
    }

    /// These were read just now.
    mutating func take(_ entries: [LicenceEntry]) { for entry in entries { known[entry.key] = entry } }

    /// Stores a licence; its row of the chain follows with the end of the transaction.
    mutating func keep(_ entry: LicenceEntry) throws {
        try ledger.store(entry)
        known[entry.key] = entry
        mustAppend = true
    }

    /// Stores only the result of the last attempt; the rest of the licence is as it was read.
    mutating func keepAttempt(_ entry: LicenceEntry) throws {
        try ledger.storeAttempt(entry)
        known[entry.key] = entry
    }

    // MARK: Verdicts

    /// Judges whether a lecture may be played now.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - isChecked: whether its server has just permitted the play.
    /// - Returns: its licence, if any, and the verdict.
    /// - Throws: ``LectureError``: a store's code.
    func judged(
        _ key: ContentKey, isChecked: Bool = false
    ) throws -> (entry: LicenceEntry?, verdict: LicenceVerdict) {
        let entry = try known[key] ?? ledger.entry(key)
        let content = try seen[key] ?? store.content(key)
        // A deleted row must not make a licence unnecessary: the purpose of the content key decides.
        let isSealed = content?.sealPurpose == .licensed
        var facts = LicenceVerdict.Facts(
            licence: entry?.record, isLicensed: entry != nil || isSealed,
            isMediaComplete: content?.isComplete ?? false, time: time.time, deviceThumbprint: store.environment.device,
            isCheckedForThisPlay: isChecked)
        facts.suspicion = entry?.suspicion
        facts.isSealedElsewhere = content?.isSealedElsewhere ?? false
        facts.isGrantedElsewhere = entry?.isGrantedElsewhere(content?.grantingKeys) ?? false
        facts.owesCompletion = store.environment.isStrict && entry?.owesCompletion ?? false
        // Lectures without a licence are played without a record.
        facts.isAnchorUnwritable = entry?.record != nil && anchorObstacle.isThere
        return (entry, LicenceVerdict.judge(facts))
    }

    /// Whether the end of a licence has passed, and no row says so yet.
    func hasSeenEnd(_ entry: LicenceEntry) -> Bool {
        guard let record = entry.record, !record.wasSeenExpired, case .known(let now) = time.time,
            let end = record.policy.expiresAt
        else { return false }
        return now >= end
    }

    /// Records that the end of a licence has passed, so that a clock that is set back later cannot undo it.
    mutating func rememberEnd(_ key: ContentKey) throws {
        guard var entry = try ledger.entry(key), hasSeenEnd(entry) else { return }
        entry.record?.wasSeenExpired = true
        try keep(entry)
    }
}

/// Whether something prevents the anchor of the store from being written. Looked up when it is first needed, and once:
/// a renewal judges hundreds of licences in a transaction.
private final class AnchorObstacle {
    private(set) lazy var isThere = environment.anchors.obstacle(of: environment.id) != nil
    private let environment: LicenceEnvironment

    init(_ environment: LicenceEnvironment) { self.environment = environment }
}
