import LectureModel

/// What the codes of embedding applications mean.
extension Explanations {
    private static let refused = "The application's store is not opened."

    static let applicationTexts: [Row] = [
        (.applicationOtherBundle, "A key stands for one bundle, and its issuer has signed which.", refused),
        (.applicationExpired, "Its end has passed, by this clock or by the time that licences have proven.", refused),
        (.applicationDateDiffers, "The key itself says when it ends, and its issuer has signed that.", refused),
        (
            .applicationKeyRefused,
            "Its signature, its audience or its form is wrong, or nobody here trusts its issuer.", refused
        ),
        (.applicationIncomplete, "The key, its bundle and its end are only checked together.", refused),
        (
            .workerMissing, "A program of its own goes on when this one ends, and it was not found.",
            "Downloads end with this program, and go on with its next run."
        ),
        (
            .workerFailed, "The system refused a process or a pipe.",
            "Downloads end with this program, and go on with its next run."
        ),
    ]
}
