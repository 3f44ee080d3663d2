/// Why a lecture may not be played now. The cases are in the order in which reasons are reported.
public enum LicenceReason: Int, Sendable, CaseIterable, Comparable {
    /// The server has ordered the file's removal.
    case deleted = 1
    /// The server has ended the licence.
    case forceExpired
    /// Not every byte is present and verified.
    case mediaIncomplete
    /// There is no licence.
    case missing
    /// The licence's token did not verify.
    case unverified
    /// The licence is bound to another device.
    case otherDevice
    /// The store was written by another device.
    case storeCopied
    /// The ledger was changed without the device's key.
    case ledgerForged
    /// The store is an older copy than the one this device last wrote.
    case storeRolledBack
    /// It was granted under another key than the first grant of this media.
    case otherKey
    /// The licence has a time limit, and the clock cannot be trusted.
    case clockUntrusted
    /// The server has to be asked first.
    case checkDue
    /// It starts later.
    case notYetValid
    /// Its end has passed.
    case expired
    /// All plays are used.
    case countUsedUp
    /// All play time is used.
    case playTimeUsedUp
    /// The device's directory cannot be written, so a play could not be recorded there.
    case anchorUnwritable

    /// The frozen name in JSON.
    public var name: String {
        switch self {
        case .deleted: "deleted"
        case .forceExpired: "force_expired"
        case .mediaIncomplete: "media_incomplete"
        case .missing: "missing"
        case .unverified: "unverified"
        case .otherDevice: "other_device"
        case .storeCopied: "store_copied"
        case .ledgerForged: "ledger_forged"
        case .storeRolledBack: "store_rolled_back"
        case .otherKey: "other_key"
        case .clockUntrusted: "clock_untrusted"
        case .checkDue: "check_due"
        case .notYetValid: "not_yet_valid"
        case .expired: "expired"
        case .countUsedUp: "count_used_up"
        case .playTimeUsedUp: "play_time_used_up"
        case .anchorUnwritable: "anchor_unwritable"
        }
    }

    /// Compares the positions in the order.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
