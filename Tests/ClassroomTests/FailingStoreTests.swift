import Foundation
import LectureKit
import LectureModel
import LectureServedMedia
import LectureTestSupport
import Testing

@testable import LectureServe

/// What viewers report while the store cannot take it.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct FailingStoreTests {
    /// What the store cannot do, as another program would cause it, and what ends that.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let begin: String
        let end: String

        static let all = [
            Fault(
                testDescription: "its lectures cannot be read",
                begin: "PRAGMA legacy_alter_table = ON; ALTER TABLE content RENAME TO content_away",
                end: "PRAGMA legacy_alter_table = ON; ALTER TABLE content_away RENAME TO content"),
            Fault(
                testDescription: "no play can be stored",
                begin: "CREATE TRIGGER f1 BEFORE INSERT ON play_session BEGIN SELECT RAISE(ABORT, 'full'); END",
                end: "DROP TRIGGER f1"),
            Fault(
                testDescription: "no report can be stored",
                begin: "CREATE TRIGGER f2 BEFORE INSERT ON report BEGIN SELECT RAISE(ABORT, 'full'); END",
                end: "DROP TRIGGER f2"),
            Fault(
                testDescription: "no place can be stored",
                begin:
                    "CREATE TRIGGER f3 BEFORE INSERT ON viewer_resume_point BEGIN SELECT RAISE(ABORT, 'full'); END",
                end: "DROP TRIGGER f3"),
        ]
    }

    private static func run(_ sql: String, _ school: School) async throws {
        let ending = try await ChildProcess.run(
            Places.command("sqlite3"), ["-bail", school.directory.file("store/lecturekit.db"), sql])
        #expect(ending.status == 0, "\(ending.errorText)")
    }

    private static func report(_ sequence: Int, _ from: Int, _ to: Int, _ state: String = "playing") throws
        -> ViewingReport
    {
        let text =
            #"{"sequence":\#(sequence),"state":"\#(state)","duration":100,"played":[{"from":\#(from),"to":\#(to)}]}"#
        return try #require(ViewingReport(Array(text.utf8)))
    }

    /// A diary that has been open for a long time.
    private static func diary(_ school: School, _ key: ContentKey) async throws -> ViewingDiary {
        let (content, clock) = (try #require(try await school.manager.contents.find(key)), VirtualClock())
        let diary = ViewingDiary(school.manager, content, user: "kim", clock)
        clock.advance(to: BootInstant(nanoseconds: 1000 * 1_000_000_000))
        return diary
    }

    private static func seen(_ school: School) async throws -> [[Int]]? {
        let last = try await school.reports(of: "kim").last?["TIMEMAP_DATA"] as? [[NSNumber]]
        return last?.map { $0.map(\.intValue) }
    }

    @Test(arguments: Fault.all)
    func `a first report is kept while the store fails, and stored when it is sent again`(fault: Fault) async throws {
        let school = try await School()
        let diary = try await Self.diary(school, try await school.keep("film.mp4", as: "film"))
        try await Self.run(fault.begin, school)
        let first = try Self.report(1, 0, 5)
        for _ in 0..<2 {
            let refusal = await #expect(throws: ClassroomRefusal.self) { try await diary.add(first) }
            // The script sends it again after such a status.
            #expect((refusal?.status ?? 0) >= 500, "\(String(describing: refusal))")
        }
        #expect(try await school.reports(of: "kim").isEmpty)
        try await Self.run(fault.end, school)
        #expect(try await diary.add(first) == false, "it was taken the first time")
        #expect(try await Self.seen(school) == [[0, 5]])
        try await diary.close()
        #expect(try await Self.seen(school) == [[0, 5]], "and is counted once")
        await school.end()
    }

    @Test(arguments: Fault.all)
    func `what was reported while the store failed is in the last report, in its order`(fault: Fault) async throws {
        let school = try await School()
        let diary = try await Self.diary(school, try await school.keep("film.mp4", as: "film"))
        try await Self.run(fault.begin, school)
        for (number, state) in [(1, "playing"), (2, "paused"), (3, "playing")] {
            let report = try Self.report(number, number * 10, number * 10 + 4, state)
            await #expect(throws: ClassroomRefusal.self) { try await diary.add(report) }
        }
        await #expect(throws: ClassroomRefusal.self) { try await diary.close() }
        await #expect(throws: ClassroomRefusal.unknownPlay, "the play is over") {
            try await diary.add(try Self.report(4, 0, 1))
        }
        await #expect(throws: ClassroomRefusal.self) { try await diary.close() }
        try await Self.run(fault.end, school)
        try await diary.close()
        try await diary.close()
        #expect(try await Self.seen(school) == [[10, 14], [20, 24], [30, 34]])
        let reports = try await school.reports(of: "kim")
        #expect(reports.last?["PLAY_STATUS"] as? String == "stop")
        let point = try await ViewerPlaces.point(of: try ContentKey("film"), viewer: "kim", in: school.manager.contents)
        #expect(point == .seconds(34))
        await school.end()
    }

    @Test func `a viewer who reports on and on fills no memory while the store fails`() async throws {
        let school = try await School()
        let diary = try await Self.diary(school, try await school.keep("film.mp4", as: "film"))
        try await Self.run(Fault.all[0].begin, school)
        for number in 1...ViewingDiary.mostEntries {
            await #expect(throws: ClassroomRefusal.self) { try await diary.add(try Self.report(number, 0, 1)) }
        }
        let more = try Self.report(ViewingDiary.mostEntries + 1, 50, 51)
        await #expect(throws: ClassroomRefusal.self) { try await diary.add(more) }
        try await Self.run(Fault.all[0].end, school)
        #expect(try await diary.add(more), "it was not taken, and is not lost")
        #expect(try await Self.seen(school) == [[0, 1], [50, 51]])
        await school.end()
    }

    @Test func `a play whose end the store did not take is closed at a later look`() async throws {
        let school = try await School()
        let key = try await school.keep("film.mp4", as: "film")
        var options = ClassroomOptions()
        options.idleLimit = .zero
        let plays = ClassroomPlays(school.manager, options, SystemTime.clock)
        let play = try await plays.open(key, for: SitePerson(name: "kim", role: .viewer))
        try await Self.run(Fault.all[0].begin, school)
        let report = try Self.report(1, 0, 2)
        await #expect(throws: ClassroomRefusal.self) { try await play.diary.add(report) }
        plays.tick()
        #expect(await play.served.ending() == .closed)
        try await Self.run(Fault.all[0].end, school)
        let events = school.manager.events
        await plays.stop()
        #expect(try await Self.seen(school) == [[0, 2]])
        withExtendedLifetime(events) {}
        await school.end()
    }

    @Test func `a store that fails until the server has stopped is reported`() async throws {
        let school = try await School()
        let key = try await school.keep("film.mp4", as: "film")
        let plays = ClassroomPlays(school.manager, ClassroomOptions(), SystemTime.clock)
        let play = try await plays.open(key, for: SitePerson(name: "kim", role: .viewer))
        try await Self.run(Fault.all[2].begin, school)
        let report = try Self.report(1, 0, 2)
        await #expect(throws: ClassroomRefusal.self) { try await play.diary.add(report) }
        let events = school.manager.events
        await plays.stop()
        for await case .trouble(let error) in events {
            #expect(error.code == .storeFailed, "\(error)")
            break
        }
        try await Self.run(Fault.all[2].end, school)
        await school.end()
    }
}
