/// How lectures play in the classroom.
public struct ClassroomOptions: Sendable, Hashable {
    /// How many plays may be open in all.
    public var mostPlays = 200
    /// How many plays of one person may be open. One more ends the one that has been left unread for longest.
    public var mostPlaysPerPerson = 8
    /// After how long a play ends of which nothing is read.
    public var idleLimit: Duration = .seconds(600)
    /// How long to wait for a licence server.
    public var patience: Duration = .seconds(10)

    /// Creates the default options.
    public init() {}
}
