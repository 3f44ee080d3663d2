/// Where a server listens, and who may use it.
public struct ServeOptions: Sendable, Hashable {
    /// An IPv4 address of this machine. Another one than that of the loopback device needs ``tls`` or
    /// ``isBehindProxy``.
    public var address = "127.0.0.1"
    /// The port; 0 for any free one.
    public var port: UInt16 = 8080
    /// Names of the server in the network, without ports. An address in digits and `localhost` are known.
    public var names: [String] = []
    /// The certificate chain and its key; nil for HTTP without TLS.
    public var tls: TLSFiles?
    /// Whether a proxy on this machine ends TLS.
    public var isBehindProxy = false
    /// The access file: a line for each person or program.
    public var accessFile: String
    /// The file with the key that signs sessions and links; made when it is missing.
    public var keyFile: String
    /// How many connections may be open; further ones wait.
    public var mostConnections: UInt32 = 1000
    /// The version of the program, for its figures.
    public var version = ""

    /// Where the device's key is kept, which signs what other stores fetch; nil where they may fetch nothing.
    public var deviceDirectory: String?

    /// How lectures play in the classroom.
    public var classroom = ClassroomOptions()

    /// Files in PEM.
    public struct TLSFiles: Sendable, Hashable {
        /// The certificate, with those that lead to its root.
        public var certificate: String
        /// The private key, in a file that only its owner may read.
        public var key: String

        /// Creates a value.
        ///
        /// - Parameters:
        ///   - certificate: path of the certificate chain.
        ///   - key: path of the private key.
        public init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
    }

    /// Creates the default options.
    ///
    /// - Parameters:
    ///   - accessFile: the access file.
    ///   - keyFile: the file with the key that signs sessions and links.
    public init(accessFile: String, keyFile: String) { (self.accessFile, self.keyFile) = (accessFile, keyFile) }
}
