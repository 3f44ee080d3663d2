/// A lecture with everything that a list shows of it, from the store.
package struct ListedContent: Hashable, Sendable {
    /// The lecture.
    package var content: Content
    /// Where the media of a complete lecture is; nil for any other.
    package var media: FinalizedFile?
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
    /// The path of the current version's still picture, relative to the store; nil unless it is finalized.
    package var snapshotPath: String?
    /// The path of the current version's thumbnail sheet, relative to the store; nil unless it is finalized.
    package var thumbnailPath: String?
    /// Total bytes as announced by its source; nil once the engine knows them, and where not announced.
    package var announcedBytes: Int64?
    /// Where a player resumes.
    package var resumePoint: Duration = .zero
    /// Its licence; nil when it has none, or when licences were not requested.
    package var licence: LicenceEntry?

    /// Creates a lecture without details.
    ///
    /// - Parameters:
    ///   - content: the lecture.
    ///   - id: its row.
    package init(content: Content, id: ContentID) { (self.content, self.id) = (content, id) }
}
