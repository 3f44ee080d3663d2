import Dispatch
import LectureLiveMedia
import Testing

/// A small broadcast of the test picture, whose pictures are numbered.
enum TestBroadcast {
    /// How many pictures follow a key frame.
    static let group = 7

    /// Opens it: 15 pictures a second, a key frame each half second.
    static func start() throws -> LiveBroadcast {
        var configuration = BroadcastConfiguration(source: .testPicture)
        (configuration.width, configuration.height, configuration.framesPerSecond) = (320, 180, 15)
        (configuration.videoBitrate, configuration.keyFrameInterval, configuration.speed) = (400_000, 0.5, .ultrafast)
        return try LiveBroadcast(configuration)
    }

    /// Waits until this many pictures more were sent, and looks fifty times a second.
    static func sent(_ count: Int, by broadcast: LiveBroadcast) async {
        let goal = broadcast.statistics.framesSent + count
        let (looks, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler { continuation.yield() }
        timer.schedule(deadline: .now(), repeating: .milliseconds(20))
        timer.resume()
        defer { timer.cancel() }
        for await _ in looks where broadcast.statistics.framesSent >= goal { return }
    }

    /// Expects that all was sent but a picture for each session, which may be in the encoder when that ends.
    static func expectWhole(_ broadcast: LiveBroadcast, sessions: Int) {
        let statistics = broadcast.statistics
        #expect(statistics.framesDropped <= sessions, "\(statistics)")
        #expect(statistics.framesSent + statistics.framesDropped == statistics.framesEncoded, "\(statistics)")
    }
}
