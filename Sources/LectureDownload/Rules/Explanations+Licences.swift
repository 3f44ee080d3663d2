import LectureModel

/// What the codes of licences mean.
extension Explanations {
    static let licenceTexts: [Row] = callbackTexts + verdictTexts + keyTexts

    private static let callbackTexts: [Row] = [
        (.answerUndecodable, "Its signature is wrong, or no configured key verifies it."),
        (.answerUnreadable, "The token verifies, but its payload is not what a licence server should send."),
        (.answerInvalid, "A number is a text or out of range, or a lecture is answered twice."),
        (.answerEmpty, "The server sent an empty response."),
        (.grantRefused, "The provider's server refused."),
        (.completionRefused, "The provider's server refused."),
        (.playRefused, "The provider's server refused."),
        (.sessionMismatch, "The response is an old one, or belongs to another request."),
        (.answerMissing, "The server answered for the other lectures of the request only."),
    ]

    private static let verdictTexts: [Row] = [
        (.licenceExpired, "Its end date has passed, or was once seen to have passed."),
        (.countUsedUp, "All plays that the licence allows were used."),
        (.playTimeUsedUp, "All play time that the licence allows was used."),
        (.licenceForceExpired, "The provider's server ordered it."),
        (.licenceDeleted, "The provider's server ordered it."),
        (
            .clockUntrusted,
            "The clock was set back, or never set; an ended licence must not become valid again that way."
        ),
        (.licenceCheckDue, "The licence asks for a check at a date, or before every play."),
        (.licenceMissing, "No licence for it is stored."),
        (.licenceUnverified, "No configured key verifies the stored token."),
        (.licenceOtherDevice, "The licence is bound to the key of another device."),
        (.licenceOtherKey, "Its media was first granted by another provider, or its row was changed."),
        (.licenceNotYetValid, "The licence has a start date."),
        (.storeCopied, "The licence records were written with another device's key."),
        (.ledgerForged, "The licence records do not match their codes."),
        (.storeRolledBack, "This device has written newer records than the store contains."),
        (.anchorUnwritable, "Without that record an older copy of the store would give the play back."),
    ]

    private static let keyTexts: [Row] = [
        (.sealedElsewhere, "Its key is wrapped for another device, or was changed."),
        (.licenceKeyMissing, "A response that cannot be verified grants nothing."),
        (.sealRequired, "Licensed media is never stored unencrypted."),
        (.deviceKeyRefused, "Its file is damaged, a link, owned by another user, or readable by others."),
        (.deviceKeyInUse, "Licences and sealed lectures of this device can only be read with its key."),
        (.licenceFileRefused, "Its signature, dates, device or lecture does not match."),
        (.keyNotGranting, "Otherwise anyone with a key of their own could grant it."),
        (.rekeyRefused, "Only the key that granted a licence can name the one that follows it."),
        (.trustNotConfigured, "It was requested from a licence server, or has a licence that counts or has ended."),
        (.removalWaits, "One of its files cannot be deleted, or another process is using it."),
        (.isSealed, "An unencrypted copy would outlive the licence."),
    ]
}
