/// Recognises a file outside the store: what is seen of it without reading it.
///
/// The device is left out: some file systems have another number after each mount.
package struct OutputFacts: Sendable, Hashable {
    /// The number of its inode, as 64 bits.
    package var inode: Int64
    /// The length.
    package var bytes: Int64
    /// When it was last written, in nanoseconds since 1970.
    package var modifiedNanoseconds: Int64

    /// Creates a value.
    package init(inode: Int64, bytes: Int64, modifiedNanoseconds: Int64) {
        self.inode = inode
        self.bytes = bytes
        self.modifiedNanoseconds = modifiedNanoseconds
    }
}

/// What may be replaced by a finished file.
package enum OutputRight: Sendable, Hashable {
    /// Nothing.
    case nothing
    /// These files, which LectureKit has written for the same lecture.
    case own([OutputFacts])
    /// Any file, because the user said so.
    case any

    /// Whether a file may be replaced.
    ///
    /// - Parameter facts: the file that is there.
    /// - Returns: whether this right covers it.
    package func allows(_ facts: OutputFacts) -> Bool {
        switch self {
        case .nothing: false
        case .own(let files): files.contains(facts)
        case .any: true
        }
    }
}

/// A finished file, and where it is also wanted.
package struct OutputOrder: Sendable, Hashable {
    /// The file, relative to the store.
    package var path: String
    /// Whether it is sealed; then it is refused.
    package var isSealed: Bool
    /// A path that the user chose.
    package var output: String
    /// What may be replaced there.
    package var right: OutputRight

    /// Creates a value.
    package init(path: String, isSealed: Bool, output: String, right: OutputRight) {
        (self.path, self.isSealed, self.output, self.right) = (path, isSealed, output, right)
    }
}

/// A place outside the store where a finished file is due.
package struct PendingOutput: Sendable, Hashable {
    /// The absolute path.
    package var path: String
    /// Whether any existing file may be replaced.
    package var mayReplace: Bool

    /// Creates a value.
    package init(path: String, mayReplace: Bool) {
        self.path = path
        self.mayReplace = mayReplace
    }
}
