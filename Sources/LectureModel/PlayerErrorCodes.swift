// The catalogue's codes of players. Numbers and names are frozen.

extension LectureError.Code {
    // MARK: Players (our own numbers)

    /// There is no video library.
    public static let playerMissing = Self(
        -20240, "player_missing", "libmpv, which plays lectures, is not installed",
        "Install the package libmpv2, for instance with 'apt-get install libmpv2'.",
        reason: "It is opened when a player starts, and was not found or is of another version.")
    /// There is no display for a window.
    public static let displayMissing = Self(
        -20241, "display_missing", "there is no display for a window",
        "Start it in a graphical session, or play only the sound with --no-video; 'lecturectl cat' writes the media.",
        reason: "Neither DISPLAY nor WAYLAND_DISPLAY names a display that a window can be opened on.")
    /// The video library cannot decode the media.
    public static let mediaUnsupported = Self(
        -20242, "media_unsupported", "the lecture's media cannot be decoded",
        "Ask the provider for the lecture in another format.",
        reason: "Its container or its codec is not known to libmpv, or it contains no picture and no sound.")
    /// The video library failed.
    public static let playerFailed = Self(
        -20243, "player_failed", "the player failed",
        "Check the sound and the display of this machine with another program; else report this as a bug.",
        reason: "A call or an option was refused by libmpv, or it could open no output.")
    /// As much was played as may be played at once.
    public static let playLimitReached = Self(
        -20249, "play_limit_reached", "the provider does not permit to play more of this lecture at once",
        "Ask the provider for the whole lecture.",
        reason: "The gateway's 'playback.limit' has a duration, whatever the licence says; its message is shown.")

    /// All of the above.
    static let players: [Self] = [
        .playerMissing, .displayMissing, .mediaUnsupported, .playerFailed, .playLimitReached,
    ]
}
