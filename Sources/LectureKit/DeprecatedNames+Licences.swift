public import LectureModel

// Names of the last release that ``LectureManager/licences`` has replaced.

extension LectureManager {
    /// The former name of ``Licences/status(of:)``.
    @available(*, deprecated, renamed: "licences.status(of:)")
    public func licence(_ key: ContentKey) throws(LectureError) -> LicenceStatus? {
        try LectureError.only { try licences.assumeIsolated { try $0.status(of: key) } }
    }

    /// The former name of ``Licences/attempts(of:)``.
    @available(*, deprecated, renamed: "licences.attempts(of:)")
    public func licenceAttempts(_ key: ContentKey) throws(LectureError) -> [LicenceQuestion] {
        try LectureError.only { try licences.assumeIsolated { try $0.attempts(of: key) } }
    }

    /// The former name of ``Licences/list(expiringWithin:from:limit:)``.
    @available(*, deprecated, renamed: "licences.list(expiringWithin:from:limit:)")
    public func licences(
        expiringWithin time: Duration? = nil, from place: LicencePage.Place? = nil, limit: Int = 1000
    ) throws(LectureError) -> LicencePage {
        try LectureError.only {
            try licences.assumeIsolated { try $0.list(expiringWithin: time, from: place, limit: limit) }
        }
    }

    /// The former name of ``Licences/statuses(of:)``.
    @available(*, deprecated, renamed: "licences.statuses(of:)")
    public func licences(of contents: [Content]) throws(LectureError) -> [ContentKey: LicenceStatus] {
        try LectureError.only { try licences.assumeIsolated { try $0.statuses(of: contents) } }
    }

    /// The former name of ``Licences/time()``.
    @available(*, deprecated, renamed: "licences.time()")
    public func licenceTime() throws(LectureError) -> Timestamp {
        try LectureError.only { try licences.assumeIsolated { try $0.time() } }
    }

    /// The former name of ``Licences/trustedNow()``.
    @available(*, deprecated, renamed: "licences.trustedNow()")
    public func trustedNow() throws(LectureError) -> Timestamp {
        try LectureError.only { try licences.assumeIsolated { try $0.trustedNow() } }
    }

    /// The former name of ``Licences/beginPlay(_:patience:counting:)``.
    @available(*, deprecated, renamed: "licences.beginPlay(_:patience:counting:)")
    public func beginPlay(
        _ key: ContentKey, patience: Duration = .seconds(10), counting: PlayTimeCounting = .reading
    ) async throws -> Play {
        try await licences.beginPlay(key, patience: patience, counting: counting)
    }

    /// The former name of ``Licences/pendingCallbacks()``.
    @available(*, deprecated, renamed: "licences.pendingCallbacks()")
    public func pendingCallbacks() throws(LectureError) -> [PendingCallbackStatus] {
        try LectureError.only { try licences.assumeIsolated { try $0.pendingCallbacks() } }
    }

    /// The former name of ``Licences/sendPendingCallbacks()``.
    @available(*, deprecated, renamed: "licences.sendPendingCallbacks()")
    public func sendPendingCallbacks() async throws { try await licences.sendPendingCallbacks() }

    /// The former name of ``Licences/acceptDevice()``.
    @available(*, deprecated, renamed: "licences.acceptDevice()")
    public func acceptDevice() throws(LectureError) {
        try LectureError.only { try licences.assumeIsolated { try $0.acceptDevice() } }
    }

    /// The former name of ``Licences/import(_:trust:)``.
    @available(*, deprecated, renamed: "licences.import(_:trust:)")
    public func importLicence(_ token: String, trust: LicenceTrust? = nil) throws(LectureError) -> LicenceStatus {
        try LectureError.only { try licences.assumeIsolated { try $0.import(token, trust: trust) } }
    }

    /// The former name of ``Licences/changeGrantingKeys(by:trust:)``.
    @available(*, deprecated, renamed: "licences.changeGrantingKeys(by:trust:)")
    public func changeGrantingKeys(_ statement: String, trust: LicenceTrust? = nil) async throws -> GrantingKeyChange {
        try await licences.changeGrantingKeys(by: statement, trust: trust)
    }

    /// The former name of ``Licences/planRenewal(of:)``.
    @available(*, deprecated, renamed: "licences.planRenewal(of:)")
    public func planRenewal(_ selection: RenewalSelection) throws(LectureError) -> [PlannedRenewal] {
        try LectureError.only { try licences.assumeIsolated { try $0.planRenewal(of: selection) } }
    }

    /// The former name of ``Licences/planRegrant(of:)``.
    @available(*, deprecated, renamed: "licences.planRegrant(of:)")
    public func planRegrant(_ selection: RenewalSelection = .all) throws(LectureError) -> [PlannedRenewal] {
        try LectureError.only { try licences.assumeIsolated { try $0.planRegrant(of: selection) } }
    }

    /// The former name of ``Licences/renew(_:options:)``.
    @available(*, deprecated, renamed: "licences.renew(_:options:)")
    public func renewLicences(
        _ selection: RenewalSelection, _ options: RenewalOptions = RenewalOptions()
    ) async throws -> RenewalReport {
        try await licences.renew(selection, options: options)
    }

    /// The former name of ``Licences/regrant(_:options:)``.
    @available(*, deprecated, renamed: "licences.regrant(_:options:)")
    public func regrantLicences(
        _ selection: RenewalSelection = .all, _ options: RenewalOptions = RenewalOptions()
    ) async throws -> RenewalReport {
        try await licences.regrant(selection, options: options)
    }

    /// The former name of ``Licences/stopRenewal()``.
    @available(*, deprecated, renamed: "licences.stopRenewal()")
    public func stopRenewal() async { await licences.stopRenewal() }

    /// The former name of ``Licences/setParameter(_:)``.
    @available(*, deprecated, renamed: "licences.setParameter(_:)")
    public func setLicenceParameter(_ text: String?) { licences.assumeIsolated { $0.setParameter(text) } }
}
