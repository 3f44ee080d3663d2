import LectureFormats
package import LectureModel

/// Judges the payload of a verified token in a context. Pure: no clock, no key, no store.
package enum LicenceFileJudge {
    /// What was found.
    package struct Finding: Hashable, Sendable {
        /// Every reason against it, the first that applies first.
        package var reasons: [LicenceFileReason] = []
        /// The claims of a licence file; nil for a callback's answer and for other payloads.
        package var file: LicenceFile?
    }

    /// Judges a payload: a licence file, or the answers of a callback (`data`).
    ///
    /// - Parameters:
    ///   - payload: the bytes that were signed.
    ///   - context: what it is checked against.
    ///   - thumbprint: the thumbprint of a public JWK (RFC 7638) as base64url, nil for what is not such a key.
    /// - Returns: what was found.
    package static func judge(
        _ payload: [UInt8], _ context: LicenceFileContext, thumbprint: (JSONValue) -> String?
    ) -> Finding {
        guard let value = try? JSONScanner.value(of: payload) else { return Finding(reasons: [.payloadSyntax]) }
        guard value.members != nil else { return Finding(reasons: [.payloadNotObject]) }
        if value["data"] != nil {
            // A payload must never have two meanings.
            if value["mck"] != nil || value["policy"] != nil { return Finding(reasons: [.formAmbiguous]) }
            return Finding(reasons: judge(answers: value, context))
        }
        let file = LicenceFile(value)
        return Finding(reasons: judge(file, context, thumbprint: thumbprint), file: file)
    }

    /// Judges the claims of a licence file.
    ///
    /// - Parameters:
    ///   - file: the claims.
    ///   - context: what they are checked against.
    ///   - thumbprint: as above.
    /// - Returns: every reason, the first that applies first.
    package static func judge(
        _ file: LicenceFile, _ context: LicenceFileContext, thumbprint: (JSONValue) -> String?
    ) -> [LicenceFileReason] {
        var reasons = file.faults
        reasons += parties(file, context)
        reasons += device(file, context, thumbprint)
        reasons += times(file, context)
        reasons += order(file, context)
        if !file.isPermitted { reasons.append(.refused) }
        if file.isDeleted { reasons.append(.deleted) }
        if file.isForceExpired { reasons.append(.forceExpired) }
        reasons += bounds(
            end: file.policyEnd, check: file.policy.checkAt, count: file.policy.countLimit,
            playTime: file.policy.playTimeLimit, context)
        return reasons
    }

    // MARK: Licence files

    /// Who issued it, for whom, and for what. Texts are compared byte by byte (StringOrURI in RFC 7519 section 2):
    /// `String` would treat two normalisations as equal.
    private static func parties(_ file: LicenceFile, _ context: LicenceFileContext) -> [LicenceFileReason] {
        var reasons: [LicenceFileReason] = []
        func compare(
            _ claim: String, _ due: String?, missing: LicenceFileReason, wrong: LicenceFileReason,
            _ given: (LicenceFile) -> [String]?
        ) {
            guard let due, !file.faults.contains(.claimMalformed(claim)) else { return }
            guard let given = given(file) else { return reasons.append(missing) }
            if !given.contains(where: { isSame($0, due) }) { reasons.append(wrong) }
        }
        compare("iss", context.issuer, missing: .issuerMissing, wrong: .issuerWrong) { $0.issuer.map { [$0] } }
        compare("aud", context.audience, missing: .audienceMissing, wrong: .audienceWrong) { $0.audience }
        compare("sub", context.user, missing: .userMissing, wrong: .userWrong) { $0.user.map { [$0] } }
        compare("mck", context.content, missing: .contentMissing, wrong: .contentWrong) { $0.content.map { [$0] } }
        let isSilent =
            file.content == nil && file.bundleID == nil && !file.faults.contains(.claimMalformed("mck"))
            && !file.faults.contains(.claimMalformed("app"))
        if context.content == nil, context.needsContent, isSilent { reasons.append(.contentMissing) }
        return reasons
    }

    /// Whether it is bound to the expected device (RFC 7800 section 3). If it names the device twice, both must match.
    private static func device(
        _ file: LicenceFile, _ context: LicenceFileContext, _ thumbprint: (JSONValue) -> String?
    ) -> [LicenceFileReason] {
        if file.faults.contains(.claimMalformed("cnf")) { return [] }
        var names: [String] = []
        if let text = file.thumbprint { names.append(text) }
        if let key = file.deviceKey {
            guard let text = thumbprint(key) else { return [.claimMalformed("cnf")] }
            names.append(text)
        }
        if let due = context.device {
            if names.isEmpty { return [.deviceMissing] }
            return names.allSatisfy { isSame($0, due) } ? [] : [.deviceWrong]
        }
        // No device is expected; two that differ, or a name that cannot be a thumbprint, are no binding at all.
        let isOne = names.allSatisfy { isSame($0, names.first ?? "") && Base64URL.bytes($0)?.count == 32 }
        return isOne ? [] : [.claimMalformed("cnf")]
    }

    private static func times(_ file: LicenceFile, _ context: LicenceFileContext) -> [LicenceFileReason] {
        var reasons = clock(context)
        let now = context.now
        if let issued = file.issued, now < moment(issued) { reasons.append(.issuedInFuture) }
        if let start = file.notBefore, now < moment(start) { reasons.append(.notYetValid) }
        if let end = file.expires, now >= moment(end) { reasons.append(.expired) }
        return reasons
    }

    /// Whether it is newer than the stored licence, and was not imported already.
    private static func order(_ file: LicenceFile, _ context: LicenceFileContext) -> [LicenceFileReason] {
        var reasons: [LicenceFileReason] = []
        if let floor = context.serialFloor {
            if let serial = file.serial ?? file.issued {
                if serial < floor { reasons.append(.superseded) }
            } else {
                reasons.append(.serialMissing)
            }
        }
        if !context.seenTokens.isEmpty {
            if let identity = file.identity {
                if context.seenTokens.contains(where: { isSame($0, identity) }) { reasons.append(.alreadySeen) }
            } else if !file.faults.contains(.claimMalformed("jti")) {
                reasons.append(.identityMissing)
            }
        }
        return reasons
    }

    // MARK: Answers of callbacks

    /// The answers for the lecture, or all of them when no lecture is given; each has to permit.
    private static func judge(answers payload: JSONValue, _ context: LicenceFileContext) -> [LicenceFileReason] {
        // Real servers put `iat` and `exp` beside `data`: they apply when present and are not required.
        let claims = LicenceFile(payload)
        var reasons = claims.faults.filter { [.claimMalformed("nbf"), .claimMalformed("exp")].contains($0) }
        reasons += clock(context)
        if let start = claims.notBefore, context.now < moment(start) { reasons.append(.notYetValid) }
        if let end = claims.expires, context.now >= moment(end) { reasons.append(.expired) }
        if let floor = context.serialFloor, let serial = claims.serial ?? claims.issued, serial < floor {
            reasons.append(.superseded)
        }
        if let identity = claims.identity, context.seenTokens.contains(where: { isSame($0, identity) }) {
            reasons.append(.alreadySeen)
        }
        let found = answers(in: payload, for: context.content)
        if found.isEmpty { reasons.append(.answerMissing) }
        for answer in found {
            for reason in judge(answer, context) where !reasons.contains(reason) { reasons.append(reason) }
        }
        return reasons
    }

    private static func judge(_ item: CallbackItemAnswer, _ context: LicenceFileContext) -> [LicenceFileReason] {
        guard case .answer(let answer) = item else { return [.answerMalformed] }
        var reasons: [LicenceFileReason] = []
        if !answer.isPermitted { reasons.append(.refused) }
        if answer.deletes { reasons.append(.deleted) }
        if answer.expires { reasons.append(.forceExpired) }
        return reasons
            + bounds(
                end: answer.expiresAt ?? nil, check: answer.checkAt ?? nil, count: answer.countLimit ?? nil,
                playTime: answer.playTimeLimit ?? nil, context)
    }

    /// Answers for a lecture, read as the engine reads them.
    private static func answers(in payload: JSONValue, for content: String?) -> [CallbackItemAnswer] {
        guard let answers = try? CallbackAnswers(payload) else {
            return content == nil ? [.unreadable(LectureError(.answerUnreadable))] : []
        }
        return answers.answers(about: content)
    }

    // MARK: Rules of both

    private static func clock(_ context: LicenceFileContext) -> [LicenceFileReason] {
        context.lastSeen.map { context.now < $0 } == true ? [.clockSetBack] : []
    }

    /// The bounds of a policy; each is exceeded from its own millisecond on.
    private static func bounds(
        end: Timestamp?, check: Timestamp?, count: Int?, playTime: Duration?, _ context: LicenceFileContext
    ) -> [LicenceFileReason] {
        var reasons: [LicenceFileReason] = []
        if let end, context.now >= end { reasons.append(.policyExpired) }
        if let check, context.now >= check { reasons.append(.checkDue) }
        if let count, context.countUsed >= Int64(count) { reasons.append(.countUsedUp) }
        if let playTime, context.playTimeUsed >= playTime { reasons.append(.playTimeUsedUp) }
        return reasons
    }

    private static func moment(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

    private static func isSame(_ left: String, _ right: String) -> Bool { TextBytes.areEqual(left, right) }
}
