import LectureCrypto
import LectureFiles
public import LectureModel
import LectureStatistics
import LectureStore

/// What a player did without a change for some time.
public struct PlayedInterval: Sendable, Hashable {
    /// What a player does.
    public enum Activity: String, Sendable, CaseIterable {
        /// The content ran from one place to the other.
        case play
        /// The content stood still.
        case pause
        /// The learner went from one place to the other.
        case seek
        /// The player was closed.
        case stop
    }

    /// What the player did.
    public var activity: Activity
    /// Where in the content it began.
    public var from: Duration
    /// Where in the content it ended.
    public var to: Duration
    /// How fast the content ran, 1 is normal.
    public var speed: Double
    /// How long it took, by a clock that nobody sets.
    public var lasting: Duration

    /// An interval.
    ///
    /// - Parameters:
    ///   - activity: what the player did.
    ///   - from: where in the content it began.
    ///   - to: where in the content it ended.
    ///   - speed: how fast the content ran, 1 is normal.
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
        // Only the length counts in the sums, so any beginning will do.
        let began = ClockReading(wall: Timestamp(milliseconds: 0), boot: BootInstant(nanoseconds: 0), bootID: "")
        return PlayInterval(
            kind, from: from.milliseconds, to: to.milliseconds,
            speedPermille: Int((min(max(0, speed.isNaN ? 1 : speed), 1000) * 1000).rounded()), began: began,
            ended: BootInstant(nanoseconds: max(0, lasting.nanosecondCount)))
    }
}

/// What is watched of a content, summed up while it is watched, and reported.
///
/// ```swift
/// let recorder = try await manager.recordPlay(of: key, user: "kim")
/// await recorder.record(PlayedInterval(.play, from: .zero, to: .seconds(60), lasting: .seconds(60)))
/// try await recorder.report()
/// ```
///
/// Every report says all that was watched since the beginning, so a newer one replaces an older one. Report at the
/// first play, every ``period`` while it plays, at a pause, behind a seek and at the end.
public actor PlayRecorder {
    /// The content.
    public nonisolated let key: ContentKey
    /// How often the channels of the content want a report while it plays; nil when none says so.
    public nonisolated let period: Duration?
    /// The session's name in all of its reports.
    public nonisolated let session: String
    private let manager: LectureManager
    private let source: ReportSource
    private let target: ReportTarget?
    private var sums: PlaySession
    /// Where the player is; nil before it was anywhere.
    private var place: Duration?

    init(
        _ manager: LectureManager, key: ContentKey, sums: PlaySession, source: ReportSource, target: ReportTarget?,
        period: Duration?, session: String
    ) {
        (self.manager, self.key, self.sums, self.source) = (manager, key, sums, source)
        (self.target, self.period, self.session) = (target, period, session)
    }

    /// Adds what happened next. The order is the order of the calls.
    public func record(_ interval: PlayedInterval) {
        sums.add(interval.interval)
        place = interval.to
    }

    /// Stores a report about everything so far, for every channel of the content, and where the player is:
    /// see ``ContentDetails/resumePoint``. Nothing is sent.
    ///
    /// - Parameter course: the course; nil takes the content's.
    /// - Returns: its rows, durable when this returns.
    /// - Throws: ``LectureError``: `reportInvalid`, a store's code; then it may be asked for again.
    @discardableResult
    public func report(course: String? = nil) async throws -> [StoredReportID] {
        var report = LearningReport(
            values: Self.values(sums.report, source), user: sums.clientUserID, session: session, content: key.text)
        (report.course, report.target) = (course, target)
        // Before the report, so that whoever asks again after a failure does not report twice. A report about a content
        // that is gone is still one.
        if let place {
            do {
                try await manager.setResumePoint(key, place)
            } catch let error as LectureError where error.code == .unknownContent {}
        }
        return try await manager.addReport(report)
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

extension LectureManager {
    /// Begins to record what is watched of a content.
    ///
    /// - Parameters:
    ///   - key: the content.
    ///   - user: the learner; nil takes the one that the gateway named.
    ///   - duration: the length of the content; nil takes what the gateway said.
    ///   - blocks: into how many equal parts reports divide the content, 1…10 000.
    ///   - target: where the reports go; nil is as for ``LearningReport/target``.
    /// - Returns: what takes the intervals.
    /// - Throws: ``LectureError``: `unknownContent`, a store's code.
    public func recordPlay(
        of key: ContentKey, user: String? = nil, duration: Duration? = nil, blocks: Int = 100,
        target: ReportTarget? = nil
    ) throws -> PlayRecorder {
        guard let content = try queries.item(key)?.content, let facts = try writer.reportFacts(key.text) else {
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
        // With chance in it: sums of two players must never be taken for one session.
        let session = "\(sums.startAt)-\(UUIDv7.text(at: now, random: SystemRandom()))"
        return PlayRecorder(
            self, key: key, sums: sums, source: source, target: target, period: channels.period, session: session)
    }

    /// Who reports: this device by its public name when it has one, the kind of machine, the content.
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
    ///   - duration: the length of the content.
    ///   - blocks: into how many equal parts the report divides the content, 1…10 000.
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
