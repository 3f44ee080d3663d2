extension HostileCase {
    /// Answers to a range request that are not what was asked for.
    static let ranges: [HostileCase] = []
}
