import LectureEngine
import LectureFiles
import LectureFormats
import LectureModel
import LectureStatistics

/// Converts the configuration to the engine's settings.
extension StatisticsConfiguration {
    /// The longest value of an `Authorization` field.
    private static let longestAuthorization = 16_384

    /// The names in xAPI.
    func settings(bootID: String) -> StatisticsSettings {
        var settings = StatisticsSettings(bootID: bootID)
        if let homePage { settings.homePage = homePage }
        if let activityPrefix { settings.activityPrefix = activityPrefix }
        return settings
    }

    /// Everything the engine needs, credentials included.
    ///
    /// - Parameters:
    ///   - bootID: this boot of the machine.
    ///   - rate: requests a second to one target, overriding the rules; nil to use them.
    /// - Returns: the settings of an engine.
    /// - Throws: ``LectureError``: `configuration`, `secretReadable`, `readFile`.
    func settings(bootID: String, rate: Guarded<Int?>) throws -> StatisticsSettings {
        var settings = settings(bootID: bootID)
        let loaded = try rules.map { try LoadedRule($0) }
        settings.target = { address in
            var target = TargetSettings(address.format)
            LoadedRule.fitting(address.url, in: loaded)?.change(&target)
            if let rate = rate.withLock({ $0 }) { target.pace.rate = .reports(cap: rate) }
            if address.takesBookmarks { (target.form, target.limits.count) = (.noError, 1) }
            return target
        }
        return settings
    }

    /// The header fields of requests to a target.
    ///
    /// - Parameter target: the target.
    /// - Returns: its credentials, by name; empty without any.
    /// - Throws: ``LectureError``: `configuration`, `secretReadable`, `readFile`.
    func headers(of target: ReportRecord.Target) throws -> [String: String] {
        var settings = TargetSettings(target.format)
        LoadedRule.fitting(target.url, in: try rules.map { try LoadedRule($0) })?.change(&settings)
        return Dictionary(settings.headers.elements.map { ($0.name, $0.value) }) { _, last in last }
    }

    /// Names the file with the credentials of ``target``, and of URLs that begin like it. A rule that names another
    /// file for it stays as it is; what other rules say of it is kept.
    ///
    /// - Parameter file: a file with the value of the `Authorization` field.
    package mutating func authorize(file: String) {
        guard let url = target?.url else { return }
        let found = Self.fitting(url, in: rules)
        guard found?.authorizationFile == nil else { return }
        var rule = found ?? Rule(url: url)
        (rule.url, rule.authorizationFile) = (url, file)
        rules.removeAll { $0.url.utf8.elementsEqual(url.utf8) }
        rules.append(rule)
    }

    private static func fitting(_ url: String, in rules: [Rule]) -> Rule? {
        rules.filter { LoadedRule.fits($0.url, url) }.max { $0.url.utf8.count < $1.url.utf8.count }
    }

    /// Whether reports for a target may be superseded by a newer one.
    func isCumulative(_ url: String) -> Bool {
        Self.fitting(url, in: rules)?.isCumulative ?? false
    }

    /// A rule with its secret.
    private struct LoadedRule: Sendable {
        let rule: Rule
        let authorization: HeaderField?

        init(_ rule: Rule) throws {
            self.rule = rule
            authorization = try rule.authorizationFile.map { try Self.authorization($0) }
            do throws(LectureError) {
                _ = try Origin(url: rule.url)
            } catch {
                throw LectureError(.configuration, detail: "lms.targets", cause: error.message)
            }
        }

        private static func authorization(_ path: String) throws -> HeaderField {
            let file = try SecretFile.open(path, limit: StatisticsConfiguration.longestAuthorization)
            // An editor and `echo` append a line end, which does not count.
            let bytes = try file.bytes()
            let kept = bytes.prefix((bytes.lastIndex { $0 > 0x20 } ?? -1) + 1)
            let value = FieldText.trimmed(String(decoding: kept, as: UTF8.self))
            do throws(LectureError) {
                if value.isEmpty { throw LectureError(.headerInvalid) }
                return try HeaderField(outgoing: "Authorization", value: String(value))
            } catch {
                // The text of the file is never reported.
                throw LectureError(.configuration, detail: path, cause: "it is not a valid header value")
            }
        }

        static func fitting(_ url: String, in rules: [LoadedRule]) -> LoadedRule? {
            rules.filter { fits($0.rule.url, url) }.max { $0.rule.url.utf8.count < $1.rule.url.utf8.count }
        }

        /// By origin and not by text: `https://lms.example` is not a prefix of `https://lms.example.org`.
        static func fits(_ beginning: String, _ url: String) -> Bool {
            guard let rule = try? URLParts(beginning), let parts = try? URLParts(url),
                let wanted = try? Origin(rule), let origin = try? Origin(parts), wanted == origin
            else { return false }
            let (start, path) = (place(rule), place(parts))
            guard path.starts(with: start) else { return false }
            let ends: [UInt8] = [UInt8(ascii: "/"), UInt8(ascii: "?")]
            return path.count == start.count || start.last.map(ends.contains) ?? true
                || ends.contains(path[start.count])
        }

        private static func place(_ parts: URLParts) -> [UInt8] {
            Array(parts.path.utf8) + (parts.query.map { Array("?\($0)".utf8) } ?? [])
        }

        func change(_ target: inout TargetSettings) {
            if let answer = rule.answer { target.form = Self.form(answer) }
            if let batch = rule.batch { target.limits.count = max(1, batch) }
            if let bytes = rule.batchBytes { target.limits.bytes = bytes }
            if let rate = rule.rate { target.pace.rate = .reports(cap: rate) }
            if let concurrency = rule.concurrency { target.pace.window = .reports(maximum: concurrency) }
            if rule.isCompressed { target.encoding = "gzip" }
            if let authorization { target.headers.append(authorization) }
        }

        private static func form(_ answer: Rule.Answer) -> AnswerForm {
            switch answer {
            case .json: .emptyOrJSON
            case .ok: .ok
            case .text: .text
            case .anything: .anything
            }
        }
    }
}
