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
