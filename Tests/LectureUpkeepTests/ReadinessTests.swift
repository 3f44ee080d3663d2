import LectureKit
import LectureModel
import LectureUpkeep
import Testing

@Suite struct ReadinessTests {
    private static let now = monday(0)

    private static func lecture(
        _ key: String, left: Int64? = 100, total: Int64? = 100, _ change: (inout PlannedLecture) -> Void = { _ in }
    ) throws -> PlannedLecture {
        var lecture = PlannedLecture(key: try ContentKey(key), title: key)
        (lecture.bytesLeft, lecture.total) = (left, total)
        if left == 0 { lecture.isComplete = true }
        change(&lecture)
        return lecture
    }

    private static func ask(
        _ lectures: [PlannedLecture], by seconds: Double? = 100, speed: Double? = 10,
        windows: [(Double, Int64?)] = [(100_000, nil)], _ change: (inout ReadinessLimits) -> Void = { _ in }
    ) -> Readiness {
        var (pace, start): ([PaceWindow], Timestamp) = ([], now)
        for (length, bound) in windows {
            pace.append(PaceWindow(start: start, end: start + .seconds(length), bytesPerSecond: bound))
            start = start + .seconds(length)
        }
        var limits = ReadinessLimits(windows: pace)
        limits.jobs = 1
        change(&limits)
        return Readiness(
            lectures, speeds: ForecastSpeeds(others: speed), limits: limits, by: seconds.map(monday), now: now)
    }

    private static func kinds(_ answer: Readiness) -> [String] { answer.obstacles.map(\.kind.rawValue) }

    @Test func `ready means that all are there in time with nothing in the way`() throws {
        let three = try [Self.lecture("a"), Self.lecture("b", left: 50), Self.lecture("c", left: 0)]
        let fine = Self.ask(three)
        #expect(fine.isReady == true && fine.end == monday(15) && fine.ready == 3 && fine.complete == 1)
        #expect(fine.bytesLeft == 150 && fine.estimated == 0 && fine.obstacles.isEmpty)
        let late = Self.ask(three, by: 12)
        #expect(late.isReady == false && late.end == monday(15) && late.ready == 2 && Self.kinds(late) == ["time"])
        #expect(Self.ask(three, by: 15).isReady == true && Self.ask(three, by: -1).isReady == false)
        #expect(Self.ask(three, by: -1).obstacles[0].remedy.contains("has passed"))
        let open = Self.ask(three, by: nil)
        #expect(open.isReady == true && open.ready == 3 && open.end == monday(15))
        #expect(Self.ask([]).isReady == true && Self.ask([three[2]], speed: nil).isReady == true)
    }

    @Test func `the timetable is named only where it is in the way`() throws {
        let one = [try Self.lecture("a")]
        let windows: [(Double, Int64?)] = [(5, nil), (200, 0), (1000, nil)]
        let slow = Self.ask(one, windows: windows)
        #expect(Self.kinds(slow) == ["timetable"] && slow.end == monday(210) && slow.ready == 0)
        #expect(Self.kinds(Self.ask(one, by: 8, windows: windows)) == ["time"])
        #expect(Self.kinds(Self.ask(one, windows: [(1000, 0)])) == ["timetable"])
        #expect(Self.ask(one, by: nil, windows: [(1000, 0)]).isReady == false)
        #expect(Self.kinds(Self.ask(one, by: nil, windows: [(1000, 0)])) == ["timetable"])
        #expect(Self.kinds(Self.ask(one, by: 99, windows: [(1000, 1)])) == ["timetable"])
    }

    @Test func `without a speed or a size nothing is claimed`() throws {
        let none = Self.ask([try Self.lecture("a")], speed: nil)
        #expect(none.isReady == nil && none.end == nil && none.ready == 0 && Self.kinds(none) == ["speed"])
        let unsized = Self.ask([try Self.lecture("a", left: nil, total: nil)])
        #expect(unsized.isReady == nil && unsized.obstacles[0].message.contains("size"))
        // The median of the known sizes stands for the others.
        let mixed = try [
            Self.lecture("a", total: 100), Self.lecture("b", left: 0, total: 300),
            Self.lecture("c", left: nil, total: nil),
            Self.lecture("d", left: 0, total: 9000),
        ]
        let answer = Self.ask(mixed)
        #expect(answer.isReady == true && answer.estimated == 1 && answer.bytesLeft == 400 && answer.end == monday(40))
        let known = ForecastSpeeds([MeasuredSpeed(origin: "x", bytes: 100, busy: .seconds(10))])
        let elsewhere = Readiness(
            mixed, speeds: known,
            limits: ReadinessLimits(windows: [PaceWindow(start: Self.now, end: monday(1000), bytesPerSecond: nil)]),
            by: nil, now: Self.now)
        #expect(elsewhere.isReady == true)
    }

    @Test func `space counts with what accepted rules would free`() throws {
        let one = [try Self.lecture("a")]
        let cases: [(space: Int64?, quota: Int64?, prunable: Int64, kinds: [String])] = [
            (nil, nil, 0, []), (100, 100, 0, []), (99, 100, 0, ["space"]), (100, 99, 0, ["quota"]),
            (0, 0, 0, ["space", "quota"]), (0, 0, 100, []), (99, nil, 1, []),
        ]
        for (space, quota, prunable, kinds) in cases {
            let answer = Self.ask(one) { ($0.space, $0.quota, $0.prunable) = (space, quota, prunable) }
            #expect(Self.kinds(answer) == kinds && answer.isReady == kinds.isEmpty, "\(kinds)")
            #expect(answer.end == monday(10) && answer.obstacles.allSatisfy { !$0.remedy.isEmpty })
        }
    }

    @Test func `what is paused or has failed is not waited for, and is named`() throws {
        let lectures = try [
            Self.lecture("paused") { $0.hindrance = .init(.paused, "Paused.", remedy: "Resume it.") },
            Self.lecture("a"), Self.lecture("failed") { $0.hindrance = .init(.failed, "Failed.", remedy: "Retry.") },
            Self.lecture("done", left: 0) { $0.hindrance = .init(.failed, "Old.", remedy: "") },
            Self.lecture("later") { $0.notBefore = monday(60) },
        ]
        let answer = Self.ask(lectures)
        #expect(Self.kinds(answer) == ["paused", "failed"] && answer.isReady == false && answer.ready == 3)
        #expect(answer.end == monday(70) && answer.obstacles.map(\.key?.text) == ["paused", "failed"])
        #expect(answer.bytesLeft == 200)
    }

    @Test func `a licence has to permit a play at the time`() throws {
        func kinds(_ standing: LicenceStanding, starts: Double? = nil, ends: Double? = nil, left: Int64 = 0) throws
            -> [String]
        {
            var policy = LicencePolicy()
            (policy.startsAt, policy.expiresAt) = (starts.map(monday), ends.map(monday))
            let lecture = try Self.lecture("a", left: left) { ($0.licence, $0.standing) = (policy, standing) }
            let answer = Self.ask([lecture, try Self.lecture("b")])
            #expect(answer.ready == (answer.obstacles.isEmpty ? 2 : 1))
            return answer.obstacles.map { "\($0.kind.rawValue): \($0.message)" }
        }
        #expect(try kinds(.valid) == [] && kinds(.valid, starts: 100, ends: 101) == [])
        #expect(try kinds(.valid, ends: 100) == ["licence: Its licence ends before."])
        #expect(try kinds(.valid, starts: 101, left: 10) == ["licence: Its licence begins later."])
        #expect(try kinds(.ended(.expired)) == ["licence: Its licence has ended for good."])
        #expect(try kinds(.renewable, ends: 1) == ["licence: Its licence has ended."])
        #expect(try kinds(.doubtful) == ["licence: Its licence is in doubt."] && kinds(.unneeded) == [])
    }
}
