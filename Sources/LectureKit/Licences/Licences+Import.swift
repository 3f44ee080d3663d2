import LectureFormats
import LectureLicence
import LectureModel
import LectureStore

extension LectureManager.Licences {
    /// Stores a licence file for the lecture it names. It is verified first, and stored only when there is no objection
    /// except that it starts later. For a lecture that already has a licence only the key that granted it counts.
    ///
    /// - Parameters:
    ///   - token: the compact token.
    ///   - trust: what it is verified with, for a lecture that has no licence yet and no server to ask; nil for the
    ///     public keys and roots of the configuration. Its secrets are shared with callbacks, and do not count here.
    /// - Returns: the licence, evaluated now.
    /// - Throws: ``LectureError``: `licenceFileRefused` with every reason, `keyNotGranting` or `trustNotConfigured` for
    ///   a key that does not count, `unknownContent` for a lecture that is not in the store, `licenceKeyMissing`,
    ///   `sealRequired` when its media is unsealed.
    public func `import`(_ token: String, trust: LicenceTrust? = nil) throws(LectureError) -> LicenceStatus {
        try LectureError.only {
            let used = try trust ?? LicenceTrust(configuration.rights).withoutSecrets
            if used.isEmpty { throw LectureError(.licenceKeyMissing, detail: "licence files need a public one") }
            let service = try licensing.open()
            let verifier = LicenceVerifier(trust: used)
            guard case let time = try service.engine.time(), let now = time.noEarlierThan else {
                throw LectureError(.clockUntrusted)
            }
            let device = Base64URL.text(service.device)
            var claims = try verifier.claims(token, device: device, now: now)
            var refusal: LectureError?
            // A new file may end a doubt about the clock: then it is the wall clock that counts.
            if claims.file == nil, !time.isTrusted, case let wall = clock.now(), wall < now {
                let other = try verifier.claims(token, device: device, now: wall)
                if other.file != nil { (refusal, claims) = (claims.refusal, other) }
            }
            let signer = claims.signer
            guard let file = claims.file, let text = file.content else { throw claims.refusal }
            let key = try ContentKey(text)
            guard let item = try index.contents.item(key) else { throw LectureError(.unknownContent, detail: key.text) }
            let user = try service.ledger.entry(key)?.source.clientUserID ?? ""
            if !user.isEmpty, let named = file.user, named != user {
                throw LectureError(.licenceFileRefused, detail: key.text, cause: "it names another user")
            }
            // Licensed media is never stored unsealed: what was downloaded unsealed cannot become licensed in place.
            if item.currentVersion != nil, try finalizedMedia(key).seal == .plain {
                throw LectureError(.sealRequired, detail: key.text, cause: "its media is stored unsealed")
            }
            let isConfigured = trust == nil || service.engine.configuredKeys.files.contains(signer)
            let entry = try service.engine.keepFile(
                file, token: token, key: key, signer: FileSigner(thumbprint: signer, isConfigured: isConfigured),
                unlessClockIsConfirmed: refusal)
            return try licensing.judge().status(entry, isPlayable: try isPlayable(key))
        }
    }
}

extension LicenceVerifier {
    /// What a licence file says at a time.
    fileprivate struct Claims {
        /// Its claims; nil where something other than a later start is against it.
        var file: LicenceFile?
        /// The thumbprint of the key that signed it.
        var signer: String
        /// What is against it.
        var refusal: LectureError
    }

    fileprivate func claims(_ token: String, device: String, now: Timestamp) throws(LectureError) -> Claims {
        var context = LicenceFileContext(now: now)
        context.device = device
        context.needsContent = true
        let (verdict, signer) = try verifySigner(token: token, context: context)
        let reasons = verdict.reasonNames.filter { $0 != LicenceFileReason.notYetValid.name }
        // A file that is not bound to any device is permitted.
        let isUnbound = verdict.file.map { $0.thumbprint == nil && $0.deviceKey == nil } ?? false
        let left = reasons.filter { !(isUnbound && $0 == LicenceFileReason.deviceMissing.name) }
        let refusal = LectureError(.licenceFileRefused, cause: left.joined(separator: ", "))
        return Claims(file: left.isEmpty ? verdict.file : nil, signer: signer, refusal: refusal)
    }
}
