import LectureFormats
public import LectureModel

/// Where and how learning reports are sent, and how long they are kept.
public struct StatisticsConfiguration: Sendable, Hashable {
    /// Settings for targets whose URL starts with a prefix.
    public struct Rule: Sendable, Hashable {
        /// What counts as a success, besides 204 and 205.
        public enum Answer: String, Sendable, CaseIterable {
            /// A 2xx with an empty body or JSON.
            case json
            /// A 2xx with an empty body or a JSON object with `"ok":true`.
            case ok
            /// A 2xx with any body that is not an HTML page.
            case text
            /// Any 2xx. A captive portal is then taken for the LMS.
            case anything
        }

        /// The prefix of the targets' URLs: scheme, host and port must match, the path ends at a slash, a question mark
        /// or the end. The longest matching rule applies.
        public var url: String
        /// What counts as a success; nil for the format's default.
        public var answer: Answer?
        /// Reports in one request at the most.
        public var batch: Int?
        /// Bytes in one request at the most.
        public var batchBytes: Int?
        /// Requests a second at the most.
        public var rate: Int?
        /// Concurrent requests.
        public var concurrency: Int?
        /// Whether bodies are compressed with gzip.
        public var isCompressed = false
        /// A file with the value of the `Authorization` field; only its owner may read it.
        public var authorizationFile: String?
        /// Whether a newer report of a session includes everything in an older one, so that waiting older ones need not
        /// be sent.
        public var isCumulative = false

        /// Creates a rule that changes nothing.
        ///
        /// - Parameter url: the prefix of the targets' URLs.
        public init(url: String) { self.url = url }
    }

    /// When stored reports are sent.
    public enum Delivery: String, Sendable, CaseIterable {
        /// Only by ``LectureManager/Reports/send(options:)``, or by another program.
        case onDemand = "on_demand"
        /// Also by themselves, as long as a manager is open: when a report is stored here or by another program, when
        /// the wait of a target is over, and when the network is another one. A target that refuses the sender (401,
        /// 403, 407) is left alone until the next ``LectureManager/Reports/send(options:)``, or until the settings of
        /// its reports or the file of its credentials have changed.
        case automatic
    }

    /// When stored reports are sent.
    public var delivery = Delivery.onDemand
    /// The target of reports that name none and whose lecture has no channel; nil keeps them until one is named.
    public var target: ReportTarget?
    /// The bookmark server of lectures whose gateway names none; nil without one. It may be a URL with a query.
    public var bookmarkURL: String?
    /// Settings for some targets.
    public var rules: [Rule] = []
    /// For how many days delivered and superseded reports are kept.
    public var keepDays = 30
    /// After how many days an undelivered report expires; nil for never.
    public var expireDays: Int?
    /// The home page of learners' accounts in xAPI, an IRI; nil for the default.
    public var homePage: String?
    /// The prefix of the content key in an activity's id in xAPI; nil for the default.
    public var activityPrefix: String?

    /// Creates the default configuration.
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

        /// Creates a parameter.
        ///
        /// - Parameters:
        ///   - name: the name on the wire.
        ///   - template: the text with its macros.
        public init(_ name: String, _ template: String) { (self.name, self.template) = (name, template) }
    }

    /// An http or https URL without user and password.
    public var url: String
    /// The wire format of reports.
    public var format: ReportFormat
    /// `POST`, or `GET` for a channel that requires it.
    public var method: String
    /// The parameters of a channel in order; only for ``ReportFormat/kollus``.
    public var parameters: [Parameter]

    /// Creates a target.
    ///
    /// - Parameters:
    ///   - url: an http or https URL.
    ///   - format: the wire format of reports.
    ///   - method: `POST` or `GET`.
    ///   - parameters: the parameters of a channel.
    public init(url: String, format: ReportFormat, method: String = "POST", parameters: [Parameter] = []) {
        (self.url, self.format, self.method, self.parameters) = (url, format, method, parameters)
    }
}

extension ReportTarget {
    /// The stored form.
    ///
    /// - Throws: ``LectureError`` with `reportInvalid` that names the fault.
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

    /// Creates a target from the store.
    init(_ address: ReportRecord.Target) {
        self.init(
            url: address.url, format: address.format, method: address.method,
            parameters: address.parameters.map { Parameter($0.name, $0.template) })
    }
}
