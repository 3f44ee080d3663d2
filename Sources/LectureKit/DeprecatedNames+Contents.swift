public import LectureModel

// Names of the last release that ``LectureManager/contents`` has replaced.

extension LectureManager {
    /// The former name of ``Contents/list(_:sort:page:)``.
    @available(*, deprecated, renamed: "contents.list(_:sort:page:)")
    public func contents(
        _ filter: ContentFilter = ContentFilter(), sort: ContentSort = .added, page: ContentPage = ContentPage()
    ) throws(LectureError) -> [Content] {
        try LectureError.only { try contents.assumeIsolated { try $0.list(filter, sort: sort, page: page) } }
    }

    /// The former name of ``Contents/count(_:)``.
    @available(*, deprecated, renamed: "contents.count(_:)")
    public func count(_ filter: ContentFilter = ContentFilter()) throws(LectureError) -> Int {
        try LectureError.only { try contents.assumeIsolated { try $0.count(filter) } }
    }

    /// The former name of ``Contents/find(_:)``.
    @available(*, deprecated, renamed: "contents.find(_:)")
    public func content(_ key: ContentKey) throws(LectureError) -> Content? {
        try LectureError.only { try contents.assumeIsolated { try $0.find(key) } }
    }

    /// The former name of ``Contents/find(url:)``.
    @available(*, deprecated, renamed: "contents.find(url:)")
    public func find(_ url: String) throws(LectureError) -> Content? {
        try LectureError.only { try contents.assumeIsolated { try $0.find(url: url) } }
    }

    /// The former name of ``Contents/details(_:sort:page:)``.
    @available(*, deprecated, renamed: "contents.details(_:sort:page:)")
    public func details(
        _ filter: ContentFilter = ContentFilter(), sort: ContentSort = .added, page: ContentPage = ContentPage()
    ) throws(LectureError) -> [ContentDetails] {
        try LectureError.only { try contents.assumeIsolated { try $0.details(filter, sort: sort, page: page) } }
    }

    /// The former name of ``Contents/details(of:)``.
    @available(*, deprecated, renamed: "contents.details(of:)")
    public func details(_ key: ContentKey) throws(LectureError) -> ContentDetails? {
        try LectureError.only { try contents.assumeIsolated { try $0.details(of: key) } }
    }

    /// The former name of ``Contents/outline(of:)``.
    @available(*, deprecated, renamed: "contents.outline(of:)")
    public func outline(_ key: ContentKey) throws(LectureError) -> ContentOutline {
        try LectureError.only { try contents.assumeIsolated { try $0.outline(of: key) } }
    }

    /// The former name of ``Contents/folders(below:)``.
    @available(*, deprecated, renamed: "contents.folders(below:)")
    public func folders(below folder: String) throws(LectureError) -> [String] {
        try LectureError.only { try contents.assumeIsolated { try $0.folders(below: folder) } }
    }

    /// The former name of ``Contents/setResumePoint(_:of:)``.
    @available(*, deprecated, message: "use contents.setResumePoint(_:of:)")
    public func setResumePoint(_ key: ContentKey, _ point: Duration) throws(LectureError) {
        try LectureError.only { try contents.assumeIsolated { try $0.setResumePoint(point, of: key) } }
    }

    /// The former name of ``Contents/mediaBytes()``.
    @available(*, deprecated, renamed: "contents.mediaBytes()")
    public func mediaBytes() throws(LectureError) -> Int64 {
        try LectureError.only { try contents.assumeIsolated { try $0.mediaBytes() } }
    }

    /// The former name of ``Contents/path(of:)``.
    @available(*, deprecated, renamed: "contents.path(of:)")
    public func path(_ key: ContentKey) throws(LectureError) -> String {
        try LectureError.only { try contents.assumeIsolated { try $0.path(of: key) } }
    }

    /// The former name of ``Contents/why(_:)``.
    @available(*, deprecated, renamed: "contents.why(_:)")
    public func why(_ key: ContentKey) throws(LectureError) -> Diagnosis {
        try LectureError.only { try contents.assumeIsolated { try $0.why(key) } }
    }

    /// The former name of ``Contents/read(_:range:_:)``.
    @available(*, deprecated, renamed: "contents.read(_:range:_:)")
    public nonisolated func read(
        _ key: ContentKey, range: Range<Int64>? = nil, _ receive: @Sendable ([UInt8]) throws -> Void
    ) async throws {
        try await contents.read(key, range: range, receive)
    }

    /// The former name of ``Contents/verify(_:options:)``.
    @available(*, deprecated, renamed: "contents.verify(_:options:)")
    public func verify(_ key: ContentKey, _ options: VerifyOptions = VerifyOptions()) async throws -> VerifyReport {
        try await contents.verify(key, options: options)
    }

    /// The former name of ``Contents/checkFiles()``.
    @available(*, deprecated, renamed: "contents.checkFiles()")
    @discardableResult
    public func checkFiles() throws(LectureError) -> Int {
        try LectureError.only { try contents.assumeIsolated { try $0.checkFiles() } }
    }

    /// The former name of ``Contents/request(for:)``.
    @available(*, deprecated, renamed: "contents.request(for:)")
    public func request(for key: ContentKey) throws(LectureError) -> DownloadRequest? {
        try LectureError.only { try contents.assumeIsolated { try $0.request(for: key) } }
    }

    /// The former name of ``Contents/writeCourseList(of:to:)``.
    @available(*, deprecated, renamed: "contents.writeCourseList(of:to:)")
    public func writeCourseList(of keys: [ContentKey], to path: String) throws(LectureError) {
        try LectureError.only { try contents.assumeIsolated { try $0.writeCourseList(of: keys, to: path) } }
    }

    /// The former name of ``Contents/keptFiles()``.
    @available(*, deprecated, renamed: "contents.keptFiles()")
    public func keptFiles() throws(LectureError) -> [KeptFile] {
        try LectureError.only { try contents.assumeIsolated { try $0.keptFiles() } }
    }

    /// The former name of ``Contents/rebuild(_:listed:)``.
    @available(*, deprecated, renamed: "contents.rebuild(_:listed:)")
    public func rebuild(
        _ file: KeptFile, listed: (@Sendable ([UInt8]) -> DownloadRequest?)? = nil
    ) async throws -> RebuiltFile {
        try await contents.rebuild(file, listed: listed)
    }

    /// The former name of ``Contents/deleteKept(_:)``.
    @available(*, deprecated, renamed: "contents.deleteKept(_:)")
    @discardableResult
    public func deleteKept(_ files: [KeptFile]) throws(LectureError) -> Int {
        try LectureError.only { try contents.assumeIsolated { try $0.deleteKept(files) } }
    }
}
