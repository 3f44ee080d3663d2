public import LectureModel

/// Settings from `config.json`, for programs that embed the library.
extension LectureConfiguration {
    /// The configuration file that the environment names: `LECTURE_CONFIG`, else the default one if it exists.
    ///
    /// - Parameter environment: the variables: `LECTURE_CONFIG`, else `CONFIGURATION_DIRECTORY`, which systemd sets for
    ///   a service, else `XDG_CONFIG_HOME`, else `HOME`. A base directory that is not absolute is ignored, as the XDG
    ///   Base Directory Specification requires.
    /// - Returns: nil when there is none. A file that `LECTURE_CONFIG` names need not exist.
    public static func file(in environment: [String: String]) -> String? {
        if let path = environment["LECTURE_CONFIG"], !path.isEmpty { return path }
        if let path = ServiceDirectories(environment).file { return path }
        let base: String
        if let path = environment["XDG_CONFIG_HOME"], path.hasPrefix("/") {
            base = path
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            base = "\(home)/.config"
        } else {
            return nil
        }
        let path = "\(base)/lecturekit/config.json"
        return ConfigurationFile.exists(path) ? path : nil
    }

    /// Applies a configuration file; settings that it does not name stay. A list in it (`drm.keys`, `lms.targets`,
    /// `webhooks`) replaces the whole list. When it throws, nothing is applied.
    ///
    /// - Parameter file: its path. Paths in it are relative to its own directory; a secret file that it names without a
    ///   directory is the credential of that name, if systemd gave the service one (`LoadCredential=`).
    /// - Returns: warnings about members that this version does not know.
    /// - Throws: ``LectureError`` with `configuration` or `secretReadable`.
    public mutating func apply(file: String) throws(LectureError) -> [String] {
        var base = ConfigurationFile()
        (base.rights, base.application, base.statistics) = (rights, application, statistics)
        let settings = try ConfigurationFile.read(file, over: base, services: .ofProcess)
        adopt(settings)
        return settings.warnings
    }

    /// Takes the settings of a file; those that it does not name stay.
    mutating func adopt(_ settings: ConfigurationFile) {
        if let caFile = settings.caFile { self.caFile = caFile }
        if let proxy = settings.proxy { self.proxy = proxy }
        if let path = settings.credentialsFile { credentialsFile = path }
        if let path = settings.netrcFile { netrcFile = path }
        if let path = settings.clientCertificate { clientCertificateFile = path }
        if let path = settings.clientKey { clientKeyFile = path }
        if let rateLimit = settings.rateLimit { self.rateLimit = rateLimit }
        if let timetable = settings.timetable { self.timetable = timetable }
        if let timeout = settings.timeout { stallTimeout = timeout }
        // The two count differently: attempts after the first, and attempts in all.
        if let retries = settings.retries { maxAttempts = retries + 1 }
        if let perHost = settings.perHost { connectionsPerHost = perHost }
        if let jobs = settings.jobs { self.jobs = jobs }
        if let quotaBytes = settings.quotaBytes { self.quotaBytes = quotaBytes }
        if let reserveBytes = settings.reserveBytes { self.reserveBytes = reserveBytes }
        if let seal = settings.seal { self.seal = seal }
        if let deviceDirectory = settings.deviceDirectory { self.deviceDirectory = deviceDirectory }
        if let group = settings.group { sharedGroup = group }
        if let rules = settings.retentionRules { retentionRules = rules }
        if let webhooks = settings.webhooks { self.webhooks = webhooks }
        (rights, application, statistics) = (settings.rights, settings.application, settings.statistics)
    }
}
