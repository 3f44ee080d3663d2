package import LectureModel
import LectureSQLite

/// What lists show of a lecture besides its row.
extension SQLiteContentQueries {
    /// Reads a page of lectures, one after the other, in one query.
    ///
    /// - Parameters:
    ///   - filter: which lectures.
    ///   - sort: in which order.
    ///   - page: which part of the list.
    ///   - withLicences: whether licences are read as well.
    ///   - read: gets each one; its results are collected.
    /// - Returns: the results.
    /// - Throws: ``LectureError``, and what `read` throws.
    package func details<Result>(
        _ filter: ContentFilter, sort: ContentSort, page: ContentPage, withLicences: Bool,
        read: (ListedContent) throws -> Result
    ) throws -> [Result] {
        try consistently {
            let list = try ContentList(filter, sort: sort, on: connection)
            let limits: [SQLiteValue] = [max(0, page.limit).sqliteValue, max(0, page.offset).sqliteValue]
            let codes = withLicences ? try licenceRows().codes : nil
            return try connection.query(
                ContentDetailColumns.sql(list, withLicences: withLicences, page: page), values: list.values + limits
            ) { row in
                try read(try ContentDetailColumns.listed(row, withLicences: withLicences, codes))
            }
        }
    }

    /// One lecture; nil when nothing has this key.
    package func detail(_ key: ContentKey, withLicence: Bool) throws -> ListedContent? {
        try consistently {
            guard let id = try connection.item(key: key)?.id else { return nil }
            let codes = withLicence ? try licenceRows().codes : nil
            return try connection.first(ContentDetailColumns.one(withLicence: withLicence), id) { row in
                try ContentDetailColumns.listed(row, withLicences: withLicence, codes)
            }
        }
    }

    /// The gateway's answer as received; nil when there was none.
    package func descriptor(_ content: ContentID) throws -> String? {
        try connection.first("SELECT descriptor FROM content WHERE id = ?", content) { $0.optionalText(0) } ?? nil
    }

    /// The folders directly below a folder (empty for the top level), without their parents, in the order of their
    /// bytes.
    package func folders(below folder: String) throws -> [String] {
        try consistently {
            let parent = folder.isEmpty ? "" : "\(folder)/"
            var (names, place, isBehind): ([[UInt8]], String, Bool) = ([], parent, true)
            // One search per name and not one step per lecture: everything below a name is skipped.
            while let found = try nextFolder(place, isBehind: isBehind, within: folder) {
                let rest = found.utf8.dropFirst(parent.utf8.count)
                let name = Array(rest.prefix { $0 != UInt8(ascii: "/") })
                if !name.isEmpty { names.append(name) }
                isBehind = name.count == rest.count
                place = isBehind ? found : Self.end(of: parent + String(decoding: name, as: UTF8.self))
            }
            // `a`, `a-b` and `a/c` are in this order, and two of them belong to `a`.
            names.sort { $0.lexicographicallyPrecedes($1) }
            var previous: [UInt8]?
            return names.compactMap { name in
                defer { previous = name }
                return name == previous ? nil : String(decoding: name, as: UTF8.self)
            }
        }
    }

    /// The end of everything below a folder: '0' is the byte after '/'.
    private static func end(of folder: String) -> String { "\(folder)0" }

    /// The first folder at a position, or after it.
    private func nextFolder(_ place: String, isBehind: Bool, within parent: String) throws -> String? {
        let bounds = parent.isEmpty ? [place.sqliteValue] : [place.sqliteValue, Self.end(of: parent).sqliteValue]
        return try connection.first(Self.nextFolderSQL(isBehind: isBehind, isTop: parent.isEmpty), values: bounds) {
            $0.text(0)
        }
    }

    /// Reads the next folder, from the index alone.
    static func nextFolderSQL(isBehind: Bool, isTop: Bool) -> String {
        """
        SELECT folder FROM content INDEXED BY content_folder
        WHERE folder \(isBehind ? ">" : ">=") ?\(isTop ? "" : " AND folder < ?") ORDER BY folder LIMIT 1
        """
    }
}

/// The columns of a list that shows everything, and their conversion to values.
enum ContentDetailColumns {
    /// After the licence's columns, if any: those must be the first of their row.
    private static let list = """
        \(ContentColumns.list), content.company, content.synopsis, content.description_url, content.width, \
        content.height, \
        (SELECT position_ms FROM resume_point WHERE resume_point.content_id = content.id), \
        \(picture(.snapshot)), \(picture(.thumbnail)), \(announced), \
        \(ContentColumns.media)
        """

    /// The announced lengths of the files to download; read only until the engine knows them.
    private static let announced = """
        CASE WHEN content.bytes_total IS NULL THEN (SELECT sum(resource.expected_bytes)
        FROM version INDEXED BY version_building
        CROSS JOIN resource INDEXED BY resource_version ON resource.version_id = version.id
        WHERE version.content_id = content.id AND version.state = \(sql: VersionState.building)) END
        """

    /// By key and not by row: the licence's code covers its key, so no change of another column hides it.
    private static let join = " LEFT JOIN licence ON licence.content_key = content.key"

    /// The path of a finalized picture of the current version. Pictures are in clear, whatever the policy.
    private static func picture(_ role: ResourceRole) -> String {
        """
        (SELECT resource.file_path FROM version INDEXED BY version_current
        CROSS JOIN resource INDEXED BY resource_version ON resource.version_id = version.id
        WHERE version.content_id = content.id AND version.state = \(sql: VersionState.current)
        AND resource.role = \(sql: role) AND resource.state = \(sql: ResourceRecord.State.finalized)
        AND resource.seal = \(sql: SealState.plain)
        ORDER BY resource.position LIMIT 1)
        """
    }

    private static func columns(_ withLicences: Bool) -> String {
        withLicences ? "\(LicenceColumns.list), \(list)" : list
    }

    /// The statement for a page.
    static func sql(_ plan: ContentList, withLicences: Bool, page: ContentPage) -> String {
        plan.sql(columns: columns(withLicences), join: withLicences ? join : "", page: page)
    }

    /// The statement for one row.
    static func one(withLicence: Bool) -> String {
        "SELECT \(columns(withLicence)) FROM content\(withLicence ? join : "") WHERE content.id = ?"
    }

    /// Reads a row.
    ///
    /// - Parameters:
    ///   - row: of one of the statements.
    ///   - withLicences: whether it starts with a licence.
    ///   - codes: nil trusts every licence.
    /// - Returns: the lecture.
    /// - Throws: ``LectureError`` with the code `storeDamaged`.
    static func listed(_ row: borrowing Row, withLicences: Bool, _ codes: LedgerCodes?) throws -> ListedContent {
        let first = withLicences ? LicenceColumns.count : 0
        var listed = ListedContent(content: try ContentColumns.content(row, from: first), id: row.id(first))
        let next = first + ContentColumns.count
        listed.company = row.text(next)
        listed.synopsis = row.text(next + 1)
        listed.descriptionURL = row.text(next + 2)
        listed.width = row.optionalInt(next + 3)
        listed.height = row.optionalInt(next + 4)
        listed.resumePoint = .milliseconds(row.optionalInt64(next + 5) ?? 0)
        listed.snapshotPath = row.optionalText(next + 6)
        listed.thumbnailPath = row.optionalText(next + 7)
        listed.announcedBytes = row.optionalInt64(next + 8)
        listed.media = ContentColumns.media(row, next + 9)
        if withLicences, !row.isNull(0) { listed.licence = try LicenceColumns.entry(row, codes) }
        return listed
    }
}
