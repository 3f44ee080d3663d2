import LectureEngine
package import LectureModel

/// A lecture that needs a licence is fetched only after its callback granted it.
extension ItemStep {
    /// Whether bytes of the media may be requested. Requests the grant when it is due, after the commit.
    mutating func mayFetch() throws -> Bool {
        switch item.grant {
        case .permitted: return true
        case .asking: break
        case .unknown:
            switch try step.store.licensing.standing(of: item.record.content.key, in: step.store.transaction) {
            case .unneeded, .granted:
                item.grant = .permitted
                return true
            case .due:
                if item.loader.isEarly(boot) { break }
                item.grant = .asking
                step.effects.append(.requestGrant(item.id, key: item.record.content.key))
            case .refused(let error):
                try end(item.machine.stopped(.licenceRefused, error: error, until: nil, now: now))
                return false
            }
        }
        // It uses no job slot meanwhile, so that many grants may share one request.
        item.obstacle = .other
        return false
    }

    /// Handles the licence server's answer or its absence.
    mutating func grantCame(_ outcome: GrantAnswer) throws {
        guard item.grant == .asking, !item.isEnding else { return }
        item.forgetServer()
        item.grant = .unknown
        switch outcome {
        case .settled: return
        case .refused(let error):
            // Retry only on user request; the refusal is final.
            try end(item.machine.stopped(.licenceRefused, error: error, until: nil, now: now))
        case .failed(let error):
            _ = try tryAgain(nil, error)
        case .postponed(let error, let wait):
            // Nothing was tried, so no attempt is counted; else many lectures would fail while one server is busy.
            if wait > settings.longestHeldWait { return try stop(.serverWait, error, for: wait) }
            item.hold(nil, until: boot + wait)
        }
    }
}

/// Licensing for setups without licence servers: nothing needs a licence.
package final class NoLicensing: DownloadLicensing {
    /// Nothing to remember.
    package init() {}
    /// Nothing is refused.
    package func refusal(
        of source: LicenceSource?, of key: ContentKey, in transaction: any StoreTransaction
    ) throws -> LectureError? { nil }
    /// Nothing is recorded.
    package func recordSource(
        _ source: LicenceSource?, of key: ContentKey, in transaction: any StoreTransaction
    ) throws {}
    /// Nothing needs one.
    package func standing(of key: ContentKey, in transaction: any StoreTransaction) throws -> GrantStanding {
        .unneeded
    }
    /// Never called, since nothing is due.
    package func requestGrant(_ content: ContentID, key: ContentKey) {}
    /// Does nothing.
    package func completed(_ key: ContentKey, now: Timestamp, in transaction: any StoreTransaction) throws {}
}
