import LectureCommand
import LectureKit
import LectureModel
import LectureRecords

/// The lines of `webhooks`, with all members and with few.
enum WebhookLines {
    static func all() -> [(schema: String, line: String)] {
        let now = Timestamp(milliseconds: 1_790_000_000_000)
        let bare = WebhookEntry(id: WebhookID(1), url: "https://h.example/a?t=s", kinds: WebhookKinds([.reportDead]))
        var full = bare
        full.kinds = WebhookKinds(WebhookKind.allCases)
        (full.condition.failures, full.condition.isSuspended) = (3, true)
        full.condition.wait = RetryWait(setAt: now, delay: .seconds(9))
        (full.condition.answered, full.condition.status) = (now, 503)
        (full.waiting, full.dead, full.delivered, full.expired) = (4, 3, 2, 1)
        (full.oldestWaiting, full.lastDelivered) = (now, now)
        var event = WebhookEvent(id: 5, kind: .lectureCompleted, happened: now)
        let young = WebhookDelivery(id: WebhookDeliveryID(1), endpoint: WebhookID(1), event: event)
        event.key = "k"
        var old = WebhookDelivery(id: WebhookDeliveryID(2), endpoint: WebhookID(1), event: event)
        (old.state, old.attempts, old.status, old.wait) = (.dead, 10, 404, RetryWait(setAt: now, due: now))
        var result = WebhookSendResult()
        (result.delivered, result.dead, result.left, result.requests) = (1, 2, 3, 4)
        let url = "https://h.example/a?t=s"
        let error = LectureError(.status(503), detail: "https://h.example")
        return [
            ("record-webhook", JSONLine.webhook(WebhookStatus(bare, isConfigured: false, now: now))),
            ("record-webhook", JSONLine.webhook(WebhookStatus(full, isConfigured: true, now: now))),
            ("record-webhook_event", JSONLine.webhookEvent(PendingWebhookEvent(young, store: "s"))),
            ("record-webhook_event", JSONLine.webhookEvent(PendingWebhookEvent(old, store: "s"))),
            ("event-webhook_obstacle", JSONLine.webhookObstacle(WebhookObstacle(url: url, error: error, again: now))),
            ("event-webhook_obstacle", JSONLine.webhookObstacle(WebhookObstacle(url: url, error: error, again: nil))),
            ("event-webhook_summary", JSONLine.webhookSummary(result)),
            (
                "event-webhook_test",
                JSONLine.webhookTest(WebhookTestResult(url: url, status: 204, duration: .seconds(1), error: nil))
            ),
            (
                "event-webhook_test",
                JSONLine.webhookTest(WebhookTestResult(url: url, status: nil, duration: .zero, error: error))
            ),
        ]
    }
}
