import LectureDownload
import LectureModel
import Testing

struct ItemMachineTests {
    private static let now = Timestamp(milliseconds: 1_000)
    private static let later = Timestamp(milliseconds: 9_000)
    private static let working: Set<ItemState> = [.loading, .downloading, .verifying]

    /// One event: where it is legal, and what it returns and makes of the status there.
    private struct Row: Sendable {
        var name: String
        var send: @Sendable (inout ItemMachine) -> ItemMachine.Action
        var legal: Set<ItemState>
        var action: ItemMachine.Action
        var status: @Sendable (ItemStatus) -> ItemStatus
    }

    private static let error = LectureError(.digestMismatch)

    /// The same status with another count of attempts.
    private static func counting(_ attempts: Int) -> @Sendable (ItemStatus) -> ItemStatus {
        { status in
            var status = status
            status.attempts = attempts
            return status
        }
    }

    private static let rows: [Row] = [
        Row(
            name: "claimed", send: { $0.claimed(sourceKnown: false) }, legal: [.queued], action: .store,
            status: { _ in ItemStatus(.loading, attempts: 3) }),
        Row(
            name: "claimed, known", send: { $0.claimed(sourceKnown: true) }, legal: [.queued], action: .store,
            status: { _ in ItemStatus(.downloading, attempts: 3) }),
        Row(
            name: "sourceKnown", send: { $0.sourceKnown() }, legal: [.loading], action: .store,
            status: { _ in ItemStatus(.downloading, attempts: 3) }),
        Row(name: "gainedBytes", send: { $0.gainedBytes() }, legal: working, action: .store, status: counting(0)),
        Row(name: "attemptFailed", send: { $0.attemptFailed() }, legal: working, action: .store, status: counting(4)),
        Row(
            name: "allCommitted", send: { $0.allCommitted() }, legal: [.loading, .downloading], action: .store,
            status: { _ in ItemStatus(.verifying, attempts: 3) }),
        Row(
            name: "restarted", send: { $0.restarted() }, legal: working, action: .store,
            status: { _ in ItemStatus(.downloading, attempts: 3) }),
        Row(
            name: "finalized", send: { $0.finalized() }, legal: [.verifying], action: .endWork,
            status: { _ in ItemStatus(.completed) }),
        Row(
            name: "retryLater", send: { $0.retryLater(error: error, until: later, now: now) }, legal: working,
            action: .endWork,
            status: { _ in ItemStatus(.queued, error: error, attempts: 3, nextAttempt: later, waitSet: now) }),
        Row(
            name: "stopped", send: { $0.stopped(.space, error: error, until: later, now: now) },
            legal: working.union([.queued, .failed, .stopped]), action: .endWork,
            status: { _ in
                ItemStatus(
                    .stopped, stopReason: .space, error: error, attempts: 3, nextAttempt: later, waitSet: now)
            }),
        Row(
            name: "stopped for good", send: { $0.stopped(.user, error: nil, until: nil, now: now) },
            legal: working.union([.queued, .failed, .stopped]), action: .endWork,
            status: { _ in ItemStatus(.stopped, stopReason: .user, attempts: 3) }),
        Row(
            name: "failed", send: { $0.failed(error) }, legal: working.union([.queued, .stopped]), action: .endWork,
            status: { _ in ItemStatus(.failed, error: error, attempts: 3) }),
        Row(
            name: "setBack", send: { $0.setBack() }, legal: working, action: .endWork,
            status: { _ in ItemStatus(.queued, attempts: 3) }),
        Row(
            name: "removalBegan", send: { $0.removalBegan() }, legal: Set(ItemState.allCases).subtracting([.removing]),
            action: .endWork, status: { _ in ItemStatus(.removing) }),
    ]

    private static func status(_ state: ItemState) -> ItemStatus {
        ItemStatus(
            state, stopReason: state == .stopped ? .network : nil, error: state == .failed ? error : nil, attempts: 3)
    }

    /// The invariants that the database checks as well.
    private static func isConsistent(_ status: ItemStatus) -> Bool {
        (status.state == .stopped) == (status.stopReason != nil)
            && (status.state != .failed || status.error != nil)
            && (status.nextAttempt == nil) == (status.waitSet == nil) && status.attempts >= 0
    }

    @Test(arguments: ItemState.allCases)
    func `every event is applied where it is legal, and ignored where it comes late`(state: ItemState) {
        for row in Self.rows {
            var machine = ItemMachine(Self.status(state))
            let isLegal = row.legal.contains(state)
            #expect(row.send(&machine) == (isLegal ? row.action : .nothing), "\(row.name) in \(state)")
            let expected = isLegal ? row.status(Self.status(state)) : Self.status(state)
            #expect(machine.status == expected, "\(row.name) in \(state)")
            #expect(Self.isConsistent(machine.status), "\(row.name) in \(state)")
        }
    }

    @Test func `attempts are counted, kept, and forgotten with the first bytes`() {
        var machine = ItemMachine(ItemStatus(.queued))
        _ = machine.claimed(sourceKnown: true)
        #expect(machine.gainedBytes() == .nothing)
        for _ in 0..<3 { #expect(machine.attemptFailed() == .store) }
        _ = machine.retryLater(error: Self.error, until: Self.later, now: Self.now)
        #expect(machine.status.attempts == 3)
        #expect(machine.status.nextAttempt == Self.later)
        #expect(machine.status.waitSet == Self.now)
        _ = machine.claimed(sourceKnown: true)
        #expect(machine.status.attempts == 3)
        #expect(machine.status.nextAttempt == nil)
        #expect(machine.gainedBytes() == .store)
        #expect(machine.status.attempts == 0)
    }

    @Test(arguments: ItemState.allCases, [TargetState.fetch, .pause, .cancel, .remove])
    func `the last request decides the final state of an item`(state: ItemState, targetState: TargetState) {
        var status = Self.status(state)
        var machine = ItemMachine(status)
        machine.settled(wanting: targetState)
        #expect(Self.isConsistent(machine.status))
        switch (targetState, state) {
        case (.pause, .queued), (.pause, .stopped), (.pause, .removing): #expect(machine.status.stopReason == .user)
        case (.cancel, .queued), (.cancel, .stopped), (.cancel, .removing):
            #expect(machine.status.stopReason == .user)
            #expect(machine.status.error?.code == .cancelled)
        case (.fetch, .removing): #expect(machine.status.state == .queued)
        default: #expect(machine.status == status)
        }
        guard state == .stopped, targetState == .fetch else { return }
        status.stopReason = .user
        machine = ItemMachine(status)
        machine.settled(wanting: .fetch)
        #expect(machine.status.state == .queued)
    }
}
