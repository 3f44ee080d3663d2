extension HostileCase {
    /// Several servers that give one lecture.
    static let edgesOfMany: [HostileCase] = []
}
