import Glibc
import LectureDownload
import LectureFiles
import LectureFormats
package import LectureModel

/// The settings in `config.json`. Unknown members are not an error, so that one file serves several versions; each is
/// named in a warning, so that a mistyped one is noticed.
package struct ConfigurationFile: Sendable {
    /// Further root certificates (PEM).
    package var caFile: String?
    /// The proxy; it may hold a password.
    package var proxy: String?
    /// A secret file with request headers by server.
    package var credentialsFile: String?
    /// A `.netrc` file.
    package var netrcFile: String?
    /// The certificate (PEM) for servers that ask for one.
    package var clientCertificate: String?
    /// Its key (PEM), a secret file.
    package var clientKey: String?
    /// Bytes a second of all downloads together.
    package var rateLimit: Int?
    /// When downloads may run and how fast.
    package var timetable: String?
    /// How long an attempt may go without a byte.
    package var timeout: Duration?
    /// Attempts after the first that may make no progress.
    package var retries: Int?
    /// Connections to one server.
    package var perHost: Int?
    /// Items at once.
    package var jobs: Int?
    /// The maximum size of the store's files.
    package var quotaBytes: Int64?
    /// Space to leave free on the disk.
    package var reserveBytes: Int64?
    /// What is sealed.
    package var seal: SealPolicy?
    /// Where the device's key is kept.
    package var deviceDirectory: String?
    /// The group that shares the store.
    package var group: String?
    /// Rules of retention, as written.
    package var retentionRules: [String]?
    /// How the answers of DRM callbacks are verified.
    package var rights = RightsConfiguration()
    /// The application's key.
    package var application: ApplicationConfiguration?
    /// Where learning reports go.
    package var statistics = StatisticsConfiguration()
    /// Where events go; nil leaves the endpoints of the store as they are.
    package var webhooks: [WebhookConfiguration]?
    /// Course lists that a daemon follows, and directories with them.
    package var courses: [String]?
    /// How long before its end a daemon renews a licence.
    package var renewWithin: Duration?
    /// Where a server of the store listens.
    package var serve = ServeConfiguration()
    /// Other stores that lectures are fetched from.
    package var peers = PeersConfiguration()
    /// The full names of the settings that it has, such as `network.proxy`.
    package var named: Set<String> = []
    /// The members that this version does not know.
    package var unknown: [UnknownSetting] = []

    /// Creates settings without values.
    package init() {}

    /// Warnings about the members that this version does not know.
    package var warnings: [String] { unknown.map(\.warning) }

    /// A configuration is small; a larger file is a mistake.
    private static let longest = 1 << 20

    /// Whether a path exists.
    ///
    /// - Parameter path: the path.
    /// - Returns: whether it exists; a dangling link does not.
    package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Reads and checks a file.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - base: applies where the file has no setting; a list in the file replaces the whole list.
    ///   - services: where the credentials of a service are.
    /// - Returns: its settings.
    /// - Throws: `LectureError` with `.configuration`, or with `.secretReadable` for a file it names.
    package static func read(
        _ path: String, over base: ConfigurationFile = ConfigurationFile(),
        services: ServiceDirectories = ServiceDirectories([:])
    ) throws(LectureError) -> Self {
        let bytes = try contents(path)
        let value: JSONValue
        do throws(LectureError) {
            value = try JSONScanner.value(of: bytes)
        } catch {
            throw LectureError(.configuration, detail: path, cause: error.message)
        }
        guard let members = value.members else {
            throw LectureError(.configuration, detail: path, cause: "not an object")
        }
        var reader = ConfigurationReader(path: path, text: bytes, services: services, file: base)
        for member in try reader.known(members, "") { try reader.take(section: member) }
        return reader.file
    }

    private static func contents(_ path: String) throws(LectureError) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw LectureError(.configuration, detail: path, cause: "it cannot be opened: \(systemMessage(errno))")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= longest {
            let count = unsafe Glibc.read(descriptor, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                throw LectureError(.configuration, detail: path, cause: "it cannot be read: \(systemMessage(errno))")
            }
            if count == 0 { return bytes }
            bytes += piece[..<count]
        }
        throw LectureError(.configuration, detail: path, cause: "more than \(longest) bytes")
    }

    /// The system's text for an error number.
    ///
    /// - Parameter number: the number.
    /// - Returns: a sentence without a full stop.
    package static func systemMessage(_ number: Int32) -> String {
        // The text is the C library's own; it is copied at once, before another call may replace it.
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    }
}

/// A member of a configuration file that this version does not know.
package struct UnknownSetting: Sendable, Hashable {
    /// The file and the line.
    let place: String
    /// Its full name.
    let name: String
    /// A suggestion in parentheses, with a space before it; empty without one.
    let hint: String

    /// For a command that goes on.
    package var warning: String { "\(place): unknown setting '\(name)' ignored\(hint)" }

    /// For a check of the file.
    var error: LectureError { LectureError(.configuration, detail: place, cause: "unknown setting '\(name)'\(hint)") }
}

/// Reads the members of a configuration one by one.
struct ConfigurationReader {
    let path: String
    /// The bytes of the file.
    let text: [UInt8]
    /// Where secrets are that the file names without a directory.
    let services: ServiceDirectories
    var file = ConfigurationFile()

    mutating func take(section: JSONMember) throws(LectureError) {
        switch section.name {
        case "network":
            for member in try known(members(section), "network") { try takeNetwork(member) }
        case "storage":
            for member in try known(members(section), "storage") { try takeStorage(member) }
        case "retention":
            for member in try known(members(section), "retention") { try takeRetention(member) }
        case "application":
            try takeApplication(try known(members(section), "application"))
        case "drm":
            for member in try known(members(section), "drm") { try takeRights(member) }
        case "lms":
            try takeStatistics(try known(members(section), "lms"))
        case "webhooks": try takeWebhooks(section)
        case "daemon":
            for member in try known(members(section), "daemon") { try takeDaemon(member) }
        case "serve":
            for member in try known(members(section), "serve") { try takeServe(member) }
        case "peers":
            for member in try known(members(section), "peers") { try takePeers(member) }
        default: break
        }
    }

    private mutating func takeNetwork(_ member: JSONMember) throws(LectureError) {
        switch member.name {
        case "timeout_s": file.timeout = .seconds(try integer(member, "network", 1...86_400))
        case "retries": file.retries = Int(try integer(member, "network", 0...1000))
        case "per_host": file.perHost = Int(try integer(member, "network", 1...256))
        case "jobs": file.jobs = Int(try integer(member, "network", 1...256))
        case "ca_file": file.caFile = absolute(try text(member, "network"))
        case "proxy": file.proxy = try text(member, "network")
        case "credentials_file": file.credentialsFile = try secret(member, "network")
        case "netrc_file": file.netrcFile = try secret(member, "network")
        case "client_cert": file.clientCertificate = credential(try text(member, "network"))
        case "client_key": file.clientKey = try secret(member, "network")
        case "limit_rate": file.rateLimit = Int(try integer(member, "network", 1...Int64.max))
        case "timetable": file.timetable = try timetable(member)
        default: break
        }
    }

    private mutating func takeStorage(_ member: JSONMember) throws(LectureError) {
        switch member.name {
        case "quota_bytes": file.quotaBytes = try integer(member, "storage", 0...Int64.max)
        case "reserve_bytes": file.reserveBytes = try integer(member, "storage", 0...Int64.max)
        case "seal":
            guard let policy = SealPolicy(rawValue: try text(member, "storage")) else {
                let words = SealPolicy.allCases.map(\.rawValue).joined(separator: ", ")
                throw refused("storage.seal must be one of \(words)")
            }
            file.seal = policy
        case "device_dir": file.deviceDirectory = absolute(try text(member, "storage"))
        case "group": file.group = try text(member, "storage")
        default: break
        }
    }

    private mutating func takeDaemon(_ member: JSONMember) throws(LectureError) {
        switch member.name {
        case "courses": file.courses = try texts(member, "daemon").map(absolute)
        case "renew_within_s": file.renewWithin = .seconds(try integer(member, "daemon", 0...31_622_400))
        default: break
        }
    }

    private mutating func takeRetention(_ member: JSONMember) throws(LectureError) {
        file.retentionRules = try texts(member, "retention")
    }

    private mutating func takeApplication(_ members: [JSONMember]) throws(LectureError) {
        var application = file.application ?? ApplicationConfiguration(key: "", bundleID: "", expires: "")
        for member in members {
            switch member.name {
            case "key": application.key = try text(member, "application")
            case "bundle_id": application.bundleID = try text(member, "application")
            case "expires": application.expires = try text(member, "application")
            case "trust_dir": application.trustDirectory = absolute(try text(member, "application"))
            default: break
            }
        }
        file.application = application
    }

    private mutating func takeRights(_ member: JSONMember) throws(LectureError) {
        switch member.name {
        case "user_key": file.rights.userKey = try text(member, "drm")
        case "strict": file.rights.isStrict = try truth(member, "drm")
        case "unverified": file.rights.permitsUnverified = try truth(member, "drm")
        case "keys":
            guard let keys = member.value.elements else { throw refused("drm.keys must be an array") }
            file.rights.keys = []
            for key in keys {
                guard let fields = key.members else { throw refused("drm.keys must hold objects") }
                try take(key: fields)
            }
        default: break
        }
    }

    private mutating func take(key fields: [JSONMember]) throws(LectureError) {
        var key = RightsConfiguration.Key(id: "", place: .secret(""))
        var places: [RightsConfiguration.Key.Place] = []
        for field in try known(fields, "drm.keys") {
            switch field.name {
            case "id": key.id = try text(field, "drm.keys")
            case "algorithm": key.algorithm = try text(field, "drm.keys")
            case "legacy": key.isLegacy = try truth(field, "drm.keys")
            case "secret_file":
                places.append(.secret(try secret(field, "drm.keys")))
            case "jwks_file": places.append(.keySet(absolute(try text(field, "drm.keys"))))
            case "ca_file": places.append(.roots(absolute(try text(field, "drm.keys"))))
            default: break
            }
        }
        guard let place = places.first, places.count == 1 else {
            throw refused("a key of drm.keys needs one of secret_file, jwks_file and ca_file")
        }
        key.place = place
        if file.rights.keys.contains(where: { $0.id.utf8.elementsEqual(key.id.utf8) }) {
            throw refused("two keys of drm.keys have the same id")
        }
        file.rights.keys.append(key)
    }

    // MARK: Values

    func members(_ member: JSONMember) throws(LectureError) -> [JSONMember] {
        guard let members = member.value.members else { throw refused("\(member.name) must be an object") }
        return members
    }

    func texts(_ member: JSONMember, _ section: String) throws(LectureError) -> [String] {
        let texts = member.value.elements?.compactMap { $0.string.flatMap { $0.isEmpty ? nil : $0 } }
        guard let texts, texts.count == member.value.elements?.count else {
            throw refused("\(section).\(member.name) must be an array of texts that are not empty")
        }
        return texts
    }

    func integer(
        _ member: JSONMember, _ section: String, _ range: ClosedRange<Int64>
    ) throws(LectureError) -> Int64 {
        guard let value = member.value.integer, range.contains(value) else {
            let end = range.upperBound == .max ? "on" : "to \(range.upperBound)"
            throw refused("\(section).\(member.name) must be a whole number from \(range.lowerBound) \(end)")
        }
        return value
    }

    func text(_ member: JSONMember, _ section: String) throws(LectureError) -> String {
        guard let value = member.value.string, !value.isEmpty else {
            throw refused("\(section).\(member.name) must be a text that is not empty")
        }
        return value
    }

    func truth(_ member: JSONMember, _ section: String) throws(LectureError) -> Bool {
        guard let value = member.value.bool else { throw refused("\(section).\(member.name) must be true or false") }
        return value
    }

    /// Leaves out unknown members, and names each in a warning. One that looks like a secret is an error: secrets are
    /// given by file.
    mutating func known(_ members: [JSONMember], _ section: String) throws(LectureError) -> [JSONMember] {
        let names = ConfigurationKeys.members(of: section)
        var known: [JSONMember] = []
        for member in members {
            let place = section.isEmpty ? "" : "\(section)."
            if names.contains(where: { $0.utf8.elementsEqual(member.name.utf8) }) {
                known.append(member)
                file.named.insert(place + member.name)
            } else if ["secret", "password", "token"].contains(member.name) {
                throw refused(
                    "\(place)\(member.name): secrets are given by file, in a member whose name ends in _file")
            } else {
                file.unknown.append(
                    UnknownSetting(
                        place: "\(path):\(line(at: member.offset))", name: place + member.name,
                        hint: hint(member, section)))
            }
        }
        return known
    }

    /// The line of a place in the file.
    private func line(at offset: Int) -> Int {
        1 + text.prefix(offset).reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
    }

    /// A suggestion: a similar name, or a setting of this name in another section.
    private func hint(_ member: JSONMember, _ section: String) -> String {
        let place = section.isEmpty ? "" : "\(section)."
        let neighbours = ConfigurationKeys.members(of: section)
        if let nearest = Suggestion.nearest(to: member.name, among: neighbours) {
            return " (did you mean '\(place)\(nearest)'?)"
        }
        let elsewhere = ConfigurationKeys.all.filter { $0.hasSuffix(".\(member.name)") }
        return elsewhere.count == 1 ? " (did you mean '\(elsewhere[0])'?)" : ""
    }

    /// A path in the file is relative to the file's own directory.
    func absolute(_ name: String) -> String {
        guard !name.hasPrefix("/"), let slash = path.lastIndex(of: "/") else { return name }
        return "\(path[..<slash])/\(name)"
    }

    /// The path of a credential: the service's own of that name, else a path as all others.
    func credential(_ name: String) -> String { services.credential(name) ?? absolute(name) }

    private func timetable(_ member: JSONMember) throws(LectureError) -> String {
        let text = try text(member, "network")
        do throws(LectureError) {
            _ = try Timetable(text)
            return text
        } catch {
            throw refused("network.timetable: \(error.cause.isEmpty ? error.detail : error.cause)")
        }
    }

    /// The path of a secret file.
    func secret(_ member: JSONMember, _ section: String) throws(LectureError) -> String {
        let place = credential(try text(member, section))
        try checkSecret(place)
        return place
    }

    /// Every command checks, whether it needs the secret or not, so that it does not stay readable for long.
    private func checkSecret(_ place: String) throws(LectureError) {
        var facts = stat()
        guard unsafe stat(place, &facts) == 0 else {
            throw refused("\(place): \(ConfigurationFile.systemMessage(errno))")
        }
        let isCredential = SecretFile.isCredential(mode: facts.st_mode, owner: facts.st_uid, group: facts.st_gid)
        guard facts.st_mode & 0o077 == 0 || isCredential else { throw LectureError(.secretReadable, detail: place) }
    }

    func refused(_ reason: String) -> LectureError { LectureError(.configuration, detail: path, cause: reason) }
}
