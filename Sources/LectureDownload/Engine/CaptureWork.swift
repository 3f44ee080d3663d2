import LectureAdaptive
import LectureFormats
import LectureModel

/// A live stream that is being captured, while its lecture is in work.
///
///     stored by an earlier run ──▶ the source is fetched again ──▶ read ──▶ waits
///     its playlists were read first ──────────────────────────────────────▶ waits
///     waits ── a playlist is due ──▶ it is fetched again ──▶ read ──▶ waits
///                                                              ├── every end was listed, or the time is over ──▶ over
///                                                              └── unchanged for too long, too many segments ──▶ ends
///
/// Files are fetched meanwhile.
struct CaptureWork: Sendable {
    /// What was listed so far.
    var capture: StreamCapture
    /// When each playlist is due; empty until the playlists of this run are known.
    private var paces: [CapturePace] = []
    /// The places of the playlists that are being fetched; nil for all of them, with their source.
    private(set) var loading: Set<Int>?

    /// Begins with the source of the lecture.
    init(_ capture: StreamCapture) { (self.capture, loading) = (capture, nil) }

    /// Whether playlists are being fetched.
    var isLoading: Bool { loading?.isEmpty != true }

    /// The places of the playlists that are due; none while others are fetched.
    func due(_ now: BootInstant) -> [Int] {
        isLoading ? [] : paces.indices.filter { !capture.isOver($0) && paces[$0].isDue(now) }
    }

    /// Playlists are fetched again.
    mutating func begins(_ places: [Int], _ now: BootInstant) {
        loading = Set(places)
        for place in places { paces[place].begins(now) }
    }

    /// They were read.
    ///
    /// - Parameters:
    ///   - changed: those that have something new.
    ///   - now: the moment.
    mutating func came(changed: Set<Int>, _ now: BootInstant) {
        let places = loading ?? Set(0..<capture.count)
        if paces.isEmpty { paces = (0..<capture.count).map { _ in CapturePace(now: now) } }
        for place in places {
            paces[place].came(
                isChanged: changed.contains(place), targetDuration: capture.targetDuration(place), now)
        }
        loading = []
    }

    /// They are no playlists.
    ///
    /// - Parameter now: the moment.
    /// - Returns: false before the first ones were read.
    mutating func cameDamaged(_ now: BootInstant) -> Bool {
        guard let loading, !paces.isEmpty else { return false }
        for place in loading { paces[place].cameDamaged(now) }
        self.loading = []
        return true
    }

    /// Whether the server has stopped.
    func isStalled(_ now: BootInstant) -> Bool {
        paces.indices.contains { !capture.isOver($0) && paces[$0].isStalled(now) }
    }
}
