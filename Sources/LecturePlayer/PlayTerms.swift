import LectureKit

/// What a play may do, as its licence, its gateway and the application say.
struct PlayTerms: Sendable, Hashable {
    /// Where it begins.
    var start: Duration = .zero
    /// How long the licence lets it last; nil for any time.
    var limit: PlayLimit?
    /// The only part that is played; nil for the whole lecture.
    var section: Range<Duration>?
    /// How far the learner may jump.
    var seeking = PlaybackRules.Seeking.free
    /// Whether the speed stays as it is.
    var hasFixedRate = false
    /// How much may be played at once; nil for everything.
    var most: PlaybackRules.Limit?
    /// The part that is played again and again, unless the application has set one.
    var repeated: Range<Duration>?
    /// What is played first; nil for nothing.
    var intro: PlaybackRules.Intro?
}

extension PlayTerms {
    /// Reads the rules of a gateway.
    ///
    /// - Parameters:
    ///   - rules: what it permits.
    ///   - options: what the application wants. A start that the rules do not permit is ignored.
    ///   - resumePoint: where the lecture was left.
    init(_ rules: PlaybackRules, _ options: PlayerOptions, resumePoint: Duration) {
        let left = rules.resumes ? resumePoint : .zero
        start = options.start.flatMap { rules.seeking.permits($0) ? $0 : nil } ?? left
        (seeking, hasFixedRate, most, intro) = (rules.seeking, rules.hasFixedRate, rules.limit, rules.intro)
        (section, repeated) = (options.section, rules.repeated)
        if let permitted = rules.section { narrow(to: permitted) }
    }

    /// Leaves only what is also in another section; that one, where they have nothing in common.
    mutating func narrow(to permitted: Range<Duration>) {
        let common = section.flatMap { $0.overlaps(permitted) ? $0.clamped(to: permitted) : nil }
        section = common ?? permitted
    }

    /// Takes over the limits of a permission.
    ///
    /// - Parameter permission: what the play callback of a stream permits; nil where none was asked.
    mutating func narrow(by permission: PlayPermission?) {
        if let left = permission?.playTimeLeft, let unit = permission?.playTimeUnit {
            limit = PlayLimit(unit: unit, left: left, code: .playPermissionUsedUp)
        }
        if let permitted = permission?.section { narrow(to: permitted) }
    }

    /// Whether the play would begin at the end of the media, or behind it, and need not.
    func begins(beyond length: Duration) -> Bool {
        length > .zero && clamped(start) >= length && clamped(.zero) < length
    }

    /// Whether the play begins behind the first position that it may have.
    var canBeginEarlier: Bool { clamped(start) > clamped(.zero) }

    /// A position that the play may have: the one asked for, or the start of the section.
    func clamped(_ place: Duration) -> Duration {
        guard let section else { return max(.zero, place) }
        return section.contains(place) ? place : section.lowerBound
    }
}

/// How much play time a licence or a permission has left.
struct PlayLimit: Sendable, Hashable {
    /// What counts.
    let unit: LicencePolicy.PlayTimeUnit
    /// How much of it is left.
    var left: Duration
    /// The error that ends the play when nothing is left.
    var code: LectureError.Code = .playTimeUsedUp
}
