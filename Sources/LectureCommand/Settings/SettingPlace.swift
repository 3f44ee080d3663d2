/// A setting with the place of its value, for `config show`.
package struct SettingPlace: Sendable, Hashable {
    /// Its name in the configuration file.
    package let name: String
    /// The effective value, without secrets; empty for none.
    package let value: String
    /// Where it came from.
    package let origin: SettingOrigin
    /// Which one: the file, the variable or the option; nil for a default.
    package let source: String?

    /// Both as a text: `file /etc/lecturekit/config.json`, `default`.
    var place: String { source.map { "\(origin.rawValue) \($0)" } ?? origin.rawValue }
}

extension Configuration {
    /// Every setting with its place.
    ///
    /// - Parameters:
    ///   - command: the command line that this was loaded with.
    ///   - environment: the variables of the process.
    /// - Returns: in the order of ``descriptions``.
    package func origins(_ command: ParsedCommand, _ environment: [String: String]) -> [SettingPlace] {
        descriptions.map { setting in
            let source: String? =
                switch setting.origin {
                case .default: nil
                case .file: file.value
                case .environment: Self.variables(of: setting.name).first { environment[$0]?.isEmpty == false }
                case .option:
                    setting.name == "network.netrc_file" && command.flag("netrc")
                        ? "--netrc" : Self.option(of: setting.name).map { "--\($0)" }
                }
            return SettingPlace(name: setting.name, value: setting.value, origin: setting.origin, source: source)
        }
    }

    /// The option of a setting: its name without the section, by rule or by exception.
    private static func option(of name: String) -> String? {
        let exceptions = [
            "network.timeout_s": "timeout", "storage.quota_bytes": "quota", "storage.reserve_bytes": "reserve",
            "daemon.renew_within_s": "renew-within", "serve.names": "name", "serve.access_file": "access",
            "peers.token_file": "from-token-file", "peers.trust": "from-trust",
        ]
        let last = String(name.split(separator: ".").last ?? "")
        let option = exceptions[name] ?? last.replacing("_", with: "-")
        return options.contains { $0.long == option } ? option : nil
    }

    private static func variables(of name: String) -> [String] {
        let others = [
            "storage.device_dir": "LECTURE_DEVICE", "storage.group": "LECTURE_GROUP", "lms.url": "LECTURE_LMS_URL",
        ]
        if let variable = others[name] { return [variable] }
        // The format of the variable's target; without one of its own, that is what the URL brings.
        if name.hasPrefix("lms.") { return ["LECTURE_LMS_FORMAT", "LECTURE_LMS_URL"] }
        return options.filter { $0.long == option(of: name) }.compactMap(\.environment)
    }

    private static var options: [OptionSpec] {
        CommandTable.globalOptions + CommandTable.settingOptions + CommandTable.daemonOptions
            + CommandTable.serveOptions + CommandTable.peerOptions
    }
}
