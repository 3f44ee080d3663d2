public import FlipFlopLiteSDK
public import LectureLiveMedia

extension FFLConfig {
    /// The same server, with the media of this product.
    ///
    /// ```swift
    /// let config = FFLConfig(serverAddr: "https://live.example").withMedia(front: .camera("/dev/video0"))
    /// ```
    ///
    /// - Parameters:
    ///   - front: what a broadcaster sends at `.front`.
    ///   - back: what it sends at `.back`; nil for the same.
    ///   - player: how a viewer plays, and how the preview of a broadcaster is shown.
    /// - Returns: a configuration with media.
    public func withMedia(
        front: BroadcastSource, back: BroadcastSource? = nil, player: PlayerPicture.Options = PlayerPicture.Options()
    ) -> FFLConfig {
        var sources = BroadcastFeed.Sources(front: front, back: back)
        sources.preview = player
        return withMedia(sources, player: player)
    }

    /// The same server, with the media of this product.
    ///
    /// - Parameters:
    ///   - sources: what a broadcaster sends.
    ///   - player: how a viewer plays.
    /// - Returns: a configuration with media.
    public func withMedia(
        _ sources: BroadcastFeed.Sources, player: PlayerPicture.Options = PlayerPicture.Options()
    ) -> FFLConfig {
        var config = self
        var options = player
        options.caFile = player.caFile ?? caFile
        config.feedSource = { BroadcastFeed(sources) }
        config.livePicture = { [options] in PlayerPicture(options) }
        return config
    }
}
