package import LectureModel

/// How far a run is, at one moment. Neutral: it does not know where the numbers come from.
package struct ProgressSnapshot: Sendable, Equatable {
    /// One item that moves.
    package struct Item: Sendable, Equatable {
        /// The content's key.
        package var key: String
        /// The content's title; the key where there is none.
        package var title: String
        /// Bytes that are there.
        package var bytes: Int64
        /// Bytes there will be; nil while unknown.
        package var total: Int64?
        /// Bytes a second.
        package var speed: Int64
        /// Seconds left; nil while unknown.
        package var secondsLeft: Int64?
        /// Its state.
        package var state: ItemState

        /// Makes an item.
        ///
        /// - Parameters:
        ///   - key: the content's key.
        ///   - title: the content's title.
        ///   - bytes: bytes that are there.
        ///   - total: bytes there will be.
        ///   - speed: bytes a second.
        ///   - secondsLeft: seconds left.
        ///   - state: its state.
        package init(
            key: String, title: String, bytes: Int64, total: Int64?, speed: Int64, secondsLeft: Int64?, state: ItemState
        ) {
            self.key = key
            self.title = title
            self.bytes = bytes
            self.total = total
            self.speed = speed
            self.secondsLeft = secondsLeft
            self.state = state
        }
    }

    /// The items that move, in a steady order.
    package var items: [Item] = []
    /// Items that are complete.
    package var done = 0
    /// Items that failed.
    package var failed = 0
    /// Items that a user has paused or cancelled.
    package var paused = 0
    /// Items that are stopped for a reason that may pass.
    package var waiting = 0
    /// All items of the run.
    package var count = 0
    /// Bytes that are there, over all items.
    package var bytes: Int64 = 0
    /// Bytes there will be, over all items; nil while one is unknown.
    package var total: Int64?
    /// Bytes a second, over all items.
    package var speed: Int64 = 0
    /// Seconds left; nil while unknown.
    package var secondsLeft: Int64?

    /// Makes an empty snapshot.
    package init() {}
}

/// A smoothed speed: an exponentially weighted mean whose weights depend on the time between two readings, so that
/// irregular readings do not bend it.
package struct SpeedEstimate: Sendable, Equatable {
    /// Readings older than this count for about a third.
    private static let timeConstant = 3.0
    private var last: (bytes: Int64, at: BootInstant)?
    private var mean: Double?

    /// Makes an estimate that knows nothing.
    package init() {}

    /// Compares what was read last and the mean.
    package static func == (left: Self, right: Self) -> Bool {
        left.mean == right.mean && left.last?.bytes == right.last?.bytes && left.last?.at == right.last?.at
    }

    /// Takes a reading in.
    ///
    /// - Parameters:
    ///   - bytes: bytes there are now, in all. A smaller number than before starts the estimate anew.
    ///   - instant: when.
    package mutating func read(bytes: Int64, at instant: BootInstant) {
        guard let previous = last, bytes >= previous.bytes else {
            last = (bytes, instant)
            mean = nil
            return
        }
        let seconds = (instant - previous.at).secondsDouble
        guard seconds > 0.001 else { return }
        let speed = Double(bytes - previous.bytes) / seconds
        // 1 - e^(-t/T), in the form that needs no C library: the time constant counts as one lap.
        let weight = seconds / (seconds + Self.timeConstant)
        mean = mean.map { $0 + (speed - $0) * weight } ?? speed
        last = (bytes, instant)
    }

    /// Bytes a second; 0 while unknown.
    package var bytesPerSecond: Int64 { mean.map { Int64(min($0, 9e18)) } ?? 0 }

    /// Seconds until a number of bytes is there.
    ///
    /// - Parameter remaining: bytes that are missing.
    /// - Returns: rounded up; nil while nothing moves.
    package func secondsLeft(for remaining: Int64) -> Int64? {
        guard let mean, mean >= 1 else { return nil }
        let seconds = (Double(max(0, remaining)) / mean).rounded(.up)
        return seconds < 1e12 ? Int64(seconds) : nil
    }
}
