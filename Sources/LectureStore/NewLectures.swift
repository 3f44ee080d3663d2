package import LectureModel
import LectureSQLite

/// Requests for lectures that the store does not have, until they are added: many by one statement.
///
/// Each row is written in the same indices either way, but a statement opens the cursors of all of them, and copies the
/// pages that it changes in order to restore them after a failure. For 32 rows together it takes half of the time.
package struct NewLectures: Sendable {
    /// How many are added by one statement; a power of two.
    static let capacity = 32
    fileprivate private(set) var requests: [(request: DownloadRequest, source: RequestSource)] = []
    private var keys: Set<ContentKey> = []
    private var identities: Set<[UInt8]> = []

    /// None yet.
    package init() {}

    /// Whether there are none.
    package var isEmpty: Bool { requests.isEmpty }
    /// Whether they should be added before there are more.
    package var isFull: Bool { requests.count >= Self.capacity }

    /// Whether a request may be for one of them: then the store knows once they are added.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - source: the source of its URL.
    /// - Returns: false when it is for none of them.
    package func mayHave(_ request: DownloadRequest, _ source: RequestSource) -> Bool {
        identities.contains(source.identity) || keys.contains(source.derivedKey)
            || request.key.map { keys.contains($0) } ?? false
    }

    /// Takes a request.
    ///
    /// - Parameters:
    ///   - request: it is for no lecture of the store, and for none of these.
    ///   - source: the source of its URL.
    package mutating func append(_ request: DownloadRequest, _ source: RequestSource) {
        requests.append((request, source))
        identities.insert(source.identity)
        keys.insert(source.derivedKey)
        if let key = request.key { keys.insert(key) }
    }
}

extension ContentRequests {
    /// Adds lectures to the end of the queue, in their order. Their rows follow each other.
    ///
    /// - Parameters:
    ///   - lectures: which the store does not have.
    ///   - now: the wall clock.
    /// - Returns: the lectures, as a query would read them.
    /// - Throws: ``LectureError``; `parameter` for a priority out of range.
    package func add(_ lectures: NewLectures, now: Timestamp) throws -> [RegisteredRequest] {
        try connection.atomically {
            var added: [RegisteredRequest] = []
            var positions: [Int: Int64] = [:]
            var rest = lectures.requests[...]
            while !rest.isEmpty {
                // A power of two: there are few statements to keep.
                let power = min(Int.bitWidth - 1 - rest.count.leadingZeroBitCount, Self.insertions.count - 1)
                let rows = rest.prefix(1 << power)
                var contents: [Content] = []
                var values: [SQLiteValue] = []
                for (request, source) in rows {
                    let content = try content(request, source, &positions, now: now)
                    values += try self.values(request, source, content)
                    contents.append(content)
                }
                try connection.execute(Self.insertions[power], values: values)
                let last = connection.lastInsertedID
                for (place, content) in contents.enumerated() {
                    let id = ContentID(last - Int64(contents.count - 1 - place))
                    added.append(RegisteredRequest(id: id, key: content.key, outcome: .added, added: content))
                }
                rest = rest.dropFirst(rows.count)
            }
            for (lecture, registered) in zip(lectures.requests, added) {
                try store.outputs.add(lecture.request, content: registered.id)
            }
            return added
        }
    }

    /// Adds a lecture.
    func add(_ request: DownloadRequest, _ source: RequestSource, now: Timestamp) throws -> RegisteredRequest {
        var lecture = NewLectures()
        lecture.append(request, source)
        guard let added = try add(lecture, now: now).first else { throw LectureError(.bug, detail: "no lecture added") }
        return added
    }

    private func content(
        _ request: DownloadRequest, _ source: RequestSource, _ positions: inout [Int: Int64], now: Timestamp
    ) throws -> Content {
        try Self.check(request)
        var content = Content(
            key: request.key ?? source.derivedKey, sourceURL: request.url,
            title: request.title ?? Self.lastPart(of: request.url), state: .queued, added: now)
        content.priority = request.priority
        let last = try positions[request.priority] ?? store.targets.lastPosition(priority: request.priority)
        content.position = last + TargetRows.positionGap
        positions[request.priority] = content.position
        (content.course, content.teacher) = (request.course ?? "", request.teacher ?? "")
        content.folder = request.folder ?? ""
        return content
    }

    private static let columns = [
        "key", "priority", "position", "added_ms", "updated_ms", "is_gateway", "source_identity", "expected_sha256",
        "expected_bytes", "title", "course", "teacher", "folder", "source_url", "headers", "mirrors", "selection",
    ]

    private func values(
        _ request: DownloadRequest, _ source: RequestSource, _ content: Content
    ) throws -> [SQLiteValue] {
        [
            content.key.sqliteValue, content.priority.sqliteValue, content.position.sqliteValue,
            content.added.sqliteValue, content.added.sqliteValue, source.isGateway.sqliteValue,
            source.identity.sqliteValue, request.sha256.sqliteValue, request.size.sqliteValue,
            content.title.sqliteValue, content.course.sqliteValue, content.teacher.sqliteValue,
            content.folder.sqliteValue, request.url.sqliteValue,
            try store.contents.stored(request.headers).sqliteValue, try JSONText.encode(request.mirrors).sqliteValue,
            (request.selection?.text ?? "").sqliteValue,
        ]
    }

    /// The statements that add 1, 2, 4 … ``NewLectures/capacity`` lectures.
    private static let insertions: [String] = (0...NewLectures.capacity.trailingZeroBitCount).map { power in
        let row = "(\(Array(repeating: "?", count: columns.count).joined(separator: ", ")))"
        let rows = Array(repeating: row, count: 1 << power).joined(separator: ", ")
        return "INSERT INTO content(\(columns.joined(separator: ", "))) VALUES \(rows)"
    }

    /// Refuses a request that no row may have.
    ///
    /// - Parameter request: the request.
    /// - Throws: ``LectureError`` with `parameter` for a priority out of range.
    package static func check(_ request: DownloadRequest) throws {
        guard (-100...100).contains(request.priority) else {
            throw LectureError(.parameter, detail: "priority", cause: "-100 to 100")
        }
    }

    /// The last part of a URL's path, for a title; the whole URL when the path is empty.
    private static func lastPart(of url: String) -> String {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let afterScheme = path.firstRange(of: "://").map { path[$0.upperBound...] } ?? path
        let parts = afterScheme.split(separator: "/", omittingEmptySubsequences: true)
        guard parts.count > 1, let last = parts.last else { return url }
        return String(last)
    }
}
