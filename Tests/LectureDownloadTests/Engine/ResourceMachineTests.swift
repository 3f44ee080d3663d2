import LectureModel
import Testing

@testable import LectureDownload

/// Every state and every event of ``ResourceMachine``, compared as values.
struct ResourceMachineTests {
    private typealias State = ResourceMachine.State
    private typealias Ruling = ResourceMachine.Ruling
    private typealias Opened = ResourceMachine.OpenedPart

    private static let total: UInt64 = 300
    private static let some = ChunkSet([0, 2])
    private static let none = ChunkSet()

    private static let opened: [Opened] = [
        .opening, .open, .closing, .closed(isClean: false), .closed(isClean: true),
    ]
    private static let parts: [ResourceMachine.Part] = [.unopened] + opened.map { .opened($0) }

    /// Every state there is.
    private static let states: [State] = {
        var states: [State] = [.probing]
        for part in parts {
            states += [.fetching(part, unchecked: none), .fetching(part, unchecked: some)]
            states += [.finalized(part), .failed(part)]
        }
        for part in opened {
            for set in [none, some] { states.append(.digesting(part, total: total, unchecked: set)) }
            states += [.checking(part, total: total, .noDigest), .checking(part, total: total, .digestDiffers)]
            states += [.inspecting(part, total: total), .finalizing(part)]
        }
        return states
    }()

    private struct Move {
        var from: State
        var to: State
        var ruling: Ruling
    }

    /// Sends an event in every state: the moves are as listed, a late event changes nothing, every other is a bug.
    private func expect(
        _ moves: [Move], late: [State] = [],
        _ send: (inout ResourceMachine) -> Ruling, location: SourceLocation = #_sourceLocation
    ) {
        for state in Self.states {
            var machine = ResourceMachine(in: state)
            let ruling = send(&machine)
            let move = moves.first { $0.from == state }
            #expect(machine.state == move?.to ?? state, "\(state)", sourceLocation: location)
            let expected = move?.ruling ?? (late.contains(state) ? .nothing : .bug)
            #expect(ruling == expected, "\(state)", sourceLocation: location)
        }
        #expect(moves.allSatisfy { Self.states.contains($0.from) }, sourceLocation: location)
    }

    private static let failed = parts.map { State.failed($0) }

    /// The same state with another part file.
    private func replacing(_ part: Opened, in state: State) -> State {
        switch state {
        case .probing: .probing
        case .fetching(_, let unchecked): .fetching(.opened(part), unchecked: unchecked)
        case .digesting(_, let total, let unchecked): .digesting(part, total: total, unchecked: unchecked)
        case .checking(_, let total, let reason): .checking(part, total: total, reason)
        case .inspecting(_, let total): .inspecting(part, total: total)
        case .finalizing: .finalizing(part)
        case .finalized: .finalized(.opened(part))
        case .failed: .failed(.opened(part))
        }
    }

    private func states(with part: ResourceMachine.Part) -> [State] {
        Self.states.filter { ResourceMachine(in: $0).part == part }
    }

    // MARK: From the first answer to the final name

    @Test func `a path is fixed once`() {
        let first = State.fetching(.unopened, unchecked: Self.none)
        expect([Move(from: .probing, to: first, ruling: .nothing)]) { $0.planned() }
    }

    @Test func `whole files get their final name, after the checks that are due`() {
        let late = Self.states.filter { state in
            switch state {
            case .probing, .fetching(.unopened, _): false
            case .fetching, .digesting, .checking, .inspecting, .finalizing, .finalized, .failed: true
            }
        }
        let writing: [Opened] = [.opening, .open]
        func from(_ part: Opened, _ chunks: ChunkSet) -> State { .fetching(.opened(part), unchecked: chunks) }
        let plain = writing.map {
            Move(from: from($0, Self.none), to: .finalizing($0), ruling: .finalize(total: Self.total))
        }
        let check = State.checking(.open, total: Self.total, .noDigest)
        let resumed = Move(from: from(.open, Self.some), to: check, ruling: .check(Self.some, total: Self.total))
        expect(plain + [resumed], late: late) { $0.allCommitted(total: Self.total, needsDigest: false) }
        let digests = [(Opened.opening, Self.none), (.open, Self.none), (.open, Self.some)].map { part, chunks in
            Move(
                from: from(part, chunks), to: .digesting(part, total: Self.total, unchecked: chunks),
                ruling: .digest(total: Self.total))
        }
        expect(digests, late: late) { $0.allCommitted(total: Self.total, needsDigest: true) }
    }

    @Test func `a digest that matches finalizes, one that differs puts the blame on the disk first`() {
        let right = Self.opened.flatMap { part in
            [Self.none, Self.some].map {
                Move(
                    from: .digesting(part, total: Self.total, unchecked: $0), to: .finalizing(part),
                    ruling: .finalize(total: Self.total))
            }
        }
        expect(right, late: Self.failed) { $0.digested(matches: true) }
        let wrong = Self.opened.flatMap { part in
            let received = State.digesting(part, total: Self.total, unchecked: Self.none)
            return [
                Move(from: received, to: received, ruling: .distrust),
                Move(
                    from: .digesting(part, total: Self.total, unchecked: Self.some),
                    to: .checking(part, total: Self.total, .digestDiffers),
                    ruling: .check(Self.some, total: Self.total)),
            ]
        }
        expect(wrong, late: Self.failed) { $0.digested(matches: false) }
    }

    @Test func `damaged chunks are fetched again, intact ones decide what differs`() {
        let reasons: [ResourceMachine.CheckReason] = [.noDigest, .digestDiffers]
        let damaged = Self.opened.flatMap { part in
            reasons.map {
                Move(
                    from: .checking(part, total: Self.total, $0),
                    to: .fetching(.opened(part), unchecked: Self.none), ruling: .fetchAgain([2]))
            }
        }
        expect(damaged, late: Self.failed) { $0.checked(damaged: [2]) }
        let intact = Self.opened.flatMap { part in
            let differs = State.checking(part, total: Self.total, .digestDiffers)
            return [
                Move(
                    from: .checking(part, total: Self.total, .noDigest), to: .finalizing(part),
                    ruling: .finalize(total: Self.total)),
                Move(from: differs, to: differs, ruling: .distrust),
            ]
        }
        expect(intact, late: Self.failed) { $0.checked(damaged: []) }
    }

    @Test func `an encrypted file is inspected after every other check, and before it gets its final name`() {
        let total = Self.total
        func moves(_ states: [(State, Opened)]) -> [Move] {
            states.map { Move(from: $0, to: .inspecting($1, total: total), ruling: .inspect(total: total)) }
        }
        let check = Move(
            from: .fetching(.opened(.open), unchecked: Self.some), to: .checking(.open, total: total, .noDigest),
            ruling: .check(Self.some, total: total))
        let writing: [Opened] = [.opening, .open]
        let late = Self.states.filter { state in
            if case .fetching(.unopened, _) = state { return false }
            return state != .probing
        }
        expect(moves(writing.map { (.fetching(.opened($0), unchecked: Self.none), $0) }) + [check], late: late) {
            $0.allCommitted(total: total, needsDigest: false, isEncrypted: true)
        }
        let digested = Self.opened.flatMap { part in
            [Self.none, Self.some].map { (State.digesting(part, total: total, unchecked: $0), part) }
        }
        expect(moves(digested), late: Self.failed) { $0.digested(matches: true, isEncrypted: true) }
        let differs = Self.opened.map { State.checking($0, total: total, .digestDiffers) }
        let checked = moves(Self.opened.map { (.checking($0, total: total, .noDigest), $0) })
        expect(checked + differs.map { Move(from: $0, to: $0, ruling: .distrust) }, late: Self.failed) {
            $0.checked(damaged: [], isEncrypted: true)
        }
        let inspected = Self.opened.map {
            Move(from: .inspecting($0, total: total), to: .finalizing($0), ruling: .finalize(total: total))
        }
        expect(inspected, late: Self.failed) { $0.inspected() }
    }

    @Test func `a final name closes the part file, unless it is closing`() {
        let closing = [Opened.opening, .open].map {
            Move(from: .finalizing($0), to: .finalized(.opened(.closing)), ruling: .close)
        }
        let closed = [Opened.closing, .closed(isClean: false), .closed(isClean: true)].map {
            Move(from: .finalizing($0), to: .finalized(.opened($0)), ruling: .nothing)
        }
        expect(closing + closed, late: Self.failed) { $0.finalized() }
    }

    @Test func `a new file that finishes by itself has its final name and is closed`() {
        let moves = [Opened.opening, .open].map {
            Move(
                from: .fetching(.opened($0), unchecked: Self.none),
                to: .finalized(.opened(.closed(isClean: true))), ruling: .nothing)
        }
        expect(moves, late: Self.failed) { $0.finished() }
    }

    @Test func `a file that fails gives its part file up, and a finished one does not fail`() {
        let moves = Self.states.compactMap { state -> Move? in
            switch state {
            case .finalized, .failed: return nil
            case .probing, .fetching, .digesting, .checking, .inspecting, .finalizing: break
            }
            switch ResourceMachine(in: state).part {
            case .opened(.opening), .opened(.open):
                return Move(from: state, to: .failed(.opened(.closing)), ruling: .close)
            case .unopened: return Move(from: state, to: .failed(.unopened), ruling: .nothing)
            case .opened(.closing): return Move(from: state, to: .failed(.opened(.closing)), ruling: .nothing)
            case .opened(.closed(let isClean)):
                return Move(from: state, to: .failed(.opened(.closed(isClean: isClean))), ruling: .nothing)
            }
        }
        expect(moves, late: Self.failed) { $0.failed() }
    }

    // MARK: The part file

    @Test func `a part file is opened once, while bytes are received`() {
        let moves = [Self.none, Self.some].map {
            Move(
                from: .fetching(.unopened, unchecked: $0), to: .fetching(.opened(.opening), unchecked: $0),
                ruling: .nothing)
        }
        expect(moves) { $0.opens() }
        let ready = states(with: .opened(.opening)).map {
            Move(from: $0, to: replacing(.open, in: $0), ruling: .nothing)
        }
        let late: [Opened] = [.closing, .closed(isClean: false), .closed(isClean: true)]
        expect(ready, late: late.flatMap { states(with: .opened($0)) }) { $0.opened() }
    }

    @Test func `a part file is asked to close once`() {
        let moves = (states(with: .opened(.opening)) + states(with: .opened(.open))).map {
            Move(from: $0, to: replacing(.closing, in: $0), ruling: .close)
        }
        expect(moves, late: Self.states) { $0.closes() }
    }

    @Test(arguments: [false, true])
    func `a part file that closes by itself is a bug, and counts as closed`(isClean: Bool) {
        let asked = states(with: .opened(.closing)).map {
            Move(from: $0, to: replacing(.closed(isClean: isClean), in: $0), ruling: .nothing)
        }
        let unasked = (states(with: .opened(.opening)) + states(with: .opened(.open))).map {
            Move(from: $0, to: replacing(.closed(isClean: isClean), in: $0), ruling: .bug)
        }
        expect(asked + unasked, late: states(with: .unopened)) {
            $0.closed(isClean: isClean)
        }
    }

    // MARK: What a state shows

    @Test func `a stored resource continues where it was`() {
        let rows: [(ResourceRecord.State, State)] = [
            (.absent, .probing), (.planned, .fetching(.unopened, unchecked: Self.some)),
            (.committed, .fetching(.unopened, unchecked: Self.some)), (.finalized, .finalized(.unopened)),
            (.failed, .failed(.unopened)),
        ]
        for (stored, state) in rows { #expect(ResourceMachine(stored, committed: Self.some).state == state) }
        #expect(rows.map(\.0) == ResourceRecord.State.allCases)
    }

    @Test func `a part file is flushed while it may be written, and waited for until it is closed`() {
        for state in Self.states {
            let machine = ResourceMachine(in: state)
            let isFetching = if case .fetching = state { true } else { false }
            let isWritten = machine.part == .opened(.opening) || machine.part == .opened(.open)
            #expect(machine.isWriting == (isFetching && isWritten), "\(state)")
            #expect(machine.needsOpening == (isFetching && machine.part == .unopened), "\(state)")
            #expect(machine.isSettled == !(isWritten || machine.part == .opened(.closing)), "\(state)")
        }
    }

    @Test func `only an unfinished file is continued under its header`() {
        let clean = ResourceMachine.Part.opened(.closed(isClean: true))
        for state in Self.states {
            let machine = ResourceMachine(in: state)
            #expect(machine.isClosedClean == (machine.part == clean && !machine.isOver), "\(state)")
        }
    }

    @Test func `bytes that may prove wrong do not count as received`() {
        for state in Self.states {
            let machine = ResourceMachine(in: state)
            let (with, without) = (machine.isReceived(hasAllBytes: true), machine.isReceived(hasAllBytes: false))
            switch state {
            case .probing, .digesting, .checking, .inspecting: #expect(!with && !without)
            case .fetching: #expect(with && !without)
            case .finalizing, .finalized, .failed: #expect(with && without)
            }
        }
    }
}
