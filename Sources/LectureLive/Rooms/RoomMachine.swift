/// A stream key and the room of its broadcast, which change together (FlipFlop Cloud, "Live streaming states").
///
/// ```
/// room                 key
/// none or SCHEDULED    INACTIVE ──publishBegan──▶ ACTIVE_PREP ──playable──▶ ACTIVE
///                          ▲                          │ publishEnded          │ publishEnded
///                          └──────────────────────────┴───────────────────────┘
///    start (SCHEDULED, ACTIVE) ──▶ LIVE, ACTIVE_LIVE          cancel (SCHEDULED) ──▶ CANCELLED, key as it is
///
/// LIVE                 ACTIVE_LIVE ──publishEnded──▶ LIVE_INACTIVE, INACTIVE_LIVE
/// LIVE_INACTIVE        INACTIVE_LIVE ──publishBegan──▶ ACTIVE_LIVE_PREP ──playable──▶ LIVE, ACTIVE_LIVE
///                          ▲                                │ publishEnded
///                          └────────────────────────────────┘
///    end (LIVE_INACTIVE, INACTIVE_LIVE) ──▶ ENDED, INACTIVE
///
/// terminate: SCHEDULED ──▶ CANCELLED; LIVE and LIVE_INACTIVE ──▶ ENDED; the key is INACTIVE then
/// ```
///
/// Invariant: the key is in one of the three states of a broadcast exactly when the room is in one of its two.
public struct RoomMachine: Hashable, Sendable {
    /// What happens to a feed or a room.
    public enum Event: Hashable, Sendable, CaseIterable {
        /// A broadcaster connects with the key.
        case publishBegan
        /// The feed can be watched.
        case playable
        /// The broadcaster is gone.
        case publishEnded
        /// The host starts the room.
        case start
        /// The host ends the room.
        case end
        /// The host gives the room up before it began.
        case cancel
        /// The application's server ends everything.
        case terminate
    }

    /// Why an event is refused; the raw values are the `errorCode` of the service.
    public enum Refusal: String, Error, Hashable, Sendable, CaseIterable {
        /// There is no room that is open.
        case noRoom = "VIDEO_ROOM_NOT_FOUND"
        /// The room has started, or is over.
        case notScheduled = "VIDEO_ROOM_STATE_NOT_SCHEDULED"
        /// The room is on the air, or has not started.
        case notInactive = "VIDEO_ROOM_STATE_NOT_LIVE_INACTIVE"
        /// No feed can be watched yet.
        case keyNotActive = "STREAM_KEY_STATE_NOT_ACTIVE"
        /// The feed is back.
        case keyNotInactiveLive = "STREAM_KEY_STATE_NOT_INACTIVE_LIVE"
        /// A broadcaster is connected already. Ours: RTMP has no such code.
        case keyBusy = "STREAM_KEY_BUSY"
        /// There is no feed. Ours: it concerns the media server only.
        case noFeed = "STREAM_KEY_WITHOUT_FEED"
    }

    /// The state of the room; nil without one. A room that is over stays here until the next one.
    public private(set) var room: VideoRoomState?
    /// The state of the key.
    public private(set) var key: StreamKeyState

    /// Creates a machine; nil for a pair that cannot be.
    ///
    /// - Parameters:
    ///   - room: the state of the room; nil without one.
    ///   - key: the state of the key.
    public init?(room: VideoRoomState?, key: StreamKeyState) {
        guard Self.isPossible(room, key) else { return nil }
        (self.room, self.key) = (room, key)
    }

    /// Whether a room and a key can be in these states together.
    ///
    /// - Parameters:
    ///   - room: the state of the room; nil without one.
    ///   - key: the state of the key.
    /// - Returns: the invariant of the type.
    public static func isPossible(_ room: VideoRoomState?, _ key: StreamKeyState) -> Bool {
        switch key {
        case .inactive, .preparing, .active: room != .live && room != .inactive
        case .live: room == .live
        case .liveWithoutFeed, .livePreparing: room == .inactive
        }
    }

    /// Takes an event.
    ///
    /// - Parameter event: what happens.
    /// - Throws: ``Refusal``; nothing has changed then.
    public mutating func take(_ event: Event) throws(Refusal) {
        switch event {
        case .publishBegan: try beginFeed()
        case .playable: try makePlayable()
        case .publishEnded: try loseFeed()
        case .start: try start()
        case .end: try end()
        case .cancel: try cancel()
        case .terminate: terminate()
        }
    }

    private mutating func beginFeed() throws(Refusal) {
        switch key {
        case .inactive: key = .preparing
        case .liveWithoutFeed: key = .livePreparing
        case .preparing, .active, .live, .livePreparing: throw .keyBusy
        }
    }

    private mutating func makePlayable() throws(Refusal) {
        switch key {
        case .preparing: key = .active
        case .livePreparing: (room, key) = (.live, .live)
        // Said again: nothing is new.
        case .active, .live: break
        case .inactive, .liveWithoutFeed: throw .noFeed
        }
    }

    private mutating func loseFeed() throws(Refusal) {
        switch key {
        case .preparing, .active: key = .inactive
        case .live, .livePreparing: (room, key) = (.inactive, .liveWithoutFeed)
        case .inactive, .liveWithoutFeed: throw .noFeed
        }
    }

    private mutating func start() throws(Refusal) {
        guard let room else { throw .noRoom }
        guard room == .scheduled else { throw .notScheduled }
        guard key == .active else { throw .keyNotActive }
        (self.room, key) = (.live, .live)
    }

    private mutating func end() throws(Refusal) {
        guard let room else { throw .noRoom }
        guard room == .inactive else { throw .notInactive }
        guard key == .liveWithoutFeed else { throw .keyNotInactiveLive }
        (self.room, key) = (.ended, .inactive)
    }

    private mutating func cancel() throws(Refusal) {
        guard let room else { throw .noRoom }
        guard room == .scheduled else { throw .notScheduled }
        self.room = .cancelled
    }

    private mutating func terminate() {
        key = .inactive
        switch room {
        case .scheduled: room = .cancelled
        case .live, .inactive: room = .ended
        case .ended, .cancelled, nil: break
        }
    }
}
