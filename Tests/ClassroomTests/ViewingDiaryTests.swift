import Foundation
import LectureKit
import LectureModel
import LectureServedMedia
import LectureTestSupport
import Testing

@testable import LectureServe

/// Diaries and plays with a real store, by a clock that only the test advances.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct ViewingDiaryTests {
    private static let channel = #","lms":[{"url":"http://127.0.0.1:9/lms","period_s":30}]"#

    private static func report(
        _ sequence: Int, _ played: [(Double, Double)], _ state: String = "playing"
    ) throws -> ViewingReport {
        let stretches = played.map { #"{"from":\#($0),"to":\#($1)}"# }.joined(separator: ",")
        let text = #"{"sequence":\#(sequence),"state":"\#(state)","played":[\#(stretches)]}"#
        return try #require(ViewingReport(Array(text.utf8)))
    }

    /// A diary, and how many reports its person has after each step.
    private struct Steps {
        let school: School
        let diary: ViewingDiary
        let clock = VirtualClock()

        init(_ school: School, _ key: ContentKey) async throws {
            self.school = school
            let content = try #require(try await school.manager.contents.find(key))
            diary = ViewingDiary(school.manager, content, user: "kim", clock)
        }

        func add(at seconds: Int64, _ report: ViewingReport) async throws -> (isNew: Bool, count: Int) {
            clock.advance(to: BootInstant(nanoseconds: seconds * 1_000_000_000))
            let isNew = try await diary.add(report)
            return (isNew, try await school.reports(of: "kim").count)
        }
    }

    @Test func `reports are made at the first play, when one is due, after a jump, at a pause and at the end`()
        async throws
    {
        let school = try await School()
        let steps = try await Steps(school, try await school.keep("film.mp4", as: "film", Self.channel))
        let all: [(Int64, ViewingReport, Bool, Int, String)] = [
            (1, try Self.report(1, []), true, 0, "nothing was watched"),
            (2, try Self.report(2, [], "paused"), true, 0, "nor at a pause"),
            (3, try Self.report(3, [(0, 1)]), true, 1, "the first play"),
            (9, try Self.report(4, [(1, 2)]), true, 1, "none is due"),
            (10, try Self.report(4, [(1, 2)]), false, 1, "twice"),
            (32, try Self.report(5, [(2, 3)]), true, 1, "a second before"),
            (33, try Self.report(6, [(3, 4)]), true, 2, "after the channel's 30 seconds"),
            (34, try Self.report(7, [(8, 9)]), true, 3, "a jump"),
            (35, try Self.report(8, [], "paused"), true, 4, "a pause"),
            (36, try Self.report(9, [(9, 10)], "ended"), true, 5, "the end of the lecture"),
            (37, try Self.report(10, [], "closed"), true, 6, "the end of the play"),
            (38, try Self.report(11, [], "closed"), true, 6, "which is one"),
        ]
        for (seconds, report, isNew, count, why) in all {
            let step = try await steps.add(at: seconds, report)
            #expect(step.isNew == isNew && step.count == count, "\(why): \(step)")
        }
        try await steps.diary.close()
        let reports = try await school.reports(of: "kim")
        #expect(reports.count == 6 && reports.last?["PLAY_STATUS"] as? String == "stop")
        let seen = try #require(reports.last?["TIMEMAP_DATA"] as? [[NSNumber]]).map { $0.map(\.intValue) }
        #expect(seen == [[0, 4], [8, 10]], "\(seen)")
        await #expect(throws: ClassroomRefusal.unknownPlay) { try await steps.diary.add(try Self.report(12, [])) }
        await school.end()
    }

    @Test func `what cannot be is in no report, and reports go on`() async throws {
        let school = try await School()
        let steps = try await Steps(school, try await school.keep("film.mp4", as: "film", #","duration":10"#))
        #expect(try await steps.add(at: 1, try Self.report(1, [(0, 1)])).count == 1)
        let refused = [[(0.0, 500.0)], [(9.0, 13.0)], [(0, 8), (0, 8)], [(1, 2), (20, 21)]]
        for played in refused {
            await #expect(throws: ClassroomRefusal.progress) {
                try await steps.add(at: 1, try Self.report(2, played, "paused"))
            }
        }
        #expect(try await school.reports(of: "kim").count == 1)
        let last = try await steps.add(at: 3, try Self.report(2, [(1, 2)], "closed"))
        #expect(last.isNew && last.count == 2)
        let seen = try await school.reports(of: "kim").last?["TIMEMAP_DATA"] as? [[NSNumber]]
        #expect(seen?.map { $0.map(\.intValue) } == [[0, 2]], "\(String(describing: seen))")
        await school.end()
    }

    @Test func `a diary without a word makes no report, and one of a lecture that is gone says so`() async throws {
        let school = try await School()
        let key = try await school.keep("film.mp4", as: "film")
        let (silent, late) = (try await Steps(school, key), try await Steps(school, key))
        try await silent.diary.close()
        try await silent.diary.close()
        #expect(try await school.reports(of: "kim").isEmpty)
        try await school.manager.downloads.remove(key)
        #expect(try await school.manager.downloads.waitUntilIdle(deadline: .seconds(30)))
        let report = try Self.report(1, [(0, 1)])
        await #expect(throws: ClassroomRefusal(LectureError(.unknownContent, detail: "film"))) {
            try await late.add(at: 1, report)
        }
        #expect(try await school.reports(of: "kim").isEmpty)
        await school.end()
    }

    // MARK: Plays

    private static let kim = SitePerson(name: "kim", role: .viewer)

    /// The plays of a school beside those of its server.
    private static func plays(
        _ school: School, _ change: (inout ClassroomOptions) -> Void = { _ in }
    ) -> ClassroomPlays {
        var options = ClassroomOptions()
        change(&options)
        return ClassroomPlays(school.manager, options, VirtualClock())
    }

    @Test func `a play that is left for too long ends, and one that has time does not`() async throws {
        let school = try await School()
        let key = try await school.keep("film.mp4", as: "film")
        let (short, long) = (Self.plays(school) { $0.idleLimit = .zero }, Self.plays(school))
        let (left, kept) = (try await short.open(key, for: Self.kim), try await long.open(key, for: Self.kim))
        #expect(try short.find(left.served.token, of: Self.kim).served.token == left.served.token)
        short.tick()
        long.tick()
        #expect(await left.served.ending() == .closed)
        #expect(throws: ClassroomRefusal.unknownPlay) { try short.find(left.served.token, of: Self.kim) }
        await kept.served.check()
        #expect(try long.find(kept.served.token, of: Self.kim).served.isOver == false)
        // A program that comes back for it has a new one.
        let first = try await long.program(key, for: Self.kim)
        #expect(try await long.program(key, for: Self.kim).served.token == first.served.token)
        await first.served.end(.closed)
        #expect(try await long.program(key, for: Self.kim).served.token != first.served.token)
        await long.stop()
        #expect(kept.served.isOver)
        await school.end()
    }

    @Test func `programs that ask at once share a play, and persons do not`() async throws {
        let school = try await School()
        let key = try await school.keep("film.mp4", as: "film")
        let plays = Self.plays(school)
        let persons = [
            Self.kim, SitePerson(name: "lee", role: .viewer), SitePerson(name: "kim", role: .operator),
            SitePerson(name: "kim", role: .viewer, lecture: "film"),
        ]
        var tokens: [SitePerson: Set<String>] = [:]
        try await withThrowingTaskGroup(of: (SitePerson, String).self) { group in
            for place in 0..<40 {
                let person = persons[place % persons.count]
                group.addTask { (person, try await plays.program(key, for: person).served.token) }
            }
            for try await (person, token) in group { tokens[person, default: []].insert(token) }
        }
        #expect(tokens.values.allSatisfy { $0.count == 1 } && Set(tokens.values.flatMap(\.self)).count == 4)
        for (owner, token) in tokens.compactMapValues(\.first) {
            for person in persons where person != owner {
                #expect(throws: SiteRefusal.notPermitted) { try plays.find(token, of: person) }
            }
            #expect(try plays.find(token, of: owner).person == owner)
        }
        await plays.stop()
        await school.end()
    }

    @Test func `a stopped classroom opens nothing, and is closed for now`() async throws {
        let school = try await School()
        let key = try await school.keep("film.mp4", as: "film")
        let plays = Self.plays(school)
        let open = try await plays.open(key, for: Self.kim)
        await plays.stop()
        #expect(await open.served.ending() == .closed)
        let closing = ClassroomRefusal(LectureError(.closing))
        await #expect(throws: closing) { try await plays.open(key, for: Self.kim) }
        await #expect(throws: closing) { try await plays.program(key, for: Self.kim) }
        #expect(closing.status == 503)
        await school.end()
    }
}
