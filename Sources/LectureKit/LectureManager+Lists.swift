import LectureFiles
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

    /// Lectures that course lists named when they were last recorded.
    ///
    /// - Parameter lists: the lists.
    /// - Returns: the lectures, in the order they were registered.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func lecturesNamed(by lists: [String]) throws -> [Content] {
        try writer.contentsNamed(by: lists).compactMap { try index.item($0)?.content }
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

    /// Writes a course list (JSON Lines) that requests lectures again, each line with a member `report` that says how
    /// the lecture stands. `precache` reads such a list as any other.
    ///
    /// URLs are written as they were given, with whatever secret stands in their query, so only the file's owner may
    /// read it. It appears under its name when it is whole and durable; a regular file that stands there is replaced.
    ///
    /// - Parameters:
    ///   - keys: the lectures, in the order of the lines.
    ///   - path: of the file; its directory must exist.
    /// - Throws: ``LectureError``: `unknownContent`, `outputRefused`, `storageFull`, or that of the store.
    public func writeCourseList(of keys: [ContentKey], to path: String) throws {
        let file = try OutputFile(path, mayReplace: true)
        for key in keys {
            guard let request = try request(for: key), let lecture = try index.item(key)?.content else {
                throw LectureError(.unknownContent, detail: key.text)
            }
            try file.write(Array("\(Self.line(request, lecture))\n".utf8))
        }
        try file.finish()
    }

    private static func line(_ request: DownloadRequest, _ lecture: Content) -> String {
        JSONWriter.object { writer in
            writer.member("url", request.url)
            writer.member("key", lecture.key.text)
            writer.member("title", request.title)
            writer.member("course", request.course)
            writer.member("teacher", request.teacher)
            writer.member("folder", request.folder)
            writer.member("sha256", request.sha256.map { Hexadecimal.text($0) })
            writer.member("size", request.size)
            if request.priority != 0 { writer.member("priority", request.priority) }
            if !request.mirrors.isEmpty {
                writer.array("mirrors") { list in for mirror in request.mirrors { list.element(mirror) } }
            }
            writer.object("report") { report in
                report.member("state", lecture.state.name)
                report.member("code", lecture.error?.code.number)
                report.member("name", lecture.error?.code.name)
                report.member("message", lecture.error?.message)
            }
        }
    }
}
