package import LectureModel
import LectureSQLite

// What is wanted of a content. A content nobody has leased follows at once; the holder of a lease is told through
// `changedDesires`.

extension SQLiteDownloadIndex {
    /// Stores a desire; answers false for an unknown key.
    ///
    /// A content that is being removed goes on being removed; one that shall be removed is only spared by `fetch`.
    package func setDesire(_ key: ContentKey, _ desire: Desire, now: Timestamp) throws -> Bool {
        try atomically {
            guard let id = try connection.item(key: key)?.id else { return false }
            try setDesire(desire, of: "id = ?", [id.sqliteValue], now: now)
            return true
        }
    }

    /// As above, for every content that is not complete (all, for `remove`; samples only when told; cancelled ones are
    /// spared by `fetch`). Answers how many were changed.
    package func setDesireOfAll(_ desire: Desire, includingSamples: Bool, now: Timestamp) throws -> Int {
        try atomically {
            switch desire {
            case .fetch: try setDesire(desire, of: "desire NOT IN (2, 3) AND state <> 4", [], now: now)
            case .pause: try setDesire(desire, of: "desire <> 2", [], now: now)
            case .cancel: try setDesire(desire, of: "TRUE", [], now: now)
            case .remove:
                try setDesire(
                    desire, of: includingSamples ? "TRUE" : "content_type <> ?",
                    includingSamples ? [] : [ContentType.sample.sqliteValue], now: now)
            }
        }
    }

    @discardableResult
    private func setDesire(
        _ desire: Desire, of condition: String, _ values: [SQLiteValue], now: Timestamp
    ) throws -> Int {
        let mayChange =
            switch desire {
            case .fetch: "\(condition) AND state <> 7"
            case .pause, .cancel: "\(condition) AND state NOT IN (4, 7) AND desire <> 3"
            case .remove: condition
            }
        // The state first: what it changes leaves the rows within the condition, which the desire might not.
        switch desire {
        case .fetch: try startAnew(mayChange, values, now: now)
        case .pause, .cancel:
            // What went wrong before is no longer why it stands still.
            let code: Int? = desire == .cancel ? LectureError.Code.cancelled.number : nil
            try connection.execute(
                """
                UPDATE content SET state = 5, stop_reason = 1, next_attempt_ms = NULL, wait_set_ms = NULL,
                    error_code = ?, error_detail = '', error_cause = ''
                WHERE \(mayChange) AND lease_owner IS NULL
                """, values: [code.sqliteValue] + values)
        case .remove: break
        }
        return try connection.execute(
            "UPDATE content SET desire = ?, updated_ms = ? WHERE \(mayChange)",
            values: [desire.sqliteValue, now.sqliteValue] + values)
    }

    // MARK: Order

    /// The distance between neighbours of the queue, so that a content can be put between two without touching others.
    static let positionGap: Int64 = 1024

    /// Stores a priority. The content becomes the last of its new priority.
    ///
    /// - Parameters:
    ///   - key: of the content.
    ///   - priority: −100 (last) … 100 (first).
    /// - Returns: false for an unknown key.
    /// - Throws: ``LectureError`` with the code `parameter` for a number out of range.
    package func setPriority(_ key: ContentKey, _ priority: Int) throws -> Bool {
        guard (-100...100).contains(priority) else {
            throw LectureError(.parameter, detail: "priority", cause: "-100 to 100")
        }
        return try atomically {
            guard let item = try connection.item(key: key) else { return false }
            guard item.content.priority != priority else { return true }
            try place(item.id, priority: priority, position: try lastPosition(priority: priority) + Self.positionGap)
            return true
        }
    }

    /// Moves a content before another, or to the very first or last place of the queue. It takes the priority of its
    /// new neighbour, since priority goes before place.
    ///
    /// - Parameters:
    ///   - key: of the content to move.
    ///   - other: the content it comes before; nil for an end of the queue.
    ///   - toEnd: without `other`: true for the last place, false for the first.
    /// - Returns: false for an unknown key.
    /// - Throws: ``LectureError``.
    package func move(_ key: ContentKey, before other: ContentKey?, toEnd: Bool) throws -> Bool {
        try atomically {
            guard let item = try connection.item(key: key) else { return false }
            guard let other else { return try moveToEdge(item.id, last: toEnd) }
            guard let next = try connection.item(key: other) else { return false }
            guard next.id != item.id else { return true }
            let priority = next.content.priority
            var high = next.content.position
            var low = try position(before: high, priority: priority, besides: item.id)
            if let neighbour = low, high - neighbour < 2 {
                try spread(priority: priority)
                high = try connection.item(id: next.id)?.content.position ?? high
                low = try position(before: high, priority: priority, besides: item.id)
            }
            try place(
                item.id, priority: priority, position: low.map { $0 + (high - $0) / 2 } ?? high - Self.positionGap)
            return true
        }
    }

    /// The last position used among contents of a priority; 0 when there are none.
    func lastPosition(priority: Int) throws -> Int64 {
        try connection.first(
            """
            SELECT position FROM content INDEXED BY content_priority WHERE priority = ?
            ORDER BY position DESC LIMIT 1
            """, priority
        ) { $0.int64(0) } ?? 0
    }

    private func position(before position: Int64, priority: Int, besides content: ContentID) throws -> Int64? {
        try connection.first(
            """
            SELECT position FROM content INDEXED BY content_priority
            WHERE priority = ? AND position < ? AND id <> ? ORDER BY position DESC LIMIT 1
            """, priority, position, content
        ) { $0.int64(0) }
    }

    private func moveToEdge(_ content: ContentID, last: Bool) throws -> Bool {
        let order = last ? "priority ASC, position DESC" : "priority DESC, position ASC"
        // Two steps, so that each is one look into the index: the outermost priority, then its outermost place.
        let edge = try connection.first(
            """
            SELECT priority FROM content INDEXED BY content_priority WHERE id <> ?
            ORDER BY \(last ? "priority ASC" : "priority DESC") LIMIT 1
            """, content
        ) { $0.int(0) }
        guard let edge else { return true }
        let position =
            try connection.first(
                """
                SELECT position FROM content INDEXED BY content_priority WHERE priority = ? AND id <> ?
                ORDER BY \(order) LIMIT 1
                """, edge, content
            ) { $0.int64(0) } ?? 0
        let gap = last ? Self.positionGap : -Self.positionGap
        try place(content, priority: edge, position: position + gap)
        return true
    }

    private func place(_ content: ContentID, priority: Int, position: Int64) throws {
        try connection.execute(
            "UPDATE content SET priority = ?, position = ? WHERE id = ?", priority, position, content)
    }

    /// Gives the contents of a priority even distances again.
    private func spread(priority: Int) throws {
        try connection.execute(
            """
            UPDATE content SET position = numbered.place * ?2
            FROM (SELECT id, row_number() OVER (ORDER BY position, id) AS place FROM content WHERE priority = ?1)
                AS numbered
            WHERE content.id = numbered.id
            """, priority, Self.positionGap)
    }
}
