package import LectureKit
package import LectureModel
import LectureRecords
package import LectureUpkeep

/// The settings of one run. Options override the environment, which overrides the configuration file and the defaults.
package struct Configuration: Sendable, Equatable {
    /// The store's directory.
    package let storeDirectory: Setting<String>
    /// The configuration file; nil when none was given and the default one does not exist.
    package let file: Setting<String?>
    /// Further root certificates (PEM).
    package let caFile: Setting<String?>
    /// The proxy, as given; it may contain a password.
    package let proxy: Setting<String?>
    /// How fast downloads may run.
    package let pace: PaceSettings
    /// Where credentials come from.
    package let credentials: CredentialSettings
    /// How long a request may receive no data.
    package let timeout: Setting<Duration>
    /// Retries in a row without progress.
    package let retries: Setting<Int>
    /// Connections to one server.
    package let perHost: Setting<Int>
    /// Lectures downloaded at once.
    package let jobs: Setting<Int>
    /// Maximum space for the store's files, in bytes; nil means no limit.
    package let quotaBytes: Setting<Int64?>
    /// Space to leave free on the disk, in bytes.
    package let reserveBytes: Setting<Int64>
    /// Which files are sealed.
    package let seal: Setting<SealPolicy>
    /// The directory of the device's key; nil when none is configured.
    package let deviceDirectory: Setting<String?>
    /// The group that shares the store; nil when the configuration names none.
    package let group: Setting<String?>
    /// Rules of retention; none by default.
    package let retention: [RetentionRule]
    /// How the answers of DRM callbacks are verified.
    package let rights: Setting<RightsConfiguration>
    /// The application's key; nil without one.
    package let application: Setting<ApplicationConfiguration?>
    /// Where learning reports go.
    package let statistics: Setting<StatisticsConfiguration>
    /// Where events go; nil when the configuration says nothing about it.
    package let webhooks: [WebhookConfiguration]?
    /// Course lists that the daemon follows, and directories with them.
    package let courses: Setting<[String]>
    /// How long before its end the daemon renews a licence.
    package let renewWithin: Setting<Duration>
    /// Where a server of the store listens.
    package let serve: ServeSettings
    /// Other stores that lectures are fetched from.
    package let peers: PeerSettings
    /// The full names of the settings that the file has.
    let named: Set<String>
    /// Warnings about members of the file that this version does not know.
    package let warnings: [String]

    /// Gathers the settings.
    ///
    /// - Parameters:
    ///   - command: the command line, with the environment's values in it.
    ///   - environment: supplies the directories of a service of systemd, and those of the XDG Base Directory
    ///     Specification.
    /// - Returns: the settings.
    /// - Throws: `LectureError` with `.configuration` or `.secretReadable` when the file cannot be used.
    package static func load(_ command: ParsedCommand, environment: [String: String]) throws(LectureError) -> Self {
        let place = try file(command, environment)
        let services = ServiceDirectories(environment)
        let settings = try place.value.map { path throws(LectureError) in
            try ConfigurationFile.read(path, services: services)
        }
        return try Self(command, environment, file: place, settings: settings ?? ConfigurationFile())
    }

    private init(
        _ command: ParsedCommand, _ environment: [String: String], file: Setting<String?>, settings: ConfigurationFile
    ) throws(LectureError) {
        let source = SettingSource(command: command)
        self.file = file
        storeDirectory = try Self.storeDirectory(command, environment)
        caFile = source.pick("ca-file", { $0 }, settings.caFile.map { $0 }, nil)
        proxy = source.pick("proxy", { $0 }, settings.proxy.map { $0 }, nil)
        pace = PaceSettings(source, settings)
        credentials = CredentialSettings(command, environment, source, settings)
        timeout = source.pick("timeout", Quantity.duration, settings.timeout, .seconds(30))
        perHost = source.pick("per-host", { Int($0) }, settings.perHost, 16)
        jobs = source.pick("jobs", { Int($0) }, settings.jobs, 4)
        quotaBytes = source.pick("quota", Quantity.byteCount, settings.quotaBytes.map { $0 }, nil)
        reserveBytes = source.pick("reserve", Quantity.byteCount, settings.reserveBytes, 157_286_400)
        // One counts all attempts, the other only those after the first.
        retries =
            command.integer("max-attempts").map { Setting($0 - 1, .option) }
            ?? source.pick("retries", { Int($0) }, settings.retries, 3)
        seal = Self.seal(command) ?? settings.seal.map { Setting($0, .file) } ?? Setting(.licensed, .default)
        deviceDirectory = Self.deviceDirectory(environment, settings)
        group = Self.group(environment, settings)
        retention = try Self.rules(settings, file.value)
        rights = Setting(settings.rights, settings.rights == RightsConfiguration() ? .default : .file)
        application = Setting(settings.application, settings.application == nil ? .default : .file)
        statistics = try Self.statistics(environment, settings.statistics)
        webhooks = settings.webhooks
        courses = Self.courses(command, environment, settings)
        renewWithin = source.pick("renew-within", Quantity.duration, settings.renewWithin, .seconds(3 * 86_400))
        serve = ServeSettings(source, settings.serve, defaultAccess: Self.accessFile(file.value, environment))
        peers = PeerSettings(source, settings.peers)
        (named, warnings) = (settings.named, settings.warnings)
    }

    /// The settings by their names in the file, without secrets, for `store info`.
    package var descriptions: [(name: String, value: String, origin: SettingOrigin)] {
        [
            ("store", storeDirectory.value, storeDirectory.origin),
            ("config", file.value ?? "", file.origin),
            ("network.timeout_s", "\(timeout.value.milliseconds / 1000)", timeout.origin),
            ("network.retries", "\(retries.value)", retries.origin),
            ("network.ca_file", caFile.value ?? "", caFile.origin),
            ("network.proxy", proxy.value.map(Self.withoutCredentials) ?? "", proxy.origin),
            ("network.per_host", "\(perHost.value)", perHost.origin),
            ("network.jobs", "\(jobs.value)", jobs.origin),
            ("storage.quota_bytes", quotaBytes.value.map { "\($0)" } ?? "", quotaBytes.origin),
            ("storage.reserve_bytes", "\(reserveBytes.value)", reserveBytes.origin),
            ("storage.seal", seal.value.rawValue, seal.origin),
            ("storage.device_dir", deviceDirectory.value ?? "", deviceDirectory.origin),
            ("storage.group", group.value ?? "", group.origin),
            ("retention.rules", retention.map(\.text).joined(separator: "; "), origin("retention.rules")),
            ("application.bundle_id", application.value?.bundleID ?? "", origin("application.bundle_id")),
            ("application.expires", application.value?.expires ?? "", origin("application.expires")),
            ("application.trust_dir", application.value?.trustDirectory ?? "", origin("application.trust_dir")),
            ("drm.keys", rights.value.keys.map(Self.description).joined(separator: ", "), origin("drm.keys")),
            ("drm.user_key", rights.value.userKey == nil ? "" : "set", origin("drm.user_key")),
            ("drm.strict", "\(rights.value.isStrict)", origin("drm.strict")),
            ("drm.unverified", "\(rights.value.permitsUnverified)", origin("drm.unverified")),
        ] + pace.descriptions + credentials.descriptions + statisticsDescriptions + webhookDescriptions
            + daemonDescriptions + serveDescriptions + peerDescriptions
    }

    /// Where a setting of a section came from that no option or variable sets.
    func origin(_ name: String) -> SettingOrigin { named.contains(name) ? .file : .default }

    /// A key without its secret.
    private static func description(_ key: RightsConfiguration.Key) -> String {
        let place =
            switch key.place {
            case .secret: "secret"
            case .keySet(let path), .roots(let path): path
            }
        let words = [key.id.isEmpty ? "-" : key.id, key.algorithm, key.isLegacy ? "legacy" : nil, place]
        return words.compactMap(\.self).joined(separator: " ")
    }

    /// A URL without its user and password.
    static func withoutCredentials(_ url: String) -> String { URLText.withoutCredentials(url) }

    /// The rules of a file.
    static func rules(_ settings: ConfigurationFile, _ file: String?) throws(LectureError) -> [RetentionRule] {
        do throws(LectureError) { return try RetentionRule.rules(settings.retentionRules ?? []) } catch {
            throw LectureError(
                .configuration, detail: file ?? "", cause: "retention.rules: \(error.detail): \(error.cause)")
        }
    }

    // MARK: Directories

    private static func seal(_ command: ParsedCommand) -> Setting<SealPolicy>? {
        if command.flag("no-seal") { return Setting(.never, .option) }
        return command.flag("seal") ? Setting(.always, .option) : nil
    }

    private static func deviceDirectory(
        _ environment: [String: String], _ settings: ConfigurationFile
    ) -> Setting<String?> {
        if let path = environment["LECTURE_DEVICE"], !path.isEmpty { return Setting(path, .environment) }
        if let path = settings.deviceDirectory { return Setting(path, .file) }
        return Setting(DeviceHome.directory(in: environment), .default)
    }

    private static func group(
        _ environment: [String: String], _ settings: ConfigurationFile
    ) -> Setting<String?> {
        if let name = environment["LECTURE_GROUP"], !name.isEmpty { return Setting(name, .environment) }
        return Setting(settings.group, settings.group == nil ? .default : .file)
    }

    /// The configuration file that would be used; nil for none.
    static func file(
        _ command: ParsedCommand, _ environment: [String: String]
    ) throws(LectureError) -> Setting<String?> {
        if let path = command.text("config") {
            return Setting(path, command.origin("config") == .environment ? .environment : .option)
        }
        return Setting(LectureConfiguration.file(in: environment), .default)
    }

    private static func storeDirectory(
        _ command: ParsedCommand, _ environment: [String: String]
    ) throws(LectureError) -> Setting<String> {
        if let path = command.text("store") {
            return Setting(path, command.origin("store") == .environment ? .environment : .option)
        }
        if let path = ServiceDirectories(environment).store { return Setting(path, .default) }
        guard let base = directory("XDG_DATA_HOME", below: ".local/share", environment) else {
            throw LectureError(.parameter, detail: "no --store, no LECTURE_STORE and no HOME")
        }
        return Setting("\(base)/lecturekit", .default)
    }

    /// A base directory; one that is not absolute is ignored, as the XDG Base Directory Specification requires.
    static func directory(_ name: String, below: String, _ environment: [String: String]) -> String? {
        if let path = environment[name], path.hasPrefix("/") { return path }
        return environment["HOME"].flatMap { $0.hasPrefix("/") ? "\($0)/\(below)" : nil }
    }
}

/// Looks up settings.
struct SettingSource {
    let command: ParsedCommand

    /// The value from the origin with the highest precedence. Options and variables were checked by the parser.
    func pick<Value>(
        _ option: String, _ read: (String) -> Value?, _ fromFile: Value?, _ standard: Value
    ) -> Setting<Value> {
        if let origin = command.origin(option), let value = command.text(option).flatMap(read) {
            return Setting(value, origin == .option ? .option : .environment)
        }
        return fromFile.map { Setting($0, .file) } ?? Setting(standard, .default)
    }
}
