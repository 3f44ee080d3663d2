import LectureFiles
public import LectureModel
import LectureStore

/// Where requests come from, so that the store knows which lectures are still wanted.
public enum RequestOrigin: Sendable, Hashable {
    /// A course list.
    ///
    /// - Parameter name: the same whenever it is read, and not empty.
    case courseList(String)
    /// They were made individually: their lectures never count as gone from a list.
    case single

    /// The name under which the store records it.
    func name() throws(LectureError) -> String {
        switch self {
        case .single: return CourseListRows.singleRequests
        case .courseList(let name):
            guard !name.isEmpty else { throw LectureError(.parameter, detail: "name", cause: "it is empty") }
            return name
        }
    }
}

/// What course lists name, as ``LectureManager/Downloads/plan(_:check:)`` has found it.
public struct PlannedReading: Sendable {
    /// The lectures of the lists; see ``PlannedDownload/identity``.
    public var named: Set<ContentKey> = []
    /// Lectures that are requested individually.
    public var single: Set<ContentKey> = []

    /// Starts with nothing.
    public init() {}
}

/// Course lists and the lectures that have left them.
extension LectureManager.Downloads {
    /// Records that a course list was read as a whole, so that ``lecturesGone(from:for:assuming:)`` finds what it no
    /// longer names. What it names are the requests that were enqueued from it with this manager. Call it after
    /// ``waitUntilIdle(longestWait:deadline:)``, and not for a list with lines that could not be used.
    ///
    /// A gateway link names its lecture only when the gateway has answered. While one has not, nothing counts as gone.
    ///
    /// - Parameter name: the list's, as in ``RequestOrigin/courseList(_:)``.
    /// - Returns: how many of its gateway links have not led to a lecture; unless it is 0, nothing was recorded.
    /// - Throws: ``LectureError`` when the store cannot be written.
    @discardableResult
    public func finishCourseList(_ name: String) throws(LectureError) -> Int {
        try LectureError.only {
            guard let contents = named[try RequestOrigin.courseList(name).name()] else { return 0 }
            let run = try openService().run
            return try writer.courseLists.finish(name, contents: contents, run: run, now: clock.now())
        }
    }

    /// Begins to read a course list again, in a manager that has read it before: what only its former reading named
    /// does not count as named. ``enqueue(_:check:origin:)`` follows.
    ///
    /// - Parameter name: its name.
    package func beginCourseList(_ name: String) { named[name] = nil }

    /// Lectures that have left course lists. One that another list still names, that was requested individually, or
    /// that is a sample, is not included.
    ///
    /// - Parameters:
    ///   - lists: the lists.
    ///   - time: only those that left at least this long ago.
    ///   - reading: what the lists are assumed to name now, with nothing recorded; nil for what was recorded last.
    /// - Returns: the lectures, in the order they were registered, and how many these lists named, including those.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func lecturesGone(
        from lists: [String], for time: Duration = .zero, assuming reading: PlannedReading? = nil
    ) throws(LectureError) -> (lectures: [Content], named: Int) {
        try LectureError.only {
            let now = clock.now()
            let assumed = try reading.map { reading in
                var assumed = CourseListRows.AssumedReading(time: now)
                for key in reading.named {
                    guard let id = try writer.contents.contentID(key) else {
                        assumed.new += 1
                        continue
                    }
                    assumed.named.insert(id)
                }
                assumed.kept = Set(try reading.single.compactMap { try writer.contents.contentID($0) })
                return assumed
            }
            let (gone, named) = try writer.courseLists.contentsGone(
                from: lists, before: now + (.zero - time), assuming: assumed)
            return (try gone.compactMap { try index.contents.item($0)?.content }, named)
        }
    }

}
