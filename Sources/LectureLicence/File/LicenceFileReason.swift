/// Why the claims of a verified token are refused. All reasons are found, in the order of the cases here.
package enum LicenceFileReason: Hashable, Sendable {
    /// The payload is not strict JSON.
    case payloadSyntax
    /// The payload is not an object.
    case payloadNotObject
    /// The payload is both a licence file and a callback's answer.
    case formAmbiguous
    /// A claim, named, has a wrong type or is out of range.
    case claimMalformed(String)
    /// A member of the policy, named, has a wrong type or is out of range.
    case policyMalformed(String)
    /// `iss` is missing.
    case issuerMissing
    /// `iss` differs from the expected one.
    case issuerWrong
    /// `aud` is missing.
    case audienceMissing
    /// `aud` does not name the expected audience.
    case audienceWrong
    /// `sub` is missing.
    case userMissing
    /// `sub` differs from the expected one.
    case userWrong
    /// `mck` is missing.
    case contentMissing
    /// `mck` differs from the expected one.
    case contentWrong
    /// `cnf` is missing.
    case deviceMissing
    /// `cnf` names another device.
    case deviceWrong
    /// The clock is before a time that was seen already.
    case clockSetBack
    /// `iat` is in the future.
    case issuedInFuture
    /// `nbf` is in the future.
    case notYetValid
    /// `exp` has passed.
    case expired
    /// Nothing shows whether it is older than the stored licence.
    case serialMissing
    /// It is older than the stored licence.
    case superseded
    /// There is no `jti` to show whether it was imported already.
    case identityMissing
    /// Its `jti` was imported already.
    case alreadySeen
    /// A callback's response has no answer for the lecture.
    case answerMissing
    /// A callback's answer for the lecture has a member of a wrong type or out of range.
    case answerMalformed
    /// It permits nothing (`result` 0).
    case refused
    /// It orders the file to be deleted (`content_delete`).
    case deleted
    /// It ends the licence (`content_expired`).
    case forceExpired
    /// The end in the policy (`expiration_date`) has passed.
    case policyExpired
    /// The server must be asked first (`check_expiration_date` has passed).
    case checkDue
    /// All plays are used.
    case countUsedUp
    /// All play time is used.
    case playTimeUsedUp

    /// The frozen name in JSON.
    package var name: String {
        switch self {
        case .payloadSyntax: "payload_syntax"
        case .payloadNotObject: "payload_not_object"
        case .formAmbiguous: "form_ambiguous"
        case .claimMalformed: "claim_malformed"
        case .policyMalformed: "policy_out_of_range"
        case .issuerMissing: "issuer_missing"
        case .issuerWrong: "issuer_wrong"
        case .audienceMissing: "audience_missing"
        case .audienceWrong: "audience_wrong"
        case .userMissing: "user_missing"
        case .userWrong: "user_wrong"
        case .contentMissing: "content_missing"
        case .contentWrong: "content_wrong"
        case .deviceMissing: "device_missing"
        case .deviceWrong: "device_wrong"
        case .clockSetBack: "clock_set_back"
        case .issuedInFuture: "issued_in_future"
        case .notYetValid: "not_yet_valid"
        case .expired: "expired"
        case .serialMissing: "serial_missing"
        case .superseded: "superseded"
        case .identityMissing: "jti_missing"
        case .alreadySeen: "already_seen"
        case .answerMissing: "answer_missing"
        case .answerMalformed: "answer_malformed"
        case .refused: "refused"
        case .deleted: "deleted"
        case .forceExpired: "force_expired"
        case .policyExpired: "policy_expired"
        case .checkDue: "check_due"
        case .countUsedUp: "count_used_up"
        case .playTimeUsedUp: "play_time_used_up"
        }
    }

    /// The reason as a sentence for people, without a full stop. Names claims, never their values.
    package var sentence: String {
        switch self {
        case .payloadSyntax: "the payload is not strict JSON"
        case .payloadNotObject: "the payload is not a JSON object"
        case .formAmbiguous: "the payload is both a licence file and a callback's answer"
        case .claimMalformed(let name): "the claim '\(name)' has a wrong type or is out of range"
        case .policyMalformed(let name): "the policy's '\(name)' has a wrong type or is out of range"
        case .issuerMissing: "it names no issuer"
        case .issuerWrong: "it was made by another issuer"
        case .audienceMissing: "it names no audience"
        case .audienceWrong: "it is for another audience"
        case .userMissing: "it names no learner"
        case .userWrong: "it is for another learner"
        case .contentMissing: "it names no lecture"
        case .contentWrong: "it is for another lecture"
        case .deviceMissing: "it is bound to no device"
        case .deviceWrong: "it is bound to another device"
        case .clockSetBack: "the clock is before a time that was seen already"
        case .issuedInFuture: "it was issued in the future"
        case .notYetValid: "it is not valid yet"
        case .expired: "it has expired"
        case .serialMissing: "it does not show whether it is older than the stored licence"
        case .superseded: "it is older than the stored licence"
        case .identityMissing: "it has no id, so that it could be imported twice"
        case .alreadySeen: "it was imported already"
        case .answerMissing: "it contains no answer for the lecture"
        case .answerMalformed: "the answer for the lecture has a member of a wrong type or out of range"
        case .refused: "it permits nothing"
        case .deleted: "it orders the lecture to be deleted"
        case .forceExpired: "it ends the licence"
        case .policyExpired: "its policy has expired"
        case .checkDue: "the licence server must be asked first"
        case .countUsedUp: "its plays are used up"
        case .playTimeUsedUp: "its play time is used up"
        }
    }
}
