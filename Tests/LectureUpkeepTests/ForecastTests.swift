import LectureDownload
import LectureKit
import LectureModel
import LectureUpkeep
import Testing

/// Times since Monday, 5 January 2026, 0:00 UTC.
func monday(_ seconds: Double) -> Timestamp { Timestamp(milliseconds: 1_767_571_200_000 + Int64(seconds * 1000)) }

/// The minute of the week in UTC.
func minuteOfWeek(_ time: Timestamp) -> Int { Int((time.milliseconds / 60_000 + 3 * 1440) % 10_080) }

@Suite struct ForecastTests {
    /// When each item is complete, in seconds; nil for never.
    private func ends(
        _ items: [ForecastItem], _ speeds: [String: Double] = ["": 10], windows: [(Double, Int64?)] = [(100_000, nil)],
        jobs: Int = 1
    ) -> [Double?] {
        var known = ForecastSpeeds(others: speeds[""])
        known.byOrigin = speeds.filter { !$0.key.isEmpty }
        var (pace, start): ([PaceWindow], Timestamp) = ([], monday(0))
        for (length, bound) in windows {
            let end = start + .seconds(length)
            pace.append(PaceWindow(start: start, end: end, bytesPerSecond: bound))
            start = end
        }
        let forecast = Forecast(items: items, speeds: known, windows: pace, jobs: jobs, now: monday(0))
        return forecast.completions.map { $0.map { Double(($0 - monday(0)).milliseconds) / 1000 } }
    }

    private func item(_ bytes: Int64, _ origin: String = "", after: Double? = nil) -> ForecastItem {
        ForecastItem(bytes: bytes, origin: origin, notBefore: after.map(monday))
    }

    @Test func `bytes flow one after the other, or side by side`() {
        let two = [item(100), item(200)]
        #expect(ends([]) == [] && ends([item(0)]) == [0] && ends(two) == [10, 30])
        #expect(ends(two, jobs: 2) == [20, 30] && ends([item(100), item(100), item(100)], jobs: 2) == [20, 20, 30])
        #expect(ends(two, [:]) == [nil, nil] && ends([item(0), item(5)], [:]) == [0, nil])
        // Two servers at once are as fast as both.
        #expect(ends([item(100, "a"), item(100, "b")], ["a": 10, "b": 5], jobs: 2) == [10, 20])
        #expect(ends([item(100, "a"), item(100, "b")], ["a": 10, "b": 5], jobs: 1) == [10, 30])
        #expect(ends([item(100, "a"), item(90, "x")], ["a": 10, "": 9], jobs: 2) == [10, 10])
        // One of unknown speed holds no other up.
        #expect(ends([item(9, "x"), item(100, "a")], ["a": 10], jobs: 1) == [nil, 10])
    }

    @Test func `a bound is shared, and what one does not need is for the others`() {
        let items = [item(100, "slow"), item(100, "fast")]
        let speeds = ["slow": 2.0, "fast": 100.0]
        #expect(ends(items, speeds, windows: [(1000, 10)], jobs: 2) == [50, 12.5])
        #expect(ends(items, speeds, windows: [(1000, 4)], jobs: 2) == [50, 50])
        #expect(ends(items, speeds, windows: [(1000, 2)], jobs: 2) == [100, 100])
        #expect(ends(items, speeds, windows: [(1000, 1_000_000)], jobs: 2) == [50, 1])
    }

    @Test func `windows open and close, and nothing is known after the last one`() {
        let one = [item(100)]
        #expect(ends(one, windows: [(5, nil), (50, 0), (100, nil)]) == [60])
        #expect(ends(one, windows: [(5, nil), (10, 2), (100, nil)]) == [18])
        #expect(ends(one, windows: [(5, nil), (50, 0)]) == [nil] && ends(one, windows: []) == [nil])
        #expect(ends(one, windows: [(10, nil)]) == [10] && ends(one, windows: [(9.9, nil)]) == [nil])
        #expect(ends([item(10), item(100)], windows: [(5, nil), (10, 0)]) == [1, nil])
    }

    @Test func `what has to wait does, and another begins meanwhile`() {
        #expect(ends([item(100, after: 40)]) == [50] && ends([item(100, after: -40)]) == [10])
        #expect(ends([item(100, after: 5), item(30)]) == [15, 3])
        #expect(ends([item(100, after: 1), item(30)]) == [13, 3])
        #expect(ends([item(100, after: 1), item(30)], jobs: 2) == [13, 5])
        #expect(ends([item(10, after: 7), item(10, after: 3), item(10, after: 5)], jobs: 3) == [8, 4, 6])
    }

    @Test func `many lectures take what their bytes take`() {
        for jobs in [1, 4, 64] {
            let items = (0..<3000).map { number in
                let bytes = Int64(1000 + number % 7 * 100)
                return item(bytes, "o\(number % 3)")
            }
            let forecast = ends(items, ["o0": 1000, "o1": 1000, "o2": 1000], windows: [(100_000, 900)], jobs: jobs)
            let total = Double(items.reduce(0) { $0 + $1.bytes })
            let end = forecast.compactMap(\.self).max() ?? 0
            #expect(abs(end - total / 900) < 0.01 * end, "\(jobs): \(end)")
        }
    }

    @Test func `measurements become speeds`() {
        let speeds = ForecastSpeeds([
            MeasuredSpeed(origin: "a", bytes: 1000, busy: .seconds(10)),
            MeasuredSpeed(origin: "b", bytes: 3000, busy: .seconds(10)),
        ])
        #expect(speeds.byOrigin == ["a": 100, "b": 300] && speeds.others == 200)
        #expect(ForecastSpeeds([]).others == nil)
        #expect(MeasuredSpeed(origin: "a", bytes: 1, busy: .zero).bytesPerSecond == 0)
    }
}

@Suite struct PaceWindowTests {
    private func text(_ timetable: String?, limit: Int64? = nil, hours: Double, from: Double = 0) throws -> [String] {
        let windows = PaceWindow.windows(
            from: monday(from * 3600), to: monday((from + hours) * 3600),
            timetable: try timetable.map { try Timetable($0) },
            limit: limit, minuteOfWeek: minuteOfWeek)
        return windows.map { window in
            let ends = [window.start, window.end].map { Double(($0 - monday(0)).milliseconds) / 3_600_000 }
            return "\(ends[0])-\(ends[1])=\(window.bytesPerSecond.map { "\($0)" } ?? "full")"
        }
    }

    @Test func `windows follow the timetable and the limit`() throws {
        #expect(try text(nil, hours: 5) == ["0.0-5.0=full"] && text(nil, limit: 7, hours: 5) == ["0.0-5.0=7"])
        #expect(try text(nil, hours: 0) == [] && text(nil, hours: -1) == [] && text("else=off", hours: 0) == [])
        #expect(
            try text("02:00-06:00=full, else=2M", hours: 26)
                == ["0.0-2.0=2097152", "2.0-6.0=full", "6.0-26.0=2097152"])
        #expect(
            try text("02:00-06:00=full, else=off", limit: 5, hours: 7, from: 2.51)
                == ["2.51-6.0=5", "6.0-9.51=0"])
        #expect(try text("02:00-06:00=1M, else=2M", limit: 1 << 20, hours: 240) == ["0.0-240.0=1048576"])
        #expect(try text("Sat 10:07-10:08=off", hours: 400).count == 5)
    }

    /// Berlin: UTC+1, in summer UTC+2 from 29 March 2026, 1:00 UTC to 25 October, 1:00 UTC.
    static func berlin(_ time: Timestamp) -> Int {
        (1_774_746_000_000..<1_792_890_000_000).contains(time.milliseconds) ? 7200 : 3600
    }

    @Test(arguments: [(1_774_720_800_000, 6.0), (1_792_864_800_000, 8.0)])
    func `a change of the clock makes a night shorter or longer`(evening: Int64, hours: Double) throws {
        // From 18:00 UTC (19:00 or 20:00 local) of the evening before.
        let start = Timestamp(milliseconds: evening)
        let windows = PaceWindow.windows(
            from: start, to: start + .seconds(86_400), timetable: try Timetable("23:00-06:00=full, else=off"),
            limit: nil,
            minuteOfWeek: { minuteOfWeek($0 + .seconds(Self.berlin($0))) })
        let open = windows.filter { $0.bytesPerSecond == nil }
        #expect(open.count == 1 && open[0].end - open[0].start == .seconds(hours * 3600), "\(windows)")
        #expect(zip(windows, windows.dropFirst()).allSatisfy { $0.end == $1.start })
    }
}

@Suite struct ReadyTimeTests {
    private static let now = monday(3 * 3600 + 30)
    private static let readable: [(text: String, hours: Double)] = [
        ("08:00", 8), ("8:00", 8), ("03:00", 27), ("03:00:31", 3 + 31.0 / 3600), ("today 02:00", 2),
        ("tomorrow 08:00", 32), ("Mon 08:00", 8), ("mon 03:00", 7 * 24 + 3), ("Tue 00:00", 24),
        ("sunday 23:59", 168 - 1 / 60.0),
        ("Monday 02:00", 7 * 24 + 2), ("2026-01-07 08:00", 56), ("2026-01-07T08:00", 56), ("2026/01/07 08:00", 56),
        ("2026-01-05T12:00:00Z", 12), ("2026-01-05T12:00:00+09:00", 3), ("1767614400", 12), ("2025-12-31 00:00", -120),
    ]

    @Test(arguments: readable) func `a time is read`(text: String, hours: Double) {
        let time = ReadyTime.time(text, now: Self.now, secondsEast: { _ in 0 })
        #expect(time.map { Double(($0 - monday(0)).milliseconds) / 3_600_000 }.map { abs($0 - hours) < 1e-6 } == true)
        // A zone moves what is local, and nothing else.
        let isAbsolute = text.contains("Z") || text.contains("+") || text == "1767614400"
        let east = ReadyTime.time(text, now: Self.now + .seconds(-3600), secondsEast: { _ in 3600 })
        #expect(east == (isAbsolute ? time : time.map { $0 + .seconds(-3600) }), "\(text)")
    }

    @Test(arguments: [
        "", "Mon", "08", "24:00", "08:60", "Mon 8", "Mo 08:00", "Moon 08:00", "08:00 Mon", "Mon Tue 08:00", "8:0",
        "2026-02-30 08:00", "yesterday 08:00", "-1:00", "08:00:61", "२०:००", "mondayx 08:00",
    ])
    func `what is none is refused`(text: String) {
        #expect(ReadyTime.time(text, now: Self.now, secondsEast: { _ in 0 }) == nil)
    }

    @Test func `a time that is skipped or there twice has one meaning`() {
        func utc(_ text: String) -> Int64? {
            let now = Timestamp(milliseconds: 1_774_000_000_000)
            return ReadyTime.time(text, now: now, secondsEast: PaceWindowTests.berlin)?.milliseconds
        }
        #expect(utc("2026-03-29 01:59") == 1_774_745_940_000 && utc("2026-03-29 03:00") == 1_774_746_000_000)
        // 2:30 is skipped: half an hour after the change.
        #expect(utc("2026-03-29 02:30") == 1_774_747_800_000)
        // 2:30 is there twice: the first one, in summer time.
        #expect(utc("2026-10-25 02:30") == 1_792_888_200_000 && utc("2026-10-25 03:00") == 1_792_893_600_000)
        #expect(utc("2026-07-01 08:00") == 1_782_885_600_000 && utc("2026-12-01 08:00") == 1_796_108_400_000)
    }
}

@Suite struct ReadinessWatchTests {
    /// What is reported for a row of forecasts, given in seconds before the time.
    private func news(_ early: [Double?], every step: Double = 60) -> [String] {
        var watch = ReadinessWatch(by: monday(100_000))
        return early.enumerated().map { place, seconds in
            let end = seconds.map { monday(100_000 - $0) }
            return watch.take(end, now: monday(Double(place) * step))?.rawValue ?? "-"
        }
    }

    @Test func `a change is reported once, and only when it is sure`() {
        #expect(news([5000, 5000, 5000]) == ["-", "-", "-"])
        #expect(news([-5000, -5000, -5000]) == ["-", "late", "-"])
        #expect(news([nil, nil, nil]) == ["-", "late", "-"])
        // The margin is a fiftieth of what is left: 2,000 seconds here.
        #expect(news([5000, 5000, -1000, -1000, -1000]) == ["-", "-", "-", "-", "-"])
        #expect(news([5000, 5000, -3000, 5000, -3000, 5000]) == ["-", "-", "-", "-", "-", "-"])
        #expect(news([5000, 5000, -3000, -3000, -3000]) == ["-", "-", "-", "late", "-"])
        #expect(news([-5000, -5000, 1000, 1000, 3000, 3000, 3000]) == ["-", "late", "-", "-", "-", "inTime", "-"])
        #expect(news([-5000, -5000, 3000, -3000, 3000, 3000]) == ["-", "late", "-", "-", "-", "inTime"])
        let wild = (0..<200).map { $0 % 2 == 0 ? 9000.0 : -9000 }
        #expect(news([5000, 5000] + wild).allSatisfy { $0 == "-" })
    }

    @Test func `once the time has passed it is late at once`() {
        #expect(news([5000, 5000, -60_000], every: 60_000) == ["-", "-", "late"])
    }

    @Test func `a running speed forgets slowly, and does not count closed windows`() {
        var speed = RunningSpeed()
        var (bytes, time): (Int64, Int64) = (0, 0)
        func step(_ rate: Int64, _ seconds: Int, isRunning: Bool = true) {
            for _ in 0..<seconds {
                (bytes, time) = (bytes + rate, time + 1_000_000_000)
                speed.take(bytes: bytes, isRunning: isRunning, at: BootInstant(nanoseconds: time))
            }
        }
        step(100, 2)
        #expect(speed.bytesPerSecond == nil)
        step(100, 100)
        #expect(speed.bytesPerSecond.map { abs($0 - 100) < 0.001 } == true)
        step(0, 5000, isRunning: false)
        #expect(speed.bytesPerSecond.map { abs($0 - 100) < 0.001 } == true)
        step(300, 60)
        #expect(speed.bytesPerSecond.map { (200...250).contains($0) } == true)
        step(300, 600)
        #expect(speed.bytesPerSecond.map { abs($0 - 300) < 1 } == true)
    }
}
