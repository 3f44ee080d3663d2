import LectureLive
import Testing

/// Both state tables of the service, as one machine.
struct RoomMachineTests {
    /// What a state becomes; nil for one that does not change.
    private typealias Row = (room: VideoRoomState?, key: StreamKeyState, results: [String])

    /// The columns are the events in their order; `room/key`, or the code of a refusal.
    private static let table: [Row] = [
        (nil, .inactive, ["-/P", "noFeed", "noFeed", "noRoom", "noRoom", "noRoom", "-/I"]),
        (nil, .preparing, ["busy", "-/A", "-/I", "noRoom", "noRoom", "noRoom", "-/I"]),
        (nil, .active, ["busy", "-/A", "-/I", "noRoom", "noRoom", "noRoom", "-/I"]),
        (.scheduled, .inactive, ["S/P", "noFeed", "noFeed", "notActive", "notInactive", "C/I", "C/I"]),
        (.scheduled, .preparing, ["busy", "S/A", "S/I", "notActive", "notInactive", "C/P", "C/I"]),
        (.scheduled, .active, ["busy", "S/A", "S/I", "L/L", "notInactive", "C/A", "C/I"]),
        (.live, .live, ["busy", "L/L", "N/N", "notScheduled", "notInactive", "notScheduled", "E/I"]),
        (.inactive, .liveWithoutFeed, ["N/Q", "noFeed", "noFeed", "notScheduled", "E/I", "notScheduled", "E/I"]),
        (.inactive, .livePreparing, ["busy", "L/L", "N/N", "notScheduled", "keyBack", "notScheduled", "E/I"]),
        (.ended, .inactive, ["E/P", "noFeed", "noFeed", "notScheduled", "notInactive", "notScheduled", "E/I"]),
        (.ended, .preparing, ["busy", "E/A", "E/I", "notScheduled", "notInactive", "notScheduled", "E/I"]),
        (.ended, .active, ["busy", "E/A", "E/I", "notScheduled", "notInactive", "notScheduled", "E/I"]),
        (.cancelled, .inactive, ["C/P", "noFeed", "noFeed", "notScheduled", "notInactive", "notScheduled", "C/I"]),
        (.cancelled, .preparing, ["busy", "C/A", "C/I", "notScheduled", "notInactive", "notScheduled", "C/I"]),
        (.cancelled, .active, ["busy", "C/A", "C/I", "notScheduled", "notInactive", "notScheduled", "C/I"]),
    ]

    private static let rooms: [(VideoRoomState?, String)] = [
        (nil, "-"), (.scheduled, "S"), (.live, "L"), (.inactive, "N"), (.ended, "E"), (.cancelled, "C"),
    ]
    private static let keys: [(StreamKeyState, String)] = [
        (.inactive, "I"), (.preparing, "P"), (.active, "A"), (.live, "L"), (.liveWithoutFeed, "N"),
        (.livePreparing, "Q"),
    ]
    private static let refusals: [RoomMachine.Refusal: String] = [
        .noRoom: "noRoom", .notScheduled: "notScheduled", .notInactive: "notInactive", .keyNotActive: "notActive",
        .keyNotInactiveLive: "keyBack", .keyBusy: "busy", .noFeed: "noFeed",
    ]

    @Test func `every event in every state gives what the tables of the service say`() throws {
        for row in Self.table {
            #expect(row.results.count == RoomMachine.Event.allCases.count)
            for (event, expected) in zip(RoomMachine.Event.allCases, row.results) {
                var machine = try #require(RoomMachine(room: row.room, key: row.key))
                var result: String
                do throws(RoomMachine.Refusal) {
                    try machine.take(event)
                    result = (Self.rooms.first { $0.0 == machine.room }?.1 ?? "?") + "/"
                    result += Self.keys.first { $0.0 == machine.key }?.1 ?? "?"
                } catch {
                    result = Self.refusals[error] ?? "?"
                    #expect(machine == RoomMachine(room: row.room, key: row.key), "a refusal changes nothing")
                }
                #expect(result == expected, "\(event) in \(row.room?.rawValue ?? "no room"), \(row.key.rawValue)")
                #expect(RoomMachine.isPossible(machine.room, machine.key))
            }
        }
    }

    @Test func `no machine begins in a pair that cannot be`() {
        var possible = 0
        for (room, _) in Self.rooms {
            for (key, _) in Self.keys where RoomMachine(room: room, key: key) != nil { possible += 1 }
        }
        #expect(possible == Self.table.count)
        #expect(RoomMachine(room: .live, key: .inactive) == nil)
        #expect(RoomMachine(room: .scheduled, key: .live) == nil)
    }

    @Test func `refusals have the codes of the service`() {
        let documented: [RoomMachine.Refusal: String] = [
            .noRoom: "VIDEO_ROOM_NOT_FOUND", .notScheduled: "VIDEO_ROOM_STATE_NOT_SCHEDULED",
            .notInactive: "VIDEO_ROOM_STATE_NOT_LIVE_INACTIVE", .keyNotActive: "STREAM_KEY_STATE_NOT_ACTIVE",
            .keyNotInactiveLive: "STREAM_KEY_STATE_NOT_INACTIVE_LIVE",
        ]
        for (refusal, code) in documented { #expect(refusal.rawValue == code) }
    }
}
