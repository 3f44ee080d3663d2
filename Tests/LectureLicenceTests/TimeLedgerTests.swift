import LectureLicence
import LectureModel
import LectureTestSupport
import Testing

/// A machine with two clocks, one of which any user may set.
private struct Machine {
    /// The real time.
    var real = Timestamp(milliseconds: 1_750_000_000_000)
    /// How far the wall clock is off.
    var error: Duration = .zero
    var boot = BootInstant(nanoseconds: 0)
    var run = 1
    var ledger: TimeLedger

    init(wall: Timestamp? = nil) {
        let first = ClockReading(wall: wall ?? real, boot: boot, bootID: "1")
        ledger = TimeLedger(first: first)
        error = first.wall - real
    }

    var reading: ClockReading { ClockReading(wall: real + error, boot: boot, bootID: "\(run)") }

    mutating func pass(_ time: Duration) {
        real = real + time
        boot = boot + time
        ledger.update(at: reading)
    }

    /// Time passes, and the boot clock shows less of it: each look is in another time namespace.
    mutating func pass(_ time: Duration, boot shown: Duration) {
        real = real + time
        boot = boot + shown
        ledger.update(at: reading)
    }

    mutating func set(_ error: Duration) {
        self.error = error
        ledger.update(at: reading)
    }

    mutating func restart(off time: Duration, error: Duration? = nil) {
        real = real + time
        boot = BootInstant(nanoseconds: 0)
        run += 1
        self.error = error ?? self.error
        ledger.update(at: reading)
    }

    mutating func observe() { ledger.observe(real, at: reading) }

    /// Reads a signed time; returns whether it ended a doubt.
    mutating func confirm(_ signed: Timestamp, within limit: Duration? = nil) -> Bool {
        ledger.confirm(signed: signed, within: limit, at: reading)
    }

    var isRight: Bool { ledger.time == .known(real) }

    var doubt: ClockDoubt? {
        if case .doubtful(_, let doubt) = ledger.time { doubt } else { nil }
    }
}

struct TimeLedgerTests {
    private let day: Duration = .seconds(86_400)

    @Test func `an honest clock is believed, over restarts too`() {
        var machine = Machine()
        machine.pass(day)
        #expect(machine.isRight)
        machine.restart(off: day)
        #expect(machine.isRight)
        machine.pass(day)
        #expect(machine.isRight)
    }

    @Test func `steps of NTP, daylight saving and suspend raise no alarm`() {
        var machine = Machine()
        for error in [3, -2, 40, -60, 0] {
            machine.set(.seconds(error))
            machine.pass(.seconds(100))
            #expect(machine.doubt == nil)
        }
        // Daylight saving changes the displayed time, not the clock. While suspended both clocks continue.
        machine.pass(.seconds(36_000))
        #expect(machine.doubt == nil)
    }

    @Test func `a clock that drifts for months raises no alarm`() {
        var machine = Machine()
        for hour in 1...4000 {
            machine.error = .milliseconds(-100 * hour)
            machine.pass(.seconds(3600))
        }
        #expect(machine.doubt == nil)
        #expect(machine.ledger.row.estimate == machine.real)
    }

    @Test func `a boot clock that runs backwards is doubted until it is true again`() {
        for observes in [false, true] {
            var machine = Machine()
            machine.pass(day)
            if observes { machine.observe() }
            for step in [1, 100, 86_000] {
                machine.boot = machine.boot + .seconds(-step)
                machine.pass(.milliseconds(1))
                #expect(machine.doubt == .setBack, "\(step)")
                machine.boot = machine.boot + .seconds(step)
                machine.pass(.seconds(10))
                #expect(machine.isRight, "\(step)")
            }
            machine.boot = machine.boot + .seconds(-50)
            machine.observe()
            #expect(machine.isRight)
            machine.pass(.seconds(10))
            #expect(machine.isRight)
        }
    }

    @Test func `a boot clock that runs slowly gains nothing`() {
        var machine = Machine()
        for _ in 1...1000 {
            machine.pass(.seconds(100), boot: .milliseconds(1))
            #expect(machine.isRight)
        }
        #expect(!machine.ledger.row.hasLeapt, "a clock that is right raises no suspicion")
    }

    @Test func `a clock that two programs set in turn moves the time forward once`() {
        var machine = Machine()
        let start = machine.real
        for _ in 1...1000 {
            machine.set(.seconds(55))
            machine.pass(.seconds(10))
            machine.set(.seconds(-5))
            machine.pass(.seconds(10))
            #expect(machine.doubt == nil)
        }
        #expect(machine.ledger.row.estimate == start + .seconds(20_000) + .seconds(55))
    }

    @Test func `restarts give no time, however many there are`() {
        var machine = Machine()
        for _ in 1...100 {
            machine.restart(off: .seconds(10))
            #expect(machine.isRight)
        }
        // A clock that is behind by less than the tolerance is forgiven, and costs nothing.
        machine.restart(off: .zero, error: .seconds(-60))
        #expect(machine.isRight)
    }

    @Test func `a new store starts no earlier than the device's other stores`() {
        let real = Timestamp(milliseconds: 1_750_000_000_000)
        let reading = ClockReading(wall: real, boot: BootInstant(nanoseconds: 5), bootID: "1")
        let later = real + day
        for times in [AnchoredTimes(proven: later), AnchoredTimes(estimate: later)] {
            let ledger = TimeLedger(first: reading, noEarlierThan: times)
            #expect(ledger.time == .doubtful(noEarlierThan: later, .setBack))
        }
        let earlier = AnchoredTimes(proven: real + .seconds(-5), estimate: real + .seconds(-3))
        #expect(TimeLedger(first: reading, noEarlierThan: earlier).time == .known(real))
        #expect(TimeLedger(first: reading).time == .known(real))
    }

    @Test func `a virtual machine that was paused catches up when its clock is set`() {
        var machine = Machine()
        // The boot clock stopped, and the wall clock was corrected.
        machine.real = machine.real + day
        machine.ledger.update(at: machine.reading)
        #expect(machine.isRight)
    }

    @Test func `a clock that is set back is reported, and the boot clock continues`() {
        var machine = Machine()
        machine.set(.zero - day)
        #expect(machine.doubt == .setBack)
        machine.pass(.seconds(3600))
        #expect(machine.ledger.time.noEarlierThan == machine.real)
        machine.set(.zero)
        #expect(machine.isRight)
    }

    @Test func `a clock that is set back while the machine is off is reported`() {
        var machine = Machine()
        machine.pass(day)
        let before = machine.real
        machine.restart(off: .seconds(60), error: .zero - day)
        #expect(machine.doubt == .setBack)
        #expect(machine.ledger.time.noEarlierThan == before)
        machine.observe()
        #expect(machine.isRight)
    }

    @Test func `a clock that is set forward and back is reported until a server's time arrives`() {
        var machine = Machine()
        machine.set(day * 30)
        #expect(machine.ledger.time == .known(machine.real + day * 30))
        machine.set(.zero)
        #expect(machine.doubt == .forwardThenBack)
        machine.pass(day)
        #expect(machine.doubt == .forwardThenBack)
        machine.observe()
        #expect(machine.isRight)
    }

    @Test func `a clock that was set forward is remembered over a restart`() {
        var machine = Machine()
        machine.set(day * 30)
        // The day it was off is accepted, and the earlier doubt is not forgotten.
        machine.restart(off: day)
        machine.set(.zero)
        #expect(machine.doubt == .forwardThenBack)
    }

    @Test(arguments: [0, 4_102_444_800_000] as [Int64])
    func `1970 and 2100 end in a doubt or in a time that is too late, never too early`(wall: Int64) {
        var machine = Machine()
        machine.set(Timestamp(milliseconds: wall) - machine.real)
        #expect((machine.ledger.time.noEarlierThan ?? machine.real) >= machine.real)
        machine.restart(off: day)
        machine.observe()
        #expect(machine.isRight)
    }

    @Test func `a board without a battery knows that it does not know`() {
        var machine = Machine(wall: Timestamp(milliseconds: 12_000))
        #expect(machine.ledger.time == .doubtful(noEarlierThan: nil, .neverSet))
        machine.pass(.seconds(30))
        #expect(machine.doubt == .neverSet)
        machine.set(.zero)
        #expect(machine.isRight)
        let before = machine.real
        machine.restart(off: day, error: Timestamp(milliseconds: 12_000) - (machine.real + day))
        #expect(machine.ledger.time == .doubtful(noEarlierThan: before, .neverSet))
        machine.set(.zero)
        #expect(machine.isRight)
    }

    @Test func `after a server's time the wall clock is ignored during this boot`() {
        var machine = Machine()
        machine.observe()
        for error in [day, .zero - day, day * 900, .zero] {
            machine.set(error)
            #expect(machine.isRight)
            machine.pass(.seconds(10))
            #expect(machine.isRight)
        }
    }

    @Test func `a clock with a constant error raises no doubt after a server's time`() {
        var machine = Machine()
        machine.set(.seconds(-9 * 3600))
        machine.observe()
        machine.pass(day)
        #expect(machine.isRight)
        machine.restart(off: day)
        #expect(machine.isRight)
    }

    @Test func `a signed time is a lower bound, and an old one ends no doubt`() {
        var machine = Machine()
        machine.pass(day)
        machine.set(.zero - day)
        machine.ledger.believe(signed: machine.real + .seconds(-7200), at: machine.reading)
        #expect(machine.doubt == .setBack)
        machine.ledger.believe(signed: machine.real + .seconds(7200), at: machine.reading)
        #expect(machine.ledger.time.noEarlierThan == machine.real + .seconds(7200))
    }

    @Test func `after a finding no time before the known one is accepted`() {
        var machine = Machine()
        let (earlier, later) = (machine.real + (.zero - day), machine.real + day)
        machine.ledger.rise(proven: earlier, estimate: later, at: machine.reading)
        #expect(machine.doubt == .setBack && machine.ledger.time.noEarlierThan == later)
        #expect(machine.ledger.row.proven == earlier)
        machine.real = later
        machine.observe()
        #expect(machine.isRight)
        machine.ledger.rise(proven: earlier, estimate: earlier, at: machine.reading)
        #expect(machine.isRight, "an older time changes nothing")
        var new = Machine(wall: Timestamp(milliseconds: 0))
        new.ledger.rise(proven: nil, estimate: nil, at: new.reading)
        #expect(new.doubt == .neverSet)
    }

    @Test func `no manipulation of a running machine's wall clock gains time`() {
        var randomness = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            var machine = Machine()
            for _ in 0..<20 {
                switch Int.random(in: 0..<3, using: &randomness) {
                case 0: machine.pass(.seconds(Int64.random(in: 0...100_000, using: &randomness)))
                case 1: machine.set(.seconds(Int64.random(in: -1_000_000...1_000_000, using: &randomness)))
                default: machine.observe()
                }
                let floor = machine.ledger.time.noEarlierThan ?? machine.real
                #expect(floor >= machine.real)
            }
        }
    }

    @Test func `a server's time never runs backwards`() {
        var randomness = SeededGenerator(seed: 8)
        for _ in 0..<2000 {
            var machine = Machine()
            var newest: Timestamp?
            for _ in 0..<20 {
                switch Int.random(in: 0..<5, using: &randomness) {
                case 0: machine.pass(.seconds(Int64.random(in: 0...100_000, using: &randomness)))
                case 1: machine.set(.seconds(Int64.random(in: -1_000_000...1_000_000, using: &randomness)))
                case 2: machine.restart(off: .seconds(Int64.random(in: 0...100_000, using: &randomness)))
                case 3:
                    let lie = Duration.seconds(Int64.random(in: -1_000_000...1_000_000, using: &randomness))
                    machine.ledger.observe(machine.real + lie, at: machine.reading)
                default: machine.observe()
                }
                let proven = machine.ledger.row.proven
                if let newest { #expect(proven.map { $0 >= newest } ?? false) }
                newest = proven
            }
        }
    }
}

/// What ends a doubt besides the time of a licence server.
struct ClockDoubtTests {
    private let day: Duration = .seconds(86_400)
    private let hour: Duration = .seconds(3600)

    /// A clock that was nine hours ahead during one boot, and is right again.
    private func doubted(proven: Bool) -> Machine {
        var machine = Machine()
        if proven { machine.observe() }
        machine.pass(hour)
        machine.restart(off: hour, error: .seconds(9 * 3600))
        machine.set(.zero)
        #expect(machine.doubt != nil)
        return machine
    }

    // MARK: Another server over https

    @Test func `a server that agrees with the clock makes the boot clock count`() {
        var machine = Machine()
        machine.ledger.witness(machine.real + .seconds(3), at: machine.reading)
        #expect(machine.ledger.row.isAnchored && machine.ledger.row.proven == machine.real)
        for error in [hour * 9, hour * -9, .zero] {
            machine.set(error)
            #expect(machine.isRight)
        }
    }

    @Test func `a server that does not agree with the clock changes nothing`() {
        for error in [hour, hour * -1, day * 400, .seconds(121)] {
            var machine = Machine()
            let before = machine.ledger.row
            machine.ledger.witness(machine.real + error, at: machine.reading)
            #expect(machine.ledger.row == before)
            var doubted = doubted(proven: true)
            doubted.ledger.witness(doubted.real + error, at: doubted.reading)
            #expect(doubted.doubt != nil)
        }
    }

    @Test func `a doubt ends where the clock and a server agree`() {
        var machine = doubted(proven: true)
        machine.ledger.witness(machine.real, at: machine.reading)
        #expect(machine.isRight)
        machine.pass(hour)
        #expect(machine.isRight)
    }

    @Test func `without a proven time it does not go back`() {
        var machine = doubted(proven: false)
        let estimate = machine.ledger.row.estimate
        machine.ledger.witness(machine.real, at: machine.reading)
        #expect(machine.doubt == nil && machine.ledger.row.estimate == estimate && machine.ledger.row.proven == nil)
        machine.restart(off: day)
        #expect(machine.doubt == nil && machine.ledger.time == .known(machine.real + hour * 9))
    }

    @Test func `a server of the learner's own gains no more than the time the machine was off`() {
        var machine = Machine()
        machine.observe()
        let start = machine.real
        machine.pass(day)
        for _ in 1...3 {
            machine.restart(off: day * 10, error: .zero)
            machine.pass(day)
            machine.set(start - machine.real)
            machine.ledger.witness(machine.reading.wall, at: machine.reading)
            #expect(machine.doubt == nil)
            machine.error = .zero
        }
        // One day before, and one in each of three boots.
        #expect(machine.ledger.time.noEarlierThan.map { $0 >= start + day * 4 } == true)
    }

    // MARK: Newer signed times

    @Test func `a newer signed time confirms a clock that shows a later one`() {
        var machine = doubted(proven: true)
        let signed = machine.real + .seconds(-1800)
        let isConfirmed = machine.confirm(signed)
        #expect(isConfirmed)
        #expect(machine.isRight && machine.ledger.row.proven == signed)
        // The same time again proves nothing.
        machine.set(hour * -1)
        #expect(machine.doubt != nil)
        let isAgain = machine.confirm(signed)
        #expect(!isAgain && machine.doubt != nil)
    }

    @Test func `an older signed time, one that the clock has not reached, and one too long ago confirm nothing`() {
        for (offset, limit) in [(-3 * 3600, nil), (3600, nil), (-3600, Duration.seconds(120))] {
            var machine = doubted(proven: true)
            let estimate = machine.ledger.row.estimate
            let signed = machine.real + .seconds(offset)
            let isConfirmed = machine.confirm(signed, within: limit)
            #expect(!isConfirmed && machine.doubt != nil && machine.ledger.row.estimate == estimate)
        }
        var sure = Machine()
        let isConfirmed = sure.confirm(sure.real)
        #expect(!isConfirmed, "there is no doubt to end")
        #expect(sure.ledger.row.proven == nil)
    }

    // MARK: Fresh answers without a time

    @Test func `a fresh answer without a time ends a doubt and gives no time back`() {
        var machine = doubted(proven: true)
        let estimate = machine.ledger.row.estimate
        machine.ledger.resume(at: machine.reading)
        #expect(machine.doubt == nil && machine.ledger.row.estimate == estimate)
        machine.pass(hour)
        #expect(machine.ledger.time == .known(machine.real + hour * 9))
    }

    @Test func `a boot clock that runs backwards stays a doubt`() {
        var machine = doubted(proven: true)
        machine.boot = BootInstant(nanoseconds: -1_000_000_000)
        machine.ledger.witness(machine.real, at: machine.reading)
        machine.ledger.resume(at: machine.reading)
        let isConfirmed = machine.confirm(machine.real)
        #expect(!isConfirmed && machine.doubt != nil)
    }
}
