import LectureKit
import LectureModel

/// What one person watches in one play, on its way to the outbox: an interval for each stretch, and a report at the
/// first one, after a jump, at a pause, at the end, and as often as the lecture's channels want one.
///
/// What a viewer has reported stays here until the store has it: where the store fails, the next report, the same one
/// sent again, or the end of the play stores it.
actor ViewingDiary {
    /// What one report adds.
    private struct Entry {
        let addition: ViewingMeter.Addition
        let report: ViewingReport
        /// Where the last stretch so far ended.
        let place: Duration?
        /// Whether the recorder has it. It may not get it twice.
        var isRecorded = false
    }

    /// How many reports wait for a store that fails; more are refused before they are taken.
    static let mostEntries = 100

    private let manager: LectureManager
    private let key: ContentKey
    private let user: String
    private let knownDuration: Duration?
    private let clock: any LectureClock
    private var meter: ViewingMeter
    private var recorder: PlayRecorder?
    private var reportedAt: Duration?
    /// What was taken and is not in the store yet, in the order of the reports.
    private var entries: [Entry] = []
    /// Whether the last report about everything that was watched is made.
    private var isStopped = true
    private var isStopRecorded = false
    private var isOver = false
    private var isClosed = false
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

    /// Adds a report. Where the store fails it is kept, and need not be sent again.
    ///
    /// - Parameter report: of the viewer's script.
    /// - Returns: false for one that was there already, and is in the store now.
    /// - Throws: ``ClassroomRefusal``: `progress`, `unknownPlay` after the end, that of the store.
    func add(_ report: ViewingReport) async throws(ClassroomRefusal) -> Bool {
        guard !isOver else { throw .unknownPlay }
        if entries.count >= Self.mostEntries { try await step() }
        let addition = try meter.add(report, now: clock.elapsed)
        if let addition { entries.append(Entry(addition: addition, report: report, place: meter.place)) }
        try await step()
        return addition != nil
    }

    /// Ends the diary: the last report is made, unless the viewer's script has made it. After a failure it may be
    /// called again.
    ///
    /// - Throws: ``ClassroomRefusal`` of the store.
    func close() async throws(ClassroomRefusal) {
        guard !isClosed else { return }
        isOver = true
        try await step(isLast: true)
        isClosed = true
    }

    private func step(isLast: Bool = false) async throws(ClassroomRefusal) {
        let task = Task { [tail] () -> Result<Void, LectureError> in
            _ = await tail?.value
            do throws(LectureError) {
                try await writeEntries()
                if isLast { try await stop() }
                return .success(())
            } catch { return .failure(error) }
        }
        tail = task
        if case .failure(let error) = await task.value { throw ClassroomRefusal(error) }
    }

    /// Stores what waits. Only steps take entries away, one step at a time.
    private func writeEntries() async throws(LectureError) {
        while let entry = entries.first {
            do throws(LectureError) { try await write(entry) } catch {
                // About a lecture that is gone nothing can be reported any more, and the viewer learns that.
                if error.code == .unknownContent { entries = [] }
                throw error
            }
            entries.removeFirst()
        }
    }

    private func write(_ entry: Entry) async throws(LectureError) {
        let (addition, report) = (entry.addition, entry.report)
        if recorder == nil, !addition.intervals.isEmpty {
            recorder = try await ViewerPlaces.record(
                key, viewer: user, duration: knownDuration ?? report.duration, in: manager.reports)
        }
        guard let recorder else { return }
        if !entry.isRecorded {
            for interval in addition.intervals { await recorder.record(interval) }
            if !addition.intervals.isEmpty { isStopped = false }
            if report.state == .paused || report.state == .ended, !isStopped, let place = entry.place {
                await recorder.record(PlayedInterval(.pause, from: place, to: place, lasting: .zero))
            }
            entries[0].isRecorded = true
        }
        if report.state == .closed { return try await stop() }
        try await recorder.keep()
        let now = clock.elapsed
        let isDue = reportedAt.map { at in recorder.period.map { now - at >= $0 } ?? false } ?? true
        guard !isStopped, isDue || addition.hasJump || report.state != .playing else { return }
        try await recorder.report()
        reportedAt = now
    }

    private func stop() async throws(LectureError) {
        guard let recorder, !isStopped else { return }
        if !isStopRecorded {
            let place = meter.place ?? .zero
            await recorder.record(PlayedInterval(.stop, from: place, to: place, lasting: .zero))
            isStopRecorded = true
        }
        try await recorder.report()
        (isStopped, isStopRecorded) = (true, false)
    }
}
