import LectureKit
import LectureTestSupport
import Testing

@testable import LecturePlayer

/// The rules of a session: what follows from what happens.
struct PlayerMachineTests {
    @Test func `what is still reported of media is nothing of the media that replaces it`() {
        let ofMedia: [VideoEvent] = [
            .duration(.zero), .position(.seconds(10)), .buffering(true), .buffered(.zero), .caption("a"),
            .pictureSize(width: 1, height: 1), .secondCaption("b"), .seeking, .ready(.seconds(10)), .ended,
            .failed(LectureError(.damaged)),
        ]
        let ofEngine: [VideoEvent] = [.paused(true), .rate(2), .skip, .closed]
        var loads = MediaLoads()
        func admitted() -> [VideoEvent] { (ofMedia + ofEngine).filter { loads.admits($0) } }
        for number in 1...3 {
            loads.ask()
            // Nothing was open before the first one, and an engine may report no openings at all.
            #expect(admitted() == (number == 1 ? ofMedia : []) + ofEngine)
            #expect([.opening(number)].filter { loads.admits($0) }.count == 1)
            #expect(admitted() == ofMedia + ofEngine)
        }
    }

    @Test func `a play is permitted, opened, counted and started in this order`() {
        var session = MachineSession()
        #expect(session.machine.state == .idle)
        #expect(session.take(.prepare) == [.judge])
        #expect(session.machine.state == .preparing)
        #expect(session.take(.permitted(PlayTerms(start: .seconds(90)))) == [.load(from: .seconds(90))])
        #expect(session.take(.engine(.ready(.seconds(90)))) == [])
        #expect(session.machine.state == .prepared)
        #expect(session.take(.play) == [.count])
        #expect(session.machine.state == .prepared)
        #expect(session.take(.counted(period: nil)) == [.setPaused(false), .report])
        session.take(.engine(.paused(false)))
        #expect(session.machine.state == .playing(.steady))
    }

    @Test func `a play that was asked for early starts by itself, unless a pause was asked for after it`() {
        var session = MachineSession()
        #expect(session.take(.play) == [.judge])
        session.take(.permitted(PlayTerms()))
        #expect(session.take(.engine(.ready(.zero))) == [.count])
        var paused = MachineSession()
        paused.take(.play)
        paused.take(.permitted(PlayTerms()))
        paused.take(.pause)
        #expect(paused.take(.engine(.ready(.zero))) == [])
        #expect(paused.machine.state == .prepared)
    }

    @Test func `a key in the window starts the play, which is counted`() {
        var session = MachineSession()
        session.take(.prepare)
        session.take(.permitted(PlayTerms()))
        session.take(.engine(.ready(.zero)))
        #expect(session.take(.engine(.paused(false))) == [.count])
        session.take(.counted(period: nil), after: .milliseconds(10))
        #expect(session.machine.state == .playing(.steady))
        session.take(.engine(.position(.seconds(3))), after: .seconds(3))
        session.take(.stop)
        #expect(session.played == .seconds(3))
    }

    /// What may end a session before it plays.
    private static let early: [PlayerInput] = [
        .stop, .refused(LectureError(.licenceExpired)), .engine(.failed(LectureError(.mediaUnsupported))),
        .engine(.closed),
    ]

    @Test(arguments: early, 0..<4)
    func `what ends before it was counted records and reports nothing`(ending: PlayerInput, steps: Int) {
        var session = MachineSession()
        let path: [PlayerInput] = [
            // From the beginning: at a later position the play would start over.
            .play, .permitted(PlayTerms()), .engine(.position(.zero)), .engine(.ready(.zero)),
        ]
        for input in path.prefix(steps + 1) { session.take(input, after: .seconds(1)) }
        #expect(session.take(ending) == [.close])
        #expect(session.machine.state.isOver)
        #expect(session.recorded.isEmpty && !session.effects.contains(.report))
        // Nothing follows the end.
        for input in path + [.counted(period: nil), .tick, .seek(.zero), .stop] { #expect(session.take(input) == []) }
    }

    @Test func `pauses, jumps and the end are reported, and the end closes last`() {
        var session = MachineSession()
        session.plays()
        session.take(.engine(.position(.seconds(4))), after: .seconds(4))
        #expect(
            session.take(.engine(.paused(true))) == [
                .record(PlayedInterval(.play, from: .zero, to: .seconds(4), lasting: .seconds(4))), .report,
            ])
        #expect(session.machine.state == .paused(.steady))
        #expect(session.take(.seek(.seconds(60))) == [.seek(.seconds(60))])
        session.take(.engine(.seeking))
        #expect(session.machine.state == .paused(.seeking))
        #expect(session.take(.engine(.ready(.seconds(60)))).last == .report)
        session.take(.play)
        session.take(.engine(.paused(false)), after: .seconds(2))
        session.take(.engine(.position(.seconds(61))), after: .seconds(1))
        #expect(
            session.take(.engine(.ended)) == [
                .record(PlayedInterval(.play, from: .seconds(60), to: .seconds(61), lasting: .seconds(1))),
                .record(PlayedInterval(.stop, from: .seconds(61), to: .seconds(61), lasting: .zero)), .report, .close,
            ])
        #expect(session.machine.state == .stopped(.finished))
        #expect(session.played == .seconds(5))
    }

    @Test func `while it plays a report is due each period, and the licence is looked at each second`() {
        var session = MachineSession()
        session.plays(period: .seconds(10))
        var reports = 0
        for second in 1...35 {
            session.take(.engine(.position(.seconds(second))), after: .seconds(1))
            let new = session.take(.tick)
            #expect(new.contains(.checkLicence))
            if new.contains(.report) { reports += 1 }
        }
        #expect(reports == 3)
        #expect(session.played == .seconds(35))
    }

    @Test(arguments: [LicencePolicy.PlayTimeUnit.media, .running])
    func `play time that is used up ends the play within a second, at any speed`(unit: LicencePolicy.PlayTimeUnit) {
        var session = MachineSession()
        session.plays(limit: PlayLimit(unit: unit, left: .seconds(30)))
        session.take(.engine(.rate(2)))
        var seconds = 0
        while !session.machine.state.isOver, seconds < 100 {
            seconds += 1
            session.take(.engine(.position(.seconds(seconds * 2))), after: .seconds(1))
            session.take(.tick)
        }
        #expect(session.machine.state == .stopped(.failed(LectureError(.playTimeUsedUp))))
        #expect(seconds == (unit == .media ? 15 : 30))
        #expect(session.effects.last == .close)
    }

    @Test func `a section is all that is played`() {
        var session = MachineSession()
        session.take(.play)
        let terms = PlayTerms(start: .seconds(10), section: .seconds(60) ..< .seconds(90))
        #expect(session.take(.permitted(terms)) == [.load(from: .seconds(60))])
        session.take(.engine(.ready(.seconds(60))))
        session.take(.counted(period: nil))
        session.take(.engine(.paused(false)))
        #expect(session.take(.seek(.seconds(200))) == [.seek(.seconds(60))])
        #expect(session.take(.seek(.seconds(80))) == [.seek(.seconds(80))])
        // A key in the window has jumped out of it.
        session.take(.engine(.seeking))
        #expect(session.take(.engine(.ready(.seconds(20)))).contains(.seek(.seconds(60))))
        session.take(.engine(.seeking))
        #expect(session.take(.engine(.ready(.milliseconds(59_960)))).last == .report)
        for second in 61...90 { session.take(.engine(.position(.seconds(second))), after: .seconds(1)) }
        #expect(session.machine.state == .stopped(.finished))
        #expect(session.played == .milliseconds(30_040))
    }

    @Test(arguments: [(0.1, 0.5), (3, 3), (99, 10), (.nan, 1)])
    func `speeds are limited`(asked: Double, given: Double) {
        var session = MachineSession()
        session.plays()
        #expect(session.take(.rate(asked)) == [.setRate(given)])
    }

    @Test func `a speed that was asked for early is set before the media is opened`() {
        var session = MachineSession()
        #expect(session.take(.rate(2)) == [])
        session.take(.play)
        #expect(session.take(.permitted(PlayTerms())) == [.setRate(2), .load(from: .zero)])
        // The speed that the engine had.
        session.take(.engine(.rate(1)))
        #expect(session.take(.rate(3)) == [.setRate(3)])
        #expect(session.take(.engine(.ready(.zero))) == [.count])
        session.take(.counted(period: nil))
        #expect(session.take(.engine(.position(.seconds(6))), after: .seconds(2)).isEmpty)
        let watched = PlayedInterval(.play, from: .zero, to: .seconds(6), speed: 3, lasting: .seconds(2))
        #expect(session.take(.tick).first == .record(watched))
    }

    /// An engine that does what it is asked with random delays, and knows what it has shown.
    private struct Model {
        var place: Duration = .zero
        var isPaused = true
        var rate = 1.0
        var shown: Duration = .zero
        var running: Duration = .zero
    }

    @Test(arguments: UInt64(1)...4)
    func `ten thousand random actions leave the sums that were watched`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var session = MachineSession()
        var model = Model()
        session.plays()
        model.isPaused = false
        for _ in 0..<10_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                let target = Duration.milliseconds(Int.random(in: 0..<3_600_000, using: &random))
                session.take(.engine(.seeking))
                if Bool.random(using: &random) { session.take(.engine(.position(model.place))) }
                session.take(.engine(.ready(target)), after: .milliseconds(Int.random(in: 0..<400, using: &random)))
                model.place = target
            case 1:
                model.isPaused.toggle()
                session.take(.engine(.paused(model.isPaused)))
            case 2:
                model.rate = [0.5, 1, 1.5, 2, 10].randomElement(using: &random) ?? 1
                session.take(.engine(.rate(model.rate)))
            case 3:
                session.take(.engine(.buffering(true)))
                session.take(.engine(.buffering(false)), after: .milliseconds(Int.random(in: 0..<900, using: &random)))
            case 4: session.take(.tick)
            default:
                let time = Duration.milliseconds(Int.random(in: 1..<200, using: &random))
                let step = model.isPaused ? .zero : Duration.seconds(time / .seconds(1) * model.rate)
                model.place += step
                model.shown += step
                if !model.isPaused { model.running += time }
                session.take(.engine(.position(model.place)), after: time)
            }
        }
        session.take(.stop)
        #expect(abs((session.played - model.shown) / .seconds(1)) < 1, "seed \(seed)")
        let running = session.recorded.filter { $0.activity == .play }.reduce(.zero) { $0 + $1.lasting }
        #expect(abs((running - model.running) / .seconds(1)) < 1, "seed \(seed)")
        // Nothing between two intervals is lost or counted twice.
        #expect(session.recorded.reduce(.zero) { $0 + $1.lasting } == session.now, "seed \(seed)")
    }
}
