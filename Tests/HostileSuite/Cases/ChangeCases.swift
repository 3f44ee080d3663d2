extension HostileCase {
    /// The object is another one from some request on.
    static let changes: [HostileCase] = []
}
