import Foundation
import LectureKit
import LectureTestSupport
import Testing

@testable import LecturePlayer

/// Random actions in plays: the real rules, the real store and real reports, against a model of what was watched.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct PlayWalkNetTests {
    /// An engine that knows what it has shown.
    private struct Model {
        var place: Duration = .zero
        var isPaused = false
        var rate = 1.0
        var shown: Duration = .zero
        /// Milliseconds that were seen at least once.
        var seen = IndexSet()

        mutating func run(for time: Duration) {
            guard !isPaused else { return }
            let step = Duration.milliseconds(Int64((time / .milliseconds(1) * rate).rounded()))
            let start = Int(place / .milliseconds(1))
            seen.insert(integersIn: start..<start + Int(step / .milliseconds(1)))
            place += step
            shown += step
        }
    }

    /// One play: what a player does with its engine and its store, in virtual time.
    private struct Walk {
        var session = MachineSession()
        var model = Model()
        var random: SeededGenerator
        let recorder: PlayRecorder
        private var tick: Duration = .seconds(1)

        init(_ recorder: PlayRecorder, _ random: SeededGenerator) async throws {
            (self.recorder, self.random) = (recorder, random)
            session.plays()
            try await perform(session.effects)
        }

        mutating func take(_ input: PlayerInput, after time: Duration = .zero) async throws {
            try await perform(session.take(input, after: time))
            guard session.now >= tick else { return }
            tick = session.now + .seconds(1)
            try await perform(session.take(.tick))
        }

        /// As the player does it.
        private func perform(_ effects: [PlayerEffect]) async throws {
            for effect in effects {
                switch effect {
                case .record(let interval):
                    await recorder.record(interval)
                    try await recorder.keep()
                case .report: try await recorder.report()
                default: break
                }
            }
        }

        mutating func act() async throws {
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1:
                let target = Duration.milliseconds(Int.random(in: 0..<3_000_000, using: &random))
                if Bool.random(using: &random) { try await take(.seek(target)) }
                try await take(.engine(.seeking))
                try await take(
                    .engine(.ready(target)), after: .milliseconds(Int.random(in: 0..<400, using: &random)))
                model.place = target
            case 2:
                model.isPaused.toggle()
                try await take(.engine(.paused(model.isPaused)))
            case 3:
                model.rate = [0.5, 1, 1.5, 2, 10].randomElement(using: &random) ?? 1
                try await take(.rate(model.rate))
                try await take(.engine(.rate(model.rate)))
            case 4:
                try await take(.engine(.buffering(true)))
                try await take(
                    .engine(.buffering(false)), after: .milliseconds(Int.random(in: 0..<900, using: &random)))
            case 5:
                // A section is repeated: libmpv jumps back without an event.
                guard !model.isPaused, model.place > .seconds(60) else { return }
                model.place -= .seconds(Int.random(in: 3..<60, using: &random))
                try await take(.engine(.position(model.place)))
            default:
                for _ in 0..<8 {
                    let time = Duration.milliseconds(Int.random(in: 50..<200, using: &random))
                    model.run(for: time)
                    try await take(.engine(.position(model.place)), after: time)
                }
            }
        }
    }

    /// What the newest report of a play says, in seconds.
    ///
    /// - Parameters:
    ///   - session: the play.
    ///   - place: after the reports of earlier plays; moves on.
    ///   - manager: the store.
    /// - Returns: the sums, and whether one of the reports is the last one.
    /// - Throws: `LectureError`.
    private static func report(
        of session: String, after place: inout ReportPage.Place?, in manager: LectureManager
    ) async throws -> (playtime: Int, real: Int, status: String) {
        var rows: [ReportStatus] = []
        repeat {
            let page = try await manager.reports.list(from: place)
            rows += page.rows.filter { $0.session == session }
            guard let next = page.next else { break }
            place = next
        } while true
        var newest = (playtime: -1, real: -1, status: "")
        for row in rows {
            let values = try JSONSerialization.jsonObject(with: Data(row.values.utf8)) as? [String: Any]
            guard let info = values?["content_info"] as? [String: Any], let playtime = info["playtime"] as? Int,
                let real = info["real_playtime"] as? Int, playtime >= newest.playtime
            else { continue }
            let status = values?["PLAY_STATUS"] as? String ?? ""
            newest = (playtime, real, newest.status == "stop" ? "stop" : status)
        }
        return newest
    }

    /// Ten plays of a hundred actions, with `Tools/soak` two hundred.
    @Test func `what was watched is reported to the second, also when the program is killed`() async throws {
        let cinema = try await Cinema()
        await cinema.manager.close()
        let (seed, count) = (RunSize.seed, RunSize.count(10, soak: 200))
        var random = SeededGenerator(seed: seed)
        var manager = try LectureManager(cinema.configuration)
        var bookmarks: [Int64: String] = [:]
        var place: ReportPage.Place?
        for play in 0..<count {
            let recorder = try await manager.reports.recordPlay(of: cinema.key, user: "kim", duration: .seconds(3600))
            var walk = try await Walk(recorder, SeededGenerator(seed: random.next()))
            for _ in 0..<100 {
                try await walk.act()
                guard Int.random(in: 0..<20, using: &random) == 0 else { continue }
                let second = Int64(walk.model.place / .seconds(1))
                bookmarks[second] = "\(play)"
                try await manager.bookmarks.add("\(play)", at: .seconds(second), to: cinema.key, user: "kim")
                if Bool.random(using: &random), let other = bookmarks.keys.min() {
                    bookmarks[other] = nil
                    try await manager.bookmarks.remove(at: .seconds(other), from: cinema.key, user: "kim")
                }
            }
            let isKilled = Int.random(in: 0..<10, using: &random) < 4
            if isKilled {
                // Nothing of the play is ended: the next program finds what the last second has left.
                await manager.close()
                manager = try LectureManager(cinema.configuration)
                // Reading does not take part in the store's work; sending does.
                _ = try await manager.reports.send()
            } else {
                try await walk.take(.stop)
            }
            let report = try await Self.report(of: recorder.session, after: &place, in: manager)
            // A second, and what was shown since the last second that a killed program has stored.
            let lost = isKilled ? Duration.milliseconds(Int64(1200 * walk.model.rate)) : .zero
            let (shown, seen) = (walk.model.shown, Duration.milliseconds(walk.model.seen.count))
            let tolerance = 1.0
            #expect((shown - lost) / .seconds(1) - tolerance <= Double(report.playtime), "seed \(seed), play \(play)")
            #expect(Double(report.playtime) <= shown / .seconds(1) + tolerance, "seed \(seed), play \(play)")
            #expect((seen - lost) / .seconds(1) - tolerance <= Double(report.real), "seed \(seed), play \(play)")
            #expect(Double(report.real) <= seen / .seconds(1) + tolerance, "seed \(seed), play \(play)")
            #expect(report.status == "stop", "seed \(seed), play \(play)")
        }
        let list = try await manager.bookmarks.list(of: cinema.key, user: "kim").filter { $0.kind == .user }
        #expect(Dictionary(uniqueKeysWithValues: list.map { ($0.position.milliseconds / 1000, $0.value) }) == bookmarks)
        await manager.close()
        await cinema.sandbox.stop()
    }
}
