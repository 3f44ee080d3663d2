import LectureFormats
import LectureModel
import LectureTestSupport
import LectureUpkeep
import Testing

/// Zones as their law has them in 2026, and moments as RFC 3339 writes them.
enum Zone: String, CaseIterable, Sendable {
    case berlin, newYork, seoul, kolkata

    /// How far it is ahead of UTC, in seconds.
    func east(_ time: Timestamp) -> Int {
        func isWithin(_ start: String, _ end: String) -> Bool {
            guard let start = MomentText.moment(start), let end = MomentText.moment(end) else { return false }
            return time >= start && time < end
        }
        return switch self {
        case .berlin: isWithin("2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z") ? 7200 : 3600
        case .newYork: isWithin("2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z") ? -14_400 : -18_000
        case .seoul: 32_400
        case .kolkata: 19_800
        }
    }
}

@Suite struct ReadyTimeTableTests {
    /// In a zone, at a time: what people type, and what they mean.
    private static let tables: [(zone: Zone, now: String, meanings: [(text: String, utc: String)])] = [
        (
            .berlin, "2026-03-28T20:00:00Z",  // Saturday, 21:00, before a night of 23 hours
            [
                ("08:00", "2026-03-29T06:00:00Z"), ("tomorrow 08:00", "2026-03-29T06:00:00Z"),
                ("sun 08:00", "2026-03-29T06:00:00Z"), ("Sun 01:30", "2026-03-29T00:30:00Z"),
                ("Sun 02:30", "2026-03-29T01:30:00Z"), ("SUN 03:00", "2026-03-29T01:00:00Z"),
                ("02:00:00", "2026-03-29T01:00:00Z"), ("Mon 00:00", "2026-03-29T22:00:00Z"),
                ("today 23:59", "2026-03-28T22:59:00Z"), ("sat 20:00", "2026-04-04T18:00:00Z"),
                ("saturday 22:00", "2026-03-28T21:00:00Z"), ("21:00", "2026-03-29T19:00:00Z"),
                ("21:00:01", "2026-03-28T20:00:01Z"), ("friday 9:05", "2026-04-03T07:05:00Z"),
            ]
        ),
        (
            .berlin, "2026-10-24T20:00:00Z",  // Saturday, 22:00, before a night of 25 hours
            [
                ("02:30", "2026-10-25T00:30:00Z"), ("03:00", "2026-10-25T02:00:00Z"),
                ("Sun 02:00", "2026-10-25T00:00:00Z"), ("tomorrow 12:00", "2026-10-25T11:00:00Z"),
                ("today 23:00", "2026-10-24T21:00:00Z"), ("Sun 02:59:59", "2026-10-25T00:59:59Z"),
                ("Sat 22:00", "2026-10-31T21:00:00Z"), ("22:00", "2026-10-25T21:00:00Z"),
            ]
        ),
        (
            .berlin, "2026-10-25T00:45:00Z",  // 2:45 for the first time
            [
                ("02:50", "2026-10-25T00:50:00Z"), ("02:30", "2026-10-26T01:30:00Z"),
                ("Sun 02:30", "2026-11-01T01:30:00Z"), ("today 02:30", "2026-10-25T00:30:00Z"),
                ("03:00", "2026-10-25T02:00:00Z"),
            ]
        ),
        (
            .newYork, "2026-03-07T20:00:00Z",  // Saturday, 15:00
            [
                ("02:30", "2026-03-08T07:30:00Z"), ("03:00", "2026-03-08T07:00:00Z"),
                ("01:59", "2026-03-08T06:59:00Z"), ("Mon 08:00", "2026-03-09T12:00:00Z"),
                ("Sat 14:00", "2026-03-14T18:00:00Z"), ("sat 15:30", "2026-03-07T20:30:00Z"),
            ]
        ),
        (
            .newYork, "2026-10-31T20:00:00Z",  // Saturday, 16:00
            [
                ("01:30", "2026-11-01T05:30:00Z"), ("02:00", "2026-11-01T07:00:00Z"),
                ("00:59", "2026-11-01T04:59:00Z"), ("tomorrow 08:00", "2026-11-01T13:00:00Z"),
                ("2026-11-01 01:59:59", "2026-11-01T05:59:59Z"), ("2026/11/01 03:00", "2026-11-01T08:00:00Z"),
            ]
        ),
        (
            .seoul, "2026-12-31T14:30:00Z",  // Thursday, 23:30
            [
                ("23:45", "2026-12-31T14:45:00Z"), ("00:00", "2026-12-31T15:00:00Z"),
                ("tomorrow 09:00", "2027-01-01T00:00:00Z"), ("today 08:00", "2026-12-30T23:00:00Z"),
                ("thu 23:00", "2027-01-07T14:00:00Z"), ("fri 09:00", "2027-01-01T00:00:00Z"),
                ("2028-02-29 12:00", "2028-02-29T03:00:00Z"), ("2026-12-31T23:30", "2026-12-31T14:30:00Z"),
                ("wednesday 23:59:59", "2027-01-06T14:59:59Z"), ("2026-12-31T23:30:00Z", "2026-12-31T23:30:00Z"),
                ("2026-12-31t23:30:00-05:00", "2027-01-01T04:30:00Z"), ("2020-01-01 00:00", "2019-12-31T15:00:00Z"),
            ]
        ),
        (
            .kolkata, "2026-06-01T00:00:00Z",  // Monday, 5:30
            [
                ("05:30", "2026-06-02T00:00:00Z"), ("05:31", "2026-06-01T00:01:00Z"),
                ("Mon 05:30", "2026-06-08T00:00:00Z"), ("monday 00:00", "2026-06-07T18:30:00Z"),
                ("Tue 00:00", "2026-06-01T18:30:00Z"), ("1780272000.5", ""), ("1780272000", "2026-06-01T00:00:00Z"),
                ("  tomorrow   00:00 ", "2026-06-01T18:30:00Z"),
            ]
        ),
    ]

    @Test func `what people type means one moment, on any day of the year`() throws {
        for (zone, now, meanings) in Self.tables {
            let clock = try #require(MomentText.moment(now))
            for (text, utc) in meanings {
                let time = ReadyTime.time(text, now: clock, secondsEast: zone.east)
                #expect(time == MomentText.moment(utc), "\(zone), \(now): \(text) is \(time?.milliseconds ?? 0)")
            }
        }
    }

    @Test(arguments: [
        "8", "08:00:00:00", "25:00", "00:60", "12:5", "12:005", "012:00", ":30", "12:", ":", "noon", "8am", "8:00pm",
        "08.00", "2026-13-01 08:00", "2026-00-10 08:00", "2026-02-29 08:00", "2026-11-31 08:00", "2026-11-00 08:00",
        "2026-1-1 08:00", "2026-11-30T08", "26-11-30 08:00", "30.11.2026 08:00", "2026-11-30 24:00", "2026-11-30",
        "mon,08:00", "tues 08:00", "thur 08:00", "mondays 08:00", "today", "tomorrow", "today tomorrow 08:00", "now",
        "+1h", "2026-11-30 08:00 Z", "2026-11-30T08:00:00+25:00", "2026-11-30T08:00Z", "20261130", "1234567890123",
        "2026-11/30 08:00", "１２:００", "08:00 tomorrow", "-08:00", "+08:00",
    ])
    func `what is no time is refused in every zone`(text: String) {
        for zone in Zone.allCases {
            #expect(ReadyTime.time(text, now: monday(0), secondsEast: zone.east) == nil, "\(zone)")
        }
    }

    /// The local day of the week, from Monday, and the milliseconds since midnight.
    private static func local(_ time: Timestamp, _ zone: Zone) -> (day: Int64, clock: Int64) {
        let local = time.milliseconds + Int64(zone.east(time)) * 1000
        return ((local / 86_400_000 + 3) % 7, local % 86_400_000)
    }

    @Test(arguments: Zone.allCases) func `a day of the week is the next one, and its clock shows the time`(
        zone: Zone
    ) throws {
        var random = SeededGenerator(seed: 77)
        let names = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        for _ in 0..<1500 {
            let now = monday(Double.random(in: 0..<360 * 86_400, using: &random))
            let (day, hour) = (Int.random(in: 0..<7, using: &random), Int.random(in: 0..<24, using: &random))
            let minute = Int.random(in: 10..<60, using: &random)
            let clock = "\(hour):\(minute)"
            let text = "\(names[day].prefix(3)) \(clock)"
            let time = try #require(ReadyTime.time(text, now: now, secondsEast: zone.east))
            #expect(ReadyTime.time("\(names[day]) \(clock)", now: now, secondsEast: zone.east) == time)
            let isNext = time > now && time - now <= .seconds(7 * 86_400 + 3600)
            #expect(isNext, "\(zone), \(now.milliseconds): \(text)")
            let found = Self.local(time, zone)
            #expect(found.day == Int64(day), "\(zone), \(now.milliseconds): \(text)")
            let wanted = Int64(hour * 60 + minute) * 60_000
            // Only an hour that is skipped shows another time.
            let change = Self.local(time + .seconds(-3600), zone).clock
            let isSkipped = found.clock == wanted + 3_600_000 && change == wanted - 3_600_000
            #expect(found.clock == wanted || isSkipped, "\(zone), \(now.milliseconds): \(text)")
            let alone = try #require(ReadyTime.time(clock, now: now, secondsEast: zone.east))
            #expect(alone > now && alone - now <= .seconds(25 * 3600) && alone <= time, "\(zone): \(clock)")
            let tomorrow = try #require(ReadyTime.time("tomorrow \(clock)", now: now, secondsEast: zone.east))
            let today = try #require(ReadyTime.time("today \(clock)", now: now, secondsEast: zone.east))
            #expect(alone == (today > now ? today : tomorrow), "\(zone): \(clock)")
            let hours = (tomorrow - today).milliseconds / 3_600_000
            #expect((23...25).contains(hours), "\(zone), \(now.milliseconds): \(clock)")
        }
    }
}
