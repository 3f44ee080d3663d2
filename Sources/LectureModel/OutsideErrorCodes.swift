// The catalogue's codes for what comes from outside the store: files, header fields, and who may write where. Numbers
// and names are frozen.

extension LectureError.Code {
    /// A file is where a finished one is due, and LectureKit has not written it for this lecture.
    public static let outputExists = Self(
        -20079, "output_exists", "another file has this name, and it is kept",
        "Choose another name or directory, or add --force to replace it.")
    /// A header field that belongs to the transfer itself.
    public static let headerReserved = Self(
        -20080, "header_reserved", "LectureKit sets this header field itself",
        "Leave it out: lengths, ranges and connections belong to the transfer.")
    /// The store's directory may be written by others.
    public static let storeExposed = Self(
        -20078, "store_exposed", "others may write to the store's directory",
        "Run chmod go-w on it, or share it with a group ('storage.group').")

    /// All of the above.
    static let outside: [Self] = [.storeExposed, .outputExists, .headerReserved]
}
