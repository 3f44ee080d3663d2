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
    /// The last write; each waits for the one before it.
    private var writing: Task<Void, Never>?

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
        await write(meter.plays(at: time.monotonic()), .nothing)
        // Meanwhile it may have ended.
        guard ticking == nil, !isOver else { return }
        ticking = Task { [weak self, time] in
            while !Task.isCancelled {
                await time.pause(Self.keepInterval)
                if Task.isCancelled { return }
                await self?.tick()
            }
        }
    }

    /// There is no picture: the link is slow, or the broadcast is interrupted.
    public func waits() async {
        guard !isOver else { return }
        await write(meter.waits(at: time.monotonic()), .report)
    }

    /// The viewer has gone, or the lecture is over. The last report is durable when this returns, unless
    /// ``failures`` says otherwise, and none follows it.
    public func ends() async {
        guard !isOver else { return }
        isOver = true
        ticking?.cancel()
        await write(meter.ends(at: time.monotonic()), .report)
        report.finish()
    }

    private func tick() async {
        guard !isOver else { return }
        await write(meter.cut(at: time.monotonic()), .reportWhenDue)
    }

    /// What is done with what was watched so far.
    private enum Order { case nothing, reportWhenDue, report }

    /// Records intervals, and stores and reports what was watched. One after the other, in the order of the calls: the
    /// actor takes the next call while the store writes, and the last report has to be the last one.
    private func write(_ intervals: [PlayedInterval], _ order: Order) async {
        let task = Task { [writing] in
            await writing?.value
            for interval in intervals { await recorder.record(interval) }
            if order != .nothing { await store(order) }
        }
        writing = task
        await task.value
    }

    private func store(_ order: Order) async {
        do throws(LectureError) {
            try await recorder.keep()
            guard order == .report || time.monotonic() - lastReport >= period else { return }
            try await recorder.report()
            lastReport = time.monotonic()
        } catch { report.yield(error) }
    }
}
