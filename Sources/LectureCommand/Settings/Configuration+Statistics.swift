import LectureKit
import LectureModel

extension Configuration {
    /// Where reports go, from the file or from `LECTURE_LMS_URL` and `LECTURE_LMS_FORMAT`; with the credential
    /// `lms-token` of a service where the file names no other one.
    static func statistics(
        _ environment: [String: String], _ fromFile: StatisticsConfiguration
    ) throws(LectureError) -> Setting<StatisticsConfiguration> {
        let named = try target(environment, fromFile)
        guard let token = ServiceDirectories(environment).credential("lms-token") else { return named }
        var statistics = named.value
        statistics.authorize(file: token)
        return Setting(statistics, named.origin)
    }

    private static func target(
        _ environment: [String: String], _ fromFile: StatisticsConfiguration
    ) throws(LectureError) -> Setting<StatisticsConfiguration> {
        guard let url = environment["LECTURE_LMS_URL"], !url.isEmpty else {
            return Setting(fromFile, fromFile == StatisticsConfiguration() ? .default : .file)
        }
        if let problem = ValueGrammar.url.problem(in: url) {
            throw LectureError(.configuration, detail: "LECTURE_LMS_URL", cause: problem)
        }
        let name = environment["LECTURE_LMS_FORMAT"].flatMap { $0.isEmpty ? nil : $0 } ?? ReportFormat.json.rawValue
        guard let format = ReportFormat(rawValue: name) else {
            let words = ReportFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw LectureError(.configuration, detail: "LECTURE_LMS_FORMAT", cause: "must be one of \(words)")
        }
        var statistics = fromFile
        statistics.target = ReportTarget(url: url, format: format)
        return Setting(statistics, .environment)
    }

    /// The section `lms`, without secrets.
    var statisticsDescriptions: [(name: String, value: String, origin: SettingOrigin)] {
        let lms = statistics.value
        // A variable replaces the whole target.
        func ofTarget(_ name: String) -> SettingOrigin {
            statistics.origin == .environment ? .environment : origin(name)
        }
        var lines: [(name: String, value: String, origin: SettingOrigin)] = [
            ("lms.url", lms.target?.url ?? "", ofTarget("lms.url")),
            ("lms.format", lms.target?.format.rawValue ?? "", ofTarget("lms.format")),
            ("lms.keep_days", "\(lms.keepDays)", origin("lms.keep_days")),
            ("lms.expire_days", lms.expireDays.map { "\($0)" } ?? "", origin("lms.expire_days")),
            ("lms.home_page", lms.homePage ?? "", origin("lms.home_page")),
            ("lms.activity_prefix", lms.activityPrefix ?? "", origin("lms.activity_prefix")),
            ("lms.delivery", lms.delivery.rawValue, origin("lms.delivery")),
            ("lms.bookmark_url", lms.bookmarkURL ?? "", origin("lms.bookmark_url")),
            ("lms.targets", lms.rules.map(Self.description).joined(separator: ", "), origin("lms.targets")),
        ]
        if let target = lms.target, target.format == .kollus {
            lines.insert(("lms.method", target.method, ofTarget("lms.method")), at: 2)
            lines.insert(
                ("lms.parameters", target.parameters.map(\.name).joined(separator: " "), ofTarget("lms.parameters")),
                at: 3)
        }
        return lines
    }

    private static func description(_ rule: StatisticsConfiguration.Rule) -> String {
        let words: [String?] = [
            rule.url, rule.answer.map { "answer=\($0.rawValue)" }, rule.batch.map { "batch=\($0)" },
            rule.batchBytes.map { "batch_bytes=\($0)" }, rule.rate.map { "rate=\($0)" },
            rule.concurrency.map { "concurrency=\($0)" }, rule.isCompressed ? "gzip" : nil,
            rule.authorizationFile.map { "authorization_file=\($0)" }, rule.isCumulative ? "cumulative" : nil,
        ]
        return words.compactMap(\.self).joined(separator: " ")
    }
}
