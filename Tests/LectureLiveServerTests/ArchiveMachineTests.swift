import LectureLive
import Testing

/// What becomes of the recordings of a room, as one machine.
struct ArchiveMachineTests {
    private typealias Machine = ArchiveMachine

    private static let events: [(String, Machine.Event)] = [
        ("ended", .ended(hasMedia: true)), ("endedWithout", .ended(hasMedia: false)), ("terminated", .terminated),
        ("closed", .closed), ("joined", .joined), ("failed", .failed), ("died", .died), ("restarted", .restarted),
        ("retry", .retry), ("deleted", .deleted),
    ]

    /// How each state is reached.
    private static let states: [(String, [Machine.Event])] = [
        ("none", []), ("waiting", [.ended(hasMedia: true)]), ("joining", [.ended(hasMedia: true), .closed]),
        ("archived", [.ended(hasMedia: true), .closed, .joined]),
        ("failed", [.ended(hasMedia: true), .closed, .failed]), ("gone", [.deleted]),
    ]

    /// By state: what each event leads to, `-` where nothing changes; with what is to be done.
    private static let table: [String: [String]] = [
        "none": ["waiting", "-:recordings", "-:recordings", "-", "-", "-", "-", "-", "refused", "gone:recordings"],
        "waiting": [
            "-", "-", "-", "joining:join", "-", "-", "-", "joining:join", "refused", "gone:recordings,lecture",
        ],
        "joining": [
            "-", "-", "-", "-", "archived:keep,recordings", "failed", "joining:join", "joining:join", "refused",
            "gone:stop,recordings,lecture",
        ],
        "archived": ["-", "-", "-", "-", "-", "-", "-", "-:recordings", "refused", "gone:recordings,lecture"],
        "failed": ["-", "-", "-", "-", "-", "-", "-", "-", "joining:join", "gone:recordings,lecture"],
        "gone": ["-", "-:recordings", "-:recordings", "-", "-", "-", "-", "-", "refused", "-:recordings"],
    ]

    private static let words: [Machine.Action: String] = [
        .stopJoining: "stop", .join: "join", .keepLecture: "keep", .discardRecordings: "recordings",
        .discardLecture: "lecture",
    ]

    private func machine(_ events: [Machine.Event]) throws -> Machine {
        var machine = Machine()
        for event in events { _ = try machine.take(event) }
        return machine
    }

    private func name(_ machine: Machine) -> String {
        if machine.isGone { return "gone" }
        return switch (machine.state, machine.work) {
        case (.none, .none): "none"
        case (.archiving, .waiting): "waiting"
        case (.archiving, .joining): "joining"
        case (.archived, .none): "archived"
        case (.failed, .none): "failed"
        default: "impossible"
        }
    }

    @Test func `every event in every state gives what the drawing says`() throws {
        #expect(Self.table.count == Self.states.count)
        for (state, path) in Self.states {
            let row = try #require(Self.table[state])
            #expect(row.count == Self.events.count)
            for ((word, event), expected) in zip(Self.events, row) {
                let before = try machine(path)
                #expect(name(before) == state)
                var after = before
                var result: String
                do throws(Machine.Refusal) {
                    let actions = try after.take(event)
                    let place = name(after) == state && event != .died && event != .restarted ? "-" : name(after)
                    result = place == state && actions.isEmpty ? "-" : place
                    if !actions.isEmpty { result += ":" + actions.compactMap { Self.words[$0] }.joined(separator: ",") }
                    // The same place without a change is written as none, whatever has brought it there.
                    if place == state, !actions.contains(.join) { result = result.replacing(state, with: "-") }
                } catch {
                    result = "refused"
                    #expect(after == before && error.rawValue == "VIDEO_ROOM_VOD_STATE_NOT_FAILED_ARCHIVING")
                }
                #expect(result == expected, "\(word) in \(state)")
            }
        }
    }

    @Test func `a process that dies is started again, three times at most, and anew after a retry`() throws {
        var machine = try machine([.ended(hasMedia: true), .closed])
        for round in 0..<2 {
            for death in 1..<Machine.mostDeaths {
                #expect(try machine.take(.died) == [.join] && machine.deaths == death, "\(round)")
            }
            #expect(try machine.take(.died) == [] && machine.state == .failed)
            #expect(try machine.take(.retry) == [.join] && machine.deaths == 0)
        }
    }

    @Test func `what a store has is gone on with`() throws {
        for state in ArchiveState.allCases {
            var machine = Machine(state)
            #expect(machine.state == state && machine.work == (state == .archiving ? .waiting : .none))
            let actions = try machine.take(.restarted)
            #expect(actions.contains(.join) == (state == .archiving))
            #expect(actions.contains(.discardRecordings) == (state == .archived))
        }
    }
}
