// The catalogue's codes of applications that embed the library. Numbers and names are frozen.

extension LectureError.Code {
    // MARK: The application's key (numbers of the Kollus application key)

    /// The key is issued for another bundle.
    public static let applicationOtherBundle = Self(
        -2103, "application_other_bundle", "the application's key is issued for another bundle",
        "Use the bundle id that the key was issued for, or ask the provider for a key for this one.",
        reason: "A key is issued for one bundle identifier.")
    /// The key has expired.
    public static let applicationExpired = Self(
        -2104, "application_expired", "the application's key has expired", "Ask the provider for a new one.",
        reason: "Its end date has passed, by this clock or by the time that licence servers reported.")
    /// The key expires at another time than the application states.
    public static let applicationDateDiffers = Self(
        -2105, "application_date_differs", "the application's key expires at another time than the application states",
        "Use the date that was issued with the key.",
        reason: "The end date is part of the signed key.")
    /// The key does not verify, or is not an application's key.
    public static let applicationKeyRefused = Self(
        -2106, "application_key_refused", "the application's key does not verify",
        "Check that the key is complete and that its issuer is trusted ('application.trust_dir', LECTURE_TRUST).",
        reason: "Its signature, audience or form is wrong, or its issuer is not trusted here.")
    /// One of the three values is missing.
    public static let applicationIncomplete = Self(
        -2107, "application_incomplete", "the application's key, bundle id or expiry is missing",
        "Set all three as they were issued.",
        reason: "Key, bundle identifier and end date are checked together.")

    // MARK: Workers (our own numbers)

    /// There is no program to continue downloads.
    public static let workerMissing = Self(
        -20220, "worker_missing", "no 'lecturectl' was found to continue downloads",
        "Put it beside the program or into PATH, or name it with LECTURECTL.",
        reason: "Downloads continue in a separate program, which was not found.")
    /// The program that continues downloads could not be started.
    public static let workerFailed = Self(
        -20221, "worker_failed", "the program that continues downloads cannot be started",
        "Check that it can be run, and the limits on processes and open files.",
        reason: "The system could not start a process or create a pipe.")

    /// All of the above.
    static let applications: [Self] = [
        .applicationOtherBundle, .applicationExpired, .applicationDateDiffers, .applicationKeyRefused,
        .applicationIncomplete, .workerMissing, .workerFailed,
    ]
}
