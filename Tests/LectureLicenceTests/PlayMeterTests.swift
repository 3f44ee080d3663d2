import LectureLicence
import LectureModel
import LectureTestSupport
import Testing

/// What plays cost: the rules as examples, and as properties of random plays.
struct PlayMeterTests {
    private static let start = BootInstant(nanoseconds: 1_000_000_000)

    /// A meter of a hundred bytes a second that reads to its end at once.
    private static func meter(
        seconds: Int64 = 100, _ unit: LicencePolicy.PlayTimeUnit = .media, _ counting: PlayTimeCounting = .reading
    ) -> PlayMeter {
        PlayMeter(byteCount: UInt64(seconds) * 100_000, duration: .seconds(seconds), unit: unit, counting: counting)
    }

    /// Reads, and charges without a limit whatever is due; returns how often.
    @discardableResult
    private static func read(
        _ count: Int, _ meter: inout PlayMeter, rest: Bool = false, at now: BootInstant = start,
        each time: Duration = .zero
    ) -> (charges: Int, now: BootInstant) {
        var (left, charges, now) = (count, 0, now)
        while left > 0 {
            let admitted = meter.admit(left, at: now)
            if admitted == 0 {
                let due = meter.due(left, rest: rest ? UInt64(left) : nil)
                #expect(due > .zero)
                meter.charged(due)
                charges += 1
            }
            left -= admitted
            now = admitted > 0 ? now + time : now
        }
        return (charges, now)
    }

    @Test func `reading all costs the duration, reading it twice costs it twice, and a range its share`() {
        var meter = Self.meter()
        Self.read(10_000_000, &meter)
        #expect(meter.used == .seconds(100))
        Self.read(10_000_000, &meter)
        #expect(meter.used == .seconds(200))
        Self.read(2_500_000, &meter)
        #expect(meter.used == .seconds(225))
    }

    @Test func `ten seconds are charged at a time, and what is not used is given back`() {
        var meter = Self.meter()
        #expect(meter.due(1) == .seconds(10))
        #expect(Self.read(3_000_000, &meter).charges == 3)
        #expect(meter.settlement(at: Self.start) == .zero)
        Self.read(50_000, &meter)
        #expect(meter.settlement(at: Self.start) == .milliseconds(-9_500))
        meter.gaveBack(.milliseconds(9_500))
        #expect(meter.settlement(at: Self.start) == .zero)
    }

    @Test func `a single read is charged no more than its rest`() {
        var meter = Self.meter()
        #expect(meter.due(50_000, rest: 50_000) == .milliseconds(500))
        Self.read(1_250_000, &meter, rest: true)
        #expect(meter.settlement(at: Self.start) == .zero && meter.used == .milliseconds(12_500))
    }

    @Test func `time does not count in media seconds, and does in running seconds, up to half speed`() {
        for (unit, pause, cost) in [
            (LicencePolicy.PlayTimeUnit.media, Duration.seconds(3), Duration.seconds(20)),
            (.running, .zero, .seconds(20)), (.running, .milliseconds(1500), .seconds(30)),
            (.running, .seconds(3600), .seconds(40)),
        ] {
            var meter = Self.meter(unit)
            let (_, end) = Self.read(2_000_000, &meter, each: pause)
            let difference = meter.settlement(at: end)
            #expect(meter.used == cost, "\(unit) \(pause)")
            // The last piece's time is known only at the end.
            #expect(difference <= .seconds(1))
        }
    }

    @Test func `a boot clock that runs backwards costs nothing and does not stop the reading`() {
        var meter = Self.meter(.running)
        Self.read(200_000, &meter, at: BootInstant(nanoseconds: 9_000_000_000))
        Self.read(200_000, &meter, at: BootInstant(nanoseconds: 5))
        #expect(meter.settlement(at: BootInstant(nanoseconds: Int64.min)) <= .zero)
        #expect(meter.used == .seconds(4))
    }

    @Test func `what is reported and what is read do not add up: the larger counts`() {
        var meter = Self.meter()
        Self.read(2_000_000, &meter)
        meter.report(media: .seconds(15), running: .seconds(5))
        #expect(meter.used == .seconds(20) && meter.overdue == .zero)
        meter.report(media: .seconds(15), running: .seconds(5))
        #expect(meter.used == .seconds(30) && meter.overdue == .seconds(10))
        var running = Self.meter(.running)
        running.report(media: .seconds(15), running: .seconds(5))
        #expect(running.used == .seconds(5))
    }

    @Test func `where only reports count, reading ahead is free within a step, and silence costs what was read`() {
        var meter = Self.meter(.media, .reported)
        #expect(Self.read(10_000_000, &meter).charges == 1)
        #expect(meter.settlement(at: Self.start) == .seconds(98), "nothing was reported")
        meter.report(media: .seconds(4), running: .seconds(4))
        #expect(meter.settlement(at: Self.start) == .seconds(2))
        meter.report(media: .seconds(6), running: .seconds(6))
        #expect(meter.admit(1, at: Self.start) == 0 && meter.due(1) == .seconds(10))
    }

    @Test func `no numbers make it trap`() {
        for (count, duration) in [
            (UInt64(0), Duration.zero), (1, .seconds(1 << 60)), (.max, .milliseconds(1)), (.max, .seconds(1 << 60)),
        ] {
            var meter = PlayMeter(byteCount: count, duration: duration, unit: .running)
            for _ in 0..<40 {
                if meter.admit(.max, at: BootInstant(nanoseconds: .max)) == 0 {
                    meter.charged(meter.due(.max, rest: .max))
                }
                meter.report(media: .seconds(1 << 60), running: .seconds(-5))
                _ = meter.admit(-1, at: BootInstant(nanoseconds: .min))
                _ = meter.settlement(at: BootInstant(nanoseconds: .max))
                meter.gaveBack(.seconds(1 << 60))
                meter.charged(.seconds(1 << 62))
            }
            #expect(meter.used >= .zero)
        }
    }

    // MARK: Properties

    /// A ledger with a limit, and readers that end cleanly or are killed.
    @Test func `readers that share a licence never get more than it grants, whatever kills them`() {
        var randomness = SeededGenerator(seed: 71)
        for round in 0..<400 {
            let limit = Int64.random(in: 1...120_000, using: &randomness)
            let unit = round % 2 == 0 ? LicencePolicy.PlayTimeUnit.media : .running
            var (used, now) = (Int64(0), Self.start)
            var (cost, refusals) = (0.0, 0)
            var readers: [(meter: PlayMeter, rate: Double)] = (0..<4).map { _ in
                let bytes = UInt64.random(in: 1...20_000_000, using: &randomness)
                let duration = Int64.random(in: 1...200_000, using: &randomness)
                let meter = PlayMeter(byteCount: bytes, duration: .milliseconds(duration), unit: unit)
                return (meter, Double(duration) / Double(bytes))
            }
            while !readers.isEmpty, refusals < 60 {
                let place = Int.random(in: readers.indices, using: &randomness)
                now = now + .milliseconds(Int64.random(in: 0...1500, using: &randomness))
                switch Int.random(in: 0..<40, using: &randomness) {
                case 0: readers.remove(at: place)
                case 1:
                    let difference = readers[place].meter.settlement(at: now).milliseconds
                    used += min(difference, limit - used)
                    readers.remove(at: place)
                default:
                    let count = Int.random(in: 1...3_000_000, using: &randomness)
                    let admitted = readers[place].meter.admit(count, at: now)
                    cost += Double(admitted) * readers[place].rate
                    if admitted == 0 {
                        let due = readers[place].meter.due(count).milliseconds
                        #expect(due > 0)
                        let granted = min(due, limit - used)
                        used += granted
                        readers[place].meter.charged(.milliseconds(granted))
                        if granted == 0 { refusals += 1 }
                    }
                }
                #expect(used <= limit)
                // What is returned is covered by the ledger at every moment, so also if everything is killed now.
                #expect(cost <= Double(used) + 1e-6, "round \(round)")
            }
        }
    }

    @Test func `pieces, seeks and pauses of any size cost the same in media seconds`() {
        var randomness = SeededGenerator(seed: 72)
        for _ in 0..<300 {
            let bytes = UInt64.random(in: 1...50_000_000, using: &randomness)
            let duration = Int64.random(in: 1...100_000, using: &randomness)
            var meter = PlayMeter(byteCount: bytes, duration: .milliseconds(duration), unit: .media)
            var (left, now, paid) = (bytes, Self.start, Duration.zero)
            while left > 0 {
                let count = Int(min(left, UInt64.random(in: 1...5_000_000, using: &randomness)))
                let admitted = meter.admit(count, at: now)
                #expect((0...count).contains(admitted))
                if admitted == 0 {
                    let due = meter.due(count)
                    #expect(due >= meter.step)
                    meter.charged(due)
                    paid += due
                }
                left -= UInt64(admitted)
                #expect(paid - meter.used <= meter.step + .seconds(1), "no more than a step ahead")
                now = now + .milliseconds(Int64.random(in: 0...60_000, using: &randomness))
            }
            #expect(meter.used == .milliseconds(duration))
            #expect(meter.settlement(at: now) == .milliseconds(duration) - paid)
        }
    }

    @Test func `running seconds are never less than the lecture's and never more than twice as many`() {
        var randomness = SeededGenerator(seed: 73)
        for _ in 0..<300 {
            let bytes = UInt64.random(in: 100_000...5_000_000, using: &randomness)
            let duration = Int64.random(in: 1000...100_000, using: &randomness)
            var meter = PlayMeter(byteCount: bytes, duration: .milliseconds(duration), unit: .running)
            var (left, now, pieces, passed) = (bytes, Self.start, Int64(0), Duration.zero)
            while left > 0 {
                let admitted = meter.admit(Int(left), at: now)
                if admitted == 0 { meter.charged(meter.due(Int(left))) } else { pieces += 1 }
                left -= UInt64(admitted)
                let pause = Duration.milliseconds(Int64.random(in: 0...3000, using: &randomness))
                (now, passed) = (now + pause, passed + pause)
            }
            _ = meter.settlement(at: now)
            #expect(meter.used >= .milliseconds(duration))
            #expect(meter.used <= max(.milliseconds(duration), min(passed, .milliseconds(2 * (duration + pieces)))))
        }
    }
}
