import LectureFormats
import LectureModel

/// The section `lms` of a configuration.
extension ConfigurationReader {
    mutating func takeStatistics(_ members: [JSONMember]) throws(LectureError) {
        var target = ReportTarget(url: "", format: .json)
        for member in members {
            switch member.name {
            case "url": target.url = try url(member, "lms")
            case "format": target.format = try format(member)
            case "method": target.method = try word(member, "lms", ["POST", "GET"])
            case "parameters": target.parameters = try parameters(member)
            case "keep_days": file.statistics.keepDays = Int(try integer(member, "lms", 0...36_500))
            case "expire_days": file.statistics.expireDays = Int(try integer(member, "lms", 1...36_500))
            case "bookmark_url": file.statistics.bookmarkURL = try url(member, "lms")
            case "delivery":
                let words = StatisticsConfiguration.Delivery.allCases.map(\.rawValue)
                let named = StatisticsConfiguration.Delivery(rawValue: try word(member, "lms", words))
                file.statistics.delivery = named ?? .onDemand
            case "home_page": file.statistics.homePage = try iri(member)
            case "activity_prefix": file.statistics.activityPrefix = try iri(member)
            case "targets":
                guard let rules = member.value.elements else { throw refused("lms.targets must be an array") }
                file.statistics.rules = []
                for rule in rules {
                    guard let fields = rule.members else { throw refused("lms.targets must hold objects") }
                    try take(rule: fields)
                }
            default: break
            }
        }
        try use(target, members)
    }

    private mutating func use(_ target: ReportTarget, _ members: [JSONMember]) throws(LectureError) {
        if target.url.isEmpty {
            let names = ["format", "method", "parameters"]
            if let name = members.first(where: { names.contains($0.name) })?.name {
                throw refused("lms.\(name) needs lms.url")
            }
            return
        }
        if target.format != .kollus, target.method != "POST" || !target.parameters.isEmpty {
            throw refused("lms.method and lms.parameters belong to the format kollus")
        }
        file.statistics.target = target
    }

    private mutating func take(rule fields: [JSONMember]) throws(LectureError) {
        let section = "lms.targets"
        var rule = StatisticsConfiguration.Rule(url: "")
        for field in try known(fields, section) {
            switch field.name {
            case "url": rule.url = try url(field, section)
            case "answer":
                let words = StatisticsConfiguration.Rule.Answer.allCases.map(\.rawValue)
                rule.answer = .init(rawValue: try word(field, section, words))
            case "batch": rule.batch = Int(try integer(field, section, 1...10_000))
            case "batch_bytes": rule.batchBytes = Int(try integer(field, section, 1024...1 << 30))
            case "rate": rule.rate = Int(try integer(field, section, 1...10_000))
            case "concurrency": rule.concurrency = Int(try integer(field, section, 1...64))
            case "compression": rule.isCompressed = try word(field, section, ["gzip", "none"]) == "gzip"
            case "authorization_file": rule.authorizationFile = try secret(field, section)
            case "cumulative": rule.isCumulative = try truth(field, section)
            default: break
            }
        }
        if rule.url.isEmpty { throw refused("an entry of lms.targets needs its url") }
        if file.statistics.rules.contains(where: { $0.url.utf8.elementsEqual(rule.url.utf8) }) {
            throw refused("two entries of lms.targets have the same url")
        }
        file.statistics.rules.append(rule)
    }

    // MARK: Values

    /// A URL without a password: others may read the file, and its settings are printed.
    private func url(_ member: JSONMember, _ section: String) throws(LectureError) -> String {
        let text = try text(member, section)
        let parts: URLParts
        do throws(LectureError) {
            parts = try URLParts(text)
            _ = try Origin(parts)
        } catch {
            throw refused("\(section).\(member.name) must be an http or https URL")
        }
        if parts.authority.utf8.contains(UInt8(ascii: "@")) {
            throw refused("\(section).\(member.name) holds a user; lms.targets takes an authorization_file")
        }
        return text
    }

    private func iri(_ member: JSONMember) throws(LectureError) -> String {
        let text = try text(member, "lms")
        do throws(LectureError) { _ = try URLParts(text) } catch {
            throw refused("lms.\(member.name) must be an absolute URL")
        }
        return text
    }

    private func format(_ member: JSONMember) throws(LectureError) -> ReportFormat {
        let name = try word(member, "lms", ReportFormat.allCases.map(\.rawValue))
        return ReportFormat(rawValue: name) ?? .json
    }

    private func word(_ member: JSONMember, _ section: String, _ words: [String]) throws(LectureError) -> String {
        let text = try text(member, section)
        guard words.contains(text) else {
            throw refused("\(section).\(member.name) must be one of \(words.joined(separator: ", "))")
        }
        return text
    }

    private func parameters(_ member: JSONMember) throws(LectureError) -> [ReportTarget.Parameter] {
        guard let members = member.value.members else { throw refused("lms.parameters must be an object") }
        var parameters: [ReportTarget.Parameter] = []
        for member in members {
            guard let template = member.value.string else { throw refused("lms.parameters must hold texts") }
            parameters.append(.init(member.name, template))
        }
        return parameters
    }
}
