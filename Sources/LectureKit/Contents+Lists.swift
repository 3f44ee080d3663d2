import LectureFiles
import LectureFormats
public import LectureModel
import LectureStore

/// Course lists made from the store.
extension LectureManager.Contents {
    /// The request that would download a lecture again, as far as the store knows: without headers, which may be
    /// credentials.
    ///
    /// - Parameter key: the lecture.
    /// - Returns: nil when nothing has this key.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func request(for key: ContentKey) throws(LectureError) -> DownloadRequest? {
        try LectureError.only {
            guard let item = try index.contents.item(key) else { return nil }
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

    /// Writes a course list (JSON Lines) that requests lectures again, each line with a member `report` that gives the
    /// lecture's state. `precache` reads such a list as any other.
    ///
    /// URLs are written as they were given, with any secret in their query, so only the file's owner may read it. It
    /// appears under its name when it is whole and durable; an existing regular file is replaced.
    ///
    /// - Parameters:
    ///   - keys: the lectures, in the order of the lines.
    ///   - path: of the file; its directory must exist.
    /// - Throws: ``LectureError``: `unknownContent`, `outputRefused`, `storageFull`, or that of the store.
    public func writeCourseList(of keys: [ContentKey], to path: String) throws(LectureError) {
        try LectureError.only {
            let file = try OutputFile(path, mayReplace: true)
            for key in keys {
                guard let request = try request(for: key), let lecture = try index.contents.item(key)?.content else {
                    throw LectureError(.unknownContent, detail: key.text)
                }
                try file.write(Array("\(Self.line(request, lecture))\n".utf8))
            }
            try file.finish()
        }
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
