import FlipFlopLiteMedia
package import FlipFlopLiteSDK
import LectureLiveMedia

/// Makes the media.
package struct MediaFactories: Sendable {
    /// Makes the media of a broadcaster.
    package let feed: @Sendable (FeedChoice) -> any FeedSource
    /// Makes the picture of a viewer.
    package let picture: @Sendable (PictureChoice) -> any LivePicture
    /// Makes the place where a broadcaster sees what is sent; it gets a title.
    package let preview: @Sendable (String) -> any AnyObject & Sendable

    /// Makes factories.
    ///
    /// - Parameters:
    ///   - feed: makes the media of a broadcaster.
    ///   - picture: makes the picture of a viewer.
    ///   - preview: makes the place where a broadcaster sees what is sent: a window of its own unless another is given.
    package init(
        feed: @escaping @Sendable (FeedChoice) -> any FeedSource,
        picture: @escaping @Sendable (PictureChoice) -> any LivePicture,
        preview: @escaping @Sendable (String) -> any AnyObject & Sendable = { title in
            LiveWindow(title: title)
        }
    ) { (self.feed, self.picture, self.preview) = (feed, picture, preview) }

    /// The encoder of `LectureLiveMedia`, and libmpv.
    ///
    /// - Parameter environment: of the process; has the display.
    /// - Returns: the factories.
    package static func standard(_ environment: [String: String]) -> Self {
        let displays = environment.filter { $0.key == "DISPLAY" || $0.key == "WAYLAND_DISPLAY" }
        return Self(
            feed: { choice in
                var sources = BroadcastFeed.Sources(front: choice.broadcastSource(displays["DISPLAY"] ?? ":0"))
                (sources.sourceEnded, sources.microphoneFailed) = (choice.sourceEnded, choice.microphoneFailed)
                sources.preview.environment = displays
                return BroadcastFeed(sources)
            },
            picture: { choice in
                var options = PlayerPicture.Options()
                // Without a display there is no window.
                (options.title, options.environment) = (choice.title, choice.hasVideo ? displays : [:])
                options.hasSound = !choice.isMuted
                return PlayerPicture(options)
            })
    }
}

extension FeedChoice {
    /// The source as the encoder knows it.
    fileprivate func broadcastSource(_ display: String) -> BroadcastSource {
        switch source {
        case .test: .testPicture
        case .screen(let name): .screen(name.isEmpty ? display : name, microphone: microphone)
        case .camera(let device): .camera(device, microphone: microphone)
        case .file(let path, let loops): .file(path, loops: loops)
        }
    }
}
