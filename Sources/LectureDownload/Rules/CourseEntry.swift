package import LectureFormats
package import LectureModel

/// One lecture of a course list.
package struct CourseEntry: Hashable, Sendable {
    /// Where it is; http or https.
    package var url: String
    /// Its media content key; nil to derive one from the URL.
    package var key: String?
    /// Its title.
    package var title: String?
    /// The course it belongs to.
    package var course: String?
    /// Who teaches it.
    package var teacher: String?
    /// The SHA-256 of the whole file, 32 bytes.
    package var sha256: [UInt8]?
    /// The length of the whole file in bytes.
    package var size: UInt64?
    /// Its virtual folder, parts separated by `/`.
    package var folder: String?
    /// −100…100, higher first.
    package var priority: Int?
    /// Header fields to send.
    package var headers: [HeaderField] = []
    /// Other URLs of the same bytes.
    package var mirrors: [String] = []
    /// The name of the finished file under `--output-dir`.
    package var file: String?
    /// The unknown members of its line.
    package var unknown: [String] = []

    /// The members that a line may have. `report` is written to lists of failed lectures; it is not read.
    package static let memberNames = [
        "url", "key", "title", "course", "teacher", "sha256", "size", "folder", "priority", "headers", "mirrors",
        "file", "report",
    ]

    /// Makes an entry from a URL alone.
    ///
    /// - Parameter url: an absolute http or https URL.
    /// - Throws: `LectureError(.urlScheme)` or `LectureError(.urlInvalid)`.
    package init(url: String) throws(LectureError) {
        _ = try Origin(url: url)
        self.url = url
    }

    /// Takes an entry from an object of a JSON course list.
    ///
    /// Unknown members are named in ``unknown``, and a member that is `null` counts as missing.
    ///
    /// - Parameter value: the object.
    /// - Throws: `LectureError` with a detail that names the member.
    package init(_ value: JSONValue) throws(LectureError) {
        let reader = try MemberReader(value)
        guard let url = try reader.string("url") else { throw LectureError(.json, detail: "member 'url' is missing") }
        try self.init(url: url)
        title = try reader.string("title")
        course = try reader.string("course")
        teacher = try reader.string("teacher")
        size = try reader.size("size")
        key = try reader.string("key")
        folder = try reader.string("folder")
        file = try reader.string("file")
        sha256 = try reader.digest("sha256")
        priority = try reader.integer("priority", in: -100...100)
        for member in try reader.object("headers") ?? [] {
            guard let text = member.value.string else {
                throw LectureError(.json, detail: "a header's value is \(member.value.kind), not a string")
            }
            headers.append(try HeaderField(outgoing: member.name, value: text))
        }
        for mirror in try reader.strings("mirrors") ?? [] { try add(mirror: mirror) }
        unknown = reader.unknown(besides: Self.memberNames)
        try checkNames()
    }

    /// Takes an entry from the cells of a CSV record.
    ///
    /// An empty cell counts as missing. `mirrors` holds URLs separated by spaces, `headers` a JSON object.
    ///
    /// - Parameter cells: the cells by the names of the header row.
    /// - Throws: `LectureError` with a detail that names the cell.
    package init(cells: [String: String]) throws(LectureError) {
        var members: [JSONMember] = []
        // Sorted, so that of two errors the same one is reported each time.
        for (name, text) in cells.sorted(by: { $0.key < $1.key }) where !text.isEmpty {
            switch name {
            case "size", "priority":
                guard let number = Int64(text) else { throw LectureError(.json, detail: "cell '\(name)' is no number") }
                members.append(JSONMember(name, .integer(number)))
            case "headers": members.append(JSONMember(name, try JSONScanner.value(of: text)))
            case "mirrors":
                members.append(JSONMember(name, .array(text.split(separator: " ").map { .string(String($0)) })))
            default: members.append(JSONMember(name, .string(text)))
            }
        }
        try self.init(.object(members))
    }

    private mutating func add(mirror: String) throws(LectureError) {
        _ = try Origin(url: mirror)
        mirrors.append(mirror)
    }

    private func checkNames() throws(LectureError) {
        if let key { try SafeName.check(key: key) }
        if let folder { try SafeName.check(folder: folder) }
        if let file { try SafeName.check(file) }
    }
}
