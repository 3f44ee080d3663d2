extension HostileCase {
    /// Lengths that are not true.
    static let lengths: [HostileCase] = []
}
