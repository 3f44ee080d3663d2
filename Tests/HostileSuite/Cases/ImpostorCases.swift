extension HostileCase {
    /// Not the object, not even HTTP.
    static let impostors: [HostileCase] = []
}
