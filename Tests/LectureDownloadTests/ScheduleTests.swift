import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureDownload

@Suite struct RateTests {
    @Test(
        "Rates are read in powers of 1024",
        arguments: [
            ("full", .full), ("FULL", .full), ("off", .off), ("0", .off), ("0M", .off),
            ("1", .limited(bytesPerSecond: 1)),
            ("500K", .limited(bytesPerSecond: 512_000)), ("2m", .limited(bytesPerSecond: 2_097_152)),
            ("1.5M", .limited(bytesPerSecond: 1_572_864)), ("1G", .limited(bytesPerSecond: 1_073_741_824)),
            ("0.1K", .limited(bytesPerSecond: 102)), ("1.10M", .limited(bytesPerSecond: 1_153_433)),
        ] as [(String, Rate)])
    func reads(text: String, rate: Rate) throws {
        #expect(try Rate(text) == rate)
    }

    @Test(
        "An invalid rate is refused",
        arguments: [
            "", "fast", "-1", "+1", "1.5", "1.M", ".5M", "1.5.5M", "1T", "K", "1 M", "1e3", "99999999999G",
            "0.0000001G",
            "9223372036854775808",
        ])
    func refuses(text: String) {
        #expect(throws: LectureError(.parameter)) { try Rate(text) }
    }

    @Test func `A rate reads back from its text`() throws {
        for bytes in [1, 1023, 1024, 512_000, 1_572_864, 3 << 30] as [UInt64] {
            #expect(try Rate(Rate.limited(bytesPerSecond: bytes).text) == .limited(bytesPerSecond: bytes))
        }
        #expect(try Rate(Rate.full.text) == .full && Rate(Rate.off.text) == .off)
    }
}

@Suite struct DurationTextTests {
    @Test(
        "Durations are read",
        arguments: [
            ("90s", 90), ("15m", 900), ("2h", 7200), ("3d", 259_200), ("1h30m", 5400), ("1d1s", 86_401), ("0s", 0),
        ])
    func reads(text: String, seconds: Int) throws {
        #expect(try DurationText.duration(text) == .seconds(seconds))
    }

    @Test(
        "An ambiguous or meaningless duration is refused",
        arguments: [
            "", "90", "s", "1x", "30m1h", "1h1h", "-1s", "1.5h", "1h 30m", "1H", "99999999999999999999s", "36501d",
            "100000000d",
            "1h30",
        ])
    func refuses(text: String) {
        #expect(throws: LectureError(.parameter)) { try DurationText.duration(text) }
    }

    @Test func `A duration reads back from its text`() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<500 {
            let duration = Duration.seconds(Int64.random(in: 0...10_000_000, using: &random))
            #expect(try DurationText.duration(DurationText.text(duration)) == duration)
        }
        #expect(DurationText.text(.milliseconds(5_400_999)) == "1h30m")
        #expect(DurationText.text(.seconds(-5)) == "0s")
    }
}

@Suite struct TimetableTests {
    private func minute(_ day: Int, _ hour: Int, _ minute: Int = 0) -> Int { day * 1440 + hour * 60 + minute }

    @Test func `Inside the window its rate applies, outside the rest`() throws {
        let table = try Timetable("02:00-06:00=full, else=2M")
        let slow = Rate.limited(bytesPerSecond: 2 << 20)
        for day in 0..<7 {
            #expect(table.rate(atMinuteOfWeek: minute(day, 1, 59)) == slow)
            #expect(table.rate(atMinuteOfWeek: minute(day, 2)) == .full)
            #expect(table.rate(atMinuteOfWeek: minute(day, 5, 59)) == .full)
            #expect(table.rate(atMinuteOfWeek: minute(day, 6)) == slow)
        }
        #expect(table.nextChange(after: minute(0, 0)) == 120)
        #expect(table.nextChange(after: minute(6, 6)) == 20 * 60)
        #expect(table.nextChange(after: minute(6, 23, 59)) == 121)
    }

    @Test func `A window over midnight belongs to the day on which it begins`() throws {
        let table = try Timetable("Mon-Fri 18:00-07:00=full, else=off")
        #expect(table.rate(atMinuteOfWeek: minute(0, 6)) == .off)
        #expect(table.rate(atMinuteOfWeek: minute(0, 18)) == .full)
        #expect(table.rate(atMinuteOfWeek: minute(5, 6, 59)) == .full)
        #expect(table.rate(atMinuteOfWeek: minute(5, 7)) == .off)
        #expect(table.rate(atMinuteOfWeek: minute(6, 20)) == .off)
        #expect(table.nextChange(after: minute(5, 7)) == minute(7, 18) - minute(5, 7))
    }

    @Test func `A window over the end of the week and days over it are one`() throws {
        let table = try Timetable("Sat-Mon 22:00-06:00=1K, else=full")
        let slow = Rate.limited(bytesPerSecond: 1024)
        #expect(table.rate(atMinuteOfWeek: minute(0, 5)) == slow)
        #expect(table.rate(atMinuteOfWeek: minute(1, 5)) == slow)
        #expect(table.rate(atMinuteOfWeek: minute(2, 5)) == .full)
        #expect(table.rate(atMinuteOfWeek: minute(7, 5)) == slow)
        #expect(table.rate(atMinuteOfWeek: minute(0, 5) - 10_080) == slow)
    }

    @Test func `The first of two windows applies, and without a rest the rate is unlimited`() throws {
        let table = try Timetable("12:00-13:00=off,09:00-17:00=1M")
        #expect(table.rate(atMinuteOfWeek: minute(3, 12, 30)) == .off)
        #expect(table.rate(atMinuteOfWeek: minute(3, 13)) == .limited(bytesPerSecond: 1 << 20))
        #expect(table.rate(atMinuteOfWeek: minute(3, 17)) == .full)
    }

    @Test func `A timetable with one rate never changes`() throws {
        #expect(try Timetable("else=2M").nextChange(after: 0) == nil)
        #expect(try Timetable("00:00-24:00=off").nextChange(after: 0) == nil)
        #expect(try Timetable("00:00-12:00=off,12:00-24:00=off").nextChange(after: 5) == nil)
        #expect(Timetable(always: .off).rate(atMinuteOfWeek: 77) == .off)
    }

    @Test(
        "An invalid rule is named",
        arguments: [
            "", "full", "02:00=full", "02:00-06:00", "02:00-06:00=", "2-6=full", "24:00-06:00=full", "02:00-25:00=full",
            "02:60-03:00=full",
            "02:00-24:01=full", "02:00-02:00=full", "Xyz 02:00-06:00=full", "Mon-Tue-Wed 02:00-06:00=full",
            "Mon 02:00-06:00 x=full",
            "02:00-06:00=fast", "else=1M,else=2M", "02:00-06:00=full,", "002:00-06:00=full", "-1:00-06:00=full",
            "Mon=full",
        ])
    func refuses(text: String) {
        #expect(throws: LectureError(.parameter)) { try Timetable(text) }
    }

    @Test func `Between two changes the rate is the same, minute by minute`() throws {
        let table = try Timetable("Mon-Fri 08:30-17:15=500K, Sat 23:00-01:30=off, 02:00-06:00=full, else=2M")
        var minute = 0
        while minute < Timetable.minutesOfWeek {
            let step = try #require(table.nextChange(after: minute))
            let rate = table.rate(atMinuteOfWeek: minute)
            for inside in minute..<(minute + step) { #expect(table.rate(atMinuteOfWeek: inside) == rate) }
            #expect(table.rate(atMinuteOfWeek: minute + step) != rate)
            minute += step
        }
    }
}

@Suite struct RangeTrialTests {
    private func at(_ seconds: Double) -> BootInstant { BootInstant(nanoseconds: Int64(seconds * 1e9)) }
    private let mebibyte: UInt64 = 1 << 20

    private func read(_ bytes: UInt64, diskSeconds: Double = 0) -> RangeTrial.Reading {
        RangeTrial.Reading(bytes: bytes, diskTime: .seconds(diskSeconds))
    }

    @Test func `A connection that helps is kept and the next one is tried`() {
        var trial = RangeTrial(limit: 3, at: at(0))
        #expect(trial.progressed(read(10 * mebibyte), at: at(1)) == .openAnother)
        #expect(trial.progressed(read(11 * mebibyte), at: at(9)) == .none)
        trial.opened(read(12 * mebibyte), at: at(10))
        #expect(trial.progressed(read(32 * mebibyte), at: at(11)) == .none)
        #expect(trial.outcome == RangeTrial.Outcome(helped: true, ratio: 2))
        #expect(trial.connections == 2 && !trial.isDone)
        #expect(trial.progressed(read(52 * mebibyte), at: at(12)) == .openAnother)
    }

    @Test(arguments: [(1.0, false), (1.14, false), (1.16, true), (0.5, false)])
    func `A gain of fifteen per cent decides`(ratio: Double, helped: Bool) {
        var trial = RangeTrial(limit: 2, at: at(0))
        #expect(trial.progressed(read(100 * mebibyte), at: at(1)) == .openAnother)
        trial.opened(read(100 * mebibyte), at: at(1))
        let bytes = UInt64(ratio * 100) * mebibyte
        #expect(trial.progressed(read(100 * mebibyte + bytes), at: at(2)) == (helped ? .none : .closeNewest))
        #expect(trial.isDone && trial.outcome?.helped == helped)
        #expect(trial.connections == (helped ? 2 : 1))
        #expect(trial.progressed(read(900 * mebibyte), at: at(9)) == .none)
    }

    @Test func `A window needs both a second and four mebibytes`() {
        var trial = RangeTrial(limit: 2, at: at(0))
        #expect(trial.progressed(read(500 * mebibyte), at: at(0.99)) == .none)
        #expect(trial.progressed(read(4 * mebibyte - 1), at: at(60)) == .none)
        #expect(trial.progressed(read(4 * mebibyte), at: at(60)) == .openAnother)
    }

    @Test func `A connection that is fast enough stays alone`() {
        var trial = RangeTrial(limit: 4, at: at(0))
        #expect(trial.progressed(read(256 * mebibyte), at: at(1)) == .none)
        #expect(trial.isDone && trial.connections == 1 && trial.outcome == nil)
        trial = RangeTrial(limit: 4, at: at(0))
        #expect(trial.progressed(read(255 * mebibyte), at: at(1)) == .openAnother)
    }

    /// Whether a second connection helps is measured once the disk no longer decides.
    @Test func `While the disk is waited for, no other connection is tried`() {
        var trial = RangeTrial(limit: 4, at: at(0))
        #expect(trial.progressed(read(100 * mebibyte, diskSeconds: 0.25), at: at(1)) == .none)
        #expect(!trial.isDone && trial.connections == 1)
        #expect(trial.progressed(read(250 * mebibyte, diskSeconds: 1.2), at: at(2)) == .none)
        // The windows are measured one by one: 0.24 s of this one.
        #expect(trial.progressed(read(300 * mebibyte, diskSeconds: 1.44), at: at(3)) == .openAnother)
        #expect(trial.worthwhileBytes == Double(500 * mebibyte))
    }

    @Test(arguments: [(110, 0.5, false), (110, 0.2, true), (130, 0.5, true)])
    func `A disk that becomes the limit says nothing of the server`(
        mebibytes: UInt64, diskSeconds: Double, isRemembered: Bool
    ) {
        var trial = RangeTrial(limit: 2, at: at(0))
        #expect(trial.progressed(read(100 * mebibyte), at: at(1)) == .openAnother)
        trial.opened(read(100 * mebibyte, diskSeconds: 7), at: at(1))
        let end = read((100 + mebibytes) * mebibyte, diskSeconds: 7 + diskSeconds)
        #expect(trial.progressed(end, at: at(2)) == (mebibytes < 115 ? .closeNewest : .none))
        #expect(trial.isDone && (trial.outcome != nil) == isRemembered)
    }

    @Test func `It is worthwhile while ten windows are missing`() {
        var trial = RangeTrial(limit: 4, at: at(0))
        #expect(trial.worthwhileBytes == 0)
        #expect(trial.progressed(read(40 * mebibyte), at: at(2)) == .openAnother)
        #expect(trial.worthwhileBytes == Double(200 * mebibyte))
        trial.openFailed()
        #expect(trial.worthwhileBytes == 0)
    }

    @Test func `At the limit, and after a failed connect, nothing is tried`() {
        var full = RangeTrial(connections: 2, limit: 2, at: at(0))
        #expect(full.isDone)
        #expect(full.progressed(read(100 * mebibyte), at: at(2)) == .none)
        full = RangeTrial(limit: 2, at: at(0))
        _ = full.progressed(read(100 * mebibyte), at: at(2))
        full.openFailed()
        #expect(full.isDone && full.outcome == nil)
    }
}
