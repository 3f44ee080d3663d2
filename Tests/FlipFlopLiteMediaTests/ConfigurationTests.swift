import FlipFlopLiteMedia
import FlipFlopLiteSDK
import LectureLiveMedia
import Testing

struct ConfigurationTests {
    @Test func `one line gives a configuration its media`() {
        let bare = FFLConfig(serverAddr: "https://live.example")
        #expect(bare.feedSource == nil && bare.livePicture == nil)
        let config = bare.withMedia(front: .testPicture)
        #expect(config.feedSource?() is BroadcastFeed && config.livePicture?() is PlayerPicture)
        #expect(config.serverAddr == bare.serverAddr)
        let sources = BroadcastFeed.Sources(front: .testPicture)
        #expect(sources.back == .testPicture)
        #expect(BroadcastFeed.Sources(front: .testPicture, back: .black).back == .black)
    }
}
