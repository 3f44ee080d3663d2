package import LectureFormats

// The names and labels that monitoring relies on; docs/monitoring.md has the table.

extension StoreMetrics {
    /// The figures as text for Prometheus: OpenMetrics 1.0, which readers of the text format 0.0.4 read as well.
    ///
    /// - Returns: the text in UTF-8; it ends with `# EOF` and a line end.
    public func openMetrics() -> [UInt8] { OpenMetrics.text(families) }

    /// The names of all labels that the families use.
    package static let labelNames: Set<String> = [
        "course", "state", "reason", "code", "name", "within", "target", "format", "host", "task", "version",
        "endpoint",
    ]

    /// The course of the lectures that have no group of their own. A course of this name is one of them.
    package static let otherCourses = "other"

    /// The figures by their names.
    package var families: [MetricFamily] {
        contentFamilies + licenceFamilies + reportFamilies + webhookFamilies + spaceFamilies + timeFamilies
    }

    /// The figures by their names, and first of all which program has read them.
    ///
    /// - Parameter version: of the program.
    /// - Returns: the families.
    package func families(readBy version: String) -> [MetricFamily] {
        var build = MetricFamily("lecturekit_build_info", "The version of the program that has read the figures.")
        build.add(.integer(1), [.init("version", version)])
        return [build] + families
    }

    private var contentFamilies: [MetricFamily] {
        var contents = MetricFamily(
            "lecturekit_contents", "Lectures by course and state; the course 'other' stands for all smaller ones.")
        var bytes = MetricFamily("lecturekit_content_bytes", "Verified bytes on the disk by course and state.")
        for group in groups {
            let labels: [MetricFamily.Label] = [
                .init("course", group.course ?? Self.otherCourses), .init("state", group.state.name),
            ]
            contents.add(.integer(Int64(group.contents)), labels)
            bytes.add(.integer(group.committedBytes), labels)
        }
        var stops = MetricFamily("lecturekit_contents_stopped", "Stopped lectures by reason.")
        for reason in StopReason.allCases {
            if let count = self.stops[reason] { stops.add(.integer(Int64(count)), [.init("reason", reason.name)]) }
        }
        var codes = MetricFamily("lecturekit_content_errors", "Lectures by their last error.")
        for (number, count) in errors.sorted(by: { $0.key > $1.key }) {
            codes.add(
                .integer(Int64(count)),
                [.init("code", "\(number)"), .init("name", LectureError.Code.stored(number).name)])
        }
        let courses = MetricFamily("lecturekit_courses", "Courses that have lectures.", .integer(Int64(courses)))
        return [contents, bytes, courses, stops, codes]
    }

    private var licenceFamilies: [MetricFamily] {
        func family(_ name: String, _ help: String, _ count: Int?) -> MetricFamily {
            MetricFamily(name, help, count.map { .integer(Int64($0)) })
        }
        var ending = MetricFamily(
            "lecturekit_licences_ending", "Licences that will have ended within this time; each includes the sooner.")
        for days in Licences.days {
            guard let licences else { break }
            ending.add(.integer(Int64(licences.ending[days] ?? 0)), [.init("within", "\(days)d")])
        }
        return [
            family("lecturekit_licences", "Licences granted for lectures of the store.", licences?.granted),
            family("lecturekit_licences_ended", "Licences that have ended.", licences?.ended), ending,
            family(
                "lecturekit_licences_check_overdue",
                "Licences that have not ended but must be checked by their server before the next play.",
                licences?.checkOverdue),
        ]
    }

    private var reportFamilies: [MetricFamily] {
        var waiting = MetricFamily("lecturekit_reports_waiting", "Learning reports not delivered yet, by target.")
        var dead = MetricFamily("lecturekit_reports_dead", "Learning reports refused for good, by target.")
        var oldest = MetricFamily(
            "lecturekit_reports_oldest_waiting_timestamp_seconds",
            "When the oldest learning report that waits for a target was made.")
        for target in targets {
            let labels: [MetricFamily.Label] = [
                .init("target", target.number.map { "\($0)" } ?? "none"),
                .init("format", target.format?.rawValue ?? ""), .init("host", target.host),
            ]
            waiting.add(.integer(Int64(target.waiting)), labels)
            dead.add(.integer(Int64(target.dead)), labels)
            if let time = target.oldestWaiting { oldest.add(.milliseconds(time.milliseconds), labels) }
        }
        return [waiting, dead, oldest]
    }

    private var webhookFamilies: [MetricFamily] {
        var deliveries = MetricFamily(
            "lecturekit_webhook_deliveries", "Events of webhooks that have not arrived, by endpoint and state.")
        var oldest = MetricFamily(
            "lecturekit_webhook_oldest_waiting_timestamp_seconds",
            "When the event happened that waits longest for an endpoint.")
        var gone = MetricFamily(
            "lecturekit_webhook_gone", "Whether the receiver has switched the endpoint off (HTTP 410).")
        for webhook in webhooks {
            let endpoint = MetricFamily.Label("endpoint", "\(webhook.number)")
            let labels = [endpoint, .init("host", webhook.host)]
            deliveries.add(.integer(Int64(webhook.waiting)), labels + [.init("state", "waiting")])
            deliveries.add(.integer(Int64(webhook.dead)), labels + [.init("state", "dead")])
            deliveries.add(.integer(Int64(webhook.expired)), labels + [.init("state", "expired")])
            gone.add(.integer(webhook.isGone ? 1 : 0), labels)
            if let time = webhook.oldestWaiting { oldest.add(.milliseconds(time.milliseconds), labels) }
        }
        return [deliveries, oldest, gone]
    }

    private var spaceFamilies: [MetricFamily] {
        func family(_ name: String, _ help: String, _ bytes: Int64?) -> MetricFamily {
            MetricFamily("lecturekit_\(name)_bytes", help, bytes.map { .integer($0) })
        }
        return [
            family("disk_free", "Free bytes on the file system of the store, for unprivileged users.", space.free),
            family("disk_size", "The size of the file system of the store.", space.size),
            family("disk_reserve", "Bytes that downloads leave free.", space.reserve),
            family("store_used", "Verified bytes of all lectures.", space.used),
            family("store_quota", "Bytes that all lectures may take together; absent without a limit.", space.quota),
            family("stream_cache", "Bytes in the cache of streams.", space.streamCache),
            family("database", "The size of the database without its log.", space.database),
        ]
    }

    private var timeFamilies: [MetricFamily] {
        var tasks = MetricFamily(
            "lecturekit_last_success_timestamp_seconds", "When a task last succeeded; absent when it never did.")
        for task in Task.allCases {
            if let time = lastSuccesses[task] {
                tasks.add(.milliseconds(time.milliseconds), [.init("task", task.rawValue)])
            }
        }
        return [
            tasks,
            MetricFamily(
                "lecturekit_metrics_timestamp_seconds", "When these figures were read.",
                .milliseconds(read.milliseconds)),
        ]
    }
}
