/// The lectures that the server lists and serves.
final class Course: Sendable {
    /// One lecture of the course.
    struct Entry: Sendable {
        let key: String
        let media: Media
        let title: String
        let course: String
        let teacher: String
        /// Appended to the URL in the course list, for instance `fault=slow:1000000`.
        let query: String
        /// Whether a download needs a licence; the course list then names the gateway's link.
        var isLicensed: Bool { query.split(separator: "&").contains { $0 == "licensed" || $0.hasPrefix("licensed=") } }

        var path: String { "/media/\(media.name)" }
    }

    /// In the order of the course list.
    let entries: [Entry]
    private let files: [String: Media]
    private let digests = Locked<[String: [UInt8]]>([:])

    /// Reads the lectures.
    ///
    /// - Parameters:
    ///   - directory: with `lectures.tsv` and the files it names; `nil` for none.
    ///   - generated: `SIZE-SEED` with an optional query, for instance `64M-1?fault=slow:1000000` or `8M-2?licensed`.
    /// - Throws: ``Problem`` when a file cannot be read or a specification is invalid.
    init(directory: String?, generated: [String]) throws {
        var entries = try directory.map(Self.lectures) ?? []
        files = Dictionary(entries.map { ($0.media.name, $0.media) }) { first, _ in first }
        for (index, specification) in generated.enumerated() {
            let parts = specification.split(separator: "?", maxSplits: 1)
            guard let name = parts.first, let media = Media(generatedName: "bytes-\(name).mp4") else {
                throw Problem.usage("--bytes needs SIZE-SEED, for instance 64M-1, not '\(specification)'")
            }
            entries.append(
                Entry(
                    key: "bytes-\(name)", media: media, title: "Recorded seminar \(index + 1)",
                    course: "Long recordings", teacher: "Chris Oh", query: parts.count > 1 ? String(parts[1]) : ""))
        }
        self.entries = entries
    }

    private static func lectures(in directory: String) throws -> [Entry] {
        let table = String(decoding: try readFile("\(directory)/lectures.tsv"), as: UTF8.self)
        return try table.split(separator: "\n").dropFirst().map { line in
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard columns.count == 4, !columns[0].contains("/") else {
                throw Problem.input("lectures.tsv: expected file, title, course and teacher in '\(line)'")
            }
            let media = Media(name: columns[0], bytes: try readFile("\(directory)/\(columns[0])"))
            let key = columns[0].hasSuffix(".mp4") ? String(columns[0].dropLast(4)) : columns[0]
            return Entry(key: key, media: media, title: columns[1], course: columns[2], teacher: columns[3], query: "")
        }
    }

    /// The lecture at a path below `/media/`; generated ones exist under every name of their form.
    func media(named name: String) -> Media? { files[name] ?? Media(generatedName: name) }

    /// The lecture with this media content key.
    func entry(key: String) -> Entry? {
        if let entry = entries.first(where: { $0.key == key }) { return entry }
        guard let media = Media(generatedName: "\(key).mp4") else { return nil }
        return Entry(key: key, media: media, title: key, course: "Long recordings", teacher: "Chris Oh", query: "")
    }

    /// The SHA-256 of a lecture, computed once.
    func sha256(_ media: Media) -> [UInt8] {
        if let known = digests.withLock({ $0[media.identity] }) { return known }
        // Outside the lock: two threads may both compute it, which costs time but is harmless.
        let digest = media.sha256()
        digests.withLock { $0[media.identity] = digest }
        return digest
    }

    // MARK: Course lists

    /// The course list in the format that its name requests.
    ///
    /// - Parameters:
    ///   - name: `course.jsonl`, `course.csv` or `course.txt`.
    ///   - base: the server's address.
    ///   - link: makes the gateway's link for a lecture, without the server's address.
    /// - Returns: type and text; `nil` for another name.
    func list(_ name: String, base: String, link: (Entry) -> String) -> (type: String, text: String)? {
        switch name {
        case "course.jsonl":
            ("application/jsonl; charset=utf-8", entries.map { jsonLine($0, url($0, base, link)) }.joined())
        case "course.csv":
            (
                "text/csv; charset=utf-8",
                "url,key,title,course,teacher,sha256,size\n" + entries.map { csvLine($0, url($0, base, link)) }.joined()
            )
        case "course.txt":
            (
                "text/plain; charset=utf-8",
                "# one URL per line\n" + entries.map { url($0, base, link) + "\n" }.joined()
            )
        default: nil
        }
    }

    private func url(_ entry: Entry, _ base: String, _ link: (Entry) -> String) -> String {
        if entry.isLicensed { return base + link(entry) }
        return base + entry.path + (entry.query.isEmpty ? "" : "?" + entry.query)
    }

    private func jsonLine(_ entry: Entry, _ url: String) -> String {
        let members: [(String, JSON)] = [
            ("url", .string(url)), ("key", .string(entry.key)), ("title", .string(entry.title)),
            ("course", .string(entry.course)), ("teacher", .string(entry.teacher)),
            ("sha256", .string(Text.hex(sha256(entry.media)))), ("size", .integer(Int64(entry.media.count))),
        ]
        return JSON.object(members).text + "\n"
    }

    private func csvLine(_ entry: Entry, _ url: String) -> String {
        let columns = [
            url, entry.key, entry.title, entry.course, entry.teacher, Text.hex(sha256(entry.media)),
            String(entry.media.count),
        ]
        return columns.map(Self.csvField).joined(separator: ",") + "\n"
    }

    private static func csvField(_ text: String) -> String {
        guard text.contains(where: { $0 == "," || $0 == "\"" || $0 == "\n" }) else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
