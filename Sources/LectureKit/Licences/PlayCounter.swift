import LectureLicence
import LectureModel

/// Charges the play time of one play, or of one stream, as bytes are read and time is reported.
///
/// An actor of its own: reads of one play may run at the same time, and each charge waits for the store.
actor PlayCounter {
    private let licences: LectureManager.Licences
    private let key: ContentKey
    private let clock: any LectureClock
    private var meter: PlayMeter
    /// What the last charge was charged to, and what was left then.
    private var grant: PlayCharge.Grant?
    private var left: Duration?
    /// Whether the licence has meanwhile lost its limit.
    private var isFree = false
    private var isOver = false

    init(_ licences: LectureManager.Licences, _ key: ContentKey, _ meter: PlayMeter, clock: any LectureClock) {
        (self.licences, self.key, self.meter, self.clock) = (licences, key, meter, clock)
    }

    /// Charges bytes before they are returned.
    ///
    /// - Parameters:
    ///   - count: how many are wanted; more than 0.
    ///   - rest: how many will be read in the whole play from here on; nil where that is not known.
    /// - Returns: how many may be returned; 1 to `count`.
    /// - Throws: ``LectureError``: `playTimeUsedUp`, `closing` after the end, what
    ///   ``LicenceEngine/chargePlayTime(_:_:)`` throws.
    func admit(_ count: Int, rest: Int64? = nil) async throws -> Int {
        while !isFree {
            guard !isOver else { throw LectureError(.closing, detail: key.text) }
            let admitted = meter.admit(count, at: clock.boot())
            if admitted > 0 { return admitted }
            try await charge(meter.due(count, rest: rest.map { UInt64(clamping: $0) }))
            // The play was ended meanwhile, without this charge.
            if isOver { try await settle() }
        }
        return count
    }

    /// Adds what the application has played. What is not charged yet is charged from a step on.
    ///
    /// - Parameters:
    ///   - media: how much of the lecture.
    ///   - running: how long that took.
    /// - Returns: whether the play time is used up; nil when nothing was charged.
    /// - Throws: what ``LicenceEngine/chargePlayTime(_:_:)`` throws, except `playTimeUsedUp`. The next call charges it.
    func report(media: Duration, running: Duration) async throws -> Bool? {
        meter.report(media: media, running: running)
        let overdue = meter.overdue
        guard !isFree, overdue >= meter.step || overdue > .zero && left == .zero else { return nil }
        do {
            let granted = try await charge(overdue)
            return granted < overdue || left == .zero
        } catch let error as LectureError where error.code == .playTimeUsedUp {
            return true
        }
    }

    /// Ends the play: what it has cost beyond the charge is charged, as far as time is left; what was charged and not
    /// used is given back.
    ///
    /// - Throws: ``LectureError`` of the store; another call tries again.
    func end() async throws {
        guard !isOver else { return }
        isOver = true
        do { try await settle() } catch {
            isOver = false
            throw error
        }
    }

    private func settle() async throws {
        let difference = meter.settlement(at: clock.boot())
        if difference > .zero, !isFree {
            do { try await charge(difference) } catch let error as LectureError where error.code == .playTimeUsedUp {}
        } else if difference < .zero, let grant {
            let unused = .zero - difference
            // Before the wait, so that nothing is given back twice.
            meter.gaveBack(unused)
            do { try await licences.refundPlayTime(key, unused, of: grant) } catch {
                meter.charged(unused)
                throw error
            }
        }
    }

    @discardableResult
    private func charge(_ time: Duration) async throws -> Duration {
        guard let charge = try await licences.chargePlayTime(key, time) else {
            isFree = true
            return time
        }
        meter.charged(charge.granted)
        (grant, left) = (charge.grant, charge.left)
        return charge.granted
    }
}

/// How a read of a play is charged.
struct PlayRead: Sendable {
    let counter: PlayCounter
    /// Whether it is the only one of its play, so that no more than its own cost is charged ahead.
    var isAll = false

    /// Passes bytes on in pieces, each charged before.
    ///
    /// - Parameters:
    ///   - bytes: checked media.
    ///   - rest: how many this read returns from the first of them on.
    ///   - isolation: where `receive` is called: it may block, and only its caller knows where that does no harm.
    ///   - receive: gets them in order.
    /// - Throws: what ``PlayCounter/admit(_:rest:)`` and `receive` throw. `CancellationError` when the task is
    ///   cancelled.
    func pass(
        _ bytes: ArraySlice<UInt8>, rest: Int64, isolation: isolated (any Actor)? = #isolation,
        _ receive: @Sendable ([UInt8]) throws -> Void
    ) async throws {
        var left = bytes
        while !left.isEmpty {
            try Task.checkCancellation()
            let passed = Int64(bytes.count - left.count)
            let count = try await counter.admit(left.count, rest: isAll ? rest - passed : nil)
            try receive(Array(left.prefix(count)))
            left = left.dropFirst(count)
        }
    }
}
