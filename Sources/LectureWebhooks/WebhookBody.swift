package import LectureEngine
import LectureFormats
package import LectureModel

/// The body of a request, and the id under which its receiver knows it. A function of the stored event alone: every
/// attempt sends the same bytes under the same id. docs/webhooks.md has the table of events.
package enum WebhookBody {
    /// The media type of a body.
    package static let mediaType = "application/json"

    /// Names an event for its receiver, the same for every attempt and every endpoint. The number alone would not do: a
    /// store that was restored from a copy gives its numbers again, and then the time differs.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - store: the UUID of the store.
    /// - Returns: letters, digits, `_` and `-`.
    package static func id(of event: WebhookEvent, store: String) -> String {
        "msg_\(store)-\(event.id)-\(String(event.happened.milliseconds, radix: 36))"
    }

    /// Writes a body: `{"type": …, "timestamp": …, "data": {…}}`. The members of `data` are those of the lines of
    /// `--json`; it holds no URL, no learner and no secret.
    ///
    /// - Parameter event: what happened.
    /// - Returns: one JSON object.
    package static func text(_ event: WebhookEvent) -> String {
        text(type: event.kind.name, at: event.happened) { data in
            if !event.key.isEmpty { data.member("key", event.key) }
            if !event.title.isEmpty { data.member("title", event.title) }
            if !event.course.isEmpty { data.member("course", event.course) }
            data.member("bytes", event.bytes)
            data.member("id", event.report)
            data.member("reason", event.deadReason?.name)
            data.member("http_status", event.status)
            guard let number = event.error else { return }
            // The sentence of the catalogue and not that of the occurrence, which may name a path or a URL.
            let code = LectureError.Code.stored(number)
            data.member("code", code.number)
            data.member("name", code.name)
            data.member("message", code.summary)
        }
    }

    /// Writes the body of a test, which is about nothing that has happened.
    ///
    /// - Parameter now: the wall clock.
    /// - Returns: one JSON object.
    package static func test(at now: Timestamp) -> String { text(type: "webhook.test", at: now) { _ in } }

    private static func text(
        type: String, at time: Timestamp, _ data: (inout JSONWriter) -> Void
    ) -> String {
        JSONWriter.object { writer in
            writer.member("type", type)
            writer.member("timestamp", MomentText.utc(time))
            writer.object("data") { data(&$0) }
        }
    }
}

/// A request of a webhook: Standard Webhooks 1.0.0.
package enum WebhookRequest {
    /// How much of an answer's body is read. Nothing of it is used.
    package static let bodyLimit = 65_536

    /// What the signatures of a request cover: its id, its time and its body.
    ///
    /// - Parameters:
    ///   - id: the event's id.
    ///   - time: of the attempt.
    ///   - body: the body.
    /// - Returns: the bytes.
    package static func signed(id: String, time: Timestamp, body: String) -> [UInt8] {
        Array("\(id).\(seconds(time)).\(body)".utf8)
    }

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - transfer: numbers the exchange.
    ///   - url: the endpoint.
    ///   - id: the event's id.
    ///   - time: of the attempt; receivers refuse one that is not about now.
    ///   - body: the body.
    ///   - signatures: the value of `webhook-signature`.
    /// - Returns: the request.
    package static func make(
        _ transfer: TransferID, to url: String, id: String, time: Timestamp, body: String, signatures: String
    ) -> ExchangeRequest {
        var request = ExchangeRequest(id: transfer, url: url, bodyLimit: bodyLimit)
        request.headers.append(HeaderField(name: "webhook-id", value: id))
        request.headers.append(HeaderField(name: "webhook-timestamp", value: "\(seconds(time))"))
        request.headers.append(HeaderField(name: "webhook-signature", value: signatures))
        request.body = RequestBody(Array(body.utf8), mediaType: WebhookBody.mediaType)
        request.stallTimeout = .seconds(15)
        request.totalTimeout = .seconds(30)
        return request
    }

    private static func seconds(_ time: Timestamp) -> Int64 { time.milliseconds / 1000 }
}
