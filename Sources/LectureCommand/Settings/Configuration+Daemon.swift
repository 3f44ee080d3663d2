import LectureKit

/// The section `daemon`.
extension Configuration {
    /// The lists of `--courses`, else those of the file, else a service's own directory of them, else none.
    static func courses(
        _ command: ParsedCommand, _ environment: [String: String], _ settings: ConfigurationFile
    ) -> Setting<[String]> {
        let given = command.texts("courses")
        if !given.isEmpty { return Setting(given, .option) }
        if let courses = settings.courses { return Setting(courses, .file) }
        let own = ServiceDirectories(environment).configuration.map { "\($0)/courses" }
        return Setting(own.map { ConfigurationFile.exists($0) ? [$0] : [] } ?? [], .default)
    }

    /// The settings by their names in the file.
    var daemonDescriptions: [(name: String, value: String, origin: SettingOrigin)] {
        [
            ("daemon.courses", courses.value.joined(separator: " "), courses.origin),
            ("daemon.renew_within_s", "\(renewWithin.value.milliseconds / 1000)", renewWithin.origin),
        ]
    }
}
