import LectureDownload
import LectureModel
import Testing

struct ItemMachineTests {
    private static let now = Timestamp(milliseconds: 1_000)
    private static let later = Timestamp(milliseconds: 9_000)
    private static let working: Set<ItemState> = [.loading, .downloading, .verifying]

    /// One event: its effect in each state, and the next state.
    private struct Row: Sendable {
        var name: String
        var send: @Sendable (inout ItemMachine) -> ItemMachine.Action
        var legal: Set<ItemState>
        var target: ItemState?
        var action: ItemMachine.Action
    }

    private static let error = LectureError(.digestMismatch)

    private static let rows: [Row] = [
        Row(
            name: "claimed", send: { $0.claimed(sourceKnown: false) }, legal: [.queued], target: .loading,
            action: .store),
        Row(
            name: "claimed, source known", send: { $0.claimed(sourceKnown: true) }, legal: [.queued],
            target: .downloading, action: .store),
        Row(
            name: "sourceKnown", send: { $0.sourceKnown() }, legal: [.loading], target: .downloading, action: .store),
        Row(name: "gainedBytes", send: { $0.gainedBytes() }, legal: working, target: nil, action: .store),
        Row(name: "attemptFailed", send: { $0.attemptFailed() }, legal: working, target: nil, action: .store),
        Row(
            name: "allCommitted", send: { $0.allCommitted() }, legal: [.loading, .downloading], target: .verifying,
            action: .store),
        Row(name: "restarted", send: { $0.restarted() }, legal: working, target: .downloading, action: .store),
        Row(name: "finalized", send: { $0.finalized() }, legal: [.verifying], target: .completed, action: .endWork),
        Row(
            name: "retryLater", send: { $0.retryLater(error: error, until: later, now: now) }, legal: working,
            target: .queued, action: .endWork),
        Row(
            name: "stopped", send: { $0.stopped(.space, error: error, until: later, now: now) },
            legal: working.union([.queued, .failed, .stopped]), target: .stopped, action: .endWork),
        Row(
            name: "failed", send: { $0.failed(error) }, legal: working.union([.queued, .stopped]), target: .failed,
            action: .endWork),
        Row(name: "setBack", send: { $0.setBack() }, legal: working, target: .queued, action: .endWork),
        Row(
            name: "removalBegan", send: { $0.removalBegan() }, legal: Set(ItemState.allCases).subtracting([.removing]),
            target: .removing, action: .endWork),
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
            let action = row.send(&machine)
            if row.legal.contains(state) {
                #expect(action == row.action, "\(row.name) in \(state)")
                #expect(machine.status.state == row.target ?? state, "\(row.name) in \(state)")
            } else {
                #expect(action == .nothing, "\(row.name) in \(state)")
                #expect(machine.status == Self.status(state), "\(row.name) in \(state)")
            }
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
