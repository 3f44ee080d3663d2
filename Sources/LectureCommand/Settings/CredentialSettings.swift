import LectureKit

/// Where credentials come from: paths of files, but not what is in them. A service's own credentials are used where
/// nothing else names a file.
package struct CredentialSettings: Sendable, Equatable {
    /// Request headers by server.
    package let file: Setting<String?>
    /// A `.netrc` file.
    package let netrc: Setting<String?>
    /// The certificate for servers that ask for one.
    package let certificate: Setting<String?>
    /// The certificate's key.
    package let key: Setting<String?>

    init(
        _ command: ParsedCommand, _ environment: [String: String], _ source: SettingSource,
        _ settings: ConfigurationFile
    ) {
        let services = ServiceDirectories(environment)
        file = source.pick(
            "credentials-file", { $0 }, settings.credentialsFile.map { $0 }, services.credential("credentials"))
        let named = source.pick("netrc-file", { $0 }, settings.netrcFile.map { $0 }, services.credential("netrc"))
        netrc = command.flag("netrc") ? Setting("\(environment["HOME"] ?? "")/.netrc", .option) : named
        certificate = source.pick(
            "client-cert", { $0 }, settings.clientCertificate.map { $0 }, services.credential("client-cert"))
        // A key belongs to one certificate.
        let isServices = certificate.origin == .default && certificate.value != nil
        key = source.pick(
            "client-key", { $0 }, settings.clientKey.map { $0 }, isServices ? services.credential("client-key") : nil)
    }

    /// The settings by their names in the file.
    var descriptions: [(name: String, value: String, origin: SettingOrigin)] {
        [
            ("network.credentials_file", file.value ?? "", file.origin),
            ("network.netrc_file", netrc.value ?? "", netrc.origin),
            ("network.client_cert", certificate.value ?? "", certificate.origin),
            ("network.client_key", key.value ?? "", key.origin),
        ]
    }

    /// Passes the paths to the library.
    func apply(to settings: inout LectureConfiguration) {
        settings.credentialsFile = file.value
        settings.netrcFile = netrc.value
        settings.clientCertificateFile = certificate.value
        settings.clientKeyFile = key.value
    }
}
