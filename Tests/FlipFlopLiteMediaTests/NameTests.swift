import FlipFlopLiteMedia
import FlipFlopLiteSDK
import LecturePlayer
import Testing

/// A file with all three imports, as docs/live-client.md shows it.
private typealias ViewerState = FlipFlopLiteSDK.PlayerState

private final class Viewer: FFLLivePlayerDelegate {
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate playerState: FlipFlopLiteSDK.PlayerState) {}
}

@Suite struct NameTests {
    @Test func `the two types with one name differ by their module`() {
        let delegate: any FFLLivePlayerDelegate = Viewer()
        #expect(delegate is Viewer)
        #expect(ViewerState.started.rawValue == "started")
        #expect("\(LecturePlayer.PlayerState.self)" == "\(ViewerState.self)")
        #expect(ObjectIdentifier(LecturePlayer.PlayerState.self) != ObjectIdentifier(ViewerState.self))
    }
}
