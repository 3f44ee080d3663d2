import Glibc
import LectureKit
import LectureModel

/// From the words of `precache` to wishes.
struct PrecacheSources: Sendable {
    /// What a source holds.
    enum Item: Sendable {
        /// A lecture.
        case request(DownloadRequest)
        /// A line or a link that cannot be used; the others go on.
        case refused(LectureError)
        /// A member of a course list that means nothing; its lines are used without it.
        case warning(CourseList.Warning)
    }

    private let command: ParsedCommand
    /// The fields of `--header`, in their order.
    private let headers: [HeaderField]
    /// Output paths of this run. Two contents under one name would replace each other.
    private var outputs: Set<String> = []

    /// Checks what can be checked before anything is read.
    ///
    /// - Parameter command: the command line.
    /// - Throws: ``UsageError`` for options that need exactly one URL; `LectureError` for a key that cannot be used.
    init(_ command: ParsedCommand) throws {
        self.command = command
        headers = try command.texts("header").flatMap { text throws(LectureError) in
            text.hasPrefix("@") ? try CredentialFiles.headers(String(text.dropFirst())) : [try HeaderField(line: text)]
        }
        let single = ["key", "title", "sha256", "output"].first { command.text($0) != nil }
        if let name = single ?? (command.texts("mirror").isEmpty ? nil : "mirror") {
            guard command.arguments.count == 1, Self.isURL(command.arguments[0]) else {
                throw UsageError("Option '--\(name)' needs exactly one URL.", path: ["precache"])
            }
        }
    }

    /// Makes the directory of `--output-dir` when it is missing; its parent must be there. What can be seen to be no
    /// place for a file is refused here, before hours of fetching.
    ///
    /// - Throws: `LectureError` with the code `outputRefused`.
    func prepareOutputs() throws(LectureError) {
        if let directory = command.text("output-dir") {
            if unsafe mkdir(directory, 0o777) != 0, errno != EEXIST { throw Self.refused(directory, errno) }
            try Self.requireDirectory(directory, for: directory)
        }
        guard let file = command.text("output") else { return }
        var status = stat()
        if unsafe stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { throw Self.refused(file, EISDIR) }
        let parent = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
        try Self.requireDirectory(parent, for: file)
    }

    private static func requireDirectory(_ path: String, for output: String) throws(LectureError) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw refused(output, errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw refused(output, ENOTDIR) }
    }

    private static func refused(_ output: String, _ code: Int32) -> LectureError {
        LectureError(.outputRefused, detail: output, cause: ConfigurationFile.systemMessage(code))
    }

    /// Hands the lectures of all sources over, in order, in groups: one group is one transaction.
    ///
    /// - Parameters:
    ///   - manager: fetches lists that lie on a server; without one a list's URL is handed over as it stands.
    ///   - body: takes a group.
    /// - Throws: what `body` throws.
    mutating func forEachGroup(
        of manager: LectureManager?, _ body: ([Item]) async throws -> Void
    ) async throws {
        for source in command.arguments {
            if Self.isURL(source), let manager, let list = Self.remoteList(source) {
                try await readRemoteList(source, list, manager, body)
            } else if Self.isURL(source) {
                try await body(urls(source))
            } else {
                try await readList(source, body)
            }
        }
    }

    private static func isURL(_ source: String) -> Bool {
        source.contains("://") || DownloadRequest.isLink(source)
    }

    /// What became of an item that is not simply in the queue.
    enum Outcome: Sendable {
        /// It is not fetched.
        ///
        /// - Parameters:
        ///   - error: why not.
        ///   - isLine: whether it is a line that could not be read, and not a wish that the library refused.
        case refused(LectureError, isLine: Bool)
        /// It is complete already.
        case complete(ContentKey)
        /// A member of a course list means nothing.
        case warning(CourseList.Warning)
    }

    /// Hands a group to the library, in one transaction.
    ///
    /// - Parameters:
    ///   - items: the lectures, and what cannot be used.
    ///   - manager: downloads them.
    ///   - check: how far complete ones are compared.
    /// - Returns: what became of those that are not simply in the queue.
    /// - Throws: `LectureError` when the store cannot be written.
    static func enqueue(
        _ items: [Item], _ manager: LectureManager, check: SourceCheck
    ) async throws -> [Outcome] {
        var outcomes: [Outcome] = []
        var requests: [DownloadRequest] = []
        for item in items {
            switch item {
            case .request(let request): requests.append(request)
            case .refused(let error): outcomes.append(.refused(error, isLine: true))
            case .warning(let warning): outcomes.append(.warning(warning))
            }
        }
        guard !requests.isEmpty else { return outcomes }
        for (request, result) in zip(requests, try await manager.enqueue(requests, check: check)) {
            switch result {
            case .failure(let error):
                let place = URLText.withoutSecrets(request.url)
                let detail = error.detail.isEmpty ? place : error.detail
                outcomes.append(.refused(LectureError(error.code, detail: detail, cause: error.cause), isLine: false))
            case .success(let entry):
                if entry.outcome == .alreadyComplete { outcomes.append(.complete(entry.key)) }
            }
        }
        return outcomes
    }

    // MARK: URLs

    private mutating func urls(_ source: String) -> [Item] {
        do {
            guard DownloadRequest.isLink(source) else { return [item(try single(source), fileName: nil)] }
            return try DownloadRequest.requests(link: source).map { item($0, fileName: nil) }
        } catch {
            return [.refused(error as? LectureError ?? LectureError(.urlInvalid))]
        }
    }

    private func single(_ url: String) throws -> DownloadRequest {
        var request = DownloadRequest(url: url)
        request.key = try command.text("key").map { try ContentKey($0) }
        request.title = command.text("title")
        request.sha256 = command.text("sha256").flatMap { Hexadecimal.bytes($0) }
        request.mirrors = command.texts("mirror")
        request.outputPath = command.text("output")
        return request
    }

    // MARK: Lists

    /// A list on a server: a URL whose path ends as a list's name does.
    private static func remoteList(_ source: String) -> CourseList? {
        guard let parts = try? URLParts(source) else { return nil }
        return try? CourseList(path: String(parts.lastPathPart))
    }

    private mutating func readRemoteList(
        _ url: String, _ list: CourseList, _ manager: LectureManager, _ body: ([Item]) async throws -> Void
    ) async throws {
        let headers = Dictionary(headers.map { ($0.name, $0.value) }) { _, last in last }
        var list = list
        let bytes = try await manager.document(url, headers: headers)
        let lines = list.read(bytes) + list.finish()
        try await body(lines.map { item($0) })
    }

    private mutating func readList(_ path: String, _ body: ([Item]) async throws -> Void) async throws {
        do {
            let input = try InputReader(path)
            var list = path == "-" ? nil : try CourseList(path: path)
            while let bytes = try await input.next() {
                if list == nil { list = try standardInput(firstBytes: bytes) }
                let items = (list?.read(bytes) ?? []).map { item($0) }
                if !items.isEmpty { try await body(items) }
            }
            let items = (list?.finish() ?? []).map { item($0) }
            if !items.isEmpty { try await body(items) }
        } catch let error as LectureError where error.code == .courseList {
            try await body([.refused(error)])
        }
    }

    /// Standard input has no name that tells its format.
    private func standardInput(firstBytes: [UInt8]) throws -> CourseList {
        CourseList(firstByte: firstBytes.first { !" \t\r\n".utf8.contains($0) })
    }

    private mutating func item(_ line: CourseList.Line) -> Item {
        switch line {
        case .issue(let error): .refused(error)
        case .warning(let warning): .warning(warning)
        case .lecture(let request, let fileName): item(request, fileName: fileName)
        }
    }

    // MARK: Options for all

    private mutating func item(_ request: DownloadRequest, fileName: String?) -> Item {
        var request = request
        request.folder = request.folder ?? command.text("folder")
        if request.priority == 0 { request.priority = command.integer("priority") ?? 0 }
        for field in headers where !request.headers.keys.contains(where: { FieldText.equal($0, field.name) }) {
            // What a line of a list says about itself is nearer than what is said for all.
            request.headers[field.name] = field.value
        }
        guard let directory = command.text("output-dir") else { return .request(request) }
        do {
            let name = try fileName ?? Self.lastPart(request.url)
            try SafeName.check(name)
            guard outputs.insert(name).inserted else {
                throw LectureError(.outputRefused, detail: name, cause: "two lectures of this run have this name")
            }
            request.outputPath = directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
            return .request(request)
        } catch {
            return .refused(error as? LectureError ?? LectureError(.nameRefused))
        }
    }

    /// The last part of a URL's path, as it stands there.
    private static func lastPart(_ url: String) throws -> String {
        let parts = try URLParts(url)
        guard let name = parts.path.split(separator: "/").last else {
            throw LectureError(
                .outputRefused, detail: URLText.withoutSecrets(url), cause: "the URL ends without a name")
        }
        return String(name)
    }
}
