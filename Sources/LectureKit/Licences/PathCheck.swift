import Glibc

/// Checks paths.
enum PathCheck {
    /// Whether a path exists, whatever it is.
    static func exists(_ path: String) -> Bool { unsafe !path.utf8.contains(0) && access(path, F_OK) == 0 }
}
