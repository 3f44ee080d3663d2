import LectureDownload
import LectureModel

/// What the descriptor of a content says about its reports.
struct ReportChannels: Sendable {
    /// Where they go, in the descriptor's order; none twice.
    private(set) var targets: [ReportTarget] = []
    /// How often a player reports while it plays; nil when no channel says so.
    private(set) var period: Duration?
    /// The learner, as the gateway named them.
    private(set) var user = ""
    /// What the LMS passed with the link.
    private(set) var userValues: [String: String] = [:]

    /// No channel.
    init() {}

    /// Reads a descriptor. It was checked when it came; a channel that nothing can be sent to is passed by.
    init(descriptor text: String) {
        guard let value = try? JSONScanner.value(of: Array(text.utf8), limits: ContentDescriptor.limits) else { return }
        user = value["client_user_id"]?.string ?? ""
        for member in value["uservalues"]?.members ?? [] {
            userValues[member.name] = member.value.string ?? member.value.integer.map { "\($0)" }
        }
        for element in value["lms"]?.elements ?? [] {
            guard let target = Self.target(element) else { continue }
            if !targets.contains(target) { targets.append(target) }
            guard let seconds = element["period_s"]?.double, (1...86_400).contains(seconds) else { continue }
            period = min(period ?? .seconds(seconds), .seconds(seconds))
        }
    }

    private static func target(_ channel: JSONValue) -> ReportTarget? {
        guard let url = channel["url"]?.string else { return nil }
        var target = ReportTarget(url: url, format: .kollus)
        if let method = channel["method"]?.string { target.method = method.uppercased() }
        for member in channel["parameters"]?.members ?? [] {
            guard let template = member.value.string else { return nil }
            target.parameters.append(.init(member.name, template))
        }
        guard (try? target.address()) != nil else { return nil }
        return target
    }
}
