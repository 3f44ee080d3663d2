public import LectureModel

/// What lists and pages about one content show.
extension LectureManager {
    /// A page of contents with everything a list shows, read in a few queries however many they are.
    ///
    /// - Parameters:
    ///   - filter: which contents.
    ///   - sort: in which order.
    ///   - page: which part of the list.
    /// - Returns: the contents of the page.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func details(
        _ filter: ContentFilter = ContentFilter(), sort: ContentSort = .added, page: ContentPage = ContentPage()
    ) throws -> [ContentDetails] { throw LectureError(.bug) }

    /// Everything a list shows of one content.
    ///
    /// - Parameter key: its identity.
    /// - Returns: nil when nothing has this key.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func details(_ key: ContentKey) throws -> ContentDetails? { throw LectureError(.bug) }

    /// The content that an address stands for: registered under it, or named by it (a gateway link's token or path).
    /// Nothing is asked and nothing is registered.
    ///
    /// - Parameter url: an http or https URL.
    /// - Returns: nil when it is not in the store.
    /// - Throws: ``LectureError``: `urlScheme`, `urlInvalid`, a store's code.
    public func find(_ url: String) throws -> Content? { throw LectureError(.bug) }

    /// The subtitles, chapters and bookmarks of a content.
    ///
    /// - Parameter key: the content.
    /// - Returns: nothing in it where the source described nothing.
    /// - Throws: ``LectureError``: `unknownContent`, a store's code.
    public func outline(_ key: ContentKey) throws -> ContentOutline { throw LectureError(.bug) }

    /// The folders directly below a folder, in the order of their names.
    ///
    /// - Parameter folder: `a/b`; empty for the top level.
    /// - Returns: names without their parents.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func folders(below folder: String) throws -> [String] { throw LectureError(.bug) }

    /// Keeps where a player shall go on.
    ///
    /// - Parameters:
    ///   - key: the content.
    ///   - point: from the beginning; negative counts as zero.
    /// - Throws: ``LectureError``: `unknownContent`, a store's code.
    public func setResumePoint(_ key: ContentKey, _ point: Duration) throws { throw LectureError(.bug) }

    /// Bytes of contents on the disk, with their proof; the streaming cache does not count.
    ///
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func mediaBytes() throws -> Int64 { try queries.status().provenBytes }
}
