import LectureKit
import Testing

@testable import LecturePlayer

@Suite struct PermissionTimetableTests {
    /// A timetable whose changes may stand inside an expectation.
    private final class Clerk {
        private var timetable: PermissionTimetable

        init(check: Duration? = nil, register: Duration? = nil, left: Duration? = nil) {
            var permission = PlayPermission()
            (permission.checkPeriod, permission.duplicatePeriod, permission.timeLeft) = (check, register, left)
            timetable = PermissionTimetable(permission, at: .seconds(100))
        }

        func due(at now: Duration) -> [PermissionTimetable.Action] { timetable.due(at: now) }

        func answered(_ request: PermissionTimetable.Request, _ error: LectureError?, at now: Duration) -> Bool {
            timetable.answered(request, error, at: now)
        }
    }

    @Test func `a permission without a period asks nothing, and does not end`() {
        let timetable = Clerk()
        #expect(timetable.due(at: .seconds(100)).isEmpty)
        #expect(timetable.due(at: .seconds(1_000_000)).isEmpty)
    }

    @Test func `the first check is due at once, and the next ones a period after each answer`() {
        let timetable = Clerk(check: .seconds(300))
        #expect(timetable.due(at: .seconds(100)) == [.ask(.check)])
        #expect(timetable.due(at: .seconds(900)).isEmpty, "one is under way")
        #expect(!timetable.answered(.check, nil, at: .seconds(901)))
        #expect(timetable.due(at: .seconds(1200)).isEmpty)
        #expect(timetable.due(at: .seconds(1201)) == [.ask(.check)])
    }

    @Test func `a failed check is repeated after 30 s at most, and never ends a play`() {
        for (period, wait) in [(300, 30), (5, 5)] {
            let timetable = Clerk(check: .seconds(period))
            var now = Duration.seconds(100)
            for _ in 1...50 {
                #expect(timetable.due(at: now) == [.ask(.check)])
                let isOver = timetable.answered(.check, LectureError(.playCallbackTransfer(7)), at: now)
                #expect(!isOver)
                #expect(timetable.due(at: now + .seconds(wait) - .milliseconds(1)).isEmpty)
                now += .seconds(wait)
            }
        }
    }

    @Test(arguments: [LectureError.Code.playPermissionRefused, .playPermissionExpired])
    func `an answer that ends the permission ends the play`(code: LectureError.Code) {
        let timetable = Clerk(check: .seconds(30))
        _ = timetable.due(at: .seconds(100))
        let isOver = timetable.answered(.check, LectureError(code), at: .seconds(101))
        #expect(isOver)
    }

    @Test func `the end of the permission ends the play, whatever is under way`() {
        let timetable = Clerk(check: .seconds(30), register: .seconds(30), left: .seconds(60))
        _ = timetable.due(at: .seconds(100))
        #expect(timetable.due(at: .seconds(159)) == [.ask(.register)])
        #expect(timetable.due(at: .seconds(160)) == [.end(.playPermissionExpired)])
        #expect(timetable.due(at: .seconds(161)) == [.end(.playPermissionExpired)])
    }

    @Test func `the play was registered with the permission, and is again each period`() {
        let timetable = Clerk(register: .seconds(30))
        #expect(timetable.due(at: .seconds(100)).isEmpty)
        #expect(timetable.due(at: .seconds(130)) == [.ask(.register)])
        #expect(!timetable.answered(.register, nil, at: .seconds(130)))
        #expect(timetable.due(at: .seconds(159)).isEmpty)
        #expect(timetable.due(at: .seconds(160)) == [.ask(.register)])
        let isOver = timetable.answered(.register, LectureError(.duplicatePlay), at: .seconds(161))
        #expect(isOver)
    }

    @Test func `the third failed registration in a row ends the play`() {
        let failure = LectureError(.duplicateCheckFailed)
        let timetable = Clerk(register: .seconds(30))
        var now = Duration.seconds(130)
        for outcome in [failure, failure, nil, failure, failure] {
            #expect(timetable.due(at: now) == [.ask(.register)])
            #expect(!timetable.answered(.register, outcome, at: now))
            now += .seconds(30)
        }
        #expect(timetable.due(at: now) == [.ask(.register)])
        let isOver = timetable.answered(.register, failure, at: now)
        #expect(isOver)
    }

    @Test func `what a permission and an application limit is what both allow, else the permission's`() {
        var permission = PlayPermission()
        (permission.section, permission.playTimeLeft) = (.seconds(10) ..< .seconds(20), .seconds(60))
        permission.playTimeUnit = .running
        func narrowed(_ terms: PlayTerms, by permission: PlayPermission?) -> PlayTerms {
            var terms = terms
            terms.narrow(by: permission)
            return terms
        }
        let whole = narrowed(PlayTerms(start: .seconds(3)), by: permission)
        #expect(whole.section == .seconds(10) ..< .seconds(20) && whole.start == .seconds(3))
        #expect(whole.limit == PlayLimit(unit: .running, left: .seconds(60), code: .playPermissionUsedUp))
        let asked: [(Range<Duration>, Range<Duration>)] = [
            (.seconds(0) ..< .seconds(15), .seconds(10) ..< .seconds(15)),
            (.seconds(12) ..< .seconds(13), .seconds(12) ..< .seconds(13)),
            (.seconds(19) ..< .seconds(90), .seconds(19) ..< .seconds(20)),
            (.seconds(20) ..< .seconds(30), .seconds(10) ..< .seconds(20)),
            (.seconds(0) ..< .seconds(10), .seconds(10) ..< .seconds(20)),
        ]
        for (section, due) in asked {
            #expect(narrowed(PlayTerms(section: section), by: permission).section == due)
        }
        let unlimited = PlayTerms(start: .seconds(3), section: .seconds(1) ..< .seconds(2))
        #expect(narrowed(unlimited, by: nil) == unlimited)
    }

    @Test func `play time of a permission ends with its own code`() {
        var machine = PlayerMachine()
        _ = machine.handle(.play, at: .zero)
        let limit = PlayLimit(unit: .media, left: .seconds(2), code: .playPermissionUsedUp)
        _ = machine.handle(.permitted(PlayTerms(limit: limit)), at: .zero)
        _ = machine.handle(.engine(.ready(.zero)), at: .zero)
        _ = machine.handle(.counted(period: nil), at: .zero)
        for (place, isOver) in [(1900, false), (2000, true)] {
            #expect(!machine.state.isOver)
            _ = machine.handle(.engine(.position(.milliseconds(place))), at: .milliseconds(place))
            _ = machine.handle(.tick, at: .milliseconds(place))
            #expect(machine.state.isOver == isOver)
        }
        #expect(machine.state == .stopped(.failed(LectureError(.playPermissionUsedUp))))
    }
}
