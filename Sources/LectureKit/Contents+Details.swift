import LectureCrypto
import LectureDownload
public import LectureModel
import LectureStore
import LectureTransport

/// What lists and pages about one lecture show.
extension LectureManager.Contents {
    /// A page of lectures with everything a list shows, read in a constant number of queries.
    ///
    /// - Parameters:
    ///   - filter: which lectures.
    ///   - sort: in which order.
    ///   - page: which part of the list.
    /// - Returns: the lectures of the page.
    /// - Throws: ``LectureError`` when the store cannot be read; `deviceKeyRefused`, `configuration` where it holds
    ///   licences.
    public func details(
        _ filter: ContentFilter = ContentFilter(), sort: ContentSort = .added, page: ContentPage = ContentPage()
    ) throws(LectureError) -> [ContentDetails] {
        try LectureError.only {
            let reader = try detailReader()
            return try reader.queries.details(filter, sort: sort, page: page, withLicences: reader.judge != nil) {
                try reader.details($0, truthful($0.content, $0.media))
            }
        }
    }

    /// Everything a list shows of one lecture.
    ///
    /// - Parameter key: its identity.
    /// - Returns: nil when nothing has this key.
    /// - Throws: ``LectureError`` when the store cannot be read; `deviceKeyRefused`, `configuration` where it holds
    ///   licences.
    public func details(of key: ContentKey) throws(LectureError) -> ContentDetails? {
        try LectureError.only {
            let reader = try detailReader()
            return try reader.queries.detail(key, withLicence: reader.judge != nil).map {
                try reader.details($0, truthful($0.content, $0.media))
            }
        }
    }

    /// What is needed to read and evaluate details.
    private struct DetailReader {
        let queries: SQLiteContentQueries
        /// Nil where the store holds no licences: then no device key is created.
        let judge: LicenceJudge?
        let root: String
        /// Lengths announced by sources without a description.
        let announced: [ContentKey: Int64]

        func details(_ listed: ListedContent, _ content: Content) throws -> ContentDetails {
            var details = ContentDetails(content: content, number: listed.id.value)
            (details.company, details.synopsis) = (listed.company, listed.synopsis)
            details.descriptionURL = listed.descriptionURL
            (details.width, details.height) = (listed.width ?? 0, listed.height ?? 0)
            details.snapshotPath = listed.snapshotPath.map { "\(root)/\($0)" }
            details.thumbnailPath = listed.thumbnailPath.map { "\(root)/\($0)" }
            details.resumePoint = listed.resumePoint
            details.announcedBytes =
                listed.content.totalBytes ?? listed.announcedBytes ?? announced[listed.content.key]
            details.licence = try listed.licence.flatMap { entry in
                try judge?.status(entry, isPlayable: content.isPlayable)
            }
            return details
        }
    }

    private func detailReader() throws -> DetailReader {
        let root = try location.make()
        guard try writer.hasLicences() else {
            return DetailReader(queries: queries, judge: nil, root: root, announced: core.state.announced)
        }
        return DetailReader(
            queries: try licensing.queriesOfLicences(), judge: try licensing.judge(), root: root,
            announced: core.state.announced)
    }

    /// The lecture for a URL: registered under it, or named by it (a gateway link's token or path). No server is asked
    /// and nothing is registered.
    ///
    /// A token is read but not verified: it identifies a row of the store, and permits nothing.
    ///
    /// - Parameter url: an http or https URL.
    /// - Returns: nil when it is not in the store.
    /// - Throws: ``LectureError``: `urlScheme`, `urlInvalid`, a store's code.
    public func find(url: String) throws(LectureError) -> Content? {
        try LectureError.only { try lecture(url: url) }
    }

    /// The subtitles, chapters and bookmarks of a lecture.
    ///
    /// - Parameter key: the lecture.
    /// - Returns: empty where the source has no description.
    /// - Throws: ``LectureError``: `unknownContent`, a store's code.
    public func outline(of key: ContentKey) throws(LectureError) -> ContentOutline {
        try LectureError.only {
            guard let item = try queries.item(key) else { throw LectureError(.unknownContent, detail: key.text) }
            return try queries.descriptor(item.id).map { ContentOutline(descriptor: $0) } ?? ContentOutline()
        }
    }

    /// The folders directly below a folder, in the order of their names.
    ///
    /// - Parameter folder: `a/b`; empty for the top level.
    /// - Returns: names without their parents, ordered by their bytes. A folder exists while a lecture is in it or
    ///   below it.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func folders(below folder: String) throws(LectureError) -> [String] {
        try LectureError.only { try queries.folders(below: folder) }
    }

    /// Stores where a player resumes. It is deleted together with the lecture.
    ///
    /// - Parameters:
    ///   - point: from the start, stored in whole milliseconds; negative counts as zero.
    ///   - key: the lecture.
    /// - Throws: ``LectureError``: `unknownContent`, a store's code.
    public func setResumePoint(_ point: Duration, of key: ContentKey) throws(LectureError) {
        try LectureError.only {
            try keepResumePoint(key, point)
        }
    }

    /// Verified bytes of lectures on disk: media, subtitles and pictures of complete lectures, and the received part of
    /// the others. While a new version of a complete lecture is being fetched, the new one's bytes count and not the
    /// old one's. The database and the streaming cache do not count.
    ///
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func mediaBytes() throws(LectureError) -> Int64 {
        try LectureError.only { try queries.status().committedBytes }
    }
}
