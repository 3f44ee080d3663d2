extension HostileCase {
    /// Content codings and transfer codings that were not asked for.
    static let codings: [HostileCase] = []
}
