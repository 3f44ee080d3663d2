// The catalogue's codes of adaptive lectures. Numbers and names are frozen.

extension LectureError.Code {
    // MARK: Adaptive lectures (our own numbers)

    /// A playlist or manifest that cannot be read.
    public static let playlistDamaged = Self(
        -20270, "playlist_damaged", "the playlist of the lecture cannot be used",
        "Report this to the provider: a player would lose part of the lecture, or could not play it.",
        reason: "A line of it breaks a rule of HLS or DASH whose violation would lose or mix up media.")
    /// Encrypted in a way that needs a DRM system.
    public static let streamProtected = Self(
        -20271, "stream_protected", "the lecture is encrypted for a DRM system that is not supported",
        "Ask the provider for the lecture without it, or encrypted with AES-128.",
        reason: "Its playlist names SAMPLE-AES, Widevine, PlayReady, FairPlay or another system.")
    /// A stream that has not ended.
    public static let streamLive = Self(
        -20272, "stream_live", "this is a live stream, which has not ended",
        "Keep it while it goes on with 'lecturectl precache --capture URL', or run the command when it is over.",
        reason: "Its playlist has no end mark, so segments are still to come.")
    /// Nothing is left of what was asked for.
    public static let variantUnavailable = Self(
        -20273, "variant_unavailable", "the lecture has no variant or language that was asked for",
        "Give other limits or languages; 'lecturectl precache --dry-run URL' shows what there is.",
        reason: "No variant is within --max-height and --max-bandwidth, or a language or number does not exist.")
    /// Segments that the server does not have.
    public static let segmentsMissing = Self(
        -20274, "segments_missing", "the server does not have all segments of the lecture",
        "Run the command again later; 'lecturectl precache --allow-gaps URL' keeps the lecture without them.",
        reason:
            "Everything else is kept. The named segments were refused each time they were requested, or are not what "
            + "their key encrypts.")
    /// A key that is none.
    public static let streamKey = Self(
        -20275, "stream_key", "a key of the lecture is not usable",
        "Report this to the provider.",
        reason: "A key of AES-128 has 16 bytes; its server sent something else.")
    /// There is no program that joins streams.
    public static let exporterMissing = Self(
        -20276, "exporter_missing", "ffmpeg, which joins adaptive lectures, is not installed",
        "Install the package ffmpeg, for instance with 'apt-get install ffmpeg'.",
        reason: "The program is in no directory of PATH, or this user may not run it.")
    /// The program that joins streams failed.
    public static let exportFailed = Self(
        -20277, "export_failed", "ffmpeg could not write the lecture into one file",
        "Check the place of the file; --format mkv accepts nearly every stream.",
        reason: "The last line that ffmpeg wrote is shown. An unfinished file is deleted.")
    /// Something that needs one file was asked of an adaptive lecture.
    public static let manyFiles = Self(
        -20278, "many_files", "an adaptive lecture is many files",
        "Make one with 'lecturectl export KEY --output FILE', or play it with 'lecturectl play KEY'.",
        reason: "It is kept as it is streamed: playlists, and segments of some seconds each.")
    /// Nothing reads XML on this machine.
    public static let manifestReaderMissing = Self(
        -20279, "manifest_reader_missing", "this machine cannot read DASH manifests",
        "Install the package libxml2 ('apt-get install libxml2'), and run the command again.",
        reason: "A DASH manifest is XML; libxml2 reads it, and is opened when the first one is read.")
    /// A live stream that was captured with gaps.
    public static let captureGaps = Self(
        -20285, "capture_gaps", "parts of the live stream were missed while it was captured",
        "'lecturectl precache --capture --allow-gaps URL' keeps the lecture without them.",
        reason: "Their segments had left the server before they could be fetched. Everything else is kept.")
    /// A live stream that is not updated any more.
    public static let captureStalled = Self(
        -20286, "capture_stalled", "the server has stopped updating the live stream",
        "Run the command again to go on; 'lecturectl precache --allow-gaps URL' ends it with what was captured.",
        reason: "Its playlist has neither changed for ten target durations nor got an end. What was captured is kept.")
    /// A live stream that is too long.
    public static let captureFull = Self(
        -20287, "capture_full", "the live stream has more segments than are kept",
        "End it with 'lecturectl precache --allow-gaps URL', and capture the rest with '--key KEY' as another lecture.",
        reason: "A captured lecture has at most 50,000 segments. What was captured is kept.")

    /// Those of adaptive lectures.
    static let adaptive: [Self] = [
        .playlistDamaged, .streamProtected, .streamLive, .variantUnavailable, .segmentsMissing, .streamKey,
        .exporterMissing, .exportFailed, .manyFiles, .manifestReaderMissing, .captureGaps, .captureStalled,
        .captureFull,
    ]
}
