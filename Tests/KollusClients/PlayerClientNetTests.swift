import Foundation
import KollusSDK
import KollusTestSupport
import Testing

/// Screens written for the iOS SDK's player, with a film that is really played.
@Suite(.serialized, .timeLimit(.minutes(3)))
@MainActor
struct PlayerClientNetTests {
    /// The screens of this directory.
    enum Screen: CaseIterable {
        case unwrapped
        case wrapper
        case guide
    }

    /// An opened screen, which the test keeps, and its player.
    private func open(
        _ screen: Screen, _ storage: KollusStorage, _ key: String, _ journal: PlayerJournal
    ) throws -> (Any, KollusPlayerView) {
        switch screen {
        case .unwrapped:
            let controller = PlayerViewController(journal: journal)
            try controller.openPlayer(storage, key)
            return (controller, controller.playerView)
        case .wrapper:
            let bridge = PlayerBridge(journal: journal)
            try bridge.open(storage, key: key)
            return (bridge, bridge.playerView)
        case .guide:
            let lecture = LectureScreen(journal: journal)
            try lecture.play(storage, key)
            return (lecture, try #require(lecture.playerView))
        }
    }

    @Test(arguments: Screen.allCases)
    func `every event is received once, in each spelling`(screen: Screen) async throws {
        let academy = try await Academy.open(["--lms"])
        let storage = try academy.storage()
        let key = "durable-on-the-disk"
        try await academy.sandbox.set(
            policyJSON: #"{"check_abuse": 1, "offline_bookmark": {"download": 2, "readonly": 0}}"#)
        let link = try await academy.sandbox.link(key: key, extras: true, licensed: "", lms: [""])
        let downloads = storage.events
        try storage.downloadContent(try await storage.load(link))
        for await event in downloads { if case .completed = event { break } }

        let journal = PlayerJournal()
        let (owner, view) = try open(screen, storage, key, journal)
        await journal.until("prepared 0")
        if let own = view as? LectureView { #expect(own.wasPrepared) }
        view.frame = CGRect(x: 0, y: 0, width: 640, height: 480)
        view.scalingMode = .scaleAspectFill
        view.playerContentFrame = view.frame
        view.repeatMode = .one
        view.repeatMode = .none
        try view.zoom(UIPinchGestureRecognizer(scale: 2))
        try view.scroll(CGPoint(x: 5, y: 0))
        view.currentPlaybackRate = 2
        try view.play()
        await journal.until("play true 0")
        view.currentPlaybackTime = 4
        await journal.until("position 4 false")
        try view.pause()
        await journal.until("pause true 0")
        await journal.until("report true")
        try view.stop()
        await journal.until("stop true 0")

        // Not those of the download before, and of the settings.
        let entries = journal.entries.filter { !["licence 2", "mode 0"].contains($0) }
        #expect(
            entries.filter { !["report true", "rate 2.0"].contains($0) } == [
                "bookmarks 2", "licence 3", "mck \(key)", "thumbnail true", "size true", "framerate true", "prepared 0",
                "mode 1", "frame 640", "repeat true", "repeat false", "zoom 2.0", "zoom 2.0", "scroll 5 true",
                "scroll 5 false", "play true 0", "position 4 true", "position 4 false", "pause true 0", "stop true 0",
            ])
        #expect(entries.filter { $0 == "rate 2.0" }.count == 1)
        withExtendedLifetime(owner) {}
        await storage.finish()
        await academy.close()
    }
}
