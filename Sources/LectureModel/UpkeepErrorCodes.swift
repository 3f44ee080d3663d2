// The catalogue's codes for rules of retention and forecasts. Numbers and names are frozen.

extension LectureError.Code {
    /// Rules of the configuration that were not accepted yet.
    public static let retentionUnseen = Self(
        -20295, "retention_unseen", "these rules have not been accepted yet; nothing was removed",
        "Look at what they remove ('lecturectl prune --dry-run'), then run 'lecturectl prune --yes' once.",
        reason: "Rules are new or were changed, and what they remove was not looked at.")
    /// Rules take more lectures than may be removed at once.
    public static let retentionRefused = Self(
        -20296, "retention_refused", "the rules take more lectures than may be removed at once; nothing was removed",
        "Check the rules and the clock ('lecturectl prune --dry-run'). If they are right, run the command again with a "
            + "larger --max-delete.",
        reason: "Rules that suddenly take most lectures are usually a mistake, or the clock is wrong.")
    /// A forecast ends after the time that was asked for.
    public static let notInTime = Self(
        -20297, "not_in_time", "the lectures will not be complete in time",
        "'lecturectl plan --ready-by TIME' names what is in the way, and what to do about it.",
        reason: "At the speed that was measured, and within the timetable, the bytes that are left take longer.")
    /// A course that no lecture belongs to.
    public static let unknownCourse = Self(
        -20294, "unknown_course", "no lecture belongs to this course",
        "'lecturectl list --json' shows the course of each lecture; spelling and case count.",
        reason: "Its lectures were not requested yet, or the name is another one.")
    /// All of the above.
    static let upkeep: [Self] = [.retentionUnseen, .retentionRefused, .notInTime, .unknownCourse]
}
