public import FlipFlopLiteSDK
public import LectureLive
import LectureModel

/// The media of a broadcaster, without an encoder: what reaches the media server is what a ``MemberServer`` sees.
public final class TestFeed: FeedSource {
    private struct State {
        var statistics = FeedStatistics(queue: .zero, sentBytes: 0)
        var ended: (@Sendable () -> Void)?
        var failures: [FFError] = []
    }

    private let journal: LiveJournal
    private let server: MemberServer
    private let state = Guarded(State())

    /// Creates a feed.
    ///
    /// - Parameters:
    ///   - server: what it sends to.
    ///   - journal: what is called.
    ///   - failures: what the next connections fail with.
    public init(_ server: MemberServer, _ journal: LiveJournal, failures: [FFError] = []) {
        (self.server, self.journal) = (server, journal)
        state.withLock { $0.failures = failures }
    }

    /// The link is lost, and the next connections fail.
    public func lose(_ failures: [FFError] = []) {
        let ended = state.withLock { state in
            state.failures = failures
            return state.ended
        }
        server.feedEnded()
        ended?()
    }

    /// What the feed is like from now on.
    public func set(queue: Duration, sentBytes: Int64) {
        state.withLock { $0.statistics = FeedStatistics(queue: queue, sentBytes: sentBytes) }
    }

    /// As the port says.
    public func open(_ settings: FeedSettings, preview: LiveSurface) async throws {
        journal.record("open \(settings.width)x\(settings.height) \(settings.videoBitrate) \(settings.camera)")
        if preview.object != nil { journal.record("preview") }
    }

    /// As the port says.
    public func connect(to address: FeedAddress, ended: @escaping @Sendable () -> Void) async throws {
        let failure = state.withLock { state in
            state.ended = ended
            return state.failures.isEmpty ? nil : state.failures.removeFirst()
        }
        if let failure { throw failure }
        journal.record("connect \(address.url.replacing(MemberServer.key, with: "KEY"))")
        server.feedBegan()
    }

    /// As the port says.
    public func disconnect() async {
        let wasConnected = state.withLock { state in
            defer { state.ended = nil }
            return state.ended != nil
        }
        if wasConnected { server.feedEnded() }
        journal.record("disconnect")
    }

    /// As the port says.
    public func close() async { journal.record("close") }

    /// As the port says.
    public var statistics: FeedStatistics {
        state.withLock { state in
            // A feed always sends, unless the test says otherwise.
            if state.statistics.queue == .zero { state.statistics.sentBytes += 250_000 }
            return state.statistics
        }
    }

    /// As the port says.
    public func setVideoBitrate(_ bitsPerSecond: Int) { journal.record("bitrate \(bitsPerSecond)") }
    /// As the port says.
    public func dropToKeyFrame() { journal.record("drop") }
    /// As the port says.
    public func setZoom(_ factor: Double) { journal.record("zoom \(factor)") }
    /// As the port says.
    public func setMirrored(_ isMirrored: Bool) { journal.record("mirrored \(isMirrored)") }
    /// As the port says.
    public func muteVideo(_ isMuted: Bool) { journal.record("muteVideo \(isMuted)") }
    /// As the port says.
    public func muteAudio(_ isMuted: Bool) { journal.record("muteAudio \(isMuted)") }
    /// As the port says.
    public func switchCamera(to camera: FFStreamerConfig.CameraPosition) { journal.record("camera \(camera)") }
}

/// A picture that does what a test says.
public final class TestPicture: LivePicture {
    /// As the port says.
    public let events: AsyncStream<LivePictureEvent>
    private let report: AsyncStream<LivePictureEvent>.Continuation
    private let journal: LiveJournal
    private let obeys: Bool

    /// Creates a picture.
    ///
    /// - Parameters:
    ///   - journal: what is called.
    ///   - obeys: whether media is there and plays whenever it is asked to.
    public init(_ journal: LiveJournal, obeys: Bool = true) {
        (events, report) = AsyncStream.makeStream(of: LivePictureEvent.self)
        (self.journal, self.obeys) = (journal, obeys)
    }

    /// Something happens to it.
    public func send(_ event: LivePictureEvent) { report.yield(event) }

    /// As the port says.
    public func open(url: String, view: LiveSurface, isLowLatency: Bool) {
        journal.record("open \(url)\(isLowLatency ? " soon" : "")")
        if obeys { report.yield(.ready) }
    }

    /// As the port says.
    public func play() {
        journal.record("play")
        if obeys { report.yield(.plays) }
    }

    /// As the port says.
    public func close() { journal.record("close") }
    /// As the port says.
    public func mute(_ isMuted: Bool) { journal.record("mute \(isMuted)") }
}
