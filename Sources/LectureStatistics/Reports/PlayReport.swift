/// The state of the player, as in `{PLAY_STATUS}`.
package enum PlayStatus: String, Sendable, CaseIterable {
    /// The lecture is playing.
    case play
    /// The lecture is paused.
    case pause
    /// The player is closed.
    case stop
}

/// A session's report to the LMS: all of it so far, in whole seconds rounded down.
package struct PlayReport: Hashable, Sendable {
    /// One of the equal parts of the lecture.
    package struct Block: Hashable, Sendable {
        /// Whether any of it was played, even a millisecond (`b`).
        package let isPlayed: Bool
        /// Seconds of it that were played, in media time, repeats counted again (`t`).
        package let seconds: Int64
        /// The share of it that was seen at least once, 0…100 (`p`; the vendor does not document its meaning).
        package let percent: Int64

        /// Makes a block.
        ///
        /// - Parameters:
        ///   - isPlayed: whether any of it was played.
        ///   - seconds: how much of it was played.
        ///   - percent: the share that was seen, 0…100.
        package init(isPlayed: Bool, seconds: Int64, percent: Int64) {
            (self.isPlayed, self.seconds, self.percent) = (isPlayed, seconds, percent)
        }
    }

    /// What was played without a jump within one block.
    package struct Stretch: Hashable, Sendable {
        /// The block, 0-based.
        package let block: Int
        /// Where in the lecture it started, in seconds.
        package let startTime: Int64
        /// How many seconds of the lecture were played.
        package let playTime: Int64

        /// Makes a stretch.
        ///
        /// - Parameters:
        ///   - block: 0-based.
        ///   - startTime: where in the lecture it started, in seconds.
        ///   - playTime: seconds of the lecture.
        package init(block: Int, startTime: Int64, playTime: Int64) {
            (self.block, self.startTime, self.playTime) = (block, startTime, playTime)
        }
    }

    /// Who watched.
    package let clientUserID: String
    /// When the session started, in seconds since the epoch.
    package let startAt: Int64
    /// The length of the lecture in seconds; 0 while unknown.
    package let duration: Int64
    /// The state of the player.
    package let status: PlayStatus
    /// Seconds played, in media time, repeats counted again.
    package let playtime: Int64
    /// Seconds played, in media time, repeats not counted again.
    package let realPlaytime: Int64
    /// The playtime as a share of the duration, from milliseconds and then rounded down; may exceed 100.
    package let playtimePercent: Int64
    /// Seconds in which the lecture was playing, by the boot clock.
    package let showtime: Int64
    /// Seconds in which the player was open, by the boot clock.
    package let runtime: Int64
    /// The last position in seconds.
    package let lastPlayAt: Int64
    /// The blocks in order.
    package let blocks: [Block]
    /// What was played, in the order of watching.
    package let sessions: [Stretch]
    /// Which whole seconds of the lecture were seen, ascending.
    package let seen: [Range<Int64>]
}
