public import LectureModel

/// Where learning reports go, how, and how long they are kept.
public struct StatisticsConfiguration: Sendable, Hashable {
    /// What is special about targets whose URL begins in some way.
    public struct Rule: Sendable, Hashable {
        /// What a success looks like, beside 204 and 205.
        public enum Answer: String, Sendable, CaseIterable {
            /// A 2xx with an empty body or JSON.
            case json
            /// A 2xx with an empty body or a JSON object with `"ok":true`.
            case ok
            /// A 2xx with any body that is no page.
            case text
            /// Any 2xx. A captive portal is taken for the LMS then.
            case anything
        }

        /// The beginning of the targets' URLs: scheme, host and port must be the same, the path ends at a slash, a
        /// question mark or the end. Of several rules that fit the longest holds.
        public var url: String
        /// What a success looks like; nil for what the format usually gives.
        public var answer: Answer?
        /// Reports in one request at the most.
        public var batch: Int?
        /// Bytes in one request at the most.
        public var batchBytes: Int?
        /// Requests a second at the most.
        public var rate: Int?
        /// Requests under way at once.
        public var concurrency: Int?
        /// Whether bodies are compressed with gzip.
        public var isCompressed = false
        /// A file with the value of the `Authorization` field; only its owner may read it.
        public var authorizationFile: String?
        /// Whether a newer report of a session says all that an older one says, so that older ones that wait need not
        /// be sent.
        public var isCumulative = false

        /// A rule that changes nothing.
        ///
        /// - Parameter url: the beginning of the targets' URLs.
        public init(url: String) { self.url = url }
    }

    /// Where reports go that name no target and whose content has no channel; nil keeps them until one is named.
    public var target: ReportTarget?
    /// What is special about some targets.
    public var rules: [Rule] = []
    /// For how many days delivered and superseded reports are kept.
    public var keepDays = 30
    /// After how many days a report that could not be sent is given up; nil never gives one up.
    public var expireDays: Int?
    /// What names the learners' accounts in xAPI, an IRI; nil for the default.
    public var homePage: String?
    /// What stands before the content key in an activity's id in xAPI; nil for the default.
    public var activityPrefix: String?

    /// Nothing special.
    public init() {}
}

/// Where a report goes.
public struct ReportTarget: Sendable, Hashable {
    /// One parameter of a channel.
    public struct Parameter: Sendable, Hashable {
        /// The name on the wire.
        public var name: String
        /// The text with its macros, for example `{JSON_DATA}`.
        public var template: String

        /// A parameter.
        ///
        /// - Parameters:
        ///   - name: the name on the wire.
        ///   - template: the text with its macros.
        public init(_ name: String, _ template: String) { (self.name, self.template) = (name, template) }
    }

    /// An http or https URL without user and password.
    public var url: String
    /// How reports go over the wire.
    public var format: ReportFormat
    /// `POST`, or `GET` for a channel that wants it so.
    public var method: String
    /// The parameters of a channel in their order; only for ``ReportFormat/kollus``.
    public var parameters: [Parameter]

    /// A target.
    ///
    /// - Parameters:
    ///   - url: an http or https URL.
    ///   - format: how reports go over the wire.
    ///   - method: `POST` or `GET`.
    ///   - parameters: the parameters of a channel.
    public init(url: String, format: ReportFormat, method: String = "POST", parameters: [Parameter] = []) {
        (self.url, self.format, self.method, self.parameters) = (url, format, method, parameters)
    }
}

extension ReportTarget {
    /// As it is stored.
    ///
    /// - Throws: ``LectureError`` with `reportInvalid` that names what is wrong.
    func address() throws(LectureError) -> ReportRecord.Target {
        let parts: URLParts
        do throws(LectureError) {
            parts = try URLParts(url)
            _ = try Origin(parts)
        } catch {
            throw LectureError(.reportInvalid, detail: "target", cause: error.message)
        }
        if parts.authority.utf8.contains(UInt8(ascii: "@")) {
            throw LectureError(
                .reportInvalid, detail: "target", cause: "a URL with a user; lms.targets takes an authorization_file")
        }
        guard ["POST", "GET"].contains(method) else {
            throw LectureError(.reportInvalid, detail: "method", cause: "POST or GET")
        }
        guard format == .kollus || (method == "POST" && parameters.isEmpty) else {
            throw LectureError(
                .reportInvalid, detail: "format", cause: "method and parameters belong to the format kollus")
        }
        if Set(parameters.map { Array($0.name.utf8) }).count != parameters.count {
            throw LectureError(.reportInvalid, detail: "parameters", cause: "two have the same name")
        }
        return ReportRecord.Target(
            url: url, method: method, format: format,
            parameters: parameters.map { .init(name: $0.name, template: $0.template) })
    }

    /// From the store.
    init(_ address: ReportRecord.Target) {
        self.init(
            url: address.url, format: address.format, method: address.method,
            parameters: address.parameters.map { Parameter($0.name, $0.template) })
    }
}
