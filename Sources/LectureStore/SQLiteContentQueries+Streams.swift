package import LectureModel
import LectureSQLite

// Adaptive lectures, as they are read.

/// The version of an adaptive lecture that is read: its complete one, or the one that is being downloaded.
package struct StreamVersion: Sendable, Hashable {
    /// The version.
    package let id: VersionID
    /// The local playlists, the one to begin with first.
    package let playlists: [String]
}

/// How much of a version is there.
package struct StreamPresence: Sendable, Hashable {
    /// The position of the first file that is still to come, beyond all others where it is not known; nil for a version
    /// that is complete.
    package var end: Int?
    /// The names of the files that their servers do not have.
    package var missing: Set<String> = []

    /// Everything.
    package init() {}
}

extension SQLiteContentQueries {
    /// Adaptive lectures.
    package var streams: StreamQueries { StreamQueries(store: self) }
}

/// Adaptive lectures, as they are read. Confined like the queries that it belongs to.
package struct StreamQueries {
    let store: SQLiteContentQueries
    private var connection: Connection { store.connection }

    /// The resources of a lecture without the files of streams, media first: of its current version, or without one of
    /// the one being built.
    package func headResources(_ key: ContentKey) throws -> [ResourceRecord] {
        try store.consistently {
            try version(of: key).map { try connection.headResources(of: $0) } ?? []
        }
    }

    /// The version of a lecture that can be read as streams.
    ///
    /// - Parameter key: the lecture.
    /// - Returns: nil for a lecture that is not adaptive, or whose playlists are not there yet.
    /// - Throws: ``LectureError`` when the store cannot be read.
    package func streamVersion(_ key: ContentKey) throws -> StreamVersion? {
        try store.consistently {
            guard let version = try version(of: key) else { return nil }
            let playlists = try connection.playlists(of: version)
            return playlists.isEmpty ? nil : StreamVersion(id: version, playlists: playlists)
        }
    }

    /// The playlists of a version as they are now: those of a live stream that is being captured grow.
    package func playlists(_ version: VersionID) throws -> [String] {
        try store.consistently { try connection.playlists(of: version) }
    }

    /// The current version of a lecture, or without one the one being built.
    func version(of key: ContentKey) throws -> VersionID? {
        try connection.first(
            """
            SELECT id FROM version WHERE content_id = ? AND state IN \(sql: [VersionState.building, .current])
            ORDER BY state DESC LIMIT 1
            """, try connection.contentID(key)
        ) { $0.id(0) }
    }

    /// How much of a version is there.
    ///
    /// - Parameter version: of an adaptive lecture.
    /// - Returns: nil when the version was replaced or removed.
    /// - Throws: ``LectureError`` when the store cannot be read.
    package func presence(_ version: VersionID) throws -> StreamPresence? {
        try store.consistently {
            let found = try connection.first(
                """
                SELECT version.state, content.selection FROM version JOIN content ON content.id = version.content_id
                WHERE version.id = ? AND version.state IN \(sql: [VersionState.building, .current])
                """, version
            ) { row in
                (
                    state: try row.enumeration(0, VersionState.self),
                    selection: try StreamSelection(stored: row.text(1))
                )
            }
            guard let found else { return nil }
            var presence = StreamPresence()
            let isComplete = found.state == .current
            if isComplete || found.selection.allowsGaps {
                presence.missing = Set(
                    try connection.query(
                        """
                        SELECT name FROM resource WHERE version_id = ? AND role IN \(sql: ResourceRole.ofStreams)
                            AND state = \(sql: ResourceRecord.State.failed)
                        """, version
                    ) { $0.text(0) })
            }
            guard !isComplete else { return presence }
            var settled = [ResourceRecord.State.finalized]
            if found.selection.allowsGaps { settled.append(.failed) }
            for role in ResourceRole.ofStreams {
                let first = try connection.first(
                    """
                    SELECT position FROM resource INDEXED BY resource_version
                    WHERE version_id = ? AND role = ? AND state NOT IN \(sql: settled) ORDER BY position LIMIT 1
                    """, version, role.rawValue
                ) { $0.int(0) }
                if let first { presence.end = min(first, presence.end ?? first) }
            }
            // More may come of a live stream.
            if presence.end == nil { presence.end = .max }
            return presence
        }
    }

    /// A file of a version's streams by its name.
    ///
    /// - Parameters:
    ///   - version: of an adaptive lecture.
    ///   - name: as the playlists have it; it begins with its position.
    /// - Returns: nil when it has none with this name.
    /// - Throws: ``LectureError`` when the store cannot be read.
    package func streamFile(_ version: VersionID, _ name: String) throws -> ResourceRecord? {
        try store.consistently { try connection.fileOfStreams(version, name) }
    }

    /// The files of a version's streams that are there, in the order of play.
    package func streamFiles(_ version: VersionID) throws -> [ResourceRecord] { try connection.keptOfStreams(version) }

    /// Whether a segment or an initialisation section of a version is sealed.
    package func hasSealedMedia(_ version: VersionID) throws -> Bool {
        try connection.first(
            """
            SELECT 1 FROM resource INDEXED BY resource_version WHERE version_id = ?
                AND role IN \(sql: [ResourceRole.segment, .initialisation]) AND seal <> \(sql: SealState.plain) LIMIT 1
            """, version
        ) { _ in true } ?? false
    }

    /// How many bytes the segments of a version have.
    package func segmentBytes(_ version: VersionID) throws -> UInt64 {
        try connection.first(
            """
            SELECT coalesce(sum(total_bytes), 0) FROM resource INDEXED BY resource_version
            WHERE version_id = ? AND role = \(sql: ResourceRole.segment)
            """, version
        ) { $0.uint64(0) } ?? 0
    }
}
