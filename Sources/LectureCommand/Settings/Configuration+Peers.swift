import LectureKit

/// The section `peers`, with what options say.
package struct PeerSettings: Sendable, Equatable {
    /// The addresses of the servers.
    package let servers: Setting<[String]>
    /// The file with their tokens.
    package let tokenFile: Setting<String?>
    /// Files with the public keys of those that are believed.
    package let trust: Setting<[String]>

    init(_ source: SettingSource, _ file: PeersConfiguration) {
        func texts(_ option: String, _ fromFile: [String]?) -> Setting<[String]> {
            let given = source.command.texts(option)
            if !given.isEmpty { return Setting(given, .option) }
            return fromFile.map { Setting($0, .file) } ?? Setting([], .default)
        }
        servers = texts("from", file.servers)
        tokenFile = source.pick("from-token-file", { $0 }, file.tokenFile.map { $0 }, nil)
        trust = texts("from-trust", file.trust)
    }
}

extension Configuration {
    /// The settings by their names in the file.
    var peerDescriptions: [(name: String, value: String, origin: SettingOrigin)] {
        [
            ("peers.from", peers.servers.value.joined(separator: " "), peers.servers.origin),
            ("peers.token_file", peers.tokenFile.value ?? "", peers.tokenFile.origin),
            ("peers.trust", peers.trust.value.joined(separator: " "), peers.trust.origin),
        ]
    }
}
