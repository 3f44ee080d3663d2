import LectureModel

/// What the codes of embedding applications mean.
extension Explanations {
    static let applicationTexts: [Row] = [
        (.applicationOtherBundle, "A key is issued for one bundle identifier."),
        (.applicationExpired, "Its end date has passed, by this clock or by the time that licence servers reported."),
        (.applicationDateDiffers, "The end date is part of the signed key."),
        (.applicationKeyRefused, "Its signature, audience or form is wrong, or its issuer is not trusted here."),
        (.applicationIncomplete, "Key, bundle identifier and end date are checked together."),
        (.workerMissing, "Downloads continue in a separate program, which was not found."),
        (.workerFailed, "The system could not start a process or create a pipe."),
    ]
}
