import LectureFormats
public import LectureKit
public import LectureModel

/// What is known of an installation, as a value: the same facts always give the same findings.
public struct Examination: Sendable {
    /// What is known of the store.
    public enum Store: Sendable {
        /// There is none yet.
        case missing
        /// An older version's, which every other command migrates; the steps that are missing.
        case old([String])
        /// It cannot be opened.
        case refused(LectureError)
        /// It was opened.
        case open(Figures)
    }

    /// What an open store knows.
    public struct Figures: Sendable {
        /// Numbers, sizes and times.
        public var metrics: StoreMetrics
        /// Why every licence needs its server before it can be used; nil when none does for the store's sake.
        public var objection: LectureError?
        /// Why the store can only be read; nil where it can be written.
        public var readOnly: LectureError?
        /// The time at which licences are evaluated: later than the clock's when that was set back.
        public var judged: Timestamp?

        /// Creates the value.
        ///
        /// - Parameters:
        ///   - metrics: numbers, sizes and times.
        ///   - objection: why every licence needs its server.
        ///   - judged: the time at which licences are evaluated.
        ///   - readOnly: why the store can only be read.
        public init(
            metrics: StoreMetrics, objection: LectureError? = nil, judged: Timestamp? = nil,
            readOnly: LectureError? = nil
        ) {
            (self.metrics, self.objection, self.judged) = (metrics, objection, judged)
            self.readOnly = readOnly
        }
    }

    /// A server and how it answered.
    public struct Contact: Sendable {
        /// The server.
        public var server: StoreServer
        /// Its answer, or why there is none.
        public var result: Result<ServerAnswer, LectureError>
        /// The wall clock when it had answered.
        public var now: Timestamp

        /// Creates the value.
        ///
        /// - Parameters:
        ///   - server: the server.
        ///   - result: its answer, or why there is none.
        ///   - now: the wall clock when it had answered.
        public init(_ server: StoreServer, _ result: Result<ServerAnswer, LectureError>, at now: Timestamp) {
            (self.server, self.result, self.now) = (server, result, now)
        }
    }

    /// A clock that differs by this much from a server's is wrong: requests may be refused.
    public static let clockWarning: Duration = .seconds(60)
    /// A clock that differs by this much from a server's makes licences and TLS fail.
    public static let clockFailure: Duration = .seconds(300)

    /// The configuration file; nil when the defaults apply.
    public var configurationFile: String?
    /// The mistakes in it.
    public var mistakes: [LectureError] = []
    /// The store's directory.
    public var storeDirectory = ""
    /// What is known of the store.
    public var store = Store.missing
    /// The directory of the device's key; nil without one.
    public var deviceDirectory: String?
    /// The device's key; `.success(nil)` when there is none yet.
    public var device: Result<DeviceIdentity?, LectureError> = .success(nil)
    /// The servers that were asked.
    public var contacts: [Contact] = []
    /// Whether servers were to be asked.
    public var asksServers = true
    /// The wall clock.
    public var now: Timestamp

    /// Nothing is known yet.
    ///
    /// - Parameter now: the wall clock.
    public init(now: Timestamp) { self.now = now }

    /// Everything that was found, in the order of ``Finding/Subject``.
    public var findings: [Finding] {
        ofConfiguration() + ofStore() + ofDevice() + ofClock() + ofContents() + contacts.map(Self.of) + ofNoServer()
    }

    // MARK: The parts

    private func ofConfiguration() -> [Finding] {
        let name = configurationFile ?? ""
        guard mistakes.isEmpty else { return mistakes.map { Finding(.configuration, $0, name: name) } }
        let text =
            configurationFile == nil ? "There is no configuration file: the defaults apply." : "It has no mistakes."
        return [Finding(.configuration, .ok, name: name, text)]
    }

    private func ofStore() -> [Finding] {
        switch store {
        case .missing:
            return [
                Finding(
                    .store, .note, name: storeDirectory, "There is no store yet.",
                    remedy: "'lecturectl precache' makes it with the first lecture.")
            ]
        case .old(let steps):
            let count = steps.count == 1 ? "1 step" : "\(steps.count) steps"
            return [
                Finding(
                    .store, .warning, name: storeDirectory,
                    "It is of an older version (\(count) are missing), and was not examined further.",
                    remedy: "'lecturectl store backup FILE' copies it; 'lecturectl store migrate' updates it.")
            ]
        case .refused(let error): return [Finding(.store, error, name: storeDirectory)]
        case .open(let figures):
            if let error = figures.readOnly {
                return [Finding(.store, error, name: storeDirectory), Self.of(figures.metrics.space)]
            }
            let count = figures.metrics.groups.reduce(0) { $0 + $1.contents }
            let text = "It can be used: \(Self.counted(count, "lecture"))."
            return [Finding(.store, .ok, name: storeDirectory, text), Self.of(figures.metrics.space)]
        }
    }

    private static func of(_ space: StoreMetrics.Space) -> Finding {
        let remedy = "Free some, or remove lectures: 'lecturectl list --sort size' shows the largest."
        if let quota = space.quota, space.used >= quota {
            return Finding(
                .disk, .failed, "The quota is used up: \(bytes(space.used)) of \(bytes(quota)).", remedy: remedy)
        }
        guard let free = space.free else { return Finding(.disk, .note, "The free space is unknown.") }
        let text = "\(bytes(free)) free, of which downloads leave \(bytes(space.reserve))"
        if free <= space.reserve { return Finding(.disk, .failed, "\(text): they stop.", remedy: remedy) }
        let isShort = free - space.reserve < max(1 << 30, (space.size ?? 0) / 50)
        return Finding(.disk, isShort ? .warning : .ok, "\(text).", remedy: isShort ? remedy : "")
    }

    private func ofDevice() -> [Finding] {
        let name = deviceDirectory ?? ""
        switch device {
        case .failure(let error): return [Finding(.deviceKey, error, name: name)]
        case .success(nil):
            return [Finding(.deviceKey, .note, name: name, "There is none yet; it is made when it is needed.")]
        case .success(let identity?):
            return [Finding(.deviceKey, .ok, name: name, "It can be used: \(identity.playerID).")]
        }
    }

    /// The clock beside what licences have proven, and beside the times of servers that have proven who they are.
    private func ofClock() -> [Finding] {
        let remedy = "Set the clock: 'timedatectl set-ntp true' keeps it right."
        if case .open(let figures) = store, let judged = figures.judged, judged > now + Self.clockWarning {
            let text = "It was set back: licences are judged at a time that is \(Self.text(judged - now)) later."
            return [Finding(.clock, .failed, text, remedy: remedy)]
        }
        let differences = contacts.compactMap { contact -> (Duration, String)? in
            guard contact.server.origin.hasPrefix("https:"), let date = try? contact.result.get().date else {
                return nil
            }
            return (contact.now - date, contact.server.origin)
        }
        // One server may be wrong itself; the nearest one counts.
        guard let (difference, origin) = differences.min(by: { Self.size($0.0) < Self.size($1.0) }) else {
            return [Finding(.clock, .note, "It was compared with no server: none was asked over https.")]
        }
        let size = Self.size(difference)
        guard size >= Self.clockWarning else {
            return [Finding(.clock, .ok, "It agrees with \(origin).")]
        }
        let text = "It is \(Self.text(size)) \(difference > .zero ? "ahead of" : "behind") \(origin)."
        return [Finding(.clock, size >= Self.clockFailure ? .failed : .warning, text, remedy: remedy)]
    }

    private func ofContents() -> [Finding] {
        guard case .open(let figures) = store else { return [] }
        return [ofLicences(figures)].compactMap(\.self) + [
            Self.ofLectures(figures.metrics), Self.ofReports(figures.metrics),
        ] + [Self.ofWebhooks(figures.metrics)].compactMap(\.self)
    }

    private func ofLicences(_ figures: Figures) -> Finding? {
        if let error = figures.objection { return Finding(.licences, error) }
        guard let licences = figures.metrics.licences else {
            return Finding(.licences, .failed, "They cannot be evaluated: the device's key cannot be used.")
        }
        guard licences.granted > 0 else { return nil }
        let overdue = licences.ended + licences.checkOverdue
        let soon = licences.ending[7] ?? 0
        let text = "\(licences.granted) granted, \(overdue) ended or to be checked, \(soon) end within 7 days."
        let isDue = overdue + soon > 0
        return Finding(
            .licences, isDue ? .warning : .ok, text,
            remedy: isDue ? "'lecturectl licence renew --within 7d' renews them." : "")
    }

    private static func ofLectures(_ metrics: StoreMetrics) -> Finding {
        func count(_ state: ItemState) -> Int {
            metrics.groups.filter { $0.state == state }.reduce(0) { $0 + $1.contents }
        }
        let (failed, stopped) = (count(.failed), count(.stopped))
        let text = "\(count(.completed)) complete, \(stopped) stopped, \(failed) failed."
        let remedy = failed > 0 ? "'lecturectl list --state failed' names them, 'lecturectl why KEY' says why." : ""
        return Finding(.lectures, failed > 0 ? .warning : .ok, text, remedy: remedy)
    }

    private static func ofReports(_ metrics: StoreMetrics) -> Finding {
        let (waiting, dead) = metrics.targets.reduce((0, 0)) { ($0.0 + $1.waiting, $0.1 + $1.dead) }
        let text = "\(waiting) wait to be sent, \(dead) were refused for good."
        if dead > 0 {
            return Finding(
                .reports, .warning, text,
                remedy: "'lecturectl lms list --state dead' shows them, 'lecturectl lms retry --all' sends them again.")
        }
        return Finding(.reports, .ok, text, remedy: waiting > 0 ? "'lecturectl lms send' sends them." : "")
    }

    /// One line for all; nothing without any. Their secrets belong to the configuration.
    private static func ofWebhooks(_ metrics: StoreMetrics) -> Finding? {
        guard !metrics.webhooks.isEmpty else { return nil }
        let (waiting, dead) = metrics.webhooks.reduce((0, 0)) { ($0.0 + $1.waiting, $0.1 + $1.dead) }
        let gone = metrics.webhooks.filter(\.isGone).map(\.host)
        var text = "\(waiting) events wait to be sent, \(dead) were refused for good."
        if !gone.isEmpty { text += " Switched off by the receiver: \(gone.joined(separator: ", "))." }
        if dead > 0 || !gone.isEmpty {
            return Finding(
                .webhooks, .warning, text,
                remedy: "'lecturectl webhooks list' says why, 'lecturectl webhooks retry' sends them again.")
        }
        let isOld = metrics.webhooks.contains { $0.oldestWaiting.map { metrics.read - $0 > .seconds(3600) } ?? false }
        return Finding(
            .webhooks, isOld ? .warning : .ok, text,
            remedy: isOld ? "'lecturectl webhooks test' shows what the receiver answers." : "")
    }

    private static func of(_ contact: Contact) -> Finding {
        let server = contact.server
        switch contact.result {
        case .failure(let error): return Finding(.server, error, name: server.origin)
        case .success(let answer):
            let milliseconds = max(0, answer.elapsed.milliseconds)
            let trust = server.origin.hasPrefix("https:") ? ", with a certificate that is trusted" : ""
            var finding = Finding(
                .server, .ok, name: server.origin,
                "It answers (\(need(server))): HTTP \(answer.status) after \(milliseconds) ms\(trust).")
            if let redirect = answer.redirect {
                (finding.grade, finding.message) = (.note, "\(finding.message) It leads to \(redirect).")
            }
            // Its root may have no page, or need a login. What a proxy refuses, it refuses for every page.
            if answer.status == 407 {
                (finding.grade, finding.remedy) = (.failed, "The proxy wants a user and a password: network.proxy.")
            } else if answer.status == 511 {
                (finding.grade, finding.remedy) = (.failed, "The network wants a login: open a page in a browser.")
            } else if answer.status >= 500 {
                (finding.grade, finding.remedy) = (.warning, "Try again later, or ask those who run it.")
            }
            return finding
        }
    }

    private func ofNoServer() -> [Finding] {
        guard contacts.isEmpty else { return [] }
        guard asksServers else { return [Finding(.server, .note, "No server was asked.")] }
        return [
            Finding(
                .server, .note, "No server is known.",
                remedy: "'lecturectl doctor https://HOST' asks one.")
        ]
    }

    // MARK: Words

    private static func need(_ server: StoreServer) -> String {
        switch server.use {
        case .media where server.count == 0: "named"
        case .media: counted(server.count, "unfinished lecture")
        case .licences: counted(server.count, "licence")
        case .reports where server.count == 0: "the LMS"
        case .reports: counted(server.count, "waiting report")
        }
    }

    private static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    private static func size(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }

    private static func text(_ duration: Duration) -> String {
        QuantityText.text(seconds: duration.milliseconds / 1000)
    }

    private static func bytes(_ count: Int64) -> String { QuantityText.text(byteCount: count) }
}
