import LectureFormats
import LectureLive
import Testing

/// What a broadcaster does: in each situation with each event, and in the runs of the tutorial.
struct StreamerMachineTests {
    private typealias Event = StreamerMachine.Event
    private typealias Effect = StreamerMachine.Effect

    private static let address = FeedAddress(
        StreamKey(id: 1, state: .inactive, ingestURL: "rtmp://127.0.0.1/live", key: "s3cret"))
    private static func room(_ state: VideoRoomState, _ id: UInt64 = 7) -> VideoRoom {
        VideoRoom(id: id, state: state, title: "t", channelID: 70)
    }
    private static func change(_ state: VideoRoomState, _ key: StreamKeyState? = nil, room: UInt64 = 7) -> Event {
        .changed(.init(roomID: room, state: state, keyState: key))
    }
    private static let failure = LiveFailure(.server, "no answer")
    private static let early = LiveFailure(.roomEnd, "too early", serverCode: "VIDEO_ROOM_STATE_NOT_LIVE_INACTIVE")
    private static let now = BootInstant(nanoseconds: 0)

    private static func text(_ effect: Effect) -> String {
        switch effect {
        case .createRoom(let title): "create '\(title)'"
        case .getRoom(let id): "get \(id)"
        case .join(let id): "join \(id)"
        case .openEvents(let id): "events \(id)"
        case .startRoom(let id): "startRoom \(id)"
        case .leave(let id): "leave \(id)"
        case .endRoom(let id): "end \(id)"
        case .connectFeed(let to): to == address ? "connect" : "connect elsewhere"
        case .wait(let until): "wait \(until.nanoseconds / 1_000_000)"
        case .notify(.phase(let phase)): "*\(phase)"
        case .notify(.broadcast(let isActive)): isActive ? "*active" : "*inactive"
        case .notify(.exists(let room)): "*exists \(room.id)"
        case .notify(.opened(let id)): "*opened \(id)"
        case .notify(.reconnecting(let isLost)): isLost ? "*lost" : "*linked"
        case .notify(.failed(let failure)): "*\(failure.code.rawValue)"
        default: "\(effect)"
        }
    }

    private static func after(_ events: [Event]) -> StreamerMachine {
        var machine = StreamerMachine()
        machine.title = "Algebra"
        for event in events { _ = machine.handle(event, now: now) }
        return machine
    }

    private static let prepared: [Event] = [
        .command(.prepare), .key(address, room: nil, state: .inactive), .sourceOpened,
    ]
    private static let entering = prepared + [.command(.enter(roomID: nil, startsRoom: false))]
    private static let entered = entering + [.room(room(.scheduled)), .joined, .channelOpened]
    private static let started = entered + [.command(.start), .feedConnected]
    private static let stopped = started + [.command(.stop), .feedDisconnected]
    private static let ending = stopped + [.command(.exit(roomID: nil)), .left]

    private static let situations: [(String, StreamerMachine)] = [
        ("idle", []), ("key", [.command(.prepare)]), ("source", Array(prepared.dropLast())), ("prepared", prepared),
        (
            "keyAgain",
            [.command(.prepare), .key(address, room: room(.live, 5), state: .active), .sourceOpened]
                + [.command(.enter(roomID: nil, startsRoom: false))]
        ),
        ("create", entering), ("fetch", prepared + [.command(.restart(roomID: 7))]),
        ("join", Array(entered.dropLast(2))), ("events", Array(entered.dropLast())), ("entered", entered),
        ("connect", Array(started.dropLast())), ("started", started), ("linking", started + [.feedLost]),
        ("waiting", started + [.feedLost, .failed(.connect, failure)]), ("disconnect", Array(stopped.dropLast())),
        ("stopped", stopped), ("leave", Array(ending.dropLast())), ("end", ending),
        ("endCheck", ending + [.failed(.end, early)]),
        ("endWait", ending + [.failed(.end, early), .room(room(.live))]), ("closed", ending + [.roomEnded]),
        ("terminated", entered + [change(.ended)]),
    ].map { ($0.0, after($0.1)) }

    private static let commands: [(String, StreamerMachine.Command)] = [
        ("prepare", .prepare), ("enter", .enter(roomID: nil, startsRoom: false)),
        ("enter 7", .enter(roomID: 7, startsRoom: false)), ("restart 7", .restart(roomID: 7)),
        ("restart 8", .restart(roomID: 8)), ("start", .start), ("stop", .stop), ("retry", .retry),
        ("exit", .exit(roomID: nil)), ("exit 8", .exit(roomID: 8)),
    ]

    private static let events: [(String, Event)] =
        commands.map { ($0.0, .command($0.1)) } + [
            ("key", .key(address, room: nil, state: .inactive)),
            ("key of a room", .key(address, room: room(.live, 5), state: .live)),
            ("key of an ended room", .key(address, room: room(.ended, 5), state: .inactive)),
            ("sourceOpened", .sourceOpened), ("room", .room(room(.scheduled))), ("ended room", .room(room(.ended))),
            ("joined", .joined), ("channelOpened", .channelOpened), ("roomStarted", .roomStarted), ("left", .left),
            ("roomEnded", .roomEnded), ("connected", .feedConnected), ("disconnected", .feedDisconnected),
            ("lost", .feedLost), ("LIVE", change(.live)), ("INACTIVE", change(.inactive)), ("ENDED", change(.ended)),
            ("ACTIVE key", change(.scheduled, .active)), ("other room", change(.ended, room: 8)), ("time", .time),
        ] + StreamerMachine.Step.allCases.map { ("\($0) failed", .failed($0, failure)) }

    @Test func `every event in every situation does what the table says`() {
        MachineTable(streamerTable).check(Self.situations, Self.events) { machine, event in
            var next = machine
            let effects = next.handle(event, now: Self.now)
            if next == machine, effects.isEmpty { return nil }
            if case .command(let command) = event, effects.isEmpty, machine.step != nil {
                // The common case, which the table leaves out.
                var others = next.queue
                if others.popLast() == command, others == machine.queue, next.step == machine.step { return nil }
            }
            let step = next.step.map { " \($0.rawValue)" } ?? ""
            return (effects.map(Self.text).joined(separator: ", "), next.phase.rawValue + step)
        }
    }

    // MARK: Runs

    private struct Run {
        var machine = StreamerMachine()
        var log: [String] = []
        var milliseconds: Int64 = 0

        mutating func send(_ event: Event) {
            log += machine.handle(event, now: BootInstant(nanoseconds: milliseconds * 1_000_000)).map(text)
        }

        mutating func send(_ events: [Event]) -> [String] {
            log = []
            for event in events { send(event) }
            return log
        }
    }

    @Test func `commands called back to back wait for each other, as in the tutorial`() {
        var run = Run()
        let all: [StreamerMachine.Command] = [
            .prepare, .enter(roomID: nil, startsRoom: false), .start, .stop, .exit(roomID: nil),
        ]
        #expect(run.send(all.map { .command($0) }) == ["getStreamKey"])
        #expect(run.machine.queue.count == 4)
        let answers: [(Event, [String])] = [
            (.key(Self.address, room: nil, state: .inactive), ["openSource"]),
            (.sourceOpened, ["*prepared", "create ''"]), (.room(Self.room(.scheduled)), ["join 7"]),
            (.joined, ["events 70"]), (.channelOpened, ["*opened 70", "connect"]),
            (.feedConnected, ["*started", "disconnectFeed"]), (.feedDisconnected, ["*stopped", "leave 7"]),
            (.left, ["end 7"]), (.roomEnded, ["closeEvents", "closeSource", "*closed"]),
        ]
        for (event, effects) in answers { #expect(run.send([event]) == effects) }
    }

    @Test func `a room that exists is restarted, and its queued start does not fail`() {
        var run = Run()
        _ = run.send([.command(.prepare), .key(Self.address, room: Self.room(.inactive), state: .liveWithoutFeed)])
        _ = run.send([.sourceOpened])
        #expect(run.send([.command(.enter(roomID: nil, startsRoom: false)), .command(.start)]) == ["getStreamKey"])
        #expect(
            run.send([.key(Self.address, room: Self.room(.inactive), state: .liveWithoutFeed)]) == ["*exists 7"])
        #expect(run.machine.queue.isEmpty && run.machine.phase == .prepared)
        _ = run.send([.command(.restart(roomID: 7)), .room(Self.room(.inactive)), .joined])
        #expect(run.send([.channelOpened]) == ["*opened 70", "*inactive", "connect"])
        #expect(run.send([.feedConnected, Self.change(.live, .live)]) == ["*started", "*active"])
    }

    @Test func `a lost link is brought back after 0, 1, 2, 4 and 8 seconds, and then given up`() {
        var run = Run(machine: Self.after(Self.started))
        #expect(run.send([.feedLost]) == ["*lost", "connect"])
        for seconds in [1, 2, 4, 8] as [Int64] {
            #expect(run.send([.failed(.connect, Self.failure)]) == ["wait \(run.milliseconds + seconds * 1000)"])
            run.milliseconds += seconds * 1000 - 1
            #expect(run.send([.time]) == ["wait \(run.milliseconds + 1)"])
            run.milliseconds += 1
            #expect(run.send([.time]) == ["connect"])
        }
        let again = run
        #expect(run.send([.failed(.connect, Self.failure)]) == ["*linked", "*80106", "*stopped"])
        #expect(run.send([.command(.start), .feedConnected]) == ["connect", "*started"])
        // One that succeeds begins from the start.
        run = again
        #expect(run.send([.feedConnected, .feedLost]) == ["*linked", "*lost", "connect"])
        #expect(run.send([.failed(.connect, Self.failure)]) == ["wait 16000"])
        // A stop ends it; the attempt that still runs has no effect.
        #expect(run.send([.command(.retry)]) == ["connect"])
        #expect(run.send([.command(.stop), .feedConnected]) == ["*linked", "disconnectFeed"])
        #expect(run.send([.feedDisconnected]) == ["*stopped"])
    }

    @Test func `an exit is repeated by itself while the server has not noticed the end of the feed`() {
        var run = Run(machine: Self.after(Self.ending))
        for milliseconds in [200, 400, 800, 1600, 3200] as [Int64] {
            #expect(run.send([.failed(.end, Self.early)]) == ["get 7"])
            #expect(run.send([.room(Self.room(.live))]) == ["wait \(run.milliseconds + milliseconds)"])
            run.milliseconds += milliseconds
            #expect(run.send([.time]) == ["end 7"])
        }
        let last = run
        #expect(run.send([.failed(.end, Self.early), .room(Self.room(.live))]) == ["get 7", "*80409"])
        #expect(run.machine.phase == .stopped)
        // It goes on where it was: the room is not left twice.
        #expect(
            run.send([.command(.exit(roomID: nil)), .roomEnded]) == ["end 7", "closeEvents", "closeSource", "*closed"])
        // A lost answer: the room says that it has come true.
        run = last
        #expect(
            run.send([.failed(.end, Self.failure), .room(Self.room(.ended))])
                == ["get 7", "closeEvents", "closeSource", "*closed"])
        run = last
        #expect(run.send([.failed(.end, Self.failure), .room(Self.room(.live))]) == ["get 7", "*80409"])
        run = Run(machine: Self.after(Self.stopped))
        #expect(run.send([.command(.exit(roomID: nil)), .failed(.leave, Self.failure)]) == ["leave 7", "*80400"])
        #expect(run.send([.command(.exit(roomID: nil))]) == ["leave 7"])
    }

    @Test func `a room is started once, when its key is active and the feed goes out`() {
        var run = Run(machine: Self.after(Self.entered))
        #expect(run.send([Self.change(.scheduled, .preparing), Self.change(.scheduled, .active)]) == [])
        #expect(run.send([.command(.start), .feedConnected]) == ["connect", "*started", "startRoom 7"])
        #expect(run.send([Self.change(.scheduled, .active), .time]) == [])
        // A failure is reported once; the next change, or `retry`, tries again.
        #expect(run.send([.failed(.startRoom, Self.failure), .time]) == ["*80407"])
        #expect(run.send([.command(.retry)]) == ["startRoom 7"])
        #expect(run.send([.failed(.startRoom, Self.failure), Self.change(.scheduled, .active)]).last == "startRoom 7")
        #expect(run.send([.roomStarted, Self.change(.live, .live), Self.change(.live)]) == ["*active"])
        #expect(
            run.send([Self.change(.inactive, .liveWithoutFeed), Self.change(.live, .live)]) == ["*inactive", "*active"])
        #expect(run.send([Self.change(.ended)]).suffix(2) == ["closeSource", "*terminated"])
        // A room that another program made is started only on request.
        for starts in [false, true] {
            let enter: [Event] = [
                .command(.enter(roomID: 7, startsRoom: starts)), .room(Self.room(.scheduled)), .joined,
            ]
            run = Run(machine: Self.after(Self.prepared + enter + [.channelOpened, .command(.start), .feedConnected]))
            #expect(run.send([Self.change(.scheduled, .active)]) == (starts ? ["startRoom 7"] : []))
        }
    }

    @Test func `one cause is reported once, and what does not depend on it goes on`() {
        var run = Run()
        let walk: [Event] = [.prepare, .enter(roomID: nil, startsRoom: false), .start, .stop].map { .command($0) }
        #expect(run.send(walk + [.failed(.key, LiveFailure(.streamKeyGet, ""))]) == ["getStreamKey", "*80403"])
        #expect(run.machine.queue.isEmpty && run.machine.phase == .idle)
        #expect(run.send(walk + [.command(.exit(roomID: nil))]) == ["getStreamKey"])
        _ = run.send([.key(Self.address, room: nil, state: .inactive), .sourceOpened])
        #expect(run.send([.failed(.create, LiveFailure(.roomCreate, ""))]) == ["*80404", "closeSource", "*closed"])
        // A room whose answer was lost may be there: the key is read again.
        run = Run(machine: Self.after(Self.entering + [.failed(.create, Self.failure)]))
        #expect(run.send([.command(.enter(roomID: nil, startsRoom: false))]) == ["getStreamKey"])
        // More commands than any program calls are refused and do not pile up.
        for _ in 0..<100 { run.send(.command(.stop)) }
        #expect(run.machine.queue.count == StreamerMachine.queueLimit)
        #expect(run.log.filter { $0 == "*80401" }.count == 100 - StreamerMachine.queueLimit)
    }

    @Test(arguments: FeedAddress.OutputMode.allCases)
    func `an address has its mode, and no text of it has the key`(mode: FeedAddress.OutputMode) {
        let address = FeedAddress(
            StreamKey(id: 1, state: .inactive, ingestURL: "rtmp://127.0.0.1/live", key: "s3cret"), mode: mode)
        #expect(address.url == "rtmp://127.0.0.1/live/s3cret?mode=\(mode.rawValue)")
        var dumped = ""
        dump(StreamerMachine.Effect.connectFeed(address), to: &dumped)
        for text in [
            "\(address)", "\(StreamerMachine.Effect.connectFeed(address))", String(reflecting: address), dumped,
        ] {
            #expect(!text.contains("s3cret"))
        }
    }
}
