// The codes of licences. Numbers between −8634 and −8687 are those of the Kollus storage manager.

extension LectureError.Code {
    // MARK: How the DRM callback could not be asked

    /// An exchange with a licence server that failed below HTTP.
    ///
    /// - Parameter curl: libcurl's result code, 1…99.
    /// - Returns: the code −9000 − `curl`.
    public static func callbackTransfer(_ curl: Int) -> Self {
        let number = -9000 - curl
        let again = "It is asked again automatically; the stored licence is unchanged."
        return switch curl {
        case 5, 6: Self(number, "callback_resolve", "the licence server's name cannot be resolved", again)
        case 7: Self(number, "callback_connect", "the licence server cannot be reached", again)
        case 28: Self(number, "callback_timeout", "the licence server did not answer in time", again)
        case 35, 53, 58, 59, 60, 66, 77, 80, 83, 90, 91:
            Self(
                number, "callback_tls", "a secure connection to the licence server cannot be made",
                "Check its certificate and --ca-file; verification is never switched off.")
        case 52: Self(number, "callback_empty", "the licence server closed the connection without an answer", again)
        case 55, 56: Self(number, "callback_receive", "the connection to the licence server broke", again)
        default: Self(number, "callback_transfer_\(curl)", "the exchange with the licence server failed", again)
        }
    }

    /// An HTTP status with which a licence server refused a request.
    ///
    /// - Parameter status: the status, 300…599.
    /// - Returns: the code −9000 − `status`.
    public static func callbackStatus(_ status: Int) -> Self {
        let remedy =
            switch status {
            case 429, 503: "It is asked again when the server allows it."
            case 500...599: "Run the command again later. Report this to the licence server's operator if it stays."
            default: "Report this to the licence server's operator."
            }
        return Self(
            -9000 - status, "callback_http_\(status)", "the licence server answered HTTP \(status)", remedy)
    }

    // MARK: What the DRM callback answered

    /// The token of an answer did not verify or was not a token.
    public static let answerUndecodable = Self(
        -8634, "answer_undecodable", "the licence server's answer is not a token that verifies",
        "Check the key in the configuration's 'drm' member, then report this to the licence server's operator.",
        reason: "Its signature is wrong, or no configured key verifies it.")
    /// The payload of an answer was not the expected JSON.
    public static let answerUnreadable = Self(
        -8635, "answer_unreadable", "the licence server's answer is not valid JSON with the expected fields",
        "Report this to the licence server's operator.",
        reason: "The token verifies, but its payload is not what a licence server should send.")
    /// A value of an answer has the wrong type or is out of range.
    public static let answerInvalid = Self(
        -8636, "answer_invalid", "the licence server returned an invalid value",
        "Report this to the licence server's operator: numbers are JSON integers inside their ranges.",
        reason: "A number is a text or out of range, or a lecture is answered twice.")
    /// The answer had no body.
    public static let answerEmpty = Self(
        -8651, "answer_empty", "the licence server's answer is empty",
        "Report this to the licence server's operator: the server probably does not decode the form "
            + "(application/x-www-form-urlencoded) in which the field items is sent.",
        reason: "The server sent an empty response.")
    /// The server did not permit the download.
    public static let grantRefused = Self(
        -8655, "grant_refused", "the licence server does not permit this download", "Ask the provider.",
        reason: "The provider's server refused.")
    /// The server did not accept the completed download.
    public static let completionRefused = Self(
        -8656, "completion_refused", "the licence server refuses the completed download", "Ask the provider.",
        reason: "The provider's server refused.")
    /// The server did not permit the play.
    public static let playRefused = Self(
        -8657, "play_refused", "the licence server does not permit this play",
        "Ask the provider; the stored licence is unchanged.",
        reason: "The provider's server refused.")
    /// An answer that resets a licence belongs to another request.
    public static let sessionMismatch = Self(
        -8681, "session_mismatch", "the licence server's answer belongs to another request",
        "Report this to the licence server's operator: session_key must be returned unchanged.",
        reason: "The response is an old one, or belongs to another request.")
    /// An answer is missing for a lecture.
    public static let answerMissing = Self(
        -8682, "answer_missing", "the licence server did not answer for this lecture",
        "It is asked again automatically; the stored licence is unchanged.",
        reason: "The server answered for the other lectures of the request only.")

    // MARK: Why a lecture may not be played

    /// The end date has passed.
    public static let licenceExpired = Self(
        -8643, "licence_expired", "the licence has expired", "Run 'lecturectl licence renew' while there is a network.",
        reason: "Its end date has passed, or was once seen to have passed.")
    /// All plays are used.
    public static let countUsedUp = Self(
        -8644, "count_used_up", "the licence's plays are used up", "Ask the provider for more.",
        reason: "All plays that the licence allows were used.")
    /// The server has ended the licence.
    public static let licenceForceExpired = Self(
        -8658, "licence_force_expired", "the licence server has ended the licence", "Ask the provider.",
        reason: "The provider's server ordered it.")
    /// The clock cannot be trusted.
    public static let clockUntrusted = Self(
        -8664, "clock_untrusted", "the clock cannot be trusted, and the licence has a time limit",
        "Set the clock, then run 'lecturectl licence renew --all'. If there is no licence server to ask, import "
            + "a licence file that was issued since, or download anything over https.",
        reason: "The clock was set back, or never set; an ended licence must not become valid again that way.")
    /// The server has ordered the file's removal.
    public static let licenceDeleted = Self(
        -8680, "licence_deleted", "the licence server has revoked this lecture; its files were deleted",
        "Ask the provider.",
        reason: "The provider's server ordered it.")
    /// All play time is used.
    public static let playTimeUsedUp = Self(
        -8683, "play_time_used_up", "the licence's play time is used up", "Ask the provider for more.",
        reason: "All play time that the licence allows was used.")
    /// The server has to be asked before the next play.
    public static let licenceCheckDue = Self(
        -8687, "licence_check_due", "the licence has to be checked online before the next play",
        "Connect to the network and run 'lecturectl licence renew'.",
        reason: "The licence asks for a check at a date, or before every play.")
    /// There is no licence.
    public static let licenceMissing = Self(
        -20101, "licence_missing", "the lecture has no licence",
        "Run 'lecturectl precache LINK', after 'lecturectl remove' if complete; or 'lecturectl licence import'.",
        reason: "No licence for it is stored.")
    /// The stored licence did not verify.
    public static let licenceUnverified = Self(
        -20102, "licence_unverified", "the stored licence does not verify",
        "Run 'lecturectl licence renew' while there is a network.",
        reason: "No configured key verifies the stored token.")
    /// The licence belongs to another device.
    public static let licenceOtherDevice = Self(
        -20103, "licence_other_device", "the licence belongs to another device",
        "Ask the provider for one for this device.",
        reason: "The licence is bound to the key of another device.")
    /// The licence starts later.
    public static let licenceNotYetValid = Self(
        -20104, "licence_not_yet_valid", "the licence starts later", "Wait until it starts: 'lecturectl licence show'.",
        reason: "The licence has a start date.")
    /// The store was written by another device.
    public static let storeCopied = Self(
        -20105, "store_copied", "the store's licences belong to another device",
        "Import that device's key with 'lecturectl device import'; after that, run 'lecturectl licence regrant "
            + "--all'. '--new-device' takes the store over without that key.",
        reason: "The licence records were written with another device's key.")
    /// Rows of the ledger were changed.
    public static let ledgerForged = Self(
        -20106, "ledger_forged", "the licence records were modified outside LectureKit",
        "Run 'lecturectl licence regrant --all' while there is a network; a licence file has to be imported again.",
        reason: "The licence records do not match their codes.")
    /// The store was restored from an older copy.
    public static let storeRolledBack = Self(
        -20107, "store_rolled_back", "this database is an old copy; plays made since then are missing from it",
        "Run 'lecturectl licence regrant --all' while there is a network; a licence file has to be imported again.",
        reason: "This device has written newer records than the store contains.")
    /// A play could not be recorded beside the device's key.
    public static let anchorUnwritable = Self(
        -20075, "anchor_unwritable", "a play cannot be recorded in the device's directory; no play was taken",
        "Make the directory of the device's key writable, or free space on its disk: 'lecturectl device show' names "
            + "it.",
        reason: "Without that record an older copy of the store would give the play back.")
    /// The key of the sealed files is not this device's.
    public static let sealedElsewhere = Self(
        -20108, "sealed_elsewhere", "the lecture was sealed by another device",
        "Import that device's key with 'lecturectl device import', or remove the lecture and precache it again.",
        reason: "Its key is wrapped for another device, or was changed.")
    /// No key is configured that could verify an answer.
    public static let licenceKeyMissing = Self(
        -20109, "licence_key_missing", "no key is configured to verify the licence server's answers",
        "Add one to 'drm.keys' in the configuration.",
        reason: "A response that cannot be verified grants nothing.")
    /// Licensed media is only kept sealed.
    public static let sealRequired = Self(
        -20110, "seal_required", "the lecture needs a licence, and licensed lectures are only kept sealed",
        "Leave out --no-seal, and set 'storage.seal' to 'licensed' or 'always'.",
        reason: "Licensed media is never stored unencrypted.")
    /// The device's key cannot be used.
    public static let deviceKeyRefused = Self(
        -20111, "device_key_refused", "the device's key cannot be used",
        "Make its file readable for its owner only (mode 0600), or import a copy with 'lecturectl device import'.",
        reason: "Its file is damaged, a link, owned by another user, or readable by others.")
    /// Files whose removal a server has ordered still exist.
    public static let removalWaits = Self(
        -20114, "removal_waits", "the licence server has revoked this lecture, and its files are still there",
        "It does not play; its removal is retried automatically.",
        reason: "One of its files cannot be deleted, or another process is using it.")
    /// A licence file was refused.
    public static let licenceFileRefused = Self(
        -20112, "licence_file_refused", "the licence file does not verify",
        "Ask the issuer for one that fits; 'lecturectl licence verify' names every reason.",
        reason: "Its signature, dates, device or lecture does not match.")
    /// The signature is right, but its key is not the one that granted the licence.
    public static let keyNotGranting = Self(
        -20072, "key_not_granting", "it is signed with another key than the one that granted the licence",
        "Ask the provider for one that is signed with the key of the first grant, or for a statement about its new key "
            + "('lecturectl licence rekey'); the stored licence is unchanged.",
        reason: "Otherwise anyone with a key of their own could grant it.")
    /// The licence and the media were granted under different keys.
    public static let licenceOtherKey = Self(
        -20077, "licence_other_key", "its licence was granted under another key than its media",
        "Remove it with 'lecturectl remove', and download it again with its link.",
        reason: "Its media was first granted by another provider, or its row was changed.")
    /// A statement about new keys was refused.
    public static let rekeyRefused = Self(
        -20076, "rekey_refused", "the statement about new keys does not verify",
        "Ask the provider for one that is signed with the key of the first grant; docs/licences.md lists its claims.",
        reason: "Only the key that granted a licence can name the one that follows it.")
    /// A key named on the command line does not count for this licence.
    public static let trustNotConfigured = Self(
        -20073, "trust_not_configured", "for this lecture only keys of the configuration count",
        "Add the issuer's key to 'drm.keys' in the configuration, and leave out --trust, --jwks and --hmac-key-file.",
        reason: "It was requested from a licence server, or has a licence that counts or has ended.")
    /// The device has another key than the one to be imported.
    public static let deviceKeyInUse = Self(
        -20130, "device_key_in_use", "this device already has another key",
        "'lecturectl device export' saves a copy of it; '--replace' discards it, and with it everything it has sealed.",
        reason: "Licences and sealed lectures of this device can only be read with its key.")
    /// A sealed lecture can only be read through its licence.
    public static let isSealed = Self(
        -20113, "sealed", "the lecture is sealed",
        "Read it with 'lecturectl cat', or play it with 'lecturectl play --with PROGRAM': both ask its licence.",
        reason: "An unencrypted copy would outlive the licence.")
}

extension LicenceReason {
    /// The error for an attempt to play.
    public var code: LectureError.Code {
        switch self {
        case .deleted: .licenceDeleted
        case .forceExpired: .licenceForceExpired
        case .mediaIncomplete: .notComplete
        case .missing: .licenceMissing
        case .unverified: .licenceUnverified
        case .otherDevice: .licenceOtherDevice
        case .storeCopied: .storeCopied
        case .ledgerForged: .ledgerForged
        case .storeRolledBack: .storeRolledBack
        case .otherKey: .licenceOtherKey
        case .clockUntrusted: .clockUntrusted
        case .checkDue: .licenceCheckDue
        case .notYetValid: .licenceNotYetValid
        case .expired: .licenceExpired
        case .countUsedUp: .countUsedUp
        case .playTimeUsedUp: .playTimeUsedUp
        case .anchorUnwritable: .anchorUnwritable
        }
    }
}
