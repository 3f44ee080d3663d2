import Glibc
import LectureFormats
import LectureKit
import LectureModel
import LectureRecords

/// Where the requests of a run come from.
protocol RunSources: Sendable {
    /// The names under which lists are recorded.
    var listNames: [String] { get }
    /// Passes the lectures of all sources to a body, in order, in groups: one group is one transaction.
    mutating func forEachGroup(
        of manager: LectureManager, _ body: (PrecacheSources.Group) async throws -> Void) async throws
    /// Creates the directories that finished files of a group are placed in.
    func makeDirectories(_ group: PrecacheSources.Group) throws(LectureError)
}

/// Turns the arguments of `precache` into requests.
struct PrecacheSources: RunSources {
    /// An element of a source.
    enum Item: Sendable {
        /// A lecture.
        case request(DownloadRequest)
        /// A line or a link that cannot be used; the others are unaffected.
        case refused(LectureError)
        /// An unknown member of a course list; its lines are used without it.
        case warning(CourseList.Warning)
    }

    /// Some lectures of one source, in order.
    struct Group: Sendable {
        /// The name under which the list is recorded; nil for a URL.
        let list: String?
        /// The lectures, and what cannot be used.
        var items: [Item]
        /// The file name that the list gives to each lecture of ``items``; nil for none.
        fileprivate var fileNames: [String?]
        /// The position of each in its list, from 1.
        fileprivate var numbers: [Int]

        /// A group of requests that are on no list.
        init(_ requests: [DownloadRequest]) {
            list = nil
            items = requests.map { .request($0) }
            (fileNames, numbers) = (requests.map { _ in nil }, Array(1...max(1, requests.count)))
        }

        fileprivate init(list: String?) { (self.list, items, fileNames, numbers) = (list, [], [], []) }

        /// Where its requests come from.
        var origin: RequestOrigin { list.map { .courseList($0) } ?? .single }

        /// The lines of the list: its lectures, and what cannot be used.
        var lineCount: Int {
            items.count { item in
                if case .warning = item { false } else { true }
            }
        }
    }

    private let command: ParsedCommand
    /// The fields of `--header`, in their order.
    private let headers: [HeaderField]
    private let template: FileNameTemplate?
    /// The position of the next lecture in its list, or on the command line.
    private var number = 0

    /// Checks the options that can be checked before anything is read.
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
        template = try command.text("name").map { try FileNameTemplate($0) }
        if template != nil, command.text("output-dir") == nil {
            throw UsageError("Option '--name' needs '--output-dir'.", path: ["precache"])
        }
        if command.flag("force"), command.text("output") == nil, command.text("output-dir") == nil {
            throw UsageError("Option '--force' needs '--output' or '--output-dir'.", path: ["precache"])
        }
        try Self.checkPruning(command)
    }

    private static func checkPruning(_ command: ParsedCommand) throws(UsageError) {
        let isPruning = command.flag("prune")
        if let option = ["keep", "max-delete"].first(where: { command.text($0) != nil }), !isPruning {
            throw UsageError("Option '--\(option)' needs '--prune'.", path: ["precache"])
        }
        let lists = command.arguments.filter { !isURL($0) || remoteList($0) != nil }
        if isPruning, lists.isEmpty {
            throw UsageError("Option '--prune' needs a course list.", path: ["precache"])
        }
        if isPruning, lists.contains("-"), command.text("list-name") == nil {
            throw UsageError("Option '--prune' with standard input needs '--list-name'.", path: ["precache"])
        }
        if command.text("list-name") != nil, lists.count != 1 {
            throw UsageError("Option '--list-name' needs exactly one course list.", path: ["precache"])
        }
    }

    /// The names under which the lists of the command line are recorded: the path, or the URL without its secrets.
    /// Standard input has no name of its own.
    var listNames: [String] { command.arguments.compactMap(listName) }

    private func listName(_ source: String) -> String? {
        if Self.isURL(source) {
            guard Self.remoteList(source) != nil else { return nil }
            return command.text("list-name") ?? URLText.withoutSecrets(source)
        }
        if let name = command.text("list-name") { return name }
        guard source != "-" else { return nil }
        guard let path = unsafe realpath(source, nil) else { return source }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// Creates the directory of `--output-dir` when it is missing; its parent must exist. Unusable output paths are
    /// refused here, before hours of downloading.
    ///
    /// - Throws: `LectureError` with the code `outputRefused`.
    func prepareOutputs() throws(LectureError) {
        if let directory = command.text("output-dir") {
            if unsafe mkdir(directory, 0o777) != 0, errno != EEXIST { throw Self.refused(directory, errno) }
            try Self.requireDirectory(directory, for: directory)
        }
        if let report = command.text("report") { try Self.requireParent(of: report) }
        guard let file = command.text("output") else { return }
        var status = stat()
        if unsafe stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { throw Self.refused(file, EISDIR) }
        try Self.requireParent(of: file)
    }

    private static func requireParent(of file: String) throws(LectureError) {
        let parent = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
        try requireDirectory(parent, for: file)
    }

    private static func requireDirectory(_ path: String, for output: String) throws(LectureError) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw refused(output, errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw refused(output, ENOTDIR) }
    }

    private static func refused(_ output: String, _ code: Int32) -> LectureError {
        LectureError(.outputRefused, detail: output, cause: ConfigurationFile.systemMessage(code))
    }

    /// Passes the lectures of all sources to a body, in order, in groups: one group is one transaction.
    ///
    /// With an output directory everything is read first, so that file names that occur twice are refused before
    /// anything is downloaded.
    ///
    /// - Parameters:
    ///   - manager: downloads lists from servers.
    ///   - body: receives a group.
    /// - Throws: what `body` throws.
    mutating func forEachGroup(of manager: LectureManager, _ body: (Group) async throws -> Void) async throws {
        guard let directory = command.text("output-dir") else {
            return try await readAll(manager, body)
        }
        var groups: [Group] = []
        try await readAll(manager) { groups.append($0) }
        let taken = nameFiles(of: &groups)
        // A group that is registered is not kept: there may be a million requests.
        groups.reverse()
        while var group = groups.popLast() {
            place(&group, in: directory, besides: taken)
            try await body(group)
        }
    }

    private mutating func readAll(_ manager: LectureManager, _ body: (Group) async throws -> Void) async throws {
        for source in command.arguments {
            if Self.isURL(source), let list = Self.remoteList(source) {
                number = 0
                try await readRemoteList(source, list, manager, body)
            } else if Self.isURL(source) {
                try await body(urls(source))
            } else {
                number = 0
                try await readList(source, body)
            }
        }
    }

    private static func isURL(_ source: String) -> Bool {
        source.contains("://") || DownloadRequest.isLink(source)
    }

    /// The result for an item that was not simply queued.
    enum Outcome: Sendable {
        /// It is not downloaded.
        ///
        /// - Parameters:
        ///   - error: why not.
        ///   - isLine: whether it is a line that could not be read, rather than a request that the library refused.
        case refused(LectureError, isLine: Bool)
        /// It is already complete.
        case complete(ContentKey)
        /// A course list has an unknown member.
        case warning(CourseList.Warning)
    }

    /// Passes a group to the library, in one transaction.
    ///
    /// - Parameters:
    ///   - group: the lectures, and what cannot be used.
    ///   - manager: downloads them.
    ///   - check: how complete ones are compared.
    /// - Returns: the results of those that were not simply queued, and how many were registered.
    /// - Throws: `LectureError` when the store cannot be written.
    static func enqueue(
        _ group: Group, _ manager: LectureManager, check: SourceCheck
    ) async throws -> (outcomes: [Outcome], used: Int) {
        var outcomes: [Outcome] = []
        var used = 0
        var requests: [DownloadRequest] = []
        for item in group.items {
            switch item {
            case .request(let request): requests.append(request)
            case .refused(let error): outcomes.append(.refused(error, isLine: true))
            case .warning(let warning): outcomes.append(.warning(warning))
            }
        }
        guard !requests.isEmpty else { return (outcomes, 0) }
        let results = try await manager.downloads.enqueue(requests, check: check, origin: group.origin)
        for (request, result) in zip(requests, results) {
            switch result {
            case .failure(let error):
                let place = URLText.withoutSecrets(request.url)
                let detail = error.detail.isEmpty ? place : error.detail
                outcomes.append(.refused(LectureError(error.code, detail: detail, cause: error.cause), isLine: false))
            case .success(let entry):
                used += 1
                if entry.outcome == .alreadyComplete { outcomes.append(.complete(entry.key)) }
            }
        }
        return (outcomes, used)
    }

    // MARK: URLs

    private mutating func urls(_ source: String) -> Group {
        do {
            let requests =
                DownloadRequest.isLink(source)
                ? try DownloadRequest.requests(link: source) : [try single(source)]
            return group(requests.map { .lecture($0, fileName: nil) }, of: nil)
        } catch {
            return group([.issue(error as? LectureError ?? LectureError(.urlInvalid))], of: nil)
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

    /// A list on a server: a URL whose path ends in the suffix of a course list.
    private static func remoteList(_ source: String) -> CourseList? {
        guard let parts = try? URLParts(source) else { return nil }
        return try? CourseList(path: String(parts.lastPathPart))
    }

    private mutating func readRemoteList(
        _ url: String, _ list: CourseList, _ manager: LectureManager, _ body: (Group) async throws -> Void
    ) async throws {
        let headers = Dictionary(headers.map { ($0.name, $0.value) }) { _, last in last }
        var list = list
        let bytes = try await manager.document(at: url, headers: headers)
        let lines = list.read(bytes) + list.finish()
        try await body(group(lines, of: listName(url)))
    }

    private mutating func readList(_ path: String, _ body: (Group) async throws -> Void) async throws {
        let name = listName(path)
        do {
            // With an output directory all groups are kept until the list is read: small ones take less memory then.
            let blocks = command.text("output-dir") == nil ? 4 : 1
            try await CourseList.read(path, blocks: blocks) { lines in try await body(group(lines, of: name)) }
        } catch let error as LectureError where error.code == .courseList {
            try await body(group([.issue(error)], of: name))
        }
    }

    private mutating func group(_ lines: [CourseList.Line], of list: String?) -> Group {
        var group = Group(list: list)
        for line in lines {
            switch line {
            case .issue(let error):
                group.items.append(.refused(error))
                group.fileNames.append(nil)
            case .warning(let warning):
                group.items.append(.warning(warning))
                group.fileNames.append(nil)
            case .lecture(let request, let fileName):
                number += 1
                group.items.append(.request(withOptions(request)))
                group.fileNames.append(fileName)
            }
            group.numbers.append(number)
        }
        return group
    }

    // MARK: Options for all

    private func withOptions(_ request: DownloadRequest) -> DownloadRequest {
        var request = request
        request.replacesOutput = command.flag("force")
        request.folder = request.folder ?? command.text("folder")
        if request.priority == 0 { request.priority = command.integer("priority") ?? 0 }
        request.selection = command.streamSelection ?? request.selection
        for field in headers where !request.headers.keys.contains(where: { FieldText.equal($0, field.name) }) {
            // A header in a line of a list takes precedence over one for all lectures.
            request.headers[field.name] = field.value
        }
        return request
    }

    // MARK: The output directory

    /// Gives each lecture the name of its file.
    ///
    /// - Parameter groups: all lectures; those that cannot have a name are refused.
    /// - Returns: the names that several lectures have. One that is listed twice is one lecture.
    private func nameFiles(of groups: inout [Group]) -> Set<String> {
        var owners: [String: (group: Int, item: Int)] = [:]
        var taken: Set<String> = []
        for group in groups.indices {
            for item in groups[group].items.indices {
                guard case .request(let request) = groups[group].items[item] else { continue }
                do {
                    let name = try fileName(
                        request, groups[group].fileNames[item], number: groups[group].numbers[item])
                    groups[group].fileNames[item] = name
                    guard let owner = owners[name] else {
                        owners[name] = (group, item)
                        continue
                    }
                    if case .request(let other) = groups[owner.group].items[owner.item], other.key == request.key,
                        other.url == request.url
                    {
                        continue
                    }
                    taken.insert(name)
                } catch {
                    groups[group].items[item] = .refused(error as? LectureError ?? LectureError(.nameRefused))
                }
            }
        }
        return taken
    }

    /// Places the files of a group. Lectures that would get the same one are refused, because only the user knows which
    /// of them to keep.
    private func place(_ group: inout Group, in directory: String, besides taken: Set<String>) {
        let prefix = directory.hasSuffix("/") ? directory : "\(directory)/"
        for item in group.items.indices {
            guard case .request(var request) = group.items[item], let name = group.fileNames[item] else { continue }
            if taken.contains(name) {
                let detail = "\(name), \(URLText.withoutSecrets(request.url))"
                group.items[item] = .refused(LectureError(.nameTaken, detail: detail))
            } else {
                request.outputPath = prefix + name
                group.items[item] = .request(request)
            }
        }
    }

    private func fileName(_ request: DownloadRequest, _ given: String?, number: Int) throws -> String {
        if let template { return try template.path(request, fileName: given, number: number) }
        let name = try given ?? Self.lastPart(request.url)
        try SafeName.check(name)
        if name.hasPrefix(".") {
            // Such files configure programs; a list or a server has no say in them.
            throw LectureError(.nameRefused, detail: name, cause: "it begins with a dot")
        }
        return name
    }

    /// Creates the directories that a template names below the output directory.
    ///
    /// - Parameter group: lectures with their files.
    /// - Throws: `LectureError` with `outputRefused`.
    func makeDirectories(_ group: Group) throws(LectureError) {
        guard template != nil, let directory = command.text("output-dir") else { return }
        for item in group.items {
            guard case .request(let request) = item, let path = request.outputPath else { continue }
            var made = directory
            for part in path.dropFirst(directory.count).split(separator: "/").dropLast() {
                made += "/\(part)"
                if unsafe mkdir(made, 0o777) != 0, errno != EEXIST { throw Self.refused(made, errno) }
                try Self.requireDirectory(made, for: made)
            }
        }
    }

    /// The last component of a URL's path, unchanged.
    private static func lastPart(_ url: String) throws -> String {
        let parts = try URLParts(url)
        guard let name = parts.path.split(separator: "/").last else {
            throw LectureError(
                .outputRefused, detail: URLText.withoutSecrets(url), cause: "the URL ends without a name")
        }
        return String(name)
    }
}

extension CourseList {
    /// Reads a list in constant memory. The next lines are read while the last ones are worked on.
    ///
    /// - Parameters:
    ///   - path: the list; `-` is standard input, which has no name that shows its format.
    ///   - blocks: of the input, at most, whose lines `body` receives at a time.
    ///   - body: receives some lines at a time, in their order. An error of it ends the reading at once, even of a pipe
    ///     whose writer says nothing more.
    /// - Throws: `LectureError` with `courseList` when it cannot be read; what `body` throws.
    static func read(_ path: String, blocks: Int = 1, _ body: ([Line]) async throws -> Void) async throws {
        let reading = try CourseListReading(path, blocks: blocks)
        var next = Task { try await reading.next() }
        while let lines = try await next.value {
            next = Task { try await reading.next() }
            if !lines.isEmpty { try await body(lines) }
        }
    }
}

/// A list that is being read.
private actor CourseListReading {
    private let input: InputReader
    private let blocks: Int
    private var groups = 0
    /// Nil before the first bytes of standard input.
    private var list: CourseList?
    private var isEnded = false

    init(_ path: String, blocks: Int) throws(LectureError) {
        input = try InputReader(path)
        self.blocks = blocks
        list = path == "-" ? nil : try CourseList(path: path)
    }

    /// The next lines; nil after the last ones.
    ///
    /// The first ones are few, so that their downloads begin soon; later ones are as many as are there, up to a limit,
    /// since what many lines change in common is written once.
    func next() async throws -> [CourseList.Line]? {
        if isEnded { return nil }
        var lines: [CourseList.Line] = []
        groups += 1
        for block in 1...max(1, min(groups, blocks)) {
            if block > 1, !(await input.isReady()) { break }
            guard let bytes = try await input.next() else {
                isEnded = true
                return lines + (list?.finish() ?? [])
            }
            if list == nil { list = CourseList(firstByte: bytes.first { !" \t\r\n".utf8.contains($0) }) }
            lines += list?.read(bytes) ?? []
        }
        return lines
    }
}
