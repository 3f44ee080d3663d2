public import LectureKit
import LectureModel

/// What a viewer watches of a live lecture, in the outbox of a store: reported to the LMS like what is watched of kept
/// lectures, also when the program is killed or the network is away.
///
/// ```swift
/// let watch = try await LiveWatch(manager, lecture: LiveLecture(room), user: "kim")
/// await watch.plays()    // FFLLivePlayer's `started`; `waits()` at `paused`
/// await watch.ends()     // `stopped`, `completed`, `closed`
/// ```
///
/// What was watched is stored every ten seconds and reported every ``period``, at the end, and never twice: each report
/// covers everything since the start.
public actor LiveWatch {
    /// How often a report is made.
    public nonisolated let period: Duration
    /// The session's name in all of its reports.
    public nonisolated var session: String { recorder.session }
    /// Errors of the store; what could not be stored is tried again with the next interval.
    public nonisolated let failures: AsyncStream<LectureError>
    private let recorder: PlayRecorder
    private let time: LiveClock
    private let report: AsyncStream<LectureError>.Continuation
    private var meter: LiveMeter
    private var lastReport: Duration
    private var isOver = false
    private var ticking: Task<Void, Never>?

    /// How often what was watched is stored.
    static let keepInterval = Duration.seconds(10)

    /// Begins to record. Nothing counts before ``plays()``.
    ///
    /// - Parameters:
    ///   - manager: the store; it must be open until ``ends()`` has returned.
    ///   - lecture: the lecture.
    ///   - user: the learner.
    ///   - target: where the reports go; nil takes the store's configured target.
    ///   - period: how often a report is made.
    /// - Throws: ``LectureError``: `reportInvalid`, `closing`, a store's code.
    public init(
        _ manager: LectureManager, lecture: LiveLecture, user: String, target: ReportTarget? = nil,
        period: Duration = .seconds(30)
    ) async throws(LectureError) {
        try await self.init(manager, lecture: lecture, user: user, target: target, period: period, time: .system)
    }

    init(
        _ manager: LectureManager, lecture: LiveLecture, user: String, target: ReportTarget?, period: Duration,
        time: LiveClock
    ) async throws(LectureError) {
        recorder = try await manager.reports.recordPlay(
            ofLive: lecture.key, channel: "\(lecture.channel)", host: lecture.host, user: user, target: target,
            period: period)
        (self.period, self.time) = (period, time)
        (failures, report) = AsyncStream.makeStream(of: LectureError.self, bufferingPolicy: .bufferingNewest(8))
        let now = time.monotonic()
        (meter, lastReport) = (LiveMeter(age: time.now() - lecture.startedAt, now: now), now)
    }

    deinit {
        ticking?.cancel()
        report.finish()
    }

    /// There is a picture.
    public func plays() async {
        guard !isOver else { return }
        await record(meter.plays(at: time.monotonic()))
        if ticking == nil {
            ticking = Task { [weak self, time] in
                while !Task.isCancelled {
                    await time.pause(Self.keepInterval)
                    if Task.isCancelled { return }
                    await self?.tick()
                }
            }
        }
    }

    /// There is no picture: the link is slow, or the broadcast is interrupted.
    public func waits() async {
        guard !isOver else { return }
        await record(meter.waits(at: time.monotonic()))
        await store(reports: true)
    }

    /// The viewer has gone, or the lecture is over. The last report is durable when this returns, unless
    /// ``failures`` says otherwise.
    public func ends() async {
        guard !isOver else { return }
        isOver = true
        ticking?.cancel()
        await record(meter.ends(at: time.monotonic()))
        await store(reports: true)
        report.finish()
    }

    private func record(_ intervals: [PlayedInterval]) async {
        for interval in intervals { await recorder.record(interval) }
    }

    private func tick() async {
        guard !isOver else { return }
        let now = time.monotonic()
        await record(meter.cut(at: now))
        await store(reports: now - lastReport >= period)
    }

    private func store(reports: Bool) async {
        do throws(LectureError) {
            try await recorder.keep()
            guard reports else { return }
            try await recorder.report()
            lastReport = time.monotonic()
        } catch { report.yield(error) }
    }
}
