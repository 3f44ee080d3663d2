import LectureFormats
import LectureModel
import Testing

@Suite struct StoreMetricsTests {
    private static var full: StoreMetrics {
        var metrics = StoreMetrics(read: Timestamp(milliseconds: 1_700_000_000_250))
        metrics.groups = [
            StoreMetrics.Group(course: "", state: .queued, contents: 1, committedBytes: 0),
            StoreMetrics.Group(course: "A \"B\"", state: .completed, contents: 2, committedBytes: 1 << 40),
            StoreMetrics.Group(course: nil, state: .failed, contents: 3, committedBytes: 4),
        ]
        metrics.courses = 7
        metrics.stops = [.network: 4, .user: 8]
        metrics.errors = [-20_006: 1, -8_404: 5, -99_999: 2]
        var licences = StoreMetrics.Licences()
        (licences.granted, licences.ended, licences.checkOverdue, licences.ending) = (9, 1, 2, [1: 3, 30: 5])
        metrics.licences = licences
        metrics.targets = [StoreMetrics.Target(number: 4, format: .xapi, host: "lms.example:8443")]
        (metrics.targets[0].waiting, metrics.targets[0].dead) = (6, 7)
        metrics.targets[0].oldestWaiting = Timestamp(milliseconds: 1_600_000_000_000)
        metrics.targets.append(StoreMetrics.Target(number: nil, format: nil, host: ""))
        var webhook = StoreMetrics.Webhook(number: 2, host: "h.example")
        (webhook.waiting, webhook.dead, webhook.expired, webhook.isGone) = (5, 6, 7, true)
        webhook.oldestWaiting = Timestamp(milliseconds: 1_600_000_001_000)
        metrics.webhooks = [webhook]
        (metrics.space.free, metrics.space.size, metrics.space.reserve) = (10, 20, 30)
        (metrics.space.quota, metrics.space.used, metrics.space.streamCache, metrics.space.database) = (40, 50, 60, 70)
        for (number, task) in StoreMetrics.Task.allCases.enumerated() {
            metrics.lastSuccesses[task] = Timestamp(milliseconds: Int64(number) * 1000 + 1)
        }
        return metrics
    }

    @Test func `every figure has its line`() {
        let text = String(decoding: Self.full.openMetrics(), as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init)
        let labels = #"{target="4",format="xapi",host="lms.example:8443"}"#
        #expect(
            lines.filter { !$0.hasPrefix("#") } == [
                #"lecturekit_contents{course="",state="queued"} 1"#,
                #"lecturekit_contents{course="A \"B\"",state="completed"} 2"#,
                #"lecturekit_contents{course="other",state="failed"} 3"#,
                #"lecturekit_content_bytes{course="",state="queued"} 0"#,
                #"lecturekit_content_bytes{course="A \"B\"",state="completed"} 1099511627776"#,
                #"lecturekit_content_bytes{course="other",state="failed"} 4"#, "lecturekit_courses 7",
                #"lecturekit_contents_stopped{reason="user"} 8"#, #"lecturekit_contents_stopped{reason="network"} 4"#,
                #"lecturekit_content_errors{code="-8404",name="http_404"} 5"#,
                #"lecturekit_content_errors{code="-20006",name="store_busy"} 1"#,
                #"lecturekit_content_errors{code="-99999",name="code_99999"} 2"#, "lecturekit_licences 9",
                "lecturekit_licences_ended 1", #"lecturekit_licences_ending{within="1d"} 3"#,
                #"lecturekit_licences_ending{within="7d"} 0"#, #"lecturekit_licences_ending{within="30d"} 5"#,
                "lecturekit_licences_check_overdue 2", "lecturekit_reports_waiting\(labels) 6",
                #"lecturekit_reports_waiting{target="none",format="",host=""} 0"#, "lecturekit_reports_dead\(labels) 7",
                #"lecturekit_reports_dead{target="none",format="",host=""} 0"#,
                "lecturekit_reports_oldest_waiting_timestamp_seconds\(labels) 1600000000",
                #"lecturekit_webhook_deliveries{endpoint="2",host="h.example",state="waiting"} 5"#,
                #"lecturekit_webhook_deliveries{endpoint="2",host="h.example",state="dead"} 6"#,
                #"lecturekit_webhook_deliveries{endpoint="2",host="h.example",state="expired"} 7"#,
                #"lecturekit_webhook_oldest_waiting_timestamp_seconds{endpoint="2",host="h.example"} 1600000001"#,
                #"lecturekit_webhook_gone{endpoint="2",host="h.example"} 1"#,
                "lecturekit_disk_free_bytes 10", "lecturekit_disk_size_bytes 20", "lecturekit_disk_reserve_bytes 30",
                "lecturekit_store_used_bytes 50", "lecturekit_store_quota_bytes 40", "lecturekit_stream_cache_bytes 60",
                "lecturekit_database_bytes 70",
                #"lecturekit_last_success_timestamp_seconds{task="precache"} 0.001"#,
                #"lecturekit_last_success_timestamp_seconds{task="licence_renewal"} 1.001"#,
                #"lecturekit_last_success_timestamp_seconds{task="report_delivery"} 2.001"#,
                #"lecturekit_last_success_timestamp_seconds{task="backup"} 3.001"#,
                #"lecturekit_last_success_timestamp_seconds{task="course_list"} 4.001"#,
                "lecturekit_metrics_timestamp_seconds 1700000000.25",
            ])
        #expect(lines.count { $0.hasPrefix("# TYPE ") } == Self.full.families.count, "each was written")
    }

    @Test func `what is unknown has no line, and what is nothing has its zero`() {
        let text = String(decoding: StoreMetrics(read: Timestamp(milliseconds: 0)).openMetrics(), as: UTF8.self)
        let names = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            names == [
                "lecturekit_courses 0", "lecturekit_disk_reserve_bytes 0", "lecturekit_store_used_bytes 0",
                "lecturekit_stream_cache_bytes 0", "lecturekit_database_bytes 0",
                "lecturekit_metrics_timestamp_seconds 0",
            ])
    }

    @Test func `names are valid, and the labels are those that are reserved`() {
        for family in Self.full.families {
            #expect(OpenMetrics.isMetricName(family.name) && !family.help.contains { "\\\"\n".contains($0) })
            for name in family.samples.flatMap({ $0.labels.map(\.name) }) {
                #expect(OpenMetrics.isLabelName(name) && StoreMetrics.labelNames.contains(name))
            }
        }
    }
}
