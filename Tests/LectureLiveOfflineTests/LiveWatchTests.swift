import LectureFormats
import LectureKit
import LectureLive
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureLiveOffline

/// A time that tests move: waits end when it has passed them.
final class MovedTime: Sendable {
    private struct State {
        var passed = Duration.zero
        var waits: [(until: Duration, continuation: CheckedContinuation<Void, Never>)] = []
        var arrivals: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var arrived = 0
    }
    private let state = Guarded(State())
    static let start = Timestamp(milliseconds: 1_764_320_400_000)

    var clock: LiveClock {
        LiveClock(
            now: { Self.start + self.state.withLock(\.passed) }, monotonic: { self.state.withLock(\.passed) },
            pause: { [self] duration in await wait(duration) })
    }

    private func wait(_ duration: Duration) async {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state in
                state.waits.append((state.passed + duration, continuation))
                state.arrived += 1
                let ready = state.arrivals.filter { $0.count <= state.arrived }
                state.arrivals.removeAll { $0.count <= state.arrived }
                return ready
            }
            for arrival in ready { arrival.continuation.resume() }
        }
    }

    /// Waits until so many waits have been made since the start.
    func waits(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrived < count { state.arrivals.append((count, continuation)) }
                return state.arrived >= count
            }
            if isThere { continuation.resume() }
        }
    }

    /// Lets time pass.
    func pass(_ duration: Duration) {
        let due = state.withLock { state in
            state.passed += duration
            let passed = state.passed
            defer { state.waits.removeAll { $0.until <= passed } }
            return state.waits.filter { $0.until <= passed }
        }
        for wait in due { wait.continuation.resume() }
    }
}

/// What is watched of a live lecture, up to the LMS.
@Suite(.timeLimit(.minutes(1)))
struct LiveWatchNetTests {
    private let directory: TemporaryDirectory
    private let time = MovedTime()

    init() throws { directory = try TemporaryDirectory() }

    private func manager(_ change: (inout LectureConfiguration) -> Void = { _ in }) throws -> LectureManager {
        var configuration = LectureConfiguration(storeDirectory: directory.file("store"))
        change(&configuration)
        return try LectureManager(configuration)
    }

    private func lecture(age: Duration = .seconds(600)) throws -> LiveLecture {
        var room = VideoRoom(id: 7, state: .live, title: "Algebra", channelID: 42)
        (room.uuid, room.liveStartedAt) = ("0193-ab", MovedTime.start + (.zero - age))
        return try LiveLecture(room, host: "live.example")
    }

    private func values(_ manager: LectureManager) async throws -> [JSONValue] {
        try await manager.reports.list().rows.map { try JSONScanner.value(of: $0.values) }
    }

    @Test func `watched seconds reach the LMS, those of an interruption do not`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let manager = try manager {
            $0.statistics.target = ReportTarget(url: "\(sandbox.http)/lms/json", format: .json)
        }
        let watch = try await LiveWatch(
            manager, lecture: lecture(), user: "kim", target: nil, period: .seconds(30), time: time.clock)
        await watch.plays()
        time.pass(.seconds(7))
        await watch.waits()
        time.pass(.seconds(60))
        await watch.plays()
        time.pass(.seconds(5))
        await watch.ends()
        await watch.ends()
        await watch.plays()
        let rows = try await manager.reports.list().rows
        #expect(Set(rows.map(\.session)) == [watch.session] && rows.allSatisfy { $0.user == "kim" })
        let last = try #require(try await values(manager).last?["content_info"])
        #expect(last["playtime"]?.integer == 12 && last["channel_key"]?.string == "42")
        #expect(last["media_content_key"]?.string == "live-0193-ab" && last["last_play_at"]?.integer == 672)
        let sent = try await manager.reports.send()
        let left = try await manager.reports.list().rows
        #expect(sent.delivered == rows.count, "\(sent), after \(left)")
        let summary = try await sandbox.lmsSummary("/lms/json")
        #expect(summary.once == rows.count, "\(summary)")
        await manager.close()
    }

    /// The tick that is due and the end wait for the store at the same time.
    @Test func `no report follows the last one`() async throws {
        let manager = try manager()
        let target = ReportTarget(url: "http://127.0.0.1:9/", format: .json)
        for round in 0..<60 {
            let time = MovedTime()
            let watch = try await LiveWatch(
                manager, lecture: lecture(), user: "kim", target: target, period: .seconds(10), time: time.clock)
            await watch.plays()
            await time.waits(1)
            time.pass(.seconds(10))
            // The tick gets further and further before the end.
            for _ in 0..<round % 12 { await Task.yield() }
            await watch.ends()
            func reports() async throws -> [String] {
                try await manager.reports.list().rows.filter { $0.session == watch.session }.map(\.values)
            }
            let atTheEnd = try await reports()
            #expect(try JSONScanner.value(of: #require(atTheEnd.last))["PLAY_STATUS"]?.string == "stop")
            // What still waited for the store has come by then.
            for _ in 0..<20 { _ = try await manager.reports.summary() }
            #expect(try await reports() == atTheEnd)
        }
        await manager.close()
    }

    @Test func `a long play is stored every ten seconds and reported every thirty`() async throws {
        let manager = try manager()
        let watch = try await LiveWatch(
            manager, lecture: lecture(), user: "kim", target: nil, period: .seconds(30), time: time.clock)
        await watch.plays()
        for tick in 1...6 {
            await time.waits(tick)
            time.pass(.seconds(10))
        }
        // The pause after the sixth tick is made when that has stored its report.
        await time.waits(7)
        #expect(try await values(manager).map { $0["content_info"]?["playtime"]?.integer } == [30, 60])
        await watch.ends()
        #expect(try await values(manager).last?["PLAY_STATUS"]?.string == "stop")
        await manager.close()
    }

    @Test func `what a killed program had stored is reported by the next one`() async throws {
        let manager = try manager()
        let watch = try await LiveWatch(
            manager, lecture: lecture(), user: "kim", target: nil, period: .seconds(3600), time: time.clock)
        await watch.plays()
        for tick in 1...3 {
            await time.waits(tick)
            time.pass(.seconds(10))
        }
        await time.waits(4)
        #expect(try await values(manager).isEmpty)
        await manager.close()
        let next = try self.manager()
        _ = try await next.reports.send()
        let reported = try await values(next)
        #expect(reported.map { $0["content_info"]?["playtime"]?.integer } == [30])
        #expect(reported.map { $0["content_info"]?["channel_key"]?.string } == ["42"])
        await next.close()
    }

    @Test func `a store that is closed too early is a failure that is reported, not a crash`() async throws {
        let manager = try manager()
        let watch = try await LiveWatch(
            manager, lecture: lecture(), user: "kim", target: nil, period: .seconds(30), time: time.clock)
        await watch.plays()
        time.pass(.seconds(5))
        await manager.close()
        await watch.ends()
        var codes: [LectureError.Code] = []
        for await error in watch.failures { codes.append(error.code) }
        #expect(codes == [.closing])
    }

    @Test func `a room that was never live, or has no name of its own, has no lecture`() throws {
        var room = VideoRoom(id: 7, state: .scheduled, title: "Algebra", channelID: 42)
        for (uuid, startedAt) in [("", MovedTime.start), ("0193", nil)] as [(String, Timestamp?)] {
            (room.uuid, room.liveStartedAt) = (uuid, startedAt)
            #expect { try LiveLecture(room) } throws: { ($0 as? LectureError)?.code == .parameter }
        }
        (room.uuid, room.liveStartedAt) = ("0193", MovedTime.start)
        let lecture = try LiveLecture(room)
        #expect(try lecture.key == ContentKey("live-0193") && lecture.channel == 42 && lecture.host == "")
        #expect(lecture == LiveLecture(key: lecture.key, channel: 42, startedAt: MovedTime.start))
    }
}
