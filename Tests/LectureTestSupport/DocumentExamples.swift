import Foundation

/// Examples in documents, which must be parts of programs that are built.
package enum DocumentExamples {
    /// The code of a document: the lines between "```swift" and "```", without indentation, comment marks, empty lines.
    ///
    /// - Parameter path: of the document, relative to the repository; comments of a source file count too.
    /// - Returns: the examples in their order.
    /// - Throws: the system's error.
    package static func examples(in path: String) throws -> [[String]] {
        var blocks: [[String]] = []
        var isInside = false
        for code in try lines(of: path).map(plain) {
            if code.hasPrefix("```") {
                isInside = code == "```swift"
                if isInside { blocks.append([]) }
            } else if isInside, !code.isEmpty {
                blocks[blocks.count - 1].append(code)
            }
        }
        return blocks
    }

    /// The source files of a program, each as its lines without indentation and empty lines.
    ///
    /// - Parameter directory: relative to the repository.
    /// - Returns: the files.
    /// - Throws: the system's error.
    package static func program(in directory: String) throws -> [[String]] {
        try FileManager.default.contentsOfDirectory(atPath: "\(Places.repository())/\(directory)")
            .filter { $0.hasSuffix(".swift") }.sorted().map { try lines(of: "\(directory)/\($0)") }
    }

    /// The first line at which an example differs from a file.
    ///
    /// - Parameters:
    ///   - example: its lines.
    ///   - file: the file's lines.
    ///   - isWhole: whether the file must have no line between them.
    /// - Returns: nil when the whole example is in the file, in order.
    package static func stray(_ example: [String], in file: [String], isWhole: Bool) -> String? {
        guard let first = example.first else { return "an example without a line" }
        guard isWhole else {
            var rest = file[...]
            for line in example {
                guard let place = rest.firstIndex(of: line) else { return line }
                rest = rest[(place + 1)...]
            }
            return nil
        }
        var longest = 0
        for start in file.indices where file[start] == first {
            longest = max(longest, zip(example, file[start...]).prefix { $0 == $1 }.count)
        }
        return longest == example.count ? nil : example[longest]
    }

    private static func lines(of path: String) throws -> [String] {
        try String(contentsOfFile: "\(Places.repository())/\(path)", encoding: .utf8).split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private static func plain(_ line: String) -> String {
        line.hasPrefix("///") ? line.dropFirst(3).trimmingCharacters(in: .whitespaces) : line
    }
}
