// The catalogue's codes of bookmarks. Numbers and names are frozen.

extension LectureError.Code {
    // MARK: Bookmarks

    /// The licence permits no bookmarks. The number is the vendor's (DISABLED_BOOKMARK_CONTENT).
    public static let bookmarksNotPermitted = Self(
        -2100, "bookmarks_not_permitted", "the licence permits no bookmarks for this lecture",
        "Ask the provider to permit them; a renewal of the licence then brings it.",
        reason: "The licence server has set 'offline_bookmark' to nothing, or has not set it.")

    // Our own numbers.

    /// The licence permits no changes.
    public static let bookmarksReadOnly = Self(
        -20260, "bookmarks_read_only", "the licence does not permit changes of the bookmarks of this lecture",
        "Ask the provider to permit them; a renewal of the licence then brings it.",
        reason: "The licence server has set 'readonly' in 'offline_bookmark'.")
    /// There is no such bookmark.
    public static let bookmarkMissing = Self(
        -20261, "bookmark_missing", "there is no bookmark at this position",
        "'lecturectl bookmark list' shows the positions.",
        reason: "It was removed before, or the position is another one.")
    /// The bookmark is the teacher's.
    public static let bookmarkOfTeacher = Self(
        -20262, "bookmark_of_teacher", "the bookmark at this position is the teacher's",
        "Only a learner's own bookmarks can be removed.",
        reason: "The index of a lecture comes from its provider.")
    /// The bookmark cannot be stored.
    public static let bookmarkInvalid = Self(
        -20263, "bookmark_invalid", "the bookmark is not valid",
        "Use a position in the lecture, and a text of at most 4096 bytes.",
        reason: "The position or the text is outside of what bookmark servers accept.")
    /// No server is known.
    public static let bookmarkServerMissing = Self(
        -20264, "bookmark_server_missing", "no bookmark server is known for this lecture",
        "Set 'lms.bookmark_url' in the configuration. What was changed stays in the store and is sent then.",
        reason: "Neither the gateway nor the configuration names one.")
    /// The server's list cannot be read.
    public static let bookmarkAnswer = Self(
        -20265, "bookmark_answer", "the bookmark server's answer is not a list of bookmarks",
        "Try again later, or ask the server's operator. The bookmarks in the store are unchanged.",
        reason: "It is no JSON, lacks 'bookmark_positions', or has an 'error' other than 0.")

    /// All of the above.
    static let bookmarks: [Self] = [
        .bookmarksNotPermitted, .bookmarksReadOnly, .bookmarkMissing, .bookmarkOfTeacher, .bookmarkInvalid,
        .bookmarkServerMissing, .bookmarkAnswer,
    ]
}
