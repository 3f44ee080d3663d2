import Glibc

/// Looks at paths.
enum PathLook {
    /// Whether something stands at a path, whatever it is.
    static func exists(_ path: String) -> Bool { unsafe !path.utf8.contains(0) && access(path, F_OK) == 0 }
}
