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
    /// The program of another player cannot be started.
    public static let playerProgramMissing = Self(
        -20252, "player_program_missing", "the player's program cannot be started",
        "Check the name after --with, or give the program's path.",
        reason: "It is in no directory of PATH, or it is no program that this user may run.")
    /// The provider's rules are for players that follow them.
    public static let playerNotPermitted = Self(
        -20253, "player_not_permitted", "the provider's rules for this lecture exclude other players",
        "Play it without --with and --url; ask the provider for a lecture without these rules.",
        reason: "Its gateway shows a watermark, limits what is played or permits each play; others do none.")
    /// There is no library for the loopback server.
    public static let loopbackMissing = Self(
        -20254, "loopback_missing", "libmicrohttpd, which serves other players, is not installed",
        "Install the package libmicrohttpd12, for instance with 'apt-get install libmicrohttpd12'.",
        reason: "It is opened when another player is to play a lecture, and was not found or is of another version.")
    /// The loopback server cannot listen.
    public static let loopbackFailed = Self(
        -20255, "loopback_failed", "the loopback server cannot listen on its port",
        "Choose another port, or 0 for any free one.",
        reason: "Another program listens on the port of 127.0.0.1, or it needs a permission.")

    /// All of the above.
    static let players: [Self] = [
        .playerMissing, .displayMissing, .mediaUnsupported, .playerFailed, .playLimitReached,
        .playerProgramMissing, .playerNotPermitted, .loopbackMissing, .loopbackFailed,
    ]
}
