/// The settings that a configuration file may hold. A name that is not listed here is not read, so that the list, the
/// suggestions for mistyped names, and docs/configuration.md are never behind the reader.
package enum ConfigurationKeys {
    /// The members by the section that holds them; the file itself is the empty name.
    package static let sections: [(name: String, members: [String])] = [
        ("", ["network", "storage", "retention", "application", "drm", "lms", "webhooks", "daemon", "serve", "peers"]),
        (
            "network",
            [
                "timeout_s", "retries", "per_host", "jobs", "ca_file", "proxy", "credentials_file", "netrc_file",
                "client_cert", "client_key", "limit_rate", "timetable",
            ]
        ),
        ("storage", ["quota_bytes", "reserve_bytes", "seal", "device_dir", "group"]),
        ("retention", ["rules"]),
        ("application", ["key", "bundle_id", "expires", "trust_dir"]),
        ("drm", ["user_key", "strict", "unverified", "keys"]),
        ("drm.keys", ["id", "algorithm", "legacy", "secret_file", "jwks_file", "ca_file"]),
        (
            "lms",
            [
                "url", "format", "method", "parameters", "keep_days", "expire_days", "home_page", "activity_prefix",
                "targets", "bookmark_url", "delivery",
            ]
        ),
        ("webhooks", ["url", "secret_file", "events"]),
        ("daemon", ["courses", "renew_within_s"]),
        ("serve", ["listen", "names", "tls_cert", "tls_key", "behind_proxy", "access_file"]),
        ("peers", ["from", "token_file", "trust"]),
        (
            "lms.targets",
            [
                "url", "answer", "batch", "batch_bytes", "rate", "concurrency", "compression", "authorization_file",
                "cumulative",
            ]
        ),
    ]

    /// Every setting by its full name, such as `network.proxy`. Those in an array are listed under the array's name.
    package static var all: [String] {
        sections.flatMap { section in
            section.members.map { section.name.isEmpty ? $0 : "\(section.name).\($0)" }
        }
    }

    /// The members of a section.
    ///
    /// - Parameter section: its full name.
    /// - Returns: their names; none for an unknown section.
    package static func members(of section: String) -> [String] {
        sections.first { $0.name == section }?.members ?? []
    }
}
