import Glibc

/// The command line and the environment as passed by the kernel.
///
/// `CommandLine.arguments` repairs what is not UTF-8; a key or a path repaired that way would name something else, so
/// such an argument is refused.
package enum ProcessInput {
    /// The command line without the program's name.
    ///
    /// - Returns: the words.
    /// - Throws: ``UsageError`` when one is not UTF-8.
    package static func arguments() throws(UsageError) -> [String] {
        var words: [String] = []
        for position in stride(from: 1, to: Int(CommandLine.argc), by: 1) {
            guard let pointer = unsafe CommandLine.unsafeArgv[position] else { break }
            guard let word = unsafe String(validatingCString: pointer) else {
                throw UsageError("Argument \(position) is not UTF-8.")
            }
            words.append(word)
        }
        return words
    }

    /// The environment; variables that are not UTF-8 are ignored.
    ///
    /// - Returns: names and values.
    package static func environment() -> [String: String] {
        var variables: [String: String] = [:]
        // Read once before any other thread exists that could change it.
        var entry: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = unsafe environ
        while let pointer = unsafe entry.pointee {
            if let text = unsafe String(validatingCString: pointer), let separator = text.firstIndex(of: "=") {
                variables[String(text[..<separator])] = String(text[text.index(after: separator)...])
            }
            unsafe entry += 1
        }
        return variables
    }
}
