import LectureLive

/// The numbers of states in the store; frozen.
enum LiveCodes {
    private static let rooms: [(VideoRoomState, Int)] = [
        (.scheduled, 1), (.live, 2), (.inactive, 3), (.ended, 4), (.cancelled, 5),
    ]
    private static let keys: [(StreamKeyState, Int)] = [
        (.inactive, 1), (.preparing, 2), (.active, 3), (.live, 4), (.liveWithoutFeed, 5), (.livePreparing, 6),
    ]
    private static let origins: [(LiveMessage.Origin, Int)] = [(.app, 1), (.member, 2), (.system, 3)]

    private static let archives: [(ArchiveState, Int)] = [(.none, 1), (.archiving, 2), (.archived, 3), (.failed, 4)]

    static func code(_ state: ArchiveState) -> Int { archives.first { $0.0 == state }?.1 ?? 0 }
    static func archive(_ code: Int) -> ArchiveState? { archives.first { $0.1 == code }?.0 }
    static func code(_ state: VideoRoomState) -> Int { rooms.first { $0.0 == state }?.1 ?? 0 }
    static func code(_ state: StreamKeyState) -> Int { keys.first { $0.0 == state }?.1 ?? 0 }
    static func code(_ origin: LiveMessage.Origin) -> Int { origins.first { $0.0 == origin }?.1 ?? 0 }
    static func room(_ code: Int) -> VideoRoomState? { rooms.first { $0.1 == code }?.0 }
    static func key(_ code: Int) -> StreamKeyState? { keys.first { $0.1 == code }?.0 }
    static func origin(_ code: Int) -> LiveMessage.Origin? { origins.first { $0.1 == code }?.0 }
}
