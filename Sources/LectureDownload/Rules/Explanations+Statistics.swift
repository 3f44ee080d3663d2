import LectureModel

/// What the codes of learning reports mean.
extension Explanations {
    static let statisticsTexts: [Row] = [
        (.reportConflict, "Its id was given to another report before.", "The stored report stays as it is."),
        (.reportInvalid, "A member is missing, of another kind, or too long.", "Nothing was stored."),
        (
            .reportsUnderWay, "A request went out with them, and no answer to it is known.",
            "They are sent again with the next 'lecturectl lms send'; then the learner can be erased."
        ),
        (
            .reportTargetMissing, "Neither the report, its content nor the configuration names an LMS.",
            "The reports wait until one is named."
        ),
        (
            .reportTargetRefuses, "The LMS answered 401, 403 or 407.",
            "It is asked again with the next 'lecturectl lms send'; until then the reports wait."
        ),
        (
            .reportRefused, "The LMS refused it by itself, in a request of its own.",
            "Nothing, until somebody sends it again or it expires."
        ),
        (
            .reportAnswerUnexpected, "A page, a redirect to another host or other text came in place of a success.",
            "The same bytes are sent again under the same id."
        ),
        (
            .reportTargetWaits, "The LMS is busy, fails, or has asked to wait.",
            "The same bytes are sent again under the same id when the wait is over."
        ),
        (.reportLine, "The line is damaged, or was written by another program.", "The other lines are stored."),
        (
            .exportIncomplete, "Its last line is missing, or does not agree with the lines before it.",
            "What could be read of it is stored."
        ),
        (
            .learnerLeft, "A licence, a description or a copy of the store that is out of reach names the learner.",
            "Nothing, until those places are removed and the command is run again."
        ),
    ]
}
