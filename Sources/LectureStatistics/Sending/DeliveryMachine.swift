package import LectureModel

/// When stored reports are sent without anyone asking for it: at the next opportunity, and not by trying again and
/// again. A value without input or output; what it returns is performed, and what that leads to is its next event.
///
///                 something may be sent                    over: nothing waits
///     ┌─▶ resting ─────────────────────▶ sending ───────────────────────────────▶ resting
///     │      │                            ▲    │
///     │      │ all of it    its time came,│    │ over: something waits for a time, for the network, or for
///     │      │ has to wait     a report,  │    ▼ another program
///     │      └─────────────────────────▶ waiting
///     │                                    │ another program has sent it, or its targets were suspended
///     └────────────────────────────────────┘
///
///     every state ── closed ──▶ closed
///
/// | event | resting | waiting | sending |
/// | --- | --- | --- | --- |
/// | ``looked(_:at:)``: there are other reports | begins or waits | begins if it may | looks again at the end |
/// | ``networkChanged(_:at:)`` | begins | begins; waits end that no server asked for | begins again at the end |
/// | ``timeCame(_:at:)`` | – | begins, or waits for what is left | – |
/// | ``ended(_:hasSettled:at:)`` | – | – | waits, rests, or begins again |
/// | ``close()`` | closed | closed | closed |
///
/// How long a target that failed is left alone is stored with it, and grows with each failure
/// (``OriginPacer/Rules/reports``); so is `Retry-After`. What may be sent and yet a run did not settle (another program
/// sends it, the store cannot be written) is tried after waits of 1, 2, 4 … seconds, at most ``longestPause``. A
/// suspended target counts as one without reports.
package struct DeliveryMachine: Hashable, Sendable {
    /// What the store says about reports that wait.
    package struct Outlook: Hashable, Sendable {
        /// After how long the first of them may be sent: zero for now; nil when none waits for a time.
        package var next: Duration?
        /// Whether another program has claimed some.
        package var isHeldElsewhere = false

        /// Creates an outlook.
        ///
        /// - Parameters:
        ///   - next: after how long the first report may be sent; nil when none waits for a time.
        ///   - isHeldElsewhere: whether another program has claimed some.
        package init(next: Duration? = nil, isHeldElsewhere: Bool = false) {
            (self.next, self.isHeldElsewhere) = (next, isHeldElsewhere)
        }

        /// Whether there is something to send, now or later.
        var isEmpty: Bool { next == nil && !isHeldElsewhere }
    }

    /// What has to be done.
    package enum Action: Hashable, Sendable {
        /// Nothing: a former timer still counts.
        case nothing
        /// No timer: only an event can change something.
        case rest
        /// A timer for this moment, instead of a former one.
        case wait(until: BootInstant)
        /// A run; its end is reported. No timer.
        case send(SendResumption)
    }

    /// The states.
    package enum State: Hashable, Sendable {
        /// Nothing waits.
        case resting
        /// Something waits for this moment.
        case waiting(until: BootInstant)
        /// A run is under way.
        case sending
        /// Nothing happens any more.
        case closed
    }

    /// The state.
    package private(set) var state = State.resting
    /// What happened during a run.
    private var missed: Missed?
    /// Runs in a row that settled nothing, although something could be sent.
    private var fruitless = 0
    /// The longest wait for what may be sent and yet was not settled.
    package static let longestPause = Duration.seconds(900)
    private static let pauses = Backoff(base: .seconds(1), cap: longestPause)

    private enum Missed { case reports, network }

    /// Nothing waits.
    package init() {}

    /// A report was stored, or another program has written to the store.
    ///
    /// - Parameters:
    ///   - outlook: what the store says now.
    ///   - now: the boot clock.
    /// - Returns: what to do.
    package mutating func looked(_ outlook: Outlook, at now: BootInstant) -> Action {
        switch state {
        case .resting: return follow(outlook, pause: .zero, at: now)
        case .waiting:
            // What may be sent at once is new: it was not there when the wait began, or its own wait is over.
            if outlook.next == .zero { return begin(.nothing) }
            return follow(outlook, pause: outlook.next == nil ? pause : .zero, at: now)
        case .sending:
            missed = missed ?? .reports
            return .nothing
        case .closed: return .nothing
        }
    }

    /// The network is another one, or is back.
    ///
    /// - Parameters:
    ///   - outlook: what the store says now.
    ///   - now: the boot clock.
    /// - Returns: what to do.
    package mutating func networkChanged(_ outlook: Outlook, at now: BootInstant) -> Action {
        switch state {
        case .resting, .waiting:
            fruitless = 0
            return outlook.isEmpty ? rest() : begin(.waits)
        case .sending:
            missed = .network
            return .nothing
        case .closed: return .nothing
        }
    }

    /// The moment of ``Action/wait(until:)`` has come.
    ///
    /// - Parameters:
    ///   - outlook: what the store says now.
    ///   - now: the boot clock.
    /// - Returns: what to do.
    package mutating func timeCame(_ outlook: Outlook, at now: BootInstant) -> Action {
        guard case .waiting(let until) = state else { return .nothing }
        guard now >= until else { return .wait(until: until) }
        // A program that holds something may have died: a run claims what it has left.
        if outlook.next == .zero || outlook.isHeldElsewhere { return begin(.nothing) }
        return follow(outlook, pause: .zero, at: now)
    }

    /// A run has ended.
    ///
    /// - Parameters:
    ///   - outlook: what the store says now.
    ///   - hasSettled: whether a report was delivered, refused or superseded.
    ///   - now: the boot clock.
    /// - Returns: what to do.
    package mutating func ended(_ outlook: Outlook, hasSettled: Bool, at now: BootInstant) -> Action {
        guard case .sending = state else { return .nothing }
        defer { missed = nil }
        fruitless = hasSettled || missed == .network ? 0 : fruitless + 1
        switch missed {
        case .network where !outlook.isEmpty: return begin(.waits)
        // A report that came meanwhile does not wait for the targets of the others.
        case .network, .reports: return follow(outlook, pause: .zero, at: now)
        case nil: return follow(outlook, pause: pause, at: now)
        }
    }

    /// Nothing is sent any more. A run that is under way is ended by others.
    package mutating func close() { state = .closed }

    /// How long what may be sent waits after runs that settled nothing of it.
    private var pause: Duration { fruitless == 0 ? .zero : Self.pauses.ceiling(failures: fruitless) }

    private mutating func follow(_ outlook: Outlook, pause: Duration, at now: BootInstant) -> Action {
        guard !outlook.isEmpty else { return rest() }
        // What another program holds is looked at again even if nothing else waits.
        let wait = max(outlook.next ?? Self.pauses.base, pause)
        if wait == .zero { return begin(.nothing) }
        state = .waiting(until: now + wait)
        return .wait(until: now + wait)
    }

    private mutating func begin(_ resumption: SendResumption) -> Action {
        state = .sending
        return .send(resumption)
    }

    private mutating func rest() -> Action {
        (state, fruitless) = (.resting, 0)
        return .rest
    }
}

extension DeliveryMachine.Outlook {
    /// Reads what waits. Reports without a target and those of suspended targets wait for a person, not for a time.
    ///
    /// - Parameters:
    ///   - outbox: the stored reports.
    ///   - now: the wall clock.
    /// - Throws: `LectureError` of the store.
    package init(_ outbox: any StatisticsOutbox, now: Timestamp) throws {
        self.init()
        for target in try outbox.targets() where target.open > 0 && target.condition.suspension == nil {
            let ofTarget = target.condition.wait?.remaining(at: now) ?? .zero
            var waits: [Duration] = []
            if let request = try outbox.nextInFlightBatch(target.id) {
                waits.append(max(ofTarget, request.remaining(at: now)))
            }
            if try !outbox.planRows(target.id, queues: 1, rows: 1).isEmpty { waits.append(ofTarget) }
            // Everything open is in requests that a program has claimed.
            if waits.isEmpty { isHeldElsewhere = true }
            next = ([next].compactMap(\.self) + waits).min()
        }
    }
}
