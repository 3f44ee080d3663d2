import Glibc

/// The directories that systemd gives a service (systemd.exec(5): `StateDirectory=`, `ConfigurationDirectory=`,
/// `LoadCredential=`). They stand in for what the XDG Base Directory Specification puts below a user's home.
package struct ServiceDirectories: Sendable, Equatable {
    /// The variables that name them.
    private static let variables = ["STATE_DIRECTORY", "CONFIGURATION_DIRECTORY", "CREDENTIALS_DIRECTORY"]

    /// Where a service keeps what lasts; nil outside a service.
    package let state: String?
    /// Where its configuration is.
    package let configuration: String?
    /// Where its secrets are, one file each, which no other user sees.
    package let credentials: String?

    /// Takes the directories from variables.
    ///
    /// - Parameter environment: the variables. The first one counts where one names several, separated by `:`. One that
    ///   is not absolute is ignored.
    package init(_ environment: [String: String]) {
        func directory(_ name: String) -> String? {
            guard let value = environment[name], let first = value.split(separator: ":").first else { return nil }
            return first.hasPrefix("/") ? String(first) : nil
        }
        state = directory(Self.variables[0])
        configuration = directory(Self.variables[1])
        credentials = directory(Self.variables[2])
    }

    /// Those of this process.
    package static var ofProcess: ServiceDirectories {
        var environment: [String: String] = [:]
        for name in variables {
            // The text is copied at once.
            environment[name] = unsafe getenv(name).map { unsafe String(cString: $0) }
        }
        return ServiceDirectories(environment)
    }

    /// Where the store is.
    package var store: String? { state.map { "\($0)/store" } }

    /// Where the device's key is.
    package var device: String? { state.map { "\($0)/device" } }

    /// The configuration file; nil when there is none.
    package var file: String? {
        guard let path = configuration.map({ "\($0)/config.json" }) else { return nil }
        return ConfigurationFile.exists(path) ? path : nil
    }

    /// The file of a credential.
    ///
    /// - Parameter name: its name, as in `LoadCredential=`.
    /// - Returns: its path; nil when the service has no such credential, and for a path. One that cannot be looked at
    ///   is there: reading it is then refused, and nothing is sent without it.
    package func credential(_ name: String) -> String? {
        guard let credentials, !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/"))
        else { return nil }
        let path = "\(credentials)/\(name)"
        return unsafe access(path, F_OK) != 0 && errno == ENOENT ? nil : path
    }
}
