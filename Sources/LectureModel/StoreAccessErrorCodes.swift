// The catalogue's codes for a store that is missing, or not accessible to this user. Numbers and names are frozen.

extension LectureError.Code {
    /// The store belongs to another user.
    public static let storeOwner = Self(
        -20060, "store_owner", "the store belongs to another user",
        "Run the command as that user, or let the owner share the store with a group ('storage.group').",
        reason: "The owner could not read files that another user creates.")
    /// There is no store to read.
    public static let storeMissing = Self(
        -20061, "store_missing", "there is no store",
        "'lecturectl precache' creates one; --store selects another directory.",
        reason: "Nothing was downloaded to this directory yet, or it is another user's or a mistyped one.")
    /// The request's header fields were sealed by another device's key.
    public static let headersSealed = Self(
        -20062, "headers_sealed", "the request's header fields cannot be opened with this device's key",
        "Run 'lecturectl precache' for this lecture with --header again.",
        reason: "They were sealed with another device's key, or the key was lost.")
    /// The lecture was made from a file of a lost database, which knew its source.
    public static let sourceUnknown = Self(
        -20074, "source_unknown", "where this lecture came from was in a database that was lost",
        "Name its source: lecturectl precache URL --key KEY.",
        reason: "It was made from its file, which is all that 'lecturectl store rebuild' had.")

    /// All of the above.
    static let access: [Self] = [.storeOwner, .storeMissing, .headersSealed, .sourceUnknown]
}
