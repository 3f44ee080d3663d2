/// What the player does, as `{PLAY_STATUS}` tells it.
package enum PlayStatus: String, Sendable, CaseIterable {
    /// The content runs.
    case play
    /// The content stands still.
    case pause
    /// The player is closed.
    case stop
}

/// What a session tells the LMS: all of it so far, in whole seconds rounded down.
package struct PlayReport: Hashable, Sendable {
    /// One of the equal parts of the content.
    package struct Block: Hashable, Sendable {
        /// Whether anything of it ran, be it a millisecond (`b`).
        package let isPlayed: Bool
        /// Seconds of it that ran, speed included, what is repeated counted again (`t`).
        package let seconds: Int64
        /// The share of it that was seen at least once, 0…100 (`p`; the vendor does not say what stands there).
        package let percent: Int64

        /// Makes a block.
        ///
        /// - Parameters:
        ///   - isPlayed: whether anything of it ran.
        ///   - seconds: how much of it ran.
        ///   - percent: the share that was seen, 0…100.
        package init(isPlayed: Bool, seconds: Int64, percent: Int64) {
            (self.isPlayed, self.seconds, self.percent) = (isPlayed, seconds, percent)
        }
    }

    /// What ran without a leap within one block.
    package struct Stretch: Hashable, Sendable {
        /// The block, 0-based.
        package let block: Int
        /// Where in the content it began, in seconds.
        package let startTime: Int64
        /// How many seconds of content ran.
        package let playTime: Int64

        /// Makes a stretch.
        ///
        /// - Parameters:
        ///   - block: 0-based.
        ///   - startTime: where in the content it began, in seconds.
        ///   - playTime: seconds of content.
        package init(block: Int, startTime: Int64, playTime: Int64) {
            (self.block, self.startTime, self.playTime) = (block, startTime, playTime)
        }
    }

    /// Who watched.
    package let clientUserID: String
    /// When the session began, in seconds since the epoch.
    package let startAt: Int64
    /// The length of the content in seconds; 0 while unknown.
    package let duration: Int64
    /// What the player does.
    package let status: PlayStatus
    /// Seconds of content that ran, speed included, what is repeated counted again.
    package let playtime: Int64
    /// Seconds of content that ran, speed included, what was seen before not counted again.
    package let realPlaytime: Int64
    /// The playtime as a share of the duration, from milliseconds and then rounded down; may exceed 100.
    package let playtimePercent: Int64
    /// Seconds in which the content ran, by the boot clock.
    package let showtime: Int64
    /// Seconds in which the player was open, by the boot clock.
    package let runtime: Int64
    /// The last position in seconds.
    package let lastPlayAt: Int64
    /// The blocks in their order.
    package let blocks: [Block]
    /// What ran, in the order of watching.
    package let sessions: [Stretch]
    /// Which whole seconds of the content were seen, ascending.
    package let seen: [Range<Int64>]
}
