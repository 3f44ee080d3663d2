extension HostileCase {
    /// The same and more over HTTP/2.
    static let http2s: [HostileCase] = []
}
