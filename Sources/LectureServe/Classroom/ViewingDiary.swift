import LectureKit
import LectureModel

/// What one person watches in one play, on its way to the outbox: an interval for each stretch, and a report at the
/// first one, after a jump, at a pause, at the end, and as often as the lecture's channels want one.
actor ViewingDiary {
    private let manager: LectureManager
    private let key: ContentKey
    private let user: String
    private let knownDuration: Duration?
    private let clock: any LectureClock
    private var meter: ViewingMeter
    private var recorder: PlayRecorder?
    private var reportedAt: Duration?
    private var isStopped = true
    private var isOver = false
    /// The step before: steps are taken in the order of the reports.
    private var tail: Task<Result<Void, LectureError>, Never>?

    /// Begins a diary.
    ///
    /// - Parameters:
    ///   - manager: the store.
    ///   - content: the lecture.
    ///   - user: the learner's name in reports.
    ///   - clock: the clock.
    init(_ manager: LectureManager, _ content: Content, user: String, _ clock: any LectureClock) {
        (self.manager, key, self.user, self.clock) = (manager, content.key, user, clock)
        knownDuration = content.duration
        meter = ViewingMeter(duration: content.duration, openedAt: clock.elapsed)
    }

    /// Adds a report.
    ///
    /// - Parameter report: of the viewer's script.
    /// - Returns: false for one that was there already.
    /// - Throws: ``ClassroomRefusal``: `progress`, `unknownPlay` after the end, that of the store.
    func add(_ report: ViewingReport) async throws(ClassroomRefusal) -> Bool {
        guard !isOver else { throw .unknownPlay }
        guard let addition = try meter.add(report, now: clock.elapsed) else { return false }
        try await step { [self] () async throws(LectureError) in try await write(addition, report) }
        return true
    }

    /// Ends the diary: the last report is made, unless the viewer's script has made it.
    ///
    /// - Throws: ``ClassroomRefusal`` of the store.
    func close() async throws(ClassroomRefusal) {
        guard !isOver else { return }
        isOver = true
        try await step { [self] () async throws(LectureError) in try await stop() }
    }

    private func step(
        _ body: @escaping @Sendable () async throws(LectureError) -> Void
    ) async throws(ClassroomRefusal) {
        let task = Task { [tail] () -> Result<Void, LectureError> in
            _ = await tail?.value
            do throws(LectureError) {
                try await body()
                return .success(())
            } catch { return .failure(error) }
        }
        tail = task
        if case .failure(let error) = await task.value { throw ClassroomRefusal(error) }
    }

    private func write(_ addition: ViewingMeter.Addition, _ report: ViewingReport) async throws(LectureError) {
        if recorder == nil, !addition.intervals.isEmpty {
            recorder = try await manager.reports.recordPlay(
                of: key, user: user, duration: knownDuration ?? report.duration)
        }
        guard let recorder else { return }
        for interval in addition.intervals { await recorder.record(interval) }
        if !addition.intervals.isEmpty { isStopped = false }
        if report.state == .closed { return try await stop() }
        if report.state != .playing, !isStopped, let place = meter.place {
            await recorder.record(PlayedInterval(.pause, from: place, to: place, lasting: .zero))
        }
        try await recorder.keep()
        let now = clock.elapsed
        let isDue = reportedAt.map { at in recorder.period.map { now - at >= $0 } ?? false } ?? true
        guard !isStopped, isDue || addition.hasJump || report.state != .playing else { return }
        try await recorder.report()
        reportedAt = now
    }

    private func stop() async throws(LectureError) {
        guard let recorder, !isStopped else { return }
        let place = meter.place ?? .zero
        await recorder.record(PlayedInterval(.stop, from: place, to: place, lasting: .zero))
        try await recorder.report()
        isStopped = true
    }
}
