import LectureFormats
import LectureModel

/// The section `serve`.
package struct ServeConfiguration: Sendable, Equatable {
    /// An address of this machine, a colon and a port.
    package var listen: String?
    /// Names of the server in the network.
    package var names: [String]?
    /// The certificate (PEM), with those that lead to its root.
    package var certificate: String?
    /// Its key (PEM), a secret file.
    package var key: String?
    /// Whether a proxy ends TLS.
    package var isBehindProxy: Bool?
    /// Who may use the server, a secret file.
    package var accessFile: String?

    /// Creates settings without values.
    package init() {}
}

extension ConfigurationReader {
    mutating func takeServe(_ member: JSONMember) throws(LectureError) {
        switch member.name {
        case "listen": file.serve.listen = try text(member, "serve")
        case "names": file.serve.names = try texts(member, "serve")
        case "tls_cert": file.serve.certificate = credential(try text(member, "serve"))
        case "tls_key": file.serve.key = try secret(member, "serve")
        case "behind_proxy": file.serve.isBehindProxy = try truth(member, "serve")
        case "access_file": file.serve.accessFile = absolute(try text(member, "serve"))
        default: break
        }
    }
}
