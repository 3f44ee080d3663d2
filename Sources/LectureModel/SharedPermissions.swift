/// The permissions of a directory that its owner shares with a group and with no other users: the set-group-ID bit, all
/// rights for the group, none for others.
package enum SharedPermissions {
    /// The mode of a shared directory.
    package static let directory: UInt32 = 0o2770
    /// The mode of a file in it.
    package static let file: UInt32 = 0o660

    /// Whether a directory is shared.
    ///
    /// - Parameter mode: the directory's mode; the file type is ignored.
    /// - Returns: false where the group lacks a right or others have one.
    package static func isShared(mode: UInt32) -> Bool { mode & 0o2077 == 0o2070 }
}
