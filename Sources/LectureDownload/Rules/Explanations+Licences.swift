import LectureModel

/// What the codes of licences mean.
extension Explanations {
    private static let stored = "The stored licence stays as it is."
    private static let refused = "Nothing is kept, and the licence that is held stays as it is."
    private static let locked = "It is not played until that has changed."

    static let licenceTexts: [Row] = callbackTexts + verdictTexts + keyTexts

    private static let callbackTexts: [Row] = [
        (.answerUndecodable, "Its signature is wrong, or nobody here has its key.", stored),
        (.answerUnreadable, "The token verified, and what it holds is not what was agreed on.", stored),
        (.answerInvalid, "A number is a text, or outside of its range, or an answer stands there twice.", stored),
        (.answerEmpty, "The server answered without saying anything.", stored),
        (.grantRefused, "The provider's server said no.", "Nothing is fetched until somebody asks again."),
        (
            .completionRefused, "The provider's server said no.",
            "The lecture stays as it is; the server is not told again."
        ),
        (.playRefused, "The provider's server said no.", stored),
        (.sessionMismatch, "The answer is an old one, or somebody else's.", stored),
        (.answerMissing, "The server answered for other contents of the request only.", "It is asked again alone."),
    ]

    private static let verdictTexts: [Row] = [
        (.licenceExpired, "Its end has passed, or was once seen to have passed.", locked),
        (.countUsedUp, "Every play that the licence permits was taken.", locked),
        (.playTimeUsedUp, "All of the play time that the licence permits was taken.", locked),
        (.licenceForceExpired, "The provider's server said so.", locked),
        (.licenceDeleted, "The provider's server said so.", "Its file is gone, or goes with the next run."),
        (
            .clockUntrusted, "The clock was set back, or was never set; what has ended must not begin again by that.",
            "It plays when the clock is right again, or after the next contact with its server."
        ),
        (.licenceCheckDue, "The licence names a day for a check, or wants one before every play.", locked),
        (.licenceMissing, "Nothing that permits a play is stored for it.", locked),
        (.licenceUnverified, "The stored token does not fit any key that is configured.", locked),
        (.licenceOtherDevice, "The licence names the key of another device.", locked),
        (.licenceNotYetValid, "The licence names a beginning.", "It plays from then on."),
        (.storeCopied, "The codes in the store were made with another device's key.", locked),
        (
            .ledgerForged, "The codes of the ledger do not fit its rows.",
            "Each licence is believed again when its server has answered for it."
        ),
        (
            .storeRolledBack, "What this device last wrote is newer than the store.",
            "Each licence is believed again when its server has answered for it."
        ),
    ]

    private static let keyTexts: [Row] = [
        (.sealedElsewhere, "Its key is wrapped for another device, or was changed.", locked),
        (.licenceKeyMissing, "An answer that nobody verifies grants nothing.", refused),
        (.sealRequired, "Licensed media never lies on the disk in clear.", "Nothing is fetched."),
        (
            .deviceKeyRefused, "Its file is damaged, a link, somebody else's, or others may read it.",
            "Nothing is opened, and no new key is drawn over it."
        ),
        (
            .deviceKeyInUse, "Its licences and sealed lectures would be unreadable with another key.",
            "Nothing was changed."
        ),
        (.licenceFileRefused, "Its signature, its time, its device or its content does not fit.", refused),
        (
            .removalWaits, "A file of it cannot be deleted, or another program is at work on it.",
            "It is deleted as soon as that can be done."
        ),
        (.isSealed, "A file in clear would outlive the licence.", "Nothing was changed."),
    ]
}
