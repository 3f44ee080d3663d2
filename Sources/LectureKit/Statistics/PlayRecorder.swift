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
        // Only the length counts in the sums, so any start will do.
        let began = ClockReading(wall: Timestamp(milliseconds: 0), boot: BootInstant(nanoseconds: 0), bootID: "")
        return PlayInterval(
            kind, from: from.milliseconds, to: to.milliseconds,
            speedPermille: Int((min(max(0, speed.isNaN ? 1 : speed), 1000) * 1000).rounded()), began: began,
            ended: BootInstant(nanoseconds: max(0, lasting.nanosecondCount)))
    }
}

/// Sums up what is watched of a lecture, and reports it.
///
/// ```swift
/// let recorder = try await manager.reports.recordPlay(of: key, user: "kim")
/// await recorder.record(PlayedInterval(.play, from: .zero, to: .seconds(60), lasting: .seconds(60)))
/// try await recorder.report()
/// ```
///
/// Every report covers everything watched since the start, so a newer one replaces an older one. Report at the first
/// play, every ``period`` while it plays, at a pause, after a seek and at the end.
public actor PlayRecorder {
    /// The lecture.
    public nonisolated let key: ContentKey
    /// The report interval that the lecture's channels want while it plays; nil without one.
    public nonisolated let period: Duration?
    /// The session's name in all of its reports.
    public nonisolated let session: String
    private let reports: LectureManager.Reports
    private let source: ReportSource
    private let target: ReportTarget?
    private var sums: PlaySession
    /// The player's position; nil before the first one.
    private var place: Duration?

    init(
        _ reports: LectureManager.Reports, key: ContentKey, sums: PlaySession, source: ReportSource,
        target: ReportTarget?,
        period: Duration?, session: String
    ) {
        (self.reports, self.key, self.sums, self.source) = (reports, key, sums, source)
        (self.target, self.period, self.session) = (target, period, session)
    }

    /// Adds the next interval, in the order of the calls.
    public func record(_ interval: PlayedInterval) {
        sums.add(interval.interval)
        place = interval.to
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
            values: Self.values(sums.report, source), user: sums.clientUserID, session: session, content: key.text)
        (report.course, report.target) = (course, target)
        // Before the report, so that a retry after a failure does not report twice. A report about a removed lecture is
        // still valid.
        if let place {
            do throws(LectureError) {
                try await LectureError.only { try await reports.keepPlace(key, place) }
            } catch {
                guard error.code == .unknownContent else { throw error }
            }
        }
        return try await reports.add(report)
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

    private func recorder(
        of key: ContentKey, _ user: String?, _ duration: Duration?, _ blocks: Int, _ target: ReportTarget?
    ) throws -> PlayRecorder {
        guard let content = try queries.item(key)?.content, let facts = try writer.contents.reportFacts(key.text) else {
            throw LectureError(.unknownContent, detail: key.text)
        }
        let channels = facts.descriptor.map { ReportChannels(descriptor: $0) } ?? ReportChannels()
        let user = user ?? channels.user
        let now = clock.now()
        var source = playSource(key.text)
        source.userValues = channels.userValues
        if let origin = try? Origin(url: facts.sourceURL) { source.hostName = origin.host }
        let sums = PlaySession(
            clientUserID: user, startAt: now.milliseconds / 1000,
            duration: (duration ?? content.duration ?? .zero).milliseconds, blockCount: blocks)
        // With a random part: sums of two players must never be taken for one session.
        let session = "\(sums.startAt)-\(UUIDv7.text(at: now, random: SystemRandom()))"
        return PlayRecorder(
            self, key: key, sums: sums, source: source, target: target, period: channels.period, session: session)
    }

    /// Stores a player's position.
    func keepPlace(_ key: ContentKey, _ place: Duration) throws { try keepResumePoint(key, place) }

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
