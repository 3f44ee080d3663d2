extension HostileCase {
    /// TLS and certificates.
    static let securities: [HostileCase] = []
}
