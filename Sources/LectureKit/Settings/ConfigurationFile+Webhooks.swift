import LectureFormats
import LectureModel

/// The array `webhooks` of a configuration.
extension ConfigurationReader {
    mutating func takeWebhooks(_ member: JSONMember) throws(LectureError) {
        guard let elements = member.value.elements else { throw refused("webhooks must be an array") }
        var webhooks: [WebhookConfiguration] = []
        for element in elements {
            guard let fields = element.members else { throw refused("webhooks must hold objects") }
            let webhook = try webhook(fields)
            if webhooks.contains(where: { $0.url.utf8.elementsEqual(webhook.url.utf8) }) {
                throw refused("two entries of webhooks have the same url")
            }
            webhooks.append(webhook)
        }
        file.webhooks = webhooks
    }

    private mutating func webhook(_ fields: [JSONMember]) throws(LectureError) -> WebhookConfiguration {
        var webhook = WebhookConfiguration(url: "", secretFile: "")
        for field in try known(fields, "webhooks") {
            switch field.name {
            case "url": webhook.url = try text(field, "webhooks")
            case "secret_file": webhook.secretFile = try secret(field, "webhooks")
            case "events": webhook.kinds = try kinds(field)
            default: break
            }
        }
        if webhook.url.isEmpty { throw refused("an entry of webhooks needs its url") }
        if let fault = WebhookConfiguration.fault(in: webhook.url) { throw refused("webhooks.url \(fault)") }
        if webhook.secretFile.isEmpty { throw refused("an entry of webhooks needs its secret_file") }
        return webhook
    }

    private func kinds(_ field: JSONMember) throws(LectureError) -> Set<WebhookKind> {
        guard let elements = field.value.elements, !elements.isEmpty else {
            throw refused("webhooks.events must be an array of names that is not empty")
        }
        var kinds: Set<WebhookKind> = []
        for element in elements {
            let name = element.string ?? element.text
            guard let kind = WebhookKind(name: name) else {
                let nearest = Suggestion.nearest(to: name, among: WebhookKind.allCases.map(\.name))
                let hint = nearest.map { " (did you mean '\($0)'?)" } ?? ""
                throw refused("webhooks.events names '\(name)', which is no event\(hint)")
            }
            kinds.insert(kind)
        }
        return kinds
    }
}
