import LectureDownload
import LectureFormats
import LectureModel

/// The report channels in a lecture's descriptor.
struct ReportChannels: Sendable {
    /// Where they go, in the descriptor's order; none twice.
    private(set) var targets: [ReportTarget] = []
    /// How often a player reports while it plays; nil when no channel sets it.
    var period: Duration?
    /// The learner, as named by the gateway.
    private(set) var user = ""
    /// What the LMS passed with the link.
    private(set) var userValues: [String: String] = [:]

    /// Creates an empty value.
    init() {}

    /// Reads a descriptor. It was checked on arrival; an unusable channel is skipped.
    init(descriptor text: String) {
        let value = try? JSONScanner.value(of: Array(text.utf8), limits: ContentDescriptor.limits)
        self.init(value ?? .null)
    }

    /// Reads a descriptor that was parsed.
    init(_ value: JSONValue) {
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
