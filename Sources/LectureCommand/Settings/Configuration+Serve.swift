import LectureFormats
import LectureKit

/// The section `serve`, with what options say.
package struct ServeSettings: Sendable, Equatable {
    /// An address of this machine, a colon and a port.
    package let listen: Setting<String>
    /// Names of the server in the network.
    package let names: Setting<[String]>
    /// The certificate (PEM); nil for HTTP without TLS.
    package let certificate: Setting<String?>
    /// Its key (PEM).
    package let key: Setting<String?>
    /// Whether a proxy ends TLS.
    package let isBehindProxy: Setting<Bool>
    /// Who may use the server; nil where there is no place for it.
    package let accessFile: Setting<String?>

    init(_ source: SettingSource, _ file: ServeConfiguration, defaultAccess: String?) {
        let command = source.command
        listen = source.pick("listen", { $0 }, file.listen, "127.0.0.1:8080")
        let names = command.texts("name")
        self.names =
            names.isEmpty
            ? file.names.map { Setting($0, .file) } ?? Setting([], .default)
            : Setting(names, .option)
        certificate = source.pick("tls-cert", { $0 }, file.certificate.map { $0 }, nil)
        key = source.pick("tls-key", { $0 }, file.key.map { $0 }, nil)
        if command.flag("behind-proxy") || command.isUnset("behind-proxy") {
            isBehindProxy = Setting(command.flag("behind-proxy"), .option)
        } else {
            isBehindProxy = file.isBehindProxy.map { Setting($0, .file) } ?? Setting(false, .default)
        }
        accessFile = source.pick("access", { $0 }, file.accessFile.map { $0 }, defaultAccess)
    }
}

extension Configuration {
    /// The settings by their names in the file.
    var serveDescriptions: [(name: String, value: String, origin: SettingOrigin)] {
        [
            ("serve.listen", serve.listen.value, serve.listen.origin),
            ("serve.names", serve.names.value.joined(separator: " "), serve.names.origin),
            ("serve.tls_cert", serve.certificate.value ?? "", serve.certificate.origin),
            ("serve.tls_key", serve.key.value ?? "", serve.key.origin),
            ("serve.behind_proxy", "\(serve.isBehindProxy.value)", serve.isBehindProxy.origin),
            ("serve.access_file", serve.accessFile.value ?? "", serve.accessFile.origin),
        ]
    }

    /// The access file beside the configuration file, whether that exists or not.
    static func accessFile(_ file: String?, _ environment: [String: String]) -> String? {
        if let file { return "\(PathText.directory(of: file))/access" }
        let own = ServiceDirectories(environment).configuration
        let base = directory("XDG_CONFIG_HOME", below: ".config", environment).map { "\($0)/lecturekit" }
        return (own ?? base).map { "\($0)/access" }
    }
}
