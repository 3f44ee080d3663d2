package import LectureModel
import LectureSQLite

/// Endpoints of webhooks, and events on their way. Tables webhook, webhook_event and webhook_delivery.
///
/// Events are written by triggers of the schema, in the statement that makes them true. A delivery that has arrived is
/// deleted, and the endpoint counts it; so do those that were given up.
///
/// Confined to the owner of the connection.
package struct WebhookRows: WebhookJournal {
    let connection: Connection

    // MARK: Endpoints

    private static let endpointColumns = """
        SELECT id, url, kinds, failures, next_attempt_ms, wait_set_ms, suspension, answer_ms, answer_status, created,
            waiting, dead, delivered, expired, delivered_ms,
            (SELECT happened_ms FROM webhook_delivery INDEXED BY webhook_delivery_endpoint
                WHERE webhook_id = webhook.id AND state = \(sql: WebhookDelivery.State.waiting) ORDER BY id LIMIT 1)
        FROM webhook ORDER BY id
        """

    /// All endpoints, in the order of their rows.
    package func endpoints() throws -> [WebhookEntry] {
        try connection.query(Self.endpointColumns) { row in
            var entry = WebhookEntry(id: row.id(0), url: row.text(1), kinds: WebhookKinds(bits: row.int(2)))
            entry.condition.failures = row.int(3)
            entry.condition.wait = Self.wait(row, 4)
            entry.condition.isSuspended = !row.isNull(6)
            (entry.condition.answered, entry.condition.status) = (row.optionalTimestamp(7), row.optionalInt(8))
            (entry.created, entry.waiting, entry.dead) = (row.int(9), row.int(10), row.int(11))
            (entry.delivered, entry.expired) = (row.int(12), row.int(13))
            (entry.lastDelivered, entry.oldestWaiting) = (row.optionalTimestamp(14), row.optionalTimestamp(15))
            return entry
        }
    }

    /// Stores what an endpoint has done.
    package func store(_ condition: WebhookCondition, of endpoint: WebhookID) throws {
        try connection.execute(
            """
            UPDATE webhook SET failures = ?, next_attempt_ms = ?, wait_set_ms = ?, suspension = ?, answer_ms = ?,
                answer_status = ? WHERE id = ?
            """, condition.failures, condition.wait?.due, condition.wait?.setAt,
            condition.isSuspended ? 1 : nil as Int?,
            condition.answered, condition.status, endpoint)
    }

    /// Makes the endpoints those of a configuration. One whose selection has changed is asked again.
    package func follow(_ endpoints: [(url: String, kinds: WebhookKinds)]) throws -> [WebhookEntry] {
        try connection.atomically {
            let known = try self.endpoints()
            let removed = known.filter { entry in !endpoints.contains { $0.url.utf8.elementsEqual(entry.url.utf8) } }
            for entry in removed { try connection.execute("DELETE FROM webhook WHERE id = ?", entry.id) }
            for (url, kinds) in endpoints {
                try connection.execute(
                    """
                    INSERT INTO webhook(url, kinds) VALUES (?1, ?2) ON CONFLICT (url) DO UPDATE SET kinds = ?2,
                        suspension = NULL, failures = 0, next_attempt_ms = NULL, wait_set_ms = NULL WHERE kinds <> ?2
                    """, url, kinds.bits)
            }
            return removed
        }
    }

    // MARK: Deliveries

    private static let deliveryColumns = """
        webhook_delivery.id, webhook_delivery.webhook_id, webhook_delivery.state, attempts, refusals, next_attempt_ms,
        wait_set_ms, answer_ms, answer_status, event.id, event.kind, event.happened_ms, event.content_key, event.course,
        event.title, event.bytes, event.error_code, event.report_uuid, event.dead_reason, event.status
        """

    /// Nothing of its lane waits before it.
    private static let isFirst = """
        NOT EXISTS (SELECT 1 FROM webhook_delivery AS older INDEXED BY webhook_delivery_lane
            WHERE older.webhook_id = webhook_delivery.webhook_id AND older.lane = webhook_delivery.lane
                AND older.state = \(sql: WebhookDelivery.State.waiting) AND older.id < webhook_delivery.id)
        """

    private static let due = """
        SELECT \(deliveryColumns)
        FROM webhook_delivery JOIN webhook_event AS event ON event.id = webhook_delivery.event_id
        WHERE webhook_delivery.webhook_id = ?2 AND webhook_delivery.state = \(sql: WebhookDelivery.State.waiting)
            AND \(Claim.webhookDelivery.isDue("?1")) AND \(isFirst)
        ORDER BY webhook_delivery.id LIMIT ?3
        """

    /// Claims deliveries that may be sent now: the first of each lane, the oldest first.
    package func claim(
        _ endpoint: WebhookID, owner: OwnerID, limit: Int, now: Timestamp
    ) throws -> [WebhookDelivery] {
        guard limit > 0 else { return [] }
        return try connection.atomically {
            try connection.query(Self.due, now, endpoint, limit) { try Self.delivery($0) }.filter { delivery in
                try connection.execute(ClaimStatements.takeWebhookDelivery, owner, delivery.id) == 1
            }
        }
    }

    private static let isFreshThere = """
        SELECT EXISTS (SELECT 1 FROM webhook_delivery
            WHERE webhook_id = ? AND state = \(sql: WebhookDelivery.State.waiting) AND next_attempt_ms IS NULL
                AND \(Claim.webhookDelivery.isFree) AND \(isFirst))
        """

    /// When something may be sent next. What this process has claimed does not count.
    package func outlook(_ endpoint: WebhookID, owner: OwnerID?, now: Timestamp) throws -> WebhookOutlook {
        var outlook = WebhookOutlook()
        if try connection.first(Self.isFreshThere, endpoint, read: { $0.bool(0) }) == true {
            outlook.next = .zero
        } else {
            outlook.next = try connection.query(
                """
                SELECT next_attempt_ms, wait_set_ms FROM webhook_delivery INDEXED BY webhook_delivery_waiting
                WHERE webhook_id = ? AND state = \(sql: WebhookDelivery.State.waiting) AND next_attempt_ms IS NOT NULL
                    AND \(Claim.webhookDelivery.isFree) AND \(Self.isFirst)
                """, endpoint
            ) { (Self.wait($0, 0) ?? RetryWait(setAt: now, due: now)).remaining(at: now) }.min()
        }
        outlook.isHeldElsewhere =
            try connection.first(
                """
                SELECT EXISTS (SELECT 1 FROM webhook_delivery INDEXED BY webhook_delivery_owner
                    WHERE owner_id IS NOT NULL AND owner_id IS NOT ? AND webhook_id = ?)
                """, owner, endpoint, read: { $0.bool(0) }) ?? false
        return outlook
    }

    /// It has arrived, even if the claim was lost meanwhile.
    package func delivered(_ delivery: WebhookDeliveryID, now: Timestamp) throws {
        try connection.atomically {
            try connection.execute(
                """
                UPDATE webhook_delivery SET state = \(sql: WebhookDelivery.State.waiting)
                WHERE id = ? AND state = \(sql: WebhookDelivery.State.dead)
                """, delivery)
            try connection.execute(
                """
                UPDATE webhook SET delivered_ms = ? WHERE id = (SELECT webhook_id FROM webhook_delivery WHERE id = ?)
                """, now, delivery)
            try connection.execute("DELETE FROM webhook_delivery WHERE id = ?", delivery)
        }
    }

    /// Stores the result of an attempt that has not arrived.
    package func settle(_ delivery: WebhookDelivery, owner: OwnerID) throws {
        try connection.execute(
            """
            UPDATE webhook_delivery SET \(Claim.webhookDelivery.freed), state = ?, attempts = ?, refusals = ?,
                next_attempt_ms = ?, wait_set_ms = ?, answer_ms = ?, answer_status = ?
            WHERE id = ? AND \(Claim.webhookDelivery.isHeld(by: "?"))
            """, delivery.state.rawValue, delivery.attempts, delivery.refusals, delivery.wait?.due,
            delivery.wait?.setAt, delivery.answered, delivery.status, delivery.id, owner)
    }

    /// Ends a claim.
    package func release(_ delivery: WebhookDeliveryID, owner: OwnerID) throws {
        try connection.execute(ClaimStatements.releaseWebhookDelivery, delivery, owner)
    }

    /// Deliveries in a state, in the order of their rows.
    package func deliveries(
        _ endpoint: WebhookID, in state: WebhookDelivery.State, after last: WebhookDeliveryID?, limit: Int
    ) throws -> [WebhookDelivery] {
        try connection.query(
            """
            SELECT \(Self.deliveryColumns)
            FROM webhook_delivery INDEXED BY webhook_delivery_endpoint
            JOIN webhook_event AS event ON event.id = webhook_delivery.event_id
            WHERE webhook_delivery.webhook_id = ? AND webhook_delivery.state = ? AND webhook_delivery.id > ?
            ORDER BY webhook_delivery.id LIMIT ?
            """, endpoint, state.rawValue, last ?? WebhookDeliveryID(0), max(0, limit)
        ) { try Self.delivery($0) }
    }

    // MARK: Upkeep

    /// Gives up what is too old, and the oldest beyond a number.
    package func expire(before: Timestamp, limit: Int) throws -> Int {
        try connection.atomically {
            let kept = "\(sql: [WebhookDelivery.State.waiting, .dead])"
            let mayGo = "webhook_id = ?1 AND state IN \(kept) AND \(Claim.webhookDelivery.isFree)"
            let expired = "UPDATE webhook_delivery SET state = \(sql: WebhookDelivery.State.expired)"
            var count = 0
            for entry in try endpoints() where entry.waiting + entry.dead > 0 {
                count += try connection.execute("\(expired) WHERE \(mayGo) AND happened_ms < ?2", entry.id, before)
                let excess =
                    try connection.first(
                        "SELECT waiting + dead FROM webhook WHERE id = ?", entry.id, read: { $0.int(0) }
                    ).map { $0 - limit } ?? 0
                guard excess > 0 else { continue }
                count += try connection.execute(
                    """
                    \(expired)
                    WHERE id IN (SELECT id FROM webhook_delivery WHERE \(mayGo) ORDER BY id LIMIT ?2)
                    """, entry.id, excess)
            }
            guard count > 0 else { return 0 }
            try connection.execute(
                "DELETE FROM webhook_delivery WHERE state = \(sql: WebhookDelivery.State.expired)")
            return count
        }
    }

    /// Dead ones wait again, waits end, and the endpoint is asked again.
    package func revive(_ endpoint: WebhookID) throws -> Int {
        try connection.atomically {
            try connection.execute(
                """
                UPDATE webhook SET suspension = NULL, failures = 0, next_attempt_ms = NULL, wait_set_ms = NULL
                WHERE id = ?
                """, endpoint)
            try connection.execute(
                """
                UPDATE webhook_delivery SET next_attempt_ms = NULL, wait_set_ms = NULL, refusals = 0
                WHERE webhook_id = ? AND state = \(sql: WebhookDelivery.State.waiting) AND next_attempt_ms IS NOT NULL
                """, endpoint)
            return try connection.execute(
                """
                UPDATE webhook_delivery SET state = \(sql: WebhookDelivery.State.waiting), refusals = 0,
                    next_attempt_ms = NULL, wait_set_ms = NULL
                WHERE webhook_id = ? AND state = \(sql: WebhookDelivery.State.dead)
                """, endpoint)
        }
    }

    // MARK: Rows

    private static func wait(_ row: borrowing Row, _ column: Int32) -> RetryWait? {
        guard let due = row.optionalTimestamp(column), let set = row.optionalTimestamp(column + 1) else { return nil }
        return RetryWait(setAt: set, due: due)
    }

    private static func delivery(_ row: borrowing Row) throws -> WebhookDelivery {
        var event = WebhookEvent(
            id: row.int64(9), kind: try row.enumeration(10, WebhookKind.self), happened: row.timestamp(11))
        (event.key, event.course, event.title) = (row.text(12), row.text(13), row.text(14))
        (event.bytes, event.error, event.report) = (row.optionalInt64(15), row.optionalInt(16), row.optionalText(17))
        event.deadReason = row.isNull(18) ? nil : try row.enumeration(18, DeadReason.self)
        event.status = row.optionalInt(19)
        var delivery = WebhookDelivery(id: row.id(0), endpoint: row.id(1), event: event)
        delivery.state = try row.enumeration(2, WebhookDelivery.State.self)
        (delivery.attempts, delivery.refusals) = (row.int(3), row.int(4))
        delivery.wait = wait(row, 5)
        (delivery.answered, delivery.status) = (row.optionalTimestamp(7), row.optionalInt(8))
        return delivery
    }
}

extension SQLiteContentQueries {
    /// Webhooks on the connection of the queries: only for reading.
    package var webhooks: WebhookRows { WebhookRows(connection: connection) }
}
