/// A content with everything that a list shows of it, as it stands in the store.
package struct ListedContent: Hashable, Sendable {
    /// The content.
    package var content: Content
    /// Where the media of a complete content lies; nil for any other.
    package var media: PlacedFile?
    /// Its row.
    package var id: ContentID
    /// Who publishes it; empty when unknown.
    package var company = ""
    /// What it is about; empty when unknown.
    package var synopsis = ""
    /// A page about it; empty when unknown.
    package var descriptionURL = ""
    /// The picture's width in pixels; nil when unknown.
    package var width: Int?
    /// The picture's height in pixels; nil when unknown.
    package var height: Int?
    /// Where the current version's still picture lies, relative to the store; nil unless it is placed.
    package var snapshotPath: String?
    /// Where the current version's sheet of small pictures lies, relative to the store; nil unless it is placed.
    package var thumbnailPath: String?
    /// Bytes of the whole as its source announced them; nil once the engine knows, and where nobody has said.
    package var announcedBytes: Int64?
    /// Where a player goes on.
    package var resumePoint: Duration = .zero
    /// Its licence; nil when it has none, or when licences were not asked for.
    package var licence: LicenceEntry?

    /// A content of which nothing more is known.
    ///
    /// - Parameters:
    ///   - content: the content.
    ///   - id: its row.
    package init(content: Content, id: ContentID) { (self.content, self.id) = (content, id) }
}

/// What lists and pages about one content ask for beyond the contents themselves. Every method throws ``LectureError``.
package protocol ContentDetailQueries: AnyObject {
    /// Reads a page of contents, one after the other as they come out of the store, in one query.
    ///
    /// - Parameters:
    ///   - filter: which contents.
    ///   - sort: in which order.
    ///   - page: which part of the list.
    ///   - withLicences: whether licences are read as well.
    ///   - read: takes each; what it answers is collected.
    /// - Returns: the answers.
    /// - Throws: ``LectureError``, and what `read` throws.
    func details<Result>(
        _ filter: ContentFilter, sort: ContentSort, page: ContentPage, withLicences: Bool,
        read: (ListedContent) throws -> Result
    ) throws -> [Result]
    /// One content; nil when nothing has this key.
    func detail(_ key: ContentKey, withLicence: Bool) throws -> ListedContent?
    /// The gateway's answer as it came; nil when there was none.
    func descriptor(_ content: ContentID) throws -> String?
    /// The folders directly below a folder (empty for the top level), without their parents, in the order of their
    /// bytes.
    func folders(below folder: String) throws -> [String]
}
