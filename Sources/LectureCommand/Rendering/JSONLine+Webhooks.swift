import LectureFormats
package import LectureKit
import LectureModel
package import LectureRecords

// The lines of `lecturectl webhooks`. An endpoint's URL may be a secret: only its server is printed.
extension JSONLine {
    /// An endpoint.
    ///
    /// - Parameter endpoint: with what waits for it.
    /// - Returns: the line.
    package static func webhook(_ endpoint: WebhookStatus) -> String {
        line { writer in
            writer.member("record", "webhook")
            writer.member("webhook", endpoint.id)
            writer.member("server", endpoint.server)
            writer.array("events") { writer in
                for kind in endpoint.kinds { writer.element(kind.name) }
            }
            writer.member("configured", endpoint.isConfigured)
            writer.member("waiting", endpoint.waiting)
            writer.member("dead", endpoint.dead)
            writer.member("delivered", endpoint.delivered)
            writer.member("expired", endpoint.expired)
            writer.member("oldest_waiting_ms", endpoint.oldestWaiting?.milliseconds)
            writer.member("last_delivered_ms", endpoint.lastDelivered?.milliseconds)
            writer.member("failures", endpoint.failures)
            writer.member("next_attempt_ms", endpoint.waitsUntil?.milliseconds)
            writer.member("gone", endpoint.isGone)
            writer.member("answer_ms", endpoint.answer?.at.milliseconds)
            writer.member("http_status", endpoint.answer?.status)
        }
    }

    /// An event that has not arrived.
    ///
    /// - Parameter event: the event.
    /// - Returns: the line.
    package static func webhookEvent(_ event: PendingWebhookEvent) -> String {
        line { writer in
            writer.member("record", "webhook_event")
            writer.member("id", event.id)
            writer.member("webhook", event.endpoint)
            writer.member("type", event.kind.name)
            writer.member("at_ms", event.happened.milliseconds)
            if !event.key.isEmpty { writer.member("key", event.key) }
            writer.member("state", event.isDead ? "dead" : "waiting")
            writer.member("attempts", event.attempts)
            writer.member("next_attempt_ms", event.waitsUntil?.milliseconds)
            writer.member("http_status", event.status)
        }
    }

    /// Why events are left for an endpoint.
    ///
    /// - Parameter obstacle: the endpoint, and the error.
    /// - Returns: the line.
    package static func webhookObstacle(_ obstacle: WebhookObstacle) -> String {
        line { writer in
            writer.member("event", "webhook_obstacle")
            writer.member("server", obstacle.server)
            problem(obstacle.error, &writer)
            writer.member("next_attempt_ms", obstacle.again?.milliseconds)
        }
    }

    /// The last line of a sending.
    ///
    /// - Parameter result: the result.
    /// - Returns: the line.
    package static func webhookSummary(_ result: WebhookSendResult) -> String {
        line { writer in
            writer.member("event", "webhook_summary")
            writer.member("delivered", result.delivered)
            writer.member("dead", result.dead)
            writer.member("left", result.left)
            writer.member("requests", result.requests)
        }
    }

    /// The answer to a test.
    ///
    /// - Parameter result: of one endpoint.
    /// - Returns: the line.
    package static func webhookTest(_ result: WebhookTestResult) -> String {
        line { writer in
            writer.member("event", "webhook_test")
            writer.member("server", result.server)
            writer.member("http_status", result.status)
            writer.member("elapsed_s", Double(result.duration.milliseconds) / 1000)
            problem(result.error, &writer)
        }
    }
}
