/// Which media an engine was given, and which of it an event belongs to.
///
/// Events are on their way while other media is opened: the end of that before is no end of the new one.
package struct MediaLoads: Sendable, Hashable {
    /// How often media was given to the engine.
    private var asked = 0
    /// The newest of it that the engine has begun to open; 0 as long as it reports none.
    private var opened = 0

    /// Nothing was given.
    package init() {}

    /// Media is given to the engine.
    package mutating func ask() { asked += 1 }

    /// Takes an event.
    ///
    /// - Parameter event: the next one of the engine.
    /// - Returns: false for one of media that other media has replaced.
    package mutating func admits(_ event: VideoEvent) -> Bool {
        switch event {
        case .opening(let number):
            opened = max(opened, number)
            return true
        // Of the engine, whatever is open.
        case .paused, .rate, .skip, .closed: return true
        case .duration, .position, .buffering, .buffered, .pictureSize, .caption, .secondCaption, .seeking, .ready,
            .ended, .failed:
            return opened == asked || opened == 0
        }
    }
}
