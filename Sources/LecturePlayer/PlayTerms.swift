import LectureKit

/// What a play may do, as its licence, its server and the application say.
struct PlayTerms: Sendable, Hashable {
    /// Where it begins.
    var start: Duration = .zero
    /// How long it may last; nil for any time.
    var limit: PlayLimit?
    /// The only part that is played; nil for the whole lecture.
    var section: Range<Duration>?
}

/// How much play time a licence has left.
struct PlayLimit: Sendable, Hashable {
    /// What counts.
    let unit: LicencePolicy.PlayTimeUnit
    /// How much of it is left.
    var left: Duration
}
