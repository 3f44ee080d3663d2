import LectureDownload
import LectureKit
import LectureModel
import LectureTestSupport
import LectureUpkeep
import Testing

/// Downloads by chance; the same seed makes the same.
struct RandomForecast {
    var random: SeededGenerator
    var items: [ForecastItem] = []
    var speeds = ForecastSpeeds()
    var lengths: [(seconds: Double, bound: Int64?)] = []
    var jobs: Int
    var shift = 0.0

    /// - Parameters:
    ///   - seed: the same one brings the same downloads.
    ///   - origins: the number of servers.
    ///   - isPlain: whether all begin at once: nothing waits for a job or a time.
    init(seed: UInt64, origins: Int, isPlain: Bool) {
        random = SeededGenerator(seed: seed &* 9973 &+ 11)
        jobs = isPlain ? 64 : Int.random(in: 1...4, using: &random)
        for number in 0..<origins { speeds.byOrigin["o\(number)"] = Double.random(in: 1000...50_000, using: &random) }
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            var item = ForecastItem(
                bytes: Int64.random(in: 10_000...1_000_000, using: &random),
                origin: "o\(Int.random(in: 0..<origins, using: &random))")
            if !isPlain, Int.random(in: 0..<4, using: &random) == 0 {
                item.notBefore = monday(Double.random(in: -10...300, using: &random))
            }
            items.append(item)
        }
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let bounds: [Int64?] = [nil, nil, 0, Int64.random(in: 500...60_000, using: &random)]
            lengths.append(
                (Double.random(in: 1...100, using: &random), bounds[Int.random(in: 0...3, using: &random)]))
        }
        lengths.append((100_000, nil))
    }

    var windows: [PaceWindow] {
        var start = monday(shift)
        return lengths.map { seconds, bound in
            defer { start = start + .milliseconds(Int64(seconds * 1000)) }
            return PaceWindow(
                start: start, end: start + .milliseconds(Int64(seconds * 1000)), bytesPerSecond: bound)
        }
    }

    var forecast: Forecast {
        Forecast(items: items, speeds: speeds, windows: windows, jobs: jobs, now: monday(shift))
    }

    /// When each is complete, in seconds.
    var ends: [Double?] { forecast.completions.map { $0.map { Double(($0 - monday(shift)).milliseconds) / 1000 } } }
    var end: Double { forecast.end.map { Double(($0 - monday(shift)).milliseconds) / 1000 } ?? .infinity }
}

@Suite struct ForecastPropertyTests {
    private static let seeds = (1...200).map { UInt64($0) }
    /// Milliseconds are cut, and half a byte at the end is not waited for.
    private static let slack = 0.2

    private static func areNear(_ left: [Double?], _ right: [Double?]) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { abs(($0 ?? -1) - ($1 ?? -1)) <= slack }
    }

    /// Runs a test for servers that share nothing but the bound, and for one server with a queue.
    private static func each(_ body: (inout RandomForecast, String) throws -> Void) rethrows {
        for seed in seeds {
            var several = RandomForecast(seed: seed, origins: 3, isPlain: true)
            try body(&several, "several, \(seed)")
            var one = RandomForecast(seed: seed, origins: 1, isPlain: false)
            try body(&one, "one, \(seed)")
        }
    }

    @Test func `more bytes, or one more lecture, is never done earlier`() {
        Self.each { run, name in
            let end = run.end
            let place = Int.random(in: run.items.indices, using: &run.random)
            let before = run.items
            run.items[place].bytes += Int64.random(in: 1...500_000, using: &run.random)
            #expect(run.end >= end - Self.slack, "\(name)")
            run.items = before
            run.items.insert(ForecastItem(bytes: 77_777, origin: "o0"), at: place)
            #expect(run.end >= end - Self.slack, "\(name)")
            run.items = before + [ForecastItem(bytes: 0, origin: "o0")]
            #expect(run.end == end && run.ends.last == 0, "\(name)")
        }
    }

    @Test func `a faster server, a higher limit and more open hours are never later`() {
        Self.each { run, name in
            let lengths = run.lengths
            let end = run.end
            for place in lengths.indices {
                for bound in [lengths[place].bound.map { $0 * 2 + 100 }, nil] {
                    run.lengths[place].bound = bound
                    #expect(run.end <= end + Self.slack, "\(name), window \(place)")
                }
                run.lengths = lengths
            }
            // Servers that share a limit take from one another, so that here there is none.
            if run.speeds.byOrigin.count > 1 { run.lengths = lengths.map { ($0.seconds, $0.bound == 0 ? 0 : nil) } }
            let open = run.end
            for origin in run.speeds.byOrigin.keys.sorted() {
                run.speeds.byOrigin[origin]? *= Double.random(in: 1...3, using: &run.random)
                #expect(run.end <= open + Self.slack, "\(name), \(origin)")
            }
        }
    }

    @Test func `no more bytes arrive than servers and windows let through`() {
        for seed in Self.seeds {
            let run = RandomForecast(seed: seed, origins: 3, isPlain: seed % 3 == 0)
            let ends = run.ends
            for (item, end) in zip(run.items, ends) {
                guard let end else { continue }
                let start = item.notBefore.map { Double(($0 - monday(0)).milliseconds) / 1000 } ?? 0
                let fastest = Double(item.bytes) / (run.speeds.byOrigin[item.origin] ?? 0)
                #expect(end >= max(0, start) + fastest - Self.slack, "seed \(seed)")
                var (space, begin) = (0.0, 0.0)
                let all = run.speeds.byOrigin.values.reduce(0, +)
                for (seconds, bound) in run.lengths {
                    space += min(all, bound.map(Double.init) ?? all) * max(0, min(seconds, end + Self.slack - begin))
                    begin += seconds
                }
                let done = zip(run.items, ends).filter { ($0.1 ?? .infinity) <= end }
                #expect(done.reduce(0) { $0 + Double($1.0.bytes) } <= space + 10, "seed \(seed)")
                let own = done.filter { $0.0.origin == item.origin }.reduce(0) { $0 + Double($1.0.bytes) }
                #expect(own <= (run.speeds.byOrigin[item.origin] ?? 0) * (end + Self.slack), "seed \(seed)")
            }
        }
    }

    @Test func `one server is never idle: neither jobs nor the order change its end`() {
        for seed in Self.seeds {
            var run = RandomForecast(seed: seed, origins: 1, isPlain: true)
            // What is left, taken from one window after the other.
            var (left, time) = (Double(run.items.reduce(0) { $0 + $1.bytes }), 0.0)
            for (seconds, bound) in run.lengths {
                let rate = min(run.speeds.byOrigin["o0"] ?? 0, bound.map(Double.init) ?? .infinity)
                if rate > 0, left <= rate * seconds {
                    time += left / rate
                    break
                }
                (left, time) = (left - rate * seconds, time + seconds)
            }
            for jobs in [1, 2, 3, 64] {
                run.jobs = jobs
                run.items.shuffle(using: &run.random)
                #expect(abs(run.end - time) <= Self.slack, "seed \(seed), \(jobs): \(run.end), not \(time)")
                if jobs == 1 { #expect(run.ends.compactMap(\.self) == run.ends.compactMap(\.self).sorted()) }
            }
        }
    }

    @Test func `only differences of time and ratios of bytes count`() {
        for seed in Self.seeds {
            var run = RandomForecast(seed: seed, origins: 3, isPlain: true)
            run.jobs = 1 + Int(seed % 4)
            let (ends, forecast) = (run.ends, run.forecast)
            #expect(run.forecast == forecast)
            run.shift = 3_000_000
            #expect(run.ends == ends, "seed \(seed)")
            run.shift = 0
            let lengths = run.lengths
            // A window in two parts is the same window.
            run.lengths = lengths.flatMap { [($0.seconds / 2, $0.bound), ($0.seconds - $0.seconds / 2, $0.bound)] }
            #expect(Self.areNear(run.ends, ends), "seed \(seed)")
            run.lengths = lengths.map { ($0.seconds, $0.bound.map { $0 * 4 }) }
            run.items = run.items.map { ForecastItem(bytes: $0.bytes * 4, origin: $0.origin) }
            run.speeds.byOrigin = run.speeds.byOrigin.mapValues { $0 * 4 }
            #expect(Self.areNear(run.ends, ends), "seed \(seed)")
        }
    }

    @Test func `what comes after the last window is unknown, and what is known stays`() {
        for seed in Self.seeds {
            var run = RandomForecast(seed: seed, origins: 3, isPlain: false)
            let (all, ends, known) = (run.lengths, run.ends, run.forecast)
            #expect(known.complete(by: monday(-0.001)) == 0 && known.complete(by: monday(200_000)) == ends.count)
            for count in 0..<all.count {
                run.lengths = Array(all.prefix(count))
                let last = run.lengths.reduce(0) { $0 + Double(Int64($1.seconds * 1000)) / 1000 }
                let (part, forecast) = (run.ends, run.forecast)
                for (end, short) in zip(ends, part) {
                    let isSame = short.map { $0 == end && $0 <= last } ?? ((end ?? 0) >= last - Self.slack)
                    #expect(isSame, "seed \(seed), \(count)")
                }
                #expect(forecast.complete(by: monday(200_000)) == part.compactMap(\.self).count)
                #expect((forecast.end == nil) == part.contains(nil), "seed \(seed), \(count)")
            }
        }
    }

    @Test(
        arguments: [
            ("23:00-01:00=full, else=off", 1.0, 1.0), ("23:00-01:00=full, else=off", 1.5, 23.5),
            ("23:00-01:00=full, else=off", 3, 25), ("23:00-01:00=full, else=off", 5, 49),
            ("23:00-01:00=full, else=off", 15, 24 * 7 + 1), ("Mon 08:00-09:00=full, else=off", 1, 9),
            ("Mon 08:00-09:00=full, else=off", 2, 177), ("Mon 08:00-09:00=full, else=off", 3.5, 512.5),
            ("Mon-Fri 09:00-17:00=off, else=full", 10, 18), ("Sat-Sun 00:00-24:00=full, else=off", 1, 121),
            ("Sat-Sun 00:00-24:00=full, else=off", 49, 289), ("00:00-06:00=full, else=1K", 7, 8),
            ("00:00-06:00=full, else=1K", 15, 24), ("00:00-06:00=full, else=1K", 16, 25), ("else=full", 100, 100),
            ("else=1K", 100, 200), ("else=off", 1, nil), ("else=off", 0, 0), ("else=full", 2000, nil),
        ] as [(String, Double, Double?)])
    func `a timetable moves the end over midnights and weeks`(text: String, hours: Double, end: Double?) throws {
        let windows = PaceWindow.windows(
            from: monday(0), to: monday(1000 * 3600), timetable: try Timetable(text), limit: nil,
            minuteOfWeek: minuteOfWeek)
        // A server of 2,048 bytes a second, asked for what it sends in some hours.
        for count in [1, 4] {
            let bytes = Int64(hours * 3600 * 2048) / Int64(count)
            let items = Array(repeating: ForecastItem(bytes: bytes), count: count)
            for jobs in [1, 4] {
                let found = Forecast(
                    items: items, speeds: ForecastSpeeds(others: 2048), windows: windows, jobs: jobs, now: monday(0)
                ).end.map { Double(($0 - monday(0)).milliseconds) / 3_600_000 }
                #expect((found == nil) == (end == nil), "\(text)")
                if let found, let end { #expect(abs(found - end) < 0.001, "\(text): \(found)") }
            }
        }
    }

    @Test func `speeds that are none, and sizes beyond measure, end never and hold nothing up`() {
        let open = [PaceWindow(start: monday(0), end: monday(1_000_000), bytesPerSecond: nil)]
        for speed in [0, -1, nil] as [Double?] {
            var speeds = ForecastSpeeds(others: speed)
            speeds.byOrigin["fast"] = 100
            let items = [ForecastItem(bytes: 5, origin: "x"), ForecastItem(bytes: 1000, origin: "fast")]
            let forecast = Forecast(items: items, speeds: speeds, windows: open, jobs: 0, now: monday(0))
            #expect(forecast.completions == [nil, monday(10)] && forecast.end == nil)
        }
        let huge = [ForecastItem(bytes: .max), ForecastItem(bytes: .max, origin: "y"), ForecastItem(bytes: -5)]
        for speed in [1, 1e6, 1e12] {
            let forecast = Forecast(
                items: huge, speeds: ForecastSpeeds(others: speed), windows: open, jobs: 2, now: monday(0))
            #expect(forecast.completions == [nil, nil, monday(0)])
        }
        let fast = Forecast(
            items: huge, speeds: ForecastSpeeds(others: 1e15), windows: open, jobs: 2, now: monday(0))
        #expect(fast.completions.allSatisfy { $0.map { $0 <= monday(9224) } ?? false })
        #expect(Forecast(items: [], speeds: ForecastSpeeds(), windows: [], jobs: 1, now: monday(7)).end == monday(7))
    }

    @Test func `a limit that was measured is no speed of the servers that shared it`() {
        func speed(_ origin: String, _ bytes: Int64, _ seconds: Int, _ bound: Int64? = nil) -> MeasuredSpeed {
            MeasuredSpeed(origin: origin, bytes: bytes, busy: .seconds(seconds), bound: bound)
        }
        let cases: [(measured: [MeasuredSpeed], byOrigin: [String: Double], others: Double?)] = [
            ([speed("a", 1000, 10)], ["a": 100], 100),
            // Both together reached 95 % of the limit.
            ([speed("a", 500, 10, 100), speed("b", 450, 10, 100)], ["a": 100, "b": 100], 47.5),
            ([speed("a", 500, 10, 100), speed("b", 440, 10, 100)], ["a": 50, "b": 44], 47),
            ([speed("a", 960, 10, 100)], ["a": 100], 96), ([speed("a", 1100, 10, 100)], ["a": 110], 110),
            // What was measured without a limit does not count towards it.
            ([speed("a", 500, 10, 100), speed("b", 9000, 10)], ["a": 50, "b": 900], 475),
            ([speed("a", 900, 30), speed("b", 100, 10)], ["a": 30, "b": 10], 25), ([speed("a", 5, 0)], ["a": 0], nil),
        ]
        for (measured, byOrigin, others) in cases {
            let speeds = ForecastSpeeds(measured)
            #expect(speeds.byOrigin == byOrigin && speeds.others == others, "\(speeds)")
        }
    }
}
