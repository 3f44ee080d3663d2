import LectureFormats
import LectureKit
import LectureModel

/// The array `webhooks`.
extension Configuration {
    /// The setting, without secrets: the URL of an endpoint may be one.
    var webhookDescriptions: [(name: String, value: String, origin: SettingOrigin)] {
        let words = (webhooks ?? []).map { webhook in
            let kinds = WebhookKind.allCases.filter(webhook.kinds.contains).map(\.name).joined(separator: ",")
            return "\(webhook.server) events=\(kinds)"
        }
        return [("webhooks", words.joined(separator: " "), origin("webhooks"))]
    }
}
