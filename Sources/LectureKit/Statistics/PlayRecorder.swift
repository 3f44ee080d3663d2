import LectureCrypto
import LectureFiles
import LectureFormats
public import LectureModel
import LectureStatistics
import LectureStore

/// One activity of a player over some time.
public struct PlayedInterval: Sendable, Hashable {
    /// What a player does.
    public enum Activity: String, Sendable, CaseIterable {
        /// The lecture played from one position to the other.
        case play
        /// The lecture was paused.
        case pause
        /// The learner jumped from one position to the other.
        case seek
        /// The player was closed.
        case stop
    }

    /// What the player did.
    public var activity: Activity
    /// Where in the lecture it started.
    public var from: Duration
    /// Where in the lecture it ended.
    public var to: Duration
    /// The playback speed; 1 is normal.
    public var speed: Double
    /// How long it took, by a monotonic clock.
    public var lasting: Duration

    /// Creates an interval.
    ///
    /// - Parameters:
    ///   - activity: what the player did.
    ///   - from: where in the lecture it started.
    ///   - to: where in the lecture it ended.
    ///   - speed: the playback speed; 1 is normal.
    ///   - lasting: how long it took.
    public init(_ activity: Activity, from: Duration, to: Duration, speed: Double = 1, lasting: Duration) {
        (self.activity, self.from, self.to, self.speed, self.lasting) = (activity, from, to, speed, lasting)
    }

    var interval: PlayInterval {
        let kind: PlayInterval.Activity =
            switch activity {
            case .play: .play
            case .pause: .pause
            case .seek: .seek
            case .stop: .stop
            }
        return PlayInterval(
            kind, from: from.milliseconds, to: to.milliseconds,
            speedPermille: Int((min(max(0, speed.isNaN ? 1 : speed), 1000) * 1000).rounded()),
            lasting: lasting.nanosecondCount)
    }
}

/// Sums up what is watched of a lecture, and reports it.
///
/// ```swift
/// let recorder = try await manager.reports.recordPlay(of: key, user: "kim")
/// await recorder.record(PlayedInterval(.play, from: .zero, to: .seconds(60), lasting: .seconds(60)))
/// try await recorder.keep()
/// try await recorder.report()
/// ```
///
/// Every report covers everything watched since the start, so a newer one replaces an older one. Report at the first
/// play, every ``period`` while it plays, at a pause, after a seek and at the end, after an interval of the activity
/// `stop`.
///
/// What ``keep()`` has stored is not lost when the program is killed: the next program that works with the store makes
/// the last report from it.
public actor PlayRecorder {
    /// The lecture.
    public nonisolated let key: ContentKey
    /// The report interval that the lecture's channels want while it plays; nil without one.
    public nonisolated let period: Duration?
    /// The session's name in all of its reports.
    public nonisolated var session: String { play.session }
    private let reports: LectureManager.Reports
    private let play: PlaySessionRecord
    private let source: ReportSource
    /// Whose position is stored; nil for that of the lecture.
    private let viewer: String?
    private var sums: PlaySession
    private var log = PlayLog()
    /// Whether ``keep()`` stores anything: not once the play is over, or its learner erased.
    private var keeping = Keeping.new
    /// The player's position; nil before the first one.
    private var place: Duration?

    /// Whether the play has a row in the store.
    private enum Keeping { case new, started, over }

    init(
        _ reports: LectureManager.Reports, key: ContentKey, play: PlaySessionRecord, source: ReportSource,
        period: Duration?, viewer: String? = nil
    ) {
        (self.reports, self.key, self.play, self.source, self.period) = (reports, key, play, source, period)
        self.viewer = viewer
        sums = PlaySession(
            clientUserID: play.user, startAt: play.startAt, duration: play.duration, blockCount: play.blocks)
    }

    /// Adds the next interval, in the order of the calls.
    public func record(_ interval: PlayedInterval) {
        sums.add(interval.interval)
        log.add(interval.interval)
        place = interval.to
    }

    /// Stores what was recorded since the last call, durably. Nothing is reported.
    ///
    /// - Throws: ``LectureError`` of the store; then the next call stores it.
    public func keep() async throws(LectureError) {
        guard keeping != .over, sums.status != .stop, log.firstChanged < log.intervals.count else { return }
        let (kept, isNew) = (log, keeping == .new)
        let isKept = try await LectureError.only { try await reports.keepPlay(play, kept, isNew: isNew) }
        log.stored(kept)
        if keeping != .over { keeping = isKept ? .started : .over }
    }

    /// Stores a report about everything so far, for every channel of the lecture, and the player's position: see
    /// ``ContentDetails/resumePoint``. Nothing is sent.
    ///
    /// - Parameter course: the course; nil takes the lecture's.
    /// - Returns: its rows, durable when this returns.
    /// - Throws: ``LectureError``: `reportInvalid`, a store's code; then it may be called again.
    @discardableResult
    public func report(course: String? = nil) async throws(LectureError) -> [StoredReportID] {
        var report = LearningReport(
            values: Self.values(sums.report, source), user: play.user, session: session, content: key.text)
        report.course = course
        // Before the report, so that a retry after a failure does not report twice. A report about a removed lecture is
        // still valid, and a stream has no position.
        if let place {
            do throws(LectureError) {
                try await LectureError.only { try await reports.keepPlace(key, place, viewer) }
            } catch {
                guard error.code == .unknownContent else { throw error }
            }
        }
        let (targets, isLast) = (play.targets, sums.status == .stop)
        let rows = try await LectureError.only { try await reports.addPlay(report, to: targets, isLast: isLast) }
        // Whatever follows a stop is a play that goes on.
        if isLast { (keeping, log) = (.new, log.restarted) }
        return rows
    }

    /// The document of `{JSON_DATA}`, with the two macros that are not in it.
    static func values(_ report: PlayReport, _ source: ReportSource) -> String {
        let document = report.json(from: source)
        let more = JSONWriter.object { writer in
            writer.member("PLAY_STATUS", report.status.rawValue)
            writer.array("TIMEMAP_DATA") { writer in
                for range in report.seen {
                    writer.array { writer in
                        writer.element(range.lowerBound)
                        writer.element(range.upperBound)
                    }
                }
            }
        }
        return "\(document.dropLast()),\(more.dropFirst())"
    }
}

extension LectureManager.Reports {
    /// Starts recording what is watched of a lecture.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - user: the learner; nil takes the one named by the gateway.
    ///   - duration: the length of the lecture; nil takes the gateway's value.
    ///   - blocks: into how many equal parts reports divide the lecture, 1…10 000.
    ///   - target: where the reports go; nil is as for ``LearningReport/target``.
    /// - Returns: the recorder.
    /// - Throws: ``LectureError``: `unknownContent`, a store's code.
    public func recordPlay(
        of key: ContentKey, user: String? = nil, duration: Duration? = nil, blocks: Int = 100,
        target: ReportTarget? = nil
    ) throws(LectureError) -> PlayRecorder {
        try LectureError.only { try recorder(of: key, user, duration, blocks, target) }
    }

    func recorder(
        of key: ContentKey, _ user: String?, _ duration: Duration?, _ blocks: Int, _ target: ReportTarget?,
        isViewers: Bool = false
    ) throws -> PlayRecorder {
        guard let content = try queries.item(key)?.content, let facts = try writer.contents.reportFacts(key.text) else {
            throw LectureError(.unknownContent, detail: key.text)
        }
        let channels = facts.descriptor.map { ReportChannels(descriptor: $0) } ?? ReportChannels()
        var source = playSource(key.text)
        if let origin = try? Origin(url: facts.sourceURL) { source.hostName = origin.host }
        return try recorder(
            key, user, duration ?? content.duration, blocks, channels, source, try target.map { [try $0.address()] },
            viewer: isViewers ? user : nil)
    }

    /// Starts recording what is watched of a stream, which need not be in the store.
    ///
    /// - Parameters:
    ///   - stream: the stream.
    ///   - user: the learner; nil takes the one named by the gateway.
    ///   - duration: the length of the lecture; nil takes the gateway's value.
    ///   - blocks: into how many equal parts reports divide the lecture, 1…10 000.
    /// - Returns: the recorder. Its reports go to the channels named by the gateway, else to the configured target.
    /// - Throws: ``LectureError``: `closing`, a store's code.
    public func recordPlay(
        of stream: LectureStream, user: String? = nil, duration: Duration? = nil, blocks: Int = 100
    ) throws(LectureError) -> PlayRecorder {
        try LectureError.only {
            if isClosed { throw LectureError(.closing) }
            let channels = stream.description.channels
            var source = playSource(stream.key.text)
            if let origin = try? Origin(url: stream.source) { source.hostName = origin.host }
            return try recorder(
                stream.key, user, duration ?? stream.duration, blocks, channels, source,
                try channels.targets.map { try $0.address() })
        }
    }

    /// Starts recording what is watched of a live lecture, which is not in the store.
    ///
    /// Positions are times since the lecture began. Its reports name the channel (`channel_key`), which those of a kept
    /// lecture do not: so an LMS can distinguish live from later, and both are of the same lecture.
    ///
    /// - Parameters:
    ///   - key: the lecture, under which its recording is kept later.
    ///   - channel: the channel in which it is live.
    ///   - host: the name of the server; empty when it does not matter.
    ///   - user: the learner.
    ///   - target: where the reports go; nil takes the configured one.
    ///   - period: how often a report is made while it plays; LMS callbacks of live lectures have 30 to 60 seconds.
    /// - Returns: the recorder.
    /// - Throws: ``LectureError``: `parameter` for an empty channel, `closing`, `reportInvalid` for a target that
    ///   cannot be, a store's code.
    public func recordPlay(
        ofLive key: ContentKey, channel: String, host: String = "", user: String, target: ReportTarget? = nil,
        period: Duration = .seconds(30)
    ) throws(LectureError) -> PlayRecorder {
        guard !channel.isEmpty else { throw LectureError(.parameter, detail: "an empty channel") }
        return try LectureError.only {
            if isClosed { throw LectureError(.closing) }
            var source = playSource(key.text)
            (source.channelKey, source.hostName) = (channel, host)
            var channels = ReportChannels()
            channels.period = period
            return try recorder(
                key, user, nil, 1, channels, source, try target.map { [try $0.address()] })
        }
    }

    private func recorder(
        _ key: ContentKey, _ user: String?, _ duration: Duration?, _ blocks: Int, _ channels: ReportChannels,
        _ source: ReportSource, _ targets: [ReportRecord.Target]?, viewer: String? = nil
    ) throws -> PlayRecorder {
        var source = source
        source.userValues = channels.userValues
        let now = clock.now()
        let startAt = now.milliseconds / 1000
        let grid = BlockGrid(duration: (duration ?? .zero).milliseconds, count: blocks)
        let play = PlaySessionRecord(
            // With a random part: sums of two players must never be taken for one session.
            session: "\(startAt)-\(UUIDv7.text(at: now, random: SystemRandom()))", content: key.text,
            user: user ?? channels.user, startAt: startAt, duration: grid.duration, blocks: grid.count,
            source: source.stored, targets: targets)
        return PlayRecorder(self, key: key, play: play, source: source, period: channels.period, viewer: viewer)
    }

    /// Stores a player's position; that of a viewer where one is named.
    func keepPlace(_ key: ContentKey, _ place: Duration, _ viewer: String? = nil) throws {
        try keepResumePoint(key, place, viewer: viewer, isPlayed: true)
    }

    /// The source of reports: this device's public id when it has one, the kind of machine, the lecture.
    private func playSource(_ content: String) -> ReportSource {
        var source = ReportSource()
        (source.mediaContentKey, source.device) = (content, Machine.model())
        if let home = try? configuration.deviceHome(), home.isInUse(), let id = try? home.key().thumbprint() {
            source.playerID = id
        }
        return source
    }

    /// The values of a report about a play that was recorded elsewhere.
    ///
    /// - Parameters:
    ///   - intervals: what happened, in order.
    ///   - content: the media content key; empty for none.
    ///   - user: the learner.
    ///   - startAt: when it began.
    ///   - duration: the length of the lecture.
    ///   - blocks: into how many equal parts the report divides the lecture, 1…10 000.
    /// - Returns: a JSON object for ``LearningReport/values``.
    public nonisolated static func playValues(
        _ intervals: [PlayedInterval], content: String, user: String, startAt: Timestamp, duration: Duration,
        blocks: Int
    ) -> String {
        var sums = PlaySession(
            clientUserID: user, startAt: startAt.milliseconds / 1000, duration: duration.milliseconds,
            blockCount: blocks)
        for interval in intervals { sums.add(interval.interval) }
        var source = ReportSource()
        (source.mediaContentKey, source.device) = (content, Machine.model())
        return PlayRecorder.values(sums.report, source)
    }
}
