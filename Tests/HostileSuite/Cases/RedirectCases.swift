extension HostileCase {
    /// Redirects and what goes along with them.
    static let redirects: [HostileCase] = []
}
