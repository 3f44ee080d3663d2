// The catalogue's codes for what comes from outside the store: files, header fields, and who may write where. Numbers
// and names are frozen.

extension LectureError.Code {
    /// A file is where a finished one is due, and LectureKit has not written it for this lecture.
    public static let outputExists = Self(
        -20079, "output_exists", "another file has this name, and it is kept",
        "Choose another name or directory, or add --force to replace it.",
        reason: "LectureKit only replaces files that it has written for the same lecture.")
    /// A header field that belongs to the transfer itself.
    public static let headerReserved = Self(
        -20080, "header_reserved", "LectureKit sets this header field itself",
        "Leave it out: lengths, ranges and connections belong to the transfer.",
        reason: "Another value would ask for something else than the file.")
    /// The store's directory may be written by others.
    public static let storeExposed = Self(
        -20078, "store_exposed", "others may write to the store's directory",
        "Run chmod go-w on it, or share it with a group ('storage.group').",
        reason: "Users who may write there can exchange the store's files and database.")

    /// All of the above.
    static let outside: [Self] = [.storeExposed, .outputExists, .headerReserved]
}
