// The catalogue's codes of a store that is not there, or not for this user. Numbers and names are frozen.

extension LectureError.Code {
    /// The store belongs to another user.
    public static let storeOwner = Self(
        -20060, "store_owner", "the store belongs to another user",
        "Run the command as that user: what another user writes there, the owner could not read.")
    /// There is no store where one is to be read.
    public static let storeMissing = Self(
        -20061, "store_missing", "there is no store",
        "'lecturectl precache' makes one; --store names the directory of another.")
    /// The request's header fields were sealed by another device's key.
    public static let headersSealed = Self(
        -20062, "headers_sealed", "the request's header fields cannot be opened with this device's key",
        "Run 'lecturectl precache' for this lecture with --header again.")

    /// All of the above.
    static let access: [Self] = [.storeOwner, .storeMissing, .headersSealed]
}
