import LectureFormats
import LectureModel

/// The section `peers`: other stores that lectures are fetched from.
package struct PeersConfiguration: Sendable, Equatable {
    /// The addresses of their servers.
    package var servers: [String]?
    /// The file with the tokens for them, a secret file.
    package var tokenFile: String?
    /// Files with the public keys of those that are believed.
    package var trust: [String]?

    /// Creates settings without values.
    package init() {}
}

extension ConfigurationReader {
    mutating func takePeers(_ member: JSONMember) throws(LectureError) {
        switch member.name {
        case "from": file.peers.servers = try texts(member, "peers")
        case "token_file": file.peers.tokenFile = try secret(member, "peers")
        case "trust": file.peers.trust = try texts(member, "peers").map { absolute($0) }
        default: break
        }
    }
}
