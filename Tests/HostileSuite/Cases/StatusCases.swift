extension HostileCase {
    /// Statuses that carry no file, and waiting.
    static let statuses: [HostileCase] = []
}
