public import LectureModel
import LectureStore

/// Which course lists name a lecture, and what has left them.
extension LectureManager {
    /// Notes what a course list names now, so that ``lecturesGone(from:for:)`` can find what has left it. To be called
    /// when the whole list was read and every lecture of it is registered under its final key.
    ///
    /// - Parameters:
    ///   - name: the list's; the same in every call for it, and not empty.
    ///   - keys: every lecture that it names.
    /// - Throws: ``LectureError``: `parameter` for an empty name, `unknownContent` for a key that is not in the store;
    ///   nothing is noted then.
    public func recordCourseList(_ name: String, keys: [ContentKey]) throws {
        guard !name.isEmpty else { throw LectureError(.parameter, detail: "name", cause: "a list has a name") }
        try record(keys, in: name)
    }

    /// Notes that lectures were requested one by one: they never count as gone from a list.
    ///
    /// - Parameter keys: lectures of the store.
    /// - Throws: ``LectureError``: `unknownContent`.
    public func recordSingleRequests(_ keys: [ContentKey]) throws {
        try record(keys, in: SQLiteDownloadIndex.singleRequests)
    }

    private func record(_ keys: [ContentKey], in list: String) throws {
        try index.transaction {
            let contents = try keys.map { key in
                guard let item = try index.item(key) else { throw LectureError(.unknownContent, detail: key.text) }
                return item.id
            }
            try writer.recordCourseList(list, contents: contents, now: clock.now())
        }
    }

    /// Lectures that have left course lists. One that another list still names, that was requested by itself, or that
    /// is a sample, is not among them.
    ///
    /// - Parameters:
    ///   - lists: the lists.
    ///   - time: only what left this long ago.
    /// - Returns: the lectures, in the order they were registered, and how many these lists named, those included.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func lecturesGone(
        from lists: [String], for time: Duration = .zero
    ) throws -> (lectures: [Content], named: Int) {
        let (gone, named) = try writer.contentsGone(from: lists, before: clock.now() + (.zero - time))
        return (try gone.compactMap { try index.item($0)?.content }, named)
    }

    /// The request that would download a lecture again, as far as the store knows it: without headers, which may be
    /// credentials.
    ///
    /// - Parameter key: the lecture.
    /// - Returns: nil when nothing has this key.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func request(for key: ContentKey) throws -> DownloadRequest? {
        guard let item = try index.item(key) else { return nil }
        var request = DownloadRequest(url: item.content.sourceURL)
        request.key = item.content.key
        request.title = item.content.title
        request.course = item.content.course.isEmpty ? nil : item.content.course
        request.teacher = item.content.teacher.isEmpty ? nil : item.content.teacher
        request.folder = item.content.folder.isEmpty ? nil : item.content.folder
        (request.sha256, request.size) = (item.expectedSHA256, item.expectedBytes)
        (request.priority, request.mirrors) = (item.content.priority, item.mirrors)
        return request
    }
}
