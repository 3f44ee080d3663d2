package import LectureModel
import LectureSQLite

/// The target state of a lecture, and its place in the queue. A lecture without a lease follows a target state at once;
/// the holder of a lease sees it in ``OwnerRows/changedTargetStates(owner:)``.
///
/// Confined to the owner of the store's writer, like its connection.
package struct TargetRows {
    let store: SQLiteDownloadIndex
    var connection: Connection { store.connection }

    /// Stores a target state; a lecture without a lease follows at once (`pause` and `cancel` → stopped(user); `fetch`
    /// → queued unless complete). Returns false for an unknown key.
    ///
    /// A removal in progress continues; a requested one is only revoked by `fetch`.
    package func setTargetState(_ key: ContentKey, _ targetState: TargetState, now: Timestamp) throws -> Bool {
        try connection.atomically {
            guard let id = try connection.item(key: key)?.id else { return false }
            try setTargetState(targetState, of: "id = ?", [id.sqliteValue], now: now)
            return true
        }
    }

    /// Requests the removal of lectures.
    ///
    /// - Parameters:
    ///   - keys: which ones.
    ///   - now: the wall clock.
    /// - Returns: for each, in order, its current key; nil for an unknown one.
    /// - Throws: ``LectureError``.
    package func requestRemoval(of keys: [ContentKey], now: Timestamp) throws -> [ContentKey?] {
        try connection.atomically {
            try keys.map { key in
                guard let item = try connection.item(key: key) else { return nil }
                try setTargetState(.remove, of: "id = ?", [item.id.sqliteValue], now: now)
                return item.content.key
            }
        }
    }

    /// As above, for every lecture that is not complete (all, for `remove`; samples only when included; `fetch` skips
    /// cancelled ones). Returns how many were changed.
    package func setTargetStateOfAll(_ targetState: TargetState, includingSamples: Bool, now: Timestamp) throws -> Int {
        try connection.atomically {
            switch targetState {
            case .fetch:
                try setTargetState(
                    targetState,
                    of: """
                        desire NOT IN \(sql: [TargetState.cancel, .remove]) AND state <> \(sql: ItemState.completed)
                        """, [], now: now)
            case .pause: try setTargetState(targetState, of: "desire <> \(sql: TargetState.cancel)", [], now: now)
            case .cancel: try setTargetState(targetState, of: "TRUE", [], now: now)
            case .remove:
                try setTargetState(
                    targetState, of: includingSamples ? "TRUE" : "content_type <> ?",
                    includingSamples ? [] : [ContentType.sample.sqliteValue], now: now)
            }
        }
    }

    @discardableResult
    private func setTargetState(
        _ targetState: TargetState, of condition: String, _ values: [SQLiteValue], now: Timestamp
    ) throws -> Int {
        let mayChange =
            switch targetState {
            case .fetch: "\(condition) AND state <> \(sql: ItemState.removing)"
            case .pause, .cancel:
                """
                \(condition) AND state NOT IN \(sql: [ItemState.completed, .removing]) \
                AND desire <> \(sql: TargetState.remove)
                """
            case .remove: condition
            }
        // The state first: changing it keeps the rows within the condition, which changing the target state might not.
        switch targetState {
        case .fetch: try store.requests.startAnew(mayChange, values, now: now)
        case .pause, .cancel:
            // An earlier failure is no longer the reason that it is stopped.
            let code: Int? = targetState == .cancel ? LectureError.Code.cancelled.number : nil
            try connection.execute(
                """
                UPDATE content SET state = \(sql: ItemState.stopped), stop_reason = \(sql: StopReason.user),
                    next_attempt_ms = NULL, wait_set_ms = NULL, error_code = ?, error_detail = '', error_cause = ''
                WHERE \(mayChange) AND \(Claim.content.isFree)
                """, values: [code.sqliteValue] + values)
        case .remove: break
        }
        return try connection.execute(
            "UPDATE content SET desire = ?, updated_ms = ? WHERE \(mayChange)",
            values: [targetState.sqliteValue, now.sqliteValue] + values)
    }

    // MARK: Order

    /// The distance between neighbours of the queue, so that a lecture can be put between two without changing others.
    static let positionGap: Int64 = 1024

    /// Stores a priority. The lecture becomes the last of its new priority.
    ///
    /// - Parameters:
    ///   - key: of the lecture.
    ///   - priority: −100 (last) … 100 (first).
    /// - Returns: false for an unknown key.
    /// - Throws: ``LectureError`` with the code `parameter` for a number out of range.
    package func setPriority(_ key: ContentKey, _ priority: Int) throws -> Bool {
        guard (-100...100).contains(priority) else {
            throw LectureError(.parameter, detail: "priority", cause: "-100 to 100")
        }
        return try connection.atomically {
            guard let item = try connection.item(key: key) else { return false }
            guard item.content.priority != priority else { return true }
            try place(item.id, priority: priority, position: try lastPosition(priority: priority) + Self.positionGap)
            return true
        }
    }

    /// Moves a lecture before another, or to the first or last position of the queue. It takes the priority of its new
    /// neighbour, since priority comes before position.
    ///
    /// - Parameters:
    ///   - key: of the lecture to move.
    ///   - other: the lecture it comes before; nil for an end of the queue.
    ///   - toEnd: without `other`: true for the last position, false for the first.
    /// - Returns: false for an unknown key.
    /// - Throws: ``LectureError``.
    package func move(_ key: ContentKey, before other: ContentKey?, toEnd: Bool) throws -> Bool {
        try connection.atomically {
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

    /// The last position used among lectures of a priority; 0 when there are none.
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
        // Two steps, so that each is one index lookup: the outermost priority, then its outermost position.
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

    /// Spaces the lectures of a priority evenly again.
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
