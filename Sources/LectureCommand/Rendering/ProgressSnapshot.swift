package import LectureModel

/// The progress of a run at one moment, independent of where the numbers come from.
package struct ProgressSnapshot: Sendable, Equatable {
    /// One active item.
    package struct Item: Sendable, Equatable {
        /// The lecture's key.
        package var key: String
        /// The lecture's title; the key if it has none.
        package var title: String
        /// Bytes present.
        package var bytes: Int64
        /// Bytes in total; nil while unknown.
        package var total: Int64?
        /// Bytes per second.
        package var speed: Int64
        /// Seconds left; nil while unknown.
        package var secondsLeft: Int64?
        /// Its state.
        package var state: ItemState

        /// Makes an item.
        ///
        /// - Parameters:
        ///   - key: the lecture's key.
        ///   - title: the lecture's title.
        ///   - bytes: bytes present.
        ///   - total: bytes in total.
        ///   - speed: bytes per second.
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

    /// The active items, in a stable order.
    package var items: [Item] = []
    /// Items that are complete.
    package var done = 0
    /// Items that failed.
    package var failed = 0
    /// Items that a user has paused or cancelled.
    package var paused = 0
    /// Items that are stopped for a temporary reason.
    package var waiting = 0
    /// All items of the run.
    package var count = 0
    /// Bytes present, over all items.
    package var bytes: Int64 = 0
    /// Bytes in total, over all items; nil while one is unknown.
    package var total: Int64?
    /// Bytes per second, over all items.
    package var speed: Int64 = 0
    /// Seconds left; nil while unknown.
    package var secondsLeft: Int64?

    /// Makes an empty snapshot.
    package init() {}
}

/// A smoothed speed: an exponentially weighted mean whose weights depend on the time between two readings, so that
/// irregular readings do not distort it.
package struct SpeedEstimate: Sendable, Equatable {
    /// In seconds; readings older than this count for about a third.
    private static let timeConstant = 3.0
    private var last: (bytes: Int64, at: BootInstant)?
    private var mean: Double?

    /// Makes an estimate without readings.
    package init() {}

    /// Compares the last readings and the means.
    package static func == (left: Self, right: Self) -> Bool {
        left.mean == right.mean && left.last?.bytes == right.last?.bytes && left.last?.at == right.last?.at
    }

    /// Adds a reading.
    ///
    /// - Parameters:
    ///   - bytes: bytes present now, in total. A smaller number than before restarts the estimate.
    ///   - instant: the time of the reading.
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

    /// Bytes per second; 0 while unknown.
    package var bytesPerSecond: Int64 { mean.map { Int64(min($0, 9e18)) } ?? 0 }

    /// Seconds until a number of bytes is received.
    ///
    /// - Parameter remaining: bytes that are missing.
    /// - Returns: rounded up; nil without progress.
    package func secondsLeft(for remaining: Int64) -> Int64? {
        guard let mean, mean >= 1 else { return nil }
        let seconds = (Double(max(0, remaining)) / mean).rounded(.up)
        return seconds < 1e12 ? Int64(seconds) : nil
    }
}
