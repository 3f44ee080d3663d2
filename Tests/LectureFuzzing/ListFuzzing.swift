import LectureDownload
import LectureFormats
import LectureModel

/// Course lists in their three formats.
extension FuzzTarget {
    static let lists = [
        FuzzTarget("course-jsonl", longest: 2048, cost: 4) { try courseList($0, .jsonLines) },
        FuzzTarget("course-csv", longest: 2048, cost: 4) { try courseList($0, .csv) },
        FuzzTarget("course-txt", longest: 1024, cost: 2) { try courseList($0, .text) },
    ]

    /// The compared parts of an item.
    private struct Seen: Equatable {
        var entry: CourseEntry?
        var line: Int
        var words = ""

        init(_ item: CourseListReader.Item) {
            switch item {
            case .entry(let entry, let line): (self.entry, self.line) = (entry, line)
            case .unknown(_, let line): (self.line, words) = (line, "a member that means nothing")
            case .issue(let error, let line):
                (self.line, words) = (line, "\(error.code.name): \(error.detail) (\(error.cause))")
            }
        }
    }

    private static func read(_ bytes: [UInt8], _ format: CourseListReader.Format, step: Int) -> [Seen] {
        var reader = CourseListReader(format: format)
        var items: [CourseListReader.Item] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            items += reader.read(bytes[start..<min(start + step, bytes.count)])
        }
        items += reader.finish()
        return items.map { Seen($0) }
    }

    private static func courseList(_ input: [UInt8], _ format: CourseListReader.Format) throws {
        let whole = read(input, format, step: max(1, input.count))
        let pieces = read(input, format, step: Int(input.first ?? 0) % 7 + 1)
        try require(whole == pieces, "where a list is cut does not matter")
        let lineCount = input.count { $0 == 0x0A } + 1
        try require(whole.allSatisfy { (1...lineCount).contains($0.line) }, "an item is on a line of the list")
        let entries = whole.filter { $0.entry != nil }.map(\.line)
        try require(zip(entries, entries.dropFirst()).allSatisfy { $0 < $1 }, "lines go up")
        for seen in whole {
            guard let entry = seen.entry else {
                try require(!FieldText.hasControls(seen.words), "an issue is one line: \(seen.words)")
                continue
            }
            try check(entry)
            // Unknown names are reported and not kept, so they are not written either.
            var kept = entry
            kept.unknown = []
            let again = read(written(kept, format), format, step: 1000)
            try require(again.count == 1 && again[0].entry == kept, "an entry reads back")
        }
    }

    private static func check(_ entry: CourseEntry) throws {
        _ = try Origin(url: entry.url)
        for mirror in entry.mirrors { _ = try Origin(url: mirror) }
        if let key = entry.key { try SafeName.check(key: key) }
        if let folder = entry.folder { try SafeName.check(folder: folder) }
        if let file = entry.file { try SafeName.check(file) }
        try require((-100...100).contains(entry.priority ?? 0), "a priority is within its bounds")
        try require(entry.sha256?.count ?? 32 == 32, "a digest has 32 bytes")
        try require(entry.size ?? 0 <= UInt64(Int64.max), "a size has 63 bits")
        for header in entry.headers {
            try require(FieldText.isToken(header.name), "a header's name is a token")
            try require(header.value.utf8.allSatisfy { $0 == 9 || ($0 >= 0x20 && $0 != 0x7F) }, "a header is one line")
        }
    }

    /// The list of one entry.
    private static func written(_ entry: CourseEntry, _ format: CourseListReader.Format) -> [UInt8] {
        let headers = JSONWriter.object { writer in
            for header in entry.headers { writer.member(header.name, header.value) }
        }
        let texts = [
            ("url", entry.url), ("title", entry.title), ("course", entry.course), ("teacher", entry.teacher),
            ("key", entry.key), ("folder", entry.folder), ("file", entry.file),
            ("sha256", entry.sha256.map { Hexadecimal.text($0) }),
        ]
        switch format {
        case .text: return Array(entry.url.utf8)
        case .jsonLines:
            let line = JSONWriter.object { writer in
                for (name, value) in texts { writer.member(name, value) }
                writer.member("size", entry.size)
                writer.member("priority", entry.priority)
                writer.object("headers") { writer in
                    for header in entry.headers { writer.member(header.name, header.value) }
                }
                writer.array("mirrors") { writer in for mirror in entry.mirrors { writer.element(mirror) } }
            }
            return Array(line.utf8)
        case .csv:
            var cells = texts.map { ($0, $1 ?? "") }
            cells.append(("size", entry.size.map { "\($0)" } ?? ""))
            cells.append(("priority", entry.priority.map { "\($0)" } ?? ""))
            cells.append(("mirrors", entry.mirrors.joined(separator: " ")))
            cells.append(("headers", headers))
            let quoted = cells.map { cell in
                // By bytes: a combining mark after a quote does not combine with it.
                cell.1.utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
                    .map { text($0) }.joined(separator: "\"\"")
            }
            let record = quoted.map { "\"\($0)\"" }.joined(separator: ",")
            return Array("\(cells.map(\.0).joined(separator: ","))\n\(record)\n".utf8)
        }
    }
}
