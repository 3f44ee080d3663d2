public import LectureModel

// Labels of the last release. Each is removed in the release after the one that deprecates it.

extension LectureManager {
    /// The former labels of ``document(at:headers:limit:)``.
    @available(*, deprecated, renamed: "document(at:headers:limit:)")
    public func document(_ url: String, headers: [String: String] = [:], limit: Int = 64 << 20) async throws -> [UInt8]
    {
        try await document(at: url, headers: headers, limit: limit)
    }
}

extension LectureManager.Contents {
    /// The former labels of ``verify(_:options:)``.
    @available(*, deprecated, renamed: "verify(_:options:)")
    public func verify(_ key: ContentKey, _ options: VerifyOptions) async throws -> VerifyReport {
        try await verify(key, options: options)
    }
}

extension LectureManager.Licences {
    /// The former labels of ``planRenewal(of:)``.
    @available(*, deprecated, renamed: "planRenewal(of:)")
    public func planRenewal(_ selection: RenewalSelection) throws(LectureError) -> [PlannedRenewal] {
        try planRenewal(of: selection)
    }

    /// The former labels of ``planRegrant(of:)``.
    @available(*, deprecated, renamed: "planRegrant(of:)")
    public func planRegrant(_ selection: RenewalSelection) throws(LectureError) -> [PlannedRenewal] {
        try planRegrant(of: selection)
    }

    /// The former labels of ``renew(_:options:)``.
    @available(*, deprecated, renamed: "renew(_:options:)")
    public func renew(_ selection: RenewalSelection, _ options: RenewalOptions) async throws -> RenewalReport {
        try await renew(selection, options: options)
    }

    /// The former labels of ``regrant(_:options:)``.
    @available(*, deprecated, renamed: "regrant(_:options:)")
    public func regrant(_ selection: RenewalSelection, _ options: RenewalOptions) async throws -> RenewalReport {
        try await regrant(selection, options: options)
    }

    /// The former labels of ``changeGrantingKeys(by:trust:)``.
    @available(*, deprecated, renamed: "changeGrantingKeys(by:trust:)")
    public func changeGrantingKeys(_ statement: String, trust: LicenceTrust? = nil) async throws -> GrantingKeyChange {
        try await changeGrantingKeys(by: statement, trust: trust)
    }
}

extension LectureManager.Reports {
    /// The former labels of ``send(options:)``.
    @available(*, deprecated, renamed: "send(options:)")
    public func send(_ options: SendOptions) async throws -> ReportSendResult { try await send(options: options) }

    /// The former labels of ``retry(matching:)``.
    @available(*, deprecated, renamed: "retry(matching:)")
    @discardableResult
    public func retry(_ query: ReportQuery) throws(LectureError) -> Int { try retry(matching: query) }

    /// The former labels of ``forgetCopy(at:)``.
    @available(*, deprecated, renamed: "forgetCopy(at:)")
    public func forgetCopy(_ path: String) throws(LectureError) { try forgetCopy(at: path) }
}

extension StoreTools {
    /// The former labels of ``facts(of:)``.
    @available(*, deprecated, renamed: "facts(of:)")
    public static func facts(_ directory: String) throws(LectureError) -> StoreFacts { try facts(of: directory) }

    /// The former labels of ``keptFiles(in:)``.
    @available(*, deprecated, renamed: "keptFiles(in:)")
    public static func keptFiles(_ directory: String) throws(LectureError) -> [KeptFile] {
        try keptFiles(in: directory)
    }

    /// The former labels of ``keptMedia(in:)``.
    @available(*, deprecated, renamed: "keptMedia(in:)")
    public static func keptMedia(_ directory: String) throws(LectureError) -> (count: Int, bytes: Int64) {
        try keptMedia(in: directory)
    }
}
