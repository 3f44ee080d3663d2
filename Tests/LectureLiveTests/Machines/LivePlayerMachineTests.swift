import LectureFormats
import LectureLive
import Testing

/// What a viewer does: in each situation with each event, and in runs.
struct LivePlayerMachineTests {
    private typealias Event = LivePlayerMachine.Event

    private static let failure = LiveFailure(.server, "no answer")
    private static let now = BootInstant(nanoseconds: 0)

    private static func change(_ state: VideoRoomState, _ url: String? = "u1", room: UInt64 = 7) -> Event {
        .changed(.init(roomID: room, state: state, playURL: url))
    }

    private static func room(_ state: VideoRoomState, _ url: String?, rtmp: String? = nil) -> Event {
        var room = VideoRoom(id: 7, state: state, title: "", channelID: 70)
        (room.playURL, room.rtmpPlayURL) = (url, rtmp)
        return .room(room)
    }

    private static func text(_ effect: LivePlayerMachine.Effect) -> String {
        switch effect {
        case .openPicture(let url): "open \(url)"
        case .join(let id): "join \(id)"
        case .openEvents(let id): "events \(id)"
        case .getRoom(let id): "get \(id)"
        case .leave(let id): "leave \(id)"
        case .wait(let until): "wait \(until.nanoseconds / 1_000_000)"
        case .notify(.phase(let phase)): "*\(phase)"
        case .notify(.broadcast(let isActive)): isActive ? "*active" : "*inactive"
        case .notify(.url(let url)): "*\(url)"
        case .notify(.opened(let id)): "*opened \(id)"
        case .notify(.failed(let failure)): "*\(failure.code.rawValue)"
        default: "\(effect)"
        }
    }

    private struct Run {
        var machine = LivePlayerMachine(roomID: 7, channelID: 70)
        var milliseconds: Int64 = 0

        mutating func send(_ events: [Event]) -> [String] {
            events.flatMap { event in
                machine.handle(event, now: BootInstant(nanoseconds: milliseconds * 1_000_000)).map(text)
            }
        }

        init(_ events: [Event] = []) { _ = send(events) }
    }

    private static let opening: [Event] = [.command(.prepare(url: "u1"))]
    private static let prepared = opening + [.pictureReady]
    private static let open = prepared + [.command(.enter), .joined, .channelOpened]
    private static let started = open + [.command(.start), .picturePlays]

    private static let situations: [(String, LivePlayerMachine)] = [
        ("idle", []), ("opening", opening), ("prepared", prepared), ("joining", prepared + [.command(.enter)]),
        ("events", prepared + [.command(.enter), .joined]), ("open", open), ("starting", open + [.command(.start)]),
        ("started", started), ("paused", started + [.pictureStalled]), ("inactive", started + [change(.inactive)]),
        ("stopped", started + [.command(.stop)]), ("completed", started + [change(.ended)]),
        ("leaving", started + [.command(.exit)]), ("closed", started + [.command(.exit), .left]),
    ].map { ($0.0, Run($0.1).machine) }

    private static let events: [(String, Event)] =
        [
            ("prepare", .command(.prepare(url: "u2"))), ("enter", .command(.enter)), ("start", .command(.start)),
            ("stop", .command(.stop)), ("exit", .command(.exit)), ("joined", .joined),
            ("channelOpened", .channelOpened),
            ("room", room(.live, "u1")), ("room elsewhere", room(.live, "u2")), ("ended room", room(.ended, nil)),
            ("left", .left), ("LIVE", change(.live)), ("LIVE elsewhere", change(.live, "u2")),
            ("INACTIVE", change(.inactive)), ("ENDED", change(.ended)), ("other room", change(.ended, room: 8)),
            ("ready", .pictureReady), ("plays", .picturePlays), ("stalled", .pictureStalled),
            ("unplayable", .pictureFailed(LiveFailure(.playFailed, ""))), ("time", .time),
        ] + LivePlayerMachine.Step.allCases.map { ("\($0) failed", .failed($0, failure)) }

    @Test func `every event in every situation does what the table says`() {
        MachineTable(livePlayerTable).check(Self.situations, Self.events) { machine, event in
            var next = machine
            let effects = next.handle(event, now: Self.now)
            if next == machine, effects.isEmpty { return nil }
            let channel = next.channel == .none ? "" : " \(next.channel.rawValue)"
            return (effects.map(Self.text).joined(separator: ", "), next.phase.rawValue + channel)
        }
    }

    @Test func `commands called back to back lead to a picture, as in the tutorial`() {
        var run = Run()
        let calls: [Event] = [.command(.prepare(url: "u1")), .command(.enter), .command(.start)]
        #expect(run.send(calls) == ["open u1", "wait 10000", "join 7"])
        #expect(run.send([.pictureReady]) == ["*prepared", "playPicture"])
        #expect(run.send([.joined, .channelOpened]) == ["events 70", "*opened 70", "get 7"])
        #expect(run.send([Self.room(.live, "u1")]) == ["*active"])
        #expect(run.send([.picturePlays, .picturePlays]) == ["*started"])
        #expect(run.send([.pictureStalled, .picturePlays]) == ["*paused", "get 7", "wait 10000", "*started"])
        #expect(
            run.send([.command(.stop), .command(.exit)]) == ["closePicture", "*stopped", "closeEvents", "leave 7"])
        #expect(run.send([.left]) == ["*closed"])
    }

    @Test func `ten seconds without media open it again, three times, and then end it`() {
        var run = Run(Self.started)
        #expect(run.send([Self.room(.live, "u1"), .pictureStalled]) == ["*active", "*paused", "get 7", "wait 10000"])
        for attempt in 1...3 {
            run.milliseconds += 9_999
            #expect(run.send([.time]) == ["wait \(run.milliseconds + 1)"])
            run.milliseconds += 1
            #expect(
                run.send([.time])
                    == ["*90203", "join 7", "get 7", "open u1", "wait \(run.milliseconds + 10_000)"],
                "attempt \(attempt)")
            // That it was joined again changes nothing; nor does a refusal.
            #expect(run.send([.joined, .failed(.join, Self.failure)]) == [])
            #expect(run.send([.pictureReady]) == ["playPicture"])
        }
        var other = run
        run.milliseconds += 10_000
        #expect(run.send([.time]) == ["*80106", "closePicture", "*stopped"])
        #expect(run.send([.command(.start)]) == ["open u1", "wait \(run.milliseconds + 10_000)"])
        // Media that comes makes all of it begin anew.
        #expect(other.send([.picturePlays, .pictureStalled]) == ["*started", "*paused", "get 7", "wait 40000"])
        other.milliseconds += 10_000
        #expect(other.send([.time]).first == "*90203")
    }

    @Test func `an interruption is no failure, and the room goes on elsewhere`() {
        var run = Run(Self.started)
        _ = run.send([Self.change(.live)])
        #expect(run.send([Self.change(.inactive), .pictureStalled]) == ["*inactive", "*paused", "get 7"])
        run.milliseconds = 3_600_000
        #expect(run.send([.time]) == [])
        #expect(run.send([Self.change(.live, "u2")]) == ["*active", "*u2", "open u2", "wait 3610000"])
        #expect(run.send([.pictureReady, .picturePlays]) == ["playPicture", "*started"])
        #expect(run.send([Self.change(.live, "u2"), Self.change(.live, nil), Self.change(.live, "")]) == [])
        #expect(run.send([Self.change(.ended)]) == ["*inactive", "closePicture", "*completed"])
        #expect(
            run.send([.command(.exit), .failed(.leave, Self.failure)]) == [
                "closeEvents", "leave 7", "*80400", "*closed",
            ])
    }

    @Test func `a viewer that no event reaches learns at once what has become of the room`() {
        // The member was taken out of the channel by another program: only the picture shows that something is wrong.
        for (room, expected) in [
            (Self.room(.ended, nil), ["*inactive", "closePicture", "*completed"]),
            (Self.room(.inactive, nil), ["*inactive"]),
            (Self.room(.live, "u2"), ["*u2", "open u2", "wait 10000"]),
            (Self.room(.live, "u1"), []),
        ] {
            var run = Run(Self.started)
            _ = run.send([Self.room(.live, "u1")])
            #expect(run.send([.pictureStalled]) == ["*paused", "get 7", "wait 10000"])
            #expect(run.send([room]) == expected)
        }
        // Without a channel there is nothing to read.
        var alone = Run([.command(.prepare(url: "u1")), .command(.start), .pictureReady, .picturePlays])
        #expect(alone.send([.pictureStalled]) == ["*paused", "wait 10000"])
        alone.milliseconds = 10_000
        #expect(alone.send([.time]) == ["*90203", "open u1", "wait 20000"])
    }

    // MARK: RTMP

    private static func rtmp(_ url: String, _ more: [Event]) -> Run {
        Run(
            [
                .command(.prepare(url: url)), .command(.enter), .command(.start), .pictureReady, .picturePlays, .joined,
                .channelOpened,
            ] + more)
    }

    @Test(arguments: ["rtmp://h/egress/a?signature=1", "RTMPS://h/egress/a?signature=1"])
    func `a viewer over RTMP stays there when the room is read, and with the next feed`(first: String) {
        var run = Self.rtmp(first, [Self.room(.live, "http://h/1", rtmp: first)])
        // Without an address of its own there is nothing to move to.
        #expect(run.send([Self.room(.live, "http://h/2"), Self.room(.live, "http://h/2", rtmp: "")]) == [])
        #expect(run.send([Self.change(.inactive, nil), .pictureStalled]) == ["*inactive", "*paused", "get 7"])
        // The report has the address of HLS: the other one is in the room.
        #expect(run.send([Self.change(.live, "http://h/2")]) == ["*active", "wait 10000", "get 7"])
        let second = "rtmp://h/egress/b?signature=2"
        #expect(
            run.send([Self.room(.live, "http://h/2", rtmp: second)])
                == ["*\(second)", "open \(second)", "wait 10000"])
        #expect(run.send([.pictureReady, .picturePlays]) == ["playPicture", "*started"])
        #expect(run.send([Self.room(.live, "http://h/2", rtmp: second)]) == [])
        #expect(run.send([Self.change(.ended, nil)]) == ["*inactive", "closePicture", "*completed"])
        #expect(run.send([Self.change(.live, "http://h/3")]) == [])
    }

    @Test func `another signature of the same stream is for the next opening, and cuts no connection`() {
        let (first, second) = ("rtmp://h/egress/a?signature=1", "rtmp://h/egress/a?signature=2")
        var run = Self.rtmp(first, [])
        #expect(run.send([Self.room(.live, "http://h/1", rtmp: second)]) == ["*active"])
        #expect(run.machine.url == second)
        #expect(run.send([.pictureStalled]) == ["*paused", "get 7", "wait 10000"])
        run.milliseconds = 10_000
        #expect(run.send([.time]) == ["*90203", "join 7", "get 7", "open \(second)", "wait 20000"])
        #expect(run.send([.command(.stop), .command(.start)]).contains("open \(second)"))
        // The signature that comes while nothing plays is waited for as well.
        run = Self.rtmp(first, [Self.change(.inactive, nil), .pictureStalled])
        #expect(run.send([Self.room(.live, nil, rtmp: second)]) == ["*active", "wait 10000"])
    }

    @Test func `a server may give an address for RTMP as the usual one`() {
        var run = Self.rtmp("rtmp://h/live/a", [Self.room(.live, "rtmp://h/live/a", rtmp: "rtmp://h/other")])
        #expect(run.machine.url == "rtmp://h/live/a")
        #expect(
            run.send([Self.change(.live, "rtmp://h/live/b")])
                == ["*rtmp://h/live/b", "*paused", "open rtmp://h/live/b", "wait 10000"])
        // Before the channel is open nothing has to be asked for: opening it reads the room.
        var early = Run([.command(.prepare(url: "rtmp://h/live/a")), .command(.enter), .joined])
        #expect(early.send([Self.change(.live, "http://h/1")]) == ["*active"])
        #expect(early.send([.channelOpened]) == ["*opened 70", "get 7"])
        // HLS stays HLS.
        var other = Run(Self.started)
        #expect(other.send([Self.room(.live, "u1", rtmp: "rtmp://h/live/a")]) == ["*active"])
    }
}
