import Foundation
import LectureKit
import LectureTestSupport
import Testing

@testable import LecturePlayer

/// Streams that a play callback permits, played by libmpv against the sandbox.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct PlayPermissionNetTests {
    /// A machine that says what a test wants.
    private struct Inspector: MachineInspector {
        let container: String

        func signs() -> MachineSigns {
            var signs = MachineSigns()
            signs.container = container
            return signs
        }
    }

    /// A store without lectures, and a server of streams.
    private struct Theatre {
        static let film = "ranges-and-resuming"
        let directory: TemporaryDirectory
        let sandbox: SandboxOrigin
        let manager: LectureManager

        init(container: String = "") async throws {
            directory = try TemporaryDirectory()
            sandbox = try await SandboxOrigin.start(["--no-https"])
            var configuration = LectureConfiguration(storeDirectory: directory.file("store"))
            (configuration.reserveBytes, configuration.maxAttempts) = (1 << 20, 1)
            configuration.deviceDirectory = directory.file("device")
            configuration.rights.keys = [.init(id: "sandbox", place: .secret(sandbox.drmKeyFile))]
            configuration.rights.userKey = "sandbox"
            configuration.inspector = Inspector(container: container)
            manager = try LectureManager(configuration)
        }

        func link(_ query: String = "play&play-period=1", user: String = "lee") async throws -> String {
            try await sandbox.link(key: Self.film, user: user, query: query)
        }

        func player(_ link: String, _ change: (inout PlayerOptions) -> Void = { _ in }) throws -> Player {
            var (engine, options) = (MpvOptions(), PlayerOptions())
            (engine.surface, engine.more, engine.readAhead) = (.none, ["ao": "null"], .seconds(30))
            change(&options)
            return Player(manager, .stream(link), engine: try MpvEngine(engine), options: options)
        }

        /// How many requests for the media there were.
        var mediaRequests: Int {
            get async throws { try await sandbox.requests(for: "/media/\(Self.film).mp4").count }
        }

        /// That nothing was stored of a play.
        func expectNothing(_ what: String) async throws {
            #expect(try await manager.reports.list().rows.isEmpty, "\(what)")
            #expect(try await manager.contents.list().isEmpty, "\(what)")
            await #expect(throws: LectureError(.unknownContent), "\(what)") {
                try await manager.contents.setResumePoint(.zero, of: try ContentKey(Self.film))
            }
        }

        func end() async {
            await manager.close()
            await sandbox.stop()
        }
    }

    /// What a player reports until its end.
    private struct Course {
        var permissions: [PlayPermission] = []
        var states: [PlayerState] = []
        var failures: [LectureError] = []
        var positions: [Duration] = []
        /// Milliseconds since 1970.
        var ended: Int64 = 0

        init(_ player: Player) async {
            for await event in player.events {
                switch event {
                case .permitted(let permission): permissions.append(permission)
                case .state(let state): states.append(state)
                case .trouble(let error): failures.append(error)
                case .position(let place): positions.append(place)
                default: break
                }
                if case .state(.stopped) = event { ended = Int64(Date().timeIntervalSince1970 * 1000) }
            }
        }

        var hasPlayed: Bool { states.contains(.playing(.steady)) }
    }

    private func failure(_ player: Player) async throws -> LectureError {
        guard case .failed(let error) = await player.ending() else { throw LectureError(.bug) }
        return error
    }

    // MARK: Before it plays

    /// How a server refuses, and the code of it.
    private struct Refusal {
        var habits = ""
        var policy = "null"
        var query = "play"
        let code: LectureError.Code
        var text: String?
    }

    private static let refusals: [Refusal] = [
        Refusal(habits: "empty", code: .playAnswerEmpty),
        Refusal(habits: "wrong-signature", code: .playAnswerUndecodable),
        Refusal(habits: "alg-none", code: .playAnswerUndecodable),
        Refusal(habits: "html", code: .playAnswerUndecodable),
        Refusal(habits: "not-json", code: .playAnswerUnreadable),
        Refusal(habits: "no-data", code: .playAnswerUnreadable),
        Refusal(habits: "strings", code: .playAnswerUnreadable),
        Refusal(habits: "refused", code: .playNotPermitted, text: "(This course is not yours.). Ask the provider."),
        Refusal(policy: #"{"expiration_in": -5}"#, code: .playPermissionExpired),
        Refusal(policy: #"{"content_expired": 1}"#, query: "play", code: .playPermissionExpired),
        Refusal(policy: #"{"vmcheck": 1}"#, code: .virtualMachine),
        Refusal(habits: "status:404", code: .playCallbackStatus(404)),
        Refusal(habits: "status:503", code: .playCallbackStatus(503)),
        Refusal(habits: "timeout:100", code: .playCallbackTransfer(28)),
        Refusal(query: "play=http://127.0.0.1:9/", code: .playCallbackTransfer(7)),
        Refusal(query: "play&drm-key=other", code: .licenceKeyMissing),
        // When the player is ready.
        Refusal(habits: "refused;after=1", code: .playPermissionRefused, text: "(This course is not yours.)"),
        Refusal(habits: "expired;after=1", code: .playPermissionExpired),
    ]

    @Test func `a play that is refused has its code, and changes nothing`() async throws {
        let theatre = try await Theatre(container: "docker")
        for refusal in Self.refusals {
            let what = "\(refusal.habits) \(refusal.policy) \(refusal.query)"
            try await theatre.sandbox.reset()
            try await theatre.sandbox.set(playHabits: refusal.habits)
            try await theatre.sandbox.set(playPolicy: refusal.policy, kind: 1)
            let player = try theatre.player(try await theatre.link(refusal.query)) { $0.patience = .seconds(2) }
            player.play()
            let course = await Course(player)
            let error = try await failure(player)
            #expect(error.code == refusal.code, "\(what): \(error.message)")
            #expect(refusal.text.map { error.message.contains($0) } != false, "\(what): \(error.message)")
            #expect(!course.hasPlayed, "\(what)")
            let isLate = refusal.habits.hasSuffix("after=1")
            #expect(course.permissions.isEmpty == !isLate, "\(what)")
            // What it is was asked when the stream was opened; only a player that has a permission reads it.
            if !isLate { #expect(try await theatre.mediaRequests == 1, "\(what)") }
            try await theatre.expectNothing(what)
        }
        await theatre.end()
    }

    @Test func `a real machine may play what virtual ones may not`() async throws {
        let theatre = try await Theatre()
        try await theatre.sandbox.set(playPolicy: #"{"vmcheck": 1, "disable_tvout": 1, "message": "Hello."}"#, kind: 1)
        let player = try theatre.player(try await theatre.link()) { $0.section = .zero..<(.seconds(1)) }
        player.play()
        let course = await Course(player)
        #expect(await player.ending() == .finished)
        let permission = try #require(course.permissions.first)
        #expect(permission.forbidsVirtualMachines && permission.forbidsTVOutput == true)
        #expect(permission.message == "Hello." && permission.checkPeriod == .seconds(1))
        await theatre.end()
    }

    @Test func `the server is asked before the media is read, and again when the player is ready`() async throws {
        let theatre = try await Theatre()
        let link = try await theatre.link("play&uservalue0=a&uservalue7=b")
        await theatre.manager.licences.setParameter("group=7 & more")
        let player = try theatre.player(link)
        var events = player.events.makeAsyncIterator()
        player.prepare()
        while let event = await events.next(), event != .state(.prepared) {}
        let before = try await theatre.sandbox.plays()
        #expect(before.map(\.kind) == [1])
        let asked = try #require(before.first)
        #expect(asked.clientUserId == "lee" && asked.mediaContentKey == Theatre.film)
        #expect(asked.uservalues == #"{"uservalue0":"a","uservalue7":"b"}"#)
        let home = DeviceHome(directory: theatre.directory.file("device"))
        #expect(try home.presentIdentity()?.playerID == asked.playerId)
        #expect(asked.deviceName.hasPrefix("Linux ") && asked.extraDrmParam == "group=7 & more")
        player.play()
        while let event = await events.next(), event != .state(.playing(.steady)) {}
        #expect(try await theatre.sandbox.plays().map(\.kind) == [1, 3])
        player.stop()
        #expect(await player.ending() == .stopped)
        await theatre.end()
    }

    @Test func `a lost answer is asked for again, and the play starts`() async throws {
        let theatre = try await Theatre()
        try await theatre.sandbox.set(fault: "drop;times=1", on: "/play/callback")
        let player = try theatre.player(try await theatre.link("play")) { $0.section = .zero..<(.seconds(1)) }
        player.play()
        let ending = await player.ending()
        #expect(ending == .finished, "\(ending)")
        #expect(try await theatre.sandbox.plays().map(\.kind) == [1, 1, 3])
        await theatre.end()
    }

    @Test func `an intro needs no permission, and the lecture after it keeps its own`() async throws {
        let theatre = try await Theatre()
        try await theatre.sandbox.set(playPolicy: #"{"play_section": {"start_time": 3, "end_time": 4}}"#, kind: 1)
        let intro = try await theatre.sandbox.link(key: "durable-on-the-disk", query: "play=intro")
        let rules = #"{"intro": {"url": "\#(intro)", "skip_after": 0}}"#
        let value = try #require(rules.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let player = try theatre.player(try await theatre.link("play&json.playback=\(value)"))
        player.play()
        var hadIntro = false
        for await event in player.events {
            guard case .intro(isSkippable: true) = event else { continue }
            hadIntro = true
            player.skipIntro()
        }
        let ending = await player.ending()
        #expect(hadIntro && ending == .finished, "\(ending)")
        let plays = try await theatre.sandbox.plays()
        #expect(plays.map(\.kind) == [1, 3] && plays.allSatisfy { $0.path == "/play/callback" })
        await theatre.end()
    }

    @Test func `a stream whose gateway names no server needs no permission, and no device`() async throws {
        let theatre = try await Theatre()
        let stream = try await theatre.manager.streams.open("\(theatre.sandbox.http)/media/\(Theatre.film).mp4")
        #expect(try await stream.permission() == nil)
        try await stream.checkPermission()
        try await stream.registerPlay()
        await stream.unregisterPlay()
        #expect(try await theatre.sandbox.plays().isEmpty)
        await theatre.end()
    }

    @Test func `a wait for a silent server ends at once when the play is stopped`() async throws {
        let theatre = try await Theatre()
        try await theatre.sandbox.set(playHabits: "timeout:100")
        let player = try theatre.player(try await theatre.link()) { $0.patience = .seconds(100) }
        player.play()
        // The request is there, and stays without an answer.
        while try await theatre.sandbox.requests(for: "/play/callback").isEmpty {}
        let (clock, stream) = (ContinuousClock(), try await theatre.manager.streams.open(try await theatre.link()))
        let asking = Task { try await stream.permission(patience: .seconds(100)) }
        let took = await clock.measure {
            player.stop()
            asking.cancel()
            #expect(await player.ending() == .stopped)
            let result = await asking.result
            #expect(throws: LectureError(.cancelled)) { try result.get() }
        }
        #expect(took < .seconds(5), "\(took)")
        try await theatre.expectNothing("stopped")
        await theatre.end()
    }

    // MARK: While it plays

    @Test func `only the permitted section is played, and what the application wants of it`() async throws {
        let theatre = try await Theatre()
        try await theatre.sandbox.set(playPolicy: #"{"play_section": {"start_time": 3, "end_time": 5}}"#, kind: 1)
        let cases: [(Range<Duration>?, ClosedRange<Double>)] = [
            (nil, 3.0...5.0), (.seconds(4) ..< .seconds(60), 4.0...5.0), (.seconds(6) ..< .seconds(9), 3.0...5.0),
        ]
        for (asked, due) in cases {
            let player = try theatre.player(try await theatre.link()) { $0.section = asked }
            player.play()
            player.seek(to: .seconds(20))
            let course = await Course(player)
            let ending = await player.ending()
            #expect(ending == .finished, "\(ending)")
            let seconds = course.positions.map { $0 / .seconds(1) }
            let permitted = due.lowerBound - 0.5...due.upperBound + 0.5
            #expect(!seconds.isEmpty && seconds.allSatisfy { permitted.contains($0) }, "\(seconds)")
            #expect((seconds.max() ?? 0) > due.upperBound - 0.6, "\(seconds)")
        }
        await theatre.end()
    }

    @Test(arguments: [("expired", -8674), ("refused", -8675)])
    func `a server ends a running play within two seconds of its answer`(habit: String, number: Int) async throws {
        let theatre = try await Theatre()
        try await theatre.sandbox.set(playHabits: "\(habit);after=3")
        let player = try theatre.player(try await theatre.link("play&play-period=1&lms=one"))
        player.play()
        let course = await Course(player)
        #expect(try await failure(player).code.number == number)
        let last = try #require(try await theatre.sandbox.plays().last)
        #expect(course.hasPlayed && last.kind == 3)
        #expect((-100...2000).contains(course.ended - last.timeMs), "\(course.ended - last.timeMs) ms after the answer")
        // It had begun: what was watched is reported.
        #expect(try await theatre.manager.reports.list().rows.last?.values.contains(#""PLAY_STATUS":"stop""#) == true)
        await theatre.end()
    }

    @Test func `the end date ends a running play within two seconds`() async throws {
        let theatre = try await Theatre()
        try await theatre.sandbox.set(playPolicy: #"{"expiration_in": 3}"#, kind: 1)
        // Even where its server cannot be asked any more.
        try await theatre.sandbox.set(playHabits: "status:503;after=1")
        let player = try theatre.player(try await theatre.link())
        player.play()
        let course = await Course(player)
        #expect(try await failure(player).code == .playPermissionExpired)
        let end = try #require(course.permissions.first?.expiresAt)
        #expect((-1100...2000).contains(course.ended - end.milliseconds), "\(course.ended - end.milliseconds) ms")
        #expect(course.hasPlayed && course.failures.allSatisfy { $0.code == .playCallbackStatus(503) })
        await theatre.end()
    }

    @Test(arguments: [(0, 2.0), (1, 4.0)])
    func `play time that is used up ends the play with its code`(unit: Int, due: Double) async throws {
        let theatre = try await Theatre()
        try await theatre.sandbox.set(
            playPolicy: #"{"expiration_playtime": 2, "expiration_playtime_type": \#(unit)}"#, kind: 1)
        let player = try theatre.player(try await theatre.link())
        player.setRate(2)
        player.play()
        let course = await Course(player)
        #expect(try await failure(player).code == .playPermissionUsedUp)
        let last = try #require(course.positions.last) / .seconds(1)
        #expect((due - 0.5...due + 2.5).contains(last), "\(last)")
        await theatre.end()
    }

    @Test(arguments: [
        ("status:503;after=2;times=3", LectureError.Code.playCallbackStatus(503)),
        ("timeout:100;after=2", .playCallbackTransfer(28)),
        ("wrong-signature;after=2", .playAnswerUndecodable),
        ("html;after=1;times=2", .playAnswerUndecodable),
    ])
    func `a server that gives no valid answer while it plays takes nothing away`(
        habits: String, code: LectureError.Code
    ) async throws {
        let theatre = try await Theatre()
        try await theatre.sandbox.set(playHabits: habits)
        let player = try theatre.player(try await theatre.link()) { $0.patience = .seconds(1) }
        player.play()
        var failures: [LectureError.Code] = []
        var isPlayingOn = false
        for await event in player.events {
            if case .trouble(let error) = event { failures.append(error.code) }
            guard failures.count == 2, case .position = event else { continue }
            isPlayingOn = true
            player.stop()
        }
        let ending = await player.ending()
        #expect(ending == .stopped && isPlayingOn, "\(ending)")
        #expect(failures.allSatisfy { $0 == code }, "\(failures)")
        await theatre.end()
    }

    // MARK: Duplicate plays

    @Test func `a learner plays on one device at a time`() async throws {
        let (theatre, other) = (try await Theatre(), try TemporaryDirectory())
        let link = try await theatre.link("duplicate&duplicate-period=1")
        let first = try theatre.player(link)
        var events = first.events.makeAsyncIterator()
        first.play()
        // Long enough for its second registration.
        while let event = await events.next() { if case .position(let place) = event, place > .seconds(3) { break } }
        // Another device, and another learner.
        var configuration = LectureConfiguration(storeDirectory: other.file("store"))
        (configuration.reserveBytes, configuration.deviceDirectory) = (1 << 20, other.file("device"))
        configuration.rights.keys = [.init(id: "sandbox", place: .secret(theatre.sandbox.drmKeyFile))]
        let manager = try LectureManager(configuration)
        func second(_ link: String) throws -> Player {
            var (engine, options) = (MpvOptions(), PlayerOptions())
            (engine.surface, engine.more, options.section) = (.none, ["ao": "null"], .zero..<(.seconds(1)))
            return Player(manager, .stream(link), engine: try MpvEngine(engine), options: options)
        }
        let refused = try second(link)
        refused.play()
        let error = try await failure(refused)
        #expect(error.code == .duplicatePlay && error.message.contains("(You are watching elsewhere.)"))
        #expect(try await manager.reports.list().rows.isEmpty)
        let learner = try second(try await theatre.link("duplicate", user: "kim"))
        learner.play()
        #expect(await learner.ending() == .finished)
        first.stop()
        #expect(await first.ending() == .stopped)
        let plays = try await theatre.sandbox.plays().filter { $0.clientUserId == "lee" }
        #expect(plays.last?.state == "end" && plays.count { $0.permitted && $0.state == "play" } >= 2)
        #expect(Set(plays.compactMap(\.playId)).count == 2)
        let again = try second(link)
        again.play()
        #expect(await again.ending() == .finished)
        await manager.close()
        await theatre.end()
    }

    @Test func `a play that another one displaces ends within two seconds of the answer`() async throws {
        let theatre = try await Theatre()
        try await theatre.sandbox.set(playHabits: "refused;after=2", on: "/play/duplicate")
        let player = try theatre.player(try await theatre.link("duplicate&duplicate-period=1"))
        player.play()
        let course = await Course(player)
        #expect(try await failure(player).code == .duplicatePlay)
        let refusal = try #require(try await theatre.sandbox.plays().first { !$0.permitted })
        #expect(course.hasPlayed && (-100...2000).contains(course.ended - refusal.timeMs))
        await theatre.end()
    }

    @Test(arguments: ["status:503", "timeout:100", "other-request", "wrong-signature"])
    func `a duplicate check that is impossible prevents a play, and ends one after the third time`(
        habit: String
    ) async throws {
        let theatre = try await Theatre()
        let link = try await theatre.link("duplicate&duplicate-period=1")
        try await theatre.sandbox.set(playHabits: habit, on: "/play/duplicate")
        let refused = try theatre.player(link) { $0.patience = .seconds(1) }
        refused.play()
        #expect(try await failure(refused).code == .duplicateCheckFailed)
        try await theatre.expectNothing(habit)
        try await theatre.sandbox.set(playHabits: "\(habit);after=1", on: "/play/duplicate")
        let player = try theatre.player(link) { $0.patience = .seconds(1) }
        player.play()
        let course = await Course(player)
        #expect(try await failure(player).code == .duplicateCheckFailed)
        #expect(course.hasPlayed && course.failures.map(\.code) == [.duplicateCheckFailed, .duplicateCheckFailed])
        try await theatre.sandbox.set(playHabits: "", on: "/play/duplicate")
        let again = try theatre.player(link) { $0.section = .zero..<(.seconds(1)) }
        again.play()
        #expect(await again.ending() == .finished)
        await theatre.end()
    }

    // MARK: Kept lectures

    @Test func `a licence that its server ends stops a running play within two seconds`() async throws {
        let theatre = try await Theatre()
        try await theatre.sandbox.set(policy: CallbackPolicy())
        let link = try await theatre.sandbox.link(key: "durable-on-the-disk", licensed: "")
        try await theatre.manager.downloads.enqueue(DownloadRequest(url: link))
        #expect(try await theatre.manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        let key = try ContentKey("durable-on-the-disk")
        var engine = MpvOptions()
        (engine.surface, engine.more) = (.none, ["ao": "null"])
        let player = Player(theatre.manager, .lecture(key), engine: try MpvEngine(engine))
        player.play()
        var events = player.events.makeAsyncIterator()
        while let event = await events.next(), event != .state(.playing(.steady)) {}
        var order = CallbackPolicy()
        order.contentExpired = 1
        try await theatre.sandbox.set(policy: order, kind: 3)
        _ = try await theatre.manager.licences.renew(.all)
        let ordered = Int64(Date().timeIntervalSince1970 * 1000)
        let error = try await failure(player)
        let late = Int64(Date().timeIntervalSince1970 * 1000) - ordered
        #expect(error.code == .licenceForceExpired && late < 2000, "\(error.message) \(late) ms")
        await theatre.end()
    }
}
