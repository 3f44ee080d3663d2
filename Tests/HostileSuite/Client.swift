import LectureTestSupport

/// A program that fetches one file, called as a user would who wants it to be right.
package struct Client: Sendable {
    /// The parameters of a program for one meeting.
    package struct Task: Sendable {
        /// Where the lecture is.
        package let url: String
        /// Its mirrors.
        package let mirrors: [String]
        /// The path of the output file.
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

    /// The heading of its column.
    package let name: String
    /// The program.
    package let program: String
    /// Whether it takes the digest of the file.
    package let takesDigest: Bool
    /// Whether it takes a second server.
    package let takesMirrors: Bool
    /// The arguments of its command line.
    package let words: @Sendable (Task) -> [String]
    /// What is added to its environment.
    package let environment: @Sendable (Task) -> [String: String]

    /// A program.
    ///
    /// - Parameters:
    ///   - name: the heading of its column.
    ///   - program: its path.
    ///   - takesDigest: whether it takes the digest of the file.
    ///   - takesMirrors: whether it takes a second server.
    ///   - words: its command line.
    ///   - environment: what is added to its environment.
    package init(
        name: String, program: String, takesDigest: Bool, takesMirrors: Bool = false,
        words: @escaping @Sendable (Task) -> [String], environment: @escaping @Sendable (Task) -> [String: String]
    ) {
        (self.name, self.program, self.takesDigest, self.takesMirrors) = (name, program, takesDigest, takesMirrors)
        (self.words, self.environment) = (words, environment)
    }

    /// The seconds without a byte after which each program abandons an attempt.
    static let patience = 2

    /// `lecturectl` of this package.
    ///
    /// - Parameter program: its path.
    /// - Returns: the client.
    package static func lecturectl(_ program: String = Places.builtProduct("lecturectl")) -> Client {
        Client(name: "lecturectl", program: program, takesDigest: true, takesMirrors: true) { task in
            var words = ["precache", task.url, "--output", task.output, "--timeout", "\(patience)s", "--retries", "5"]
            words += ["--json", "--quiet", "--quota", "64M", "--deadline", "20s"]
            words += task.mirrors.flatMap { ["--mirror", $0] }
            words += task.sha256.map { ["--sha256", $0] } ?? []
            words += task.authorityFile.map { ["--ca-file", $0] } ?? []
            words += task.connections.map { ["--connections", "\($0)"] } ?? []
            return words + task.fields.flatMap { ["--header", $0] }
        } environment: { task in
            ["HOME": task.home, "LECTURE_STORE": task.home + "/store", "LECTURE_RESERVE": "1M"]
        }
    }

    /// Debian's curl, with retries and resumption enabled.
    ///
    /// - Returns: the client.
    /// - Throws: when it is not installed.
    package static func curl() throws -> Client {
        Client(name: "curl", program: try Places.command("curl"), takesDigest: false) { task in
            var words = ["--silent", "--show-error", "--fail", "--location", "--proto-redir", "=http,https"]
            words += ["--retry", "5", "--retry-all-errors", "--retry-delay", "1", "--retry-max-time", "20"]
            words += ["--connect-timeout", "\(patience)", "--speed-limit", "1", "--speed-time", "\(patience)"]
            words += ["--continue-at", "-", "--output", task.output]
            words += task.authorityFile.map { ["--cacert", $0] } ?? []
            return words + task.fields.flatMap { ["--header", $0] } + [task.url]
        } environment: {
            ["HOME": $0.home]
        }
    }

    /// Debian's aria2, with retries enabled and file renaming disabled.
    ///
    /// - Returns: the client.
    /// - Throws: when it is not installed.
    package static func aria2() throws -> Client {
        Client(name: "aria2", program: try Places.command("aria2c"), takesDigest: true, takesMirrors: true) { task in
            var words = ["--quiet", "--no-conf", "--allow-overwrite=true", "--auto-file-renaming=false"]
            words += ["--max-tries=5", "--retry-wait=1", "--timeout=\(patience)", "--connect-timeout=\(patience)"]
            words += ["--dir=/", "--out=\(task.output.dropFirst())"]
            words += task.connections.map { ["-x\($0)", "-s\($0)", "-k1M"] } ?? []
            words += task.sha256.map { ["--checksum=sha-256=\($0)"] } ?? []
            words += task.authorityFile.map { ["--ca-certificate=\($0)"] } ?? []
            return words + task.fields.map { "--header=\($0)" } + [task.url] + task.mirrors
        } environment: {
            ["HOME": $0.home]
        }
    }

    /// Debian's wget2, with retries and resumption enabled.
    ///
    /// - Returns: the client.
    /// - Throws: when it is not installed.
    package static func wget2() throws -> Client {
        Client(name: "wget2", program: try Places.command("wget2"), takesDigest: false) { task in
            var words = ["--quiet", "--no-config", "--tries=5", "--waitretry=1", "--timeout=\(patience)"]
            words += ["--retry-connrefused", "--continue", "--no-hsts", "--output-document=\(task.output)"]
            words += task.authorityFile.map { ["--ca-certificate=\($0)"] } ?? []
            return words + task.fields.map { "--header=\($0)" } + [task.url]
        } environment: {
            ["HOME": $0.home]
        }
    }

    /// All four, this package's first.
    ///
    /// - Parameter program: the path of `lecturectl`.
    /// - Returns: the clients.
    /// - Throws: when one is not installed.
    package static func all(_ program: String = Places.builtProduct("lecturectl")) throws -> [Client] {
        [.lecturectl(program), try .curl(), try .aria2(), try .wget2()]
    }
}
