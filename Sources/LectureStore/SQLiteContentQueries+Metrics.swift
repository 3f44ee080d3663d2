import LectureFormats
package import LectureModel
import LectureSQLite

extension SQLiteContentQueries {
    /// The figures of the store on one snapshot, all but those of its file system and of the settings.
    ///
    /// - Parameters:
    ///   - now: the wall clock.
    ///   - judged: the time at which licences are evaluated; nil leaves them out.
    ///   - limit: how many courses have figures of their own: those with the most lectures.
    /// - Returns: the figures.
    /// - Throws: ``LectureError`` when the store cannot be read.
    package func metrics(now: Timestamp, licencesAt judged: Timestamp?, courses limit: Int) throws -> StoreMetrics {
        try consistently {
            try MetricQueries(connection: connection).metrics(now: now, licencesAt: judged, courses: limit)
        }
    }
}

/// What a store has for monitoring: sums over its tables, each by an index.
private struct MetricQueries {
    let connection: Connection

    func metrics(now: Timestamp, licencesAt judged: Timestamp?, courses limit: Int) throws -> StoreMetrics {
        var metrics = StoreMetrics(read: now)
        let tallies = try connection.query("SELECT state, contents, bytes_proven FROM tally") { row in
            (state: try row.enumeration(0, ItemState.self), contents: row.int(1), bytes: row.int64(2))
        }
        metrics.groups = try largestCourses(limit)
        // What the listed courses do not have is the others'.
        for (state, contents, bytes) in tallies {
            let listed = metrics.groups.filter { $0.state == state }
            let rest = StoreMetrics.Group(
                course: nil, state: state, contents: contents - listed.reduce(0) { $0 + $1.contents },
                committedBytes: bytes - listed.reduce(0) { $0 + $1.committedBytes })
            if rest.contents > 0 { metrics.groups.append(rest) }
        }
        metrics.courses = try count(
            "SELECT count(DISTINCT course) FROM content INDEXED BY content_course WHERE course <> ''")
        metrics.errors = try errorCounts()
        metrics.stops = try stopCounts()
        metrics.licences = try judged.map { try licenceFigures(at: $0) }
        metrics.targets = try reportFigures()
        metrics.webhooks = try webhookFigures()
        metrics.space.used = tallies.reduce(0) { $0 + $1.bytes }
        metrics.space.streamCache = Int64(try count("SELECT bytes FROM stream_tally"))
        metrics.space.database = Int64(
            try count("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"))
        for task in StoreMetrics.Task.allCases { metrics.lastSuccesses[task] = try lastSuccess(of: task) }
        return metrics
    }

    private func count(_ sql: String) throws -> Int { try connection.first(sql) { $0.int(0) } ?? 0 }

    private func largestCourses(_ limit: Int) throws -> [StoreMetrics.Group] {
        try connection.query(
            """
            WITH largest AS MATERIALIZED (
                SELECT course, count(*) AS contents FROM content INDEXED BY content_course WHERE course <> ?1
                GROUP BY course ORDER BY contents DESC, course LIMIT ?2)
            SELECT largest.course, content.state, count(*), sum(content.bytes_proven)
            FROM largest CROSS JOIN content INDEXED BY content_course ON content.course = largest.course
            GROUP BY largest.course, content.state ORDER BY largest.course, content.state
            """, StoreMetrics.otherCourses, max(0, limit)
        ) { row in
            StoreMetrics.Group(
                course: row.text(0), state: try row.enumeration(1, ItemState.self), contents: row.int(2),
                committedBytes: row.int64(3))
        }
    }

    private func errorCounts() throws -> [Int: Int] {
        let rows = try connection.query(
            """
            SELECT error_code, count(*) FROM content INDEXED BY content_error WHERE error_code IS NOT NULL
            GROUP BY error_code
            """
        ) { ($0.int(0), $0.int(1)) }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    private func stopCounts() throws -> [StopReason: Int] {
        let rows = try connection.query(
            """
            SELECT stop_reason, count(*) FROM content INDEXED BY content_state
            WHERE state = \(sql: ItemState.stopped) GROUP BY stop_reason
            """
        ) { (try $0.enumeration(0, StopReason.self), $0.int(1)) }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    /// A licence that ends within a time has a deadline within it, so that the index has all of them.
    private func licenceFigures(at now: Timestamp) throws -> StoreMetrics.Licences {
        var licences = StoreMetrics.Licences()
        licences.granted = try count(
            """
            SELECT count(*) FROM licence INDEXED BY licence_granting
            WHERE content_id IS NOT NULL AND form IS NOT NULL AND is_deleted = 0
            """)
        let bounds = StoreMetrics.Licences.days.map { now + .seconds($0 * 86_400) }
        let columns = bounds.indices.map { "total(NOT has_ended AND expires_ms <= ?\($0 + 2))" }
        let counts = try connection.first(
            """
            SELECT total(has_ended), total(NOT has_ended AND deadline_ms <= ?1), \(columns.joined(separator: ", "))
            FROM (SELECT deadline_ms, expires_ms,
                    is_force_expired = 1 OR was_seen_expired = 1 OR coalesce(expires_ms <= ?1, 0) AS has_ended
                FROM licence INDEXED BY licence_deadline
                WHERE content_id IS NOT NULL AND deadline_ms <= ?\(bounds.count + 1))
            """, values: [now.sqliteValue] + bounds.map(\.sqliteValue)
        ) { row in (0..<Int32(bounds.count + 2)).map { row.int($0) } }
        guard let counts else { return licences }
        (licences.ended, licences.checkOverdue) = (counts[0], counts[1])
        licences.ending = Dictionary(uniqueKeysWithValues: zip(StoreMetrics.Licences.days, counts[2...]))
        return licences
    }

    private func reportFigures() throws -> [StoreMetrics.Target] {
        let rows = ReportRows(connection: connection)
        var targets = try rows.targets().map { entry in
            // The origin's text without its scheme: of a URL, all that is no secret and no path.
            let origin = try? Origin(parsing: entry.address.url).text
            let host = origin?.split(separator: "/").last.map(String.init) ?? ""
            return StoreMetrics.Target(number: entry.id.value, format: entry.address.format, host: host)
        }
        let counts = try connection.query(
            """
            SELECT lms_lane.target_id, report.state, count(*), min(coalesce(report.corrected_ms, report.wall_ms))
            FROM report INDEXED BY report_state CROSS JOIN lms_lane ON lms_lane.id = report.lane_id
            WHERE report.state IN \(sql: [ReportState.pending, .leased, .dead])
            GROUP BY lms_lane.target_id, report.state
            """
        ) { row in
            (
                target: row.optionalInt64(0), state: try row.enumeration(1, ReportState.self), count: row.int(2),
                oldest: row.timestamp(3)
            )
        }
        for count in counts {
            if !targets.contains(where: { $0.number == count.target }) {
                targets.append(StoreMetrics.Target(number: count.target, format: nil, host: ""))
            }
            for place in targets.indices where targets[place].number == count.target {
                if count.state == .dead {
                    targets[place].dead = count.count
                } else {
                    targets[place].waiting += count.count
                    targets[place].oldestWaiting = min(targets[place].oldestWaiting ?? count.oldest, count.oldest)
                }
            }
        }
        return targets
    }

    private func webhookFigures() throws -> [StoreMetrics.Webhook] {
        try WebhookRows(connection: connection).endpoints().map { entry in
            let origin = try? Origin(parsing: entry.url).text
            let host = origin?.split(separator: "/").last.map(String.init) ?? ""
            var webhook = StoreMetrics.Webhook(number: entry.id.value, host: host)
            (webhook.waiting, webhook.dead) = (entry.waiting, entry.dead)
            (webhook.delivered, webhook.expired) = (entry.delivered, entry.expired)
            (webhook.oldestWaiting, webhook.isGone) = (entry.oldestWaiting, entry.condition.isSuspended)
            return webhook
        }
    }

    private func lastSuccess(of task: StoreMetrics.Task) throws -> Timestamp? {
        let sql =
            switch task {
            case .precache: "SELECT max(completed_ms) FROM content INDEXED BY content_completed"
            case .licenceRenewal:
                "SELECT at_ms FROM licence_attempt WHERE outcome IN ('permitted', 'reset') ORDER BY id DESC LIMIT 1"
            case .reportDelivery:
                """
                SELECT changed_ms FROM report INDEXED BY report_ended
                WHERE state IN \(sql: [ReportState.delivered, .superseded, .expired])
                    AND +state = \(sql: ReportState.delivered)
                ORDER BY changed_ms DESC LIMIT 1
                """
            case .backup: "SELECT max(made_ms) FROM backup_copy"
            case .courseList: "SELECT max(read_ms) FROM course_list WHERE read_ms > 0"
            }
        return try connection.first(sql) { $0.optionalTimestamp(0) } ?? nil
    }
}
