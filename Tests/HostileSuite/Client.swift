import LectureTestSupport

/// A program that fetches one file, as somebody would call it who wants it to be right.
package struct Client: Sendable {
    /// What a program is told for one meeting.
    package struct Task: Sendable {
        /// Where the lecture is.
        package let url: String
        /// Where it is too.
        package let mirrors: [String]
        /// Where it is to stand.
        package let output: String
        /// A directory of the program's own.
        package let home: String
        /// SHA-256 in digits, when the client knows it.
        package let sha256: String?
        /// What to trust, a PEM file; `nil` without TLS.
        package let authorityFile: String?
        /// Parallel ranges; `nil` for the program's own choice.
        package let connections: Int?
        /// Whether to send `Authorization: Bearer` and `Cookie`.
        package let sendsCredentials: Bool

        var fields: [String] {
            sendsCredentials ? ["Authorization: Bearer for-the-first-only", "Cookie: for=the-first-only"] : []
        }
    }

    /// As it stands in the table.
    package let name: String
    /// The program.
    package let program: String
    /// Whether it can be told a digest of the file.
    package let takesDigest: Bool
    /// The words of its command line.
    package let words: @Sendable (Task) -> [String]
    /// What is added to its environment.
    package let environment: @Sendable (Task) -> [String: String]

    /// The seconds without a byte after which each program gives an attempt up.
    static let patience = 2

    /// `lecturectl` of this package.
    ///
    /// - Parameter program: its path.
    /// - Returns: the client.
    package static func lecturectl(_ program: String = Places.builtProduct("lecturectl")) -> Client {
        Client(name: "lecturectl", program: program, takesDigest: true) { task in
            var words = ["precache", task.url, "--output", task.output, "--timeout", "\(patience)s", "--retries", "5"]
            words += ["--quiet", "--quota", "64M", "--deadline", "20s"]
            words += task.mirrors.flatMap { ["--mirror", $0] }
            words += task.sha256.map { ["--sha256", $0] } ?? []
            words += task.authorityFile.map { ["--ca-file", $0] } ?? []
            words += task.connections.map { ["--connections", "\($0)"] } ?? []
            return words + task.fields.flatMap { ["--header", $0] }
        } environment: { task in
            ["HOME": task.home, "LECTURE_STORE": task.home + "/store", "LECTURE_RESERVE": "1M"]
        }
    }
}
