/// A play that is being recorded, as stored: from it the last report is made when its program is killed.
package struct PlaySessionRecord: Hashable, Sendable {
    /// The session's name in all of its reports.
    package let session: String
    /// The media content key.
    package let content: String
    /// The learner.
    package let user: String
    /// When it started, in seconds since the epoch.
    package let startAt: Int64
    /// The length of the lecture in milliseconds; 0 while unknown.
    package let duration: Int64
    /// Into how many equal parts reports divide the lecture.
    package let blocks: Int
    /// What is the same in all of its reports: a JSON object.
    package let source: String
    /// Where they go; nil for the channels of its lecture.
    package let targets: [ReportRecord.Target]?

    /// Makes a record.
    package init(
        session: String, content: String, user: String, startAt: Int64, duration: Int64, blocks: Int, source: String,
        targets: [ReportRecord.Target]?
    ) {
        (self.session, self.content, self.user, self.startAt) = (session, content, user, startAt)
        (self.duration, self.blocks, self.source, self.targets) = (duration, blocks, source, targets)
    }
}

/// One activity of a player over some time, as stored.
package struct PlayIntervalRecord: Hashable, Sendable {
    /// The raw value of the activity.
    package let activity: Int
    /// Where in the lecture it started, in milliseconds.
    package let from: Int64
    /// Where in the lecture it ended, in milliseconds.
    package let to: Int64
    /// The speed, in thousandths of the normal speed.
    package let speedPermille: Int
    /// How long it took.
    package let nanoseconds: Int64

    /// Makes an interval.
    package init(activity: Int, from: Int64, to: Int64, speedPermille: Int, nanoseconds: Int64) {
        (self.activity, self.from, self.to) = (activity, from, to)
        (self.speedPermille, self.nanoseconds) = (speedPermille, nanoseconds)
    }
}

/// The table of plays that are being recorded.
package enum PlaySessionTable {}

/// A play that is being recorded.
package typealias PlaySessionID = RowID<PlaySessionTable>
