/// Paths of files, as text.
package enum PathText {
    /// The directory that a file is in.
    ///
    /// - Parameter path: the file, absolute or relative to the working directory.
    /// - Returns: its path without a slash at the end; `.` for a name alone.
    package static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
