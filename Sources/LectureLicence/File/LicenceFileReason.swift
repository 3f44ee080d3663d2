/// Why the claims of a verified token are refused. Every reason is found, in the order in which they stand here.
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
    /// `iss` is another one.
    case issuerWrong
    /// `aud` is missing.
    case audienceMissing
    /// `aud` does not name who asks.
    case audienceWrong
    /// `sub` is missing.
    case userMissing
    /// `sub` is another one.
    case userWrong
    /// `mck` is missing.
    case contentMissing
    /// `mck` is another one.
    case contentWrong
    /// `cnf` is missing.
    case deviceMissing
    /// `cnf` names another device.
    case deviceWrong
    /// The clock stands before a time that was seen already.
    case clockSetBack
    /// `iat` lies in the future.
    case issuedInFuture
    /// `nbf` lies in the future.
    case notYetValid
    /// `exp` has passed.
    case expired
    /// Nothing tells whether it is older than the licence that is held.
    case serialMissing
    /// It is older than the licence that is held.
    case superseded
    /// There is no `jti` to tell whether it was taken already.
    case identityMissing
    /// Its `jti` was taken already.
    case alreadySeen
    /// A callback's answer holds none for the content.
    case answerMissing
    /// A callback's answer for the content has a member of a wrong type or out of range.
    case answerMalformed
    /// It permits nothing (`result` 0).
    case refused
    /// It orders the file away (`content_delete`).
    case deleted
    /// It ends the licence (`content_expired`).
    case forceExpired
    /// The end in the policy (`expiration_date`) has passed.
    case policyExpired
    /// The server has to be asked first (`check_expiration_date` has passed).
    case checkDue
    /// All plays are taken.
    case countUsedUp
    /// All play time is taken.
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
        case .formAmbiguous: "the payload is a licence file and a callback's answer at once"
        case .claimMalformed(let name): "the claim '\(name)' has a wrong type or is out of range"
        case .policyMalformed(let name): "the policy's '\(name)' has a wrong type or is out of range"
        case .issuerMissing: "it names no issuer"
        case .issuerWrong: "another issuer has made it"
        case .audienceMissing: "it does not say for whom it is"
        case .audienceWrong: "it is for somebody else"
        case .userMissing: "it names no learner"
        case .userWrong: "it is another learner's"
        case .contentMissing: "it names no content"
        case .contentWrong: "it is for another content"
        case .deviceMissing: "it is bound to no device"
        case .deviceWrong: "it is bound to another device"
        case .clockSetBack: "the clock stands before a time that was seen already"
        case .issuedInFuture: "it was issued in the future"
        case .notYetValid: "it begins later"
        case .expired: "it has expired"
        case .serialMissing: "it does not tell whether it is older than the licence that is held"
        case .superseded: "it is older than the licence that is held"
        case .identityMissing: "it has no identity, so that it could be taken twice"
        case .alreadySeen: "it was taken already"
        case .answerMissing: "it holds no answer for the content"
        case .answerMalformed: "the answer for the content has a member of a wrong type or out of range"
        case .refused: "it permits nothing"
        case .deleted: "it orders the lecture away"
        case .forceExpired: "it ends the licence"
        case .policyExpired: "its policy has expired"
        case .checkDue: "the licence server has to be asked first"
        case .countUsedUp: "its plays are used up"
        case .playTimeUsedUp: "its play time is used up"
        }
    }
}
