import Foundation

/// The requests of an application to play and to pause that have no result yet. They are sent one after the other, so
/// that each has a result of its own.
struct PlayerRequests: Sendable, Hashable {
    /// A request.
    enum Request: Sendable, Hashable {
        case play
        case pause
    }

    /// What to do next.
    enum Step: Sendable, Hashable {
        /// The request has its result.
        case answer(Request)
        /// The player has to do it.
        case send(Request)
    }

    private var waiting: [Request] = []
    private var isSent = false

    /// Whether every request has its result.
    var isEmpty: Bool { waiting.isEmpty }

    /// Adds a request.
    mutating func add(_ request: Request) { waiting.append(request) }

    /// The player began to play, or paused.
    ///
    /// - Parameter isPlaying: what it does now.
    /// - Returns: whether that is the result of a request.
    mutating func changed(isPlaying: Bool) -> Bool {
        guard isSent, waiting.first == (isPlaying ? .play : .pause) else { return false }
        waiting.removeFirst()
        isSent = false
        return true
    }

    /// What to do next; call it until there is nothing.
    ///
    /// - Parameter isPlaying: what the player does now.
    /// - Returns: nil when there is nothing to do.
    mutating func next(isPlaying: Bool) -> Step? {
        guard !isSent, let request = waiting.first else { return nil }
        if isPlaying == (request == .play) {
            waiting.removeFirst()
            return .answer(request)
        }
        isSent = true
        return .send(request)
    }

    /// Removes all requests: the play is over.
    mutating func removeAll() -> [Request] {
        defer { (waiting, isSent) = ([], false) }
        return waiting
    }
}

/// The jumps of a player: one at a time, and of those that wait only the newest.
struct PlayerSeeks: Sendable, Hashable {
    /// A jump that is being made.
    private enum Running: Sendable, Hashable {
        /// To a position that the application has set.
        case requested(TimeInterval)
        /// Because of a key in the window, or a repetition.
        case other
    }

    private var running: Running?
    private var waiting: TimeInterval?

    /// Where the player will be, in seconds; nil without a jump of the application.
    var target: TimeInterval? {
        if let waiting { return waiting }
        if case .requested(let place) = running { return place }
        return nil
    }

    /// Whether a jump is being made.
    var isRunning: Bool { running != nil }

    /// The application sets a position.
    mutating func add(_ place: TimeInterval) { waiting = place }

    /// The jump to begin now; nil while another one is being made.
    mutating func next() -> TimeInterval? {
        guard running == nil, let place = waiting else { return nil }
        (running, waiting) = (.requested(place), nil)
        return place
    }

    /// The engine jumps.
    ///
    /// - Returns: whether no jump was being made: the application did not request it.
    mutating func began() -> Bool {
        guard running == nil else { return false }
        running = .other
        return true
    }

    /// The engine has reached a position.
    ///
    /// - Returns: whether that ends a jump.
    mutating func arrived() -> Bool {
        defer { running = nil }
        return running != nil
    }
}
