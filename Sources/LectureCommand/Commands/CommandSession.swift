import LectureKit
import LectureModel

/// What the commands that work on a store share: settings, ways of writing, and the manager.
struct CommandSession: Sendable {
    let command: ParsedCommand
    let context: CommandContext
    let configuration: Configuration

    /// Gathers the settings and says what in them means nothing.
    init(_ command: ParsedCommand, _ context: CommandContext) throws {
        self.command = command
        self.context = context
        configuration = try Configuration.load(command, environment: context.environment)
        for warning in configuration.warnings { context.say(warning) }
    }

    var wantsJSON: Bool { command.flag("json") }
    var isQuiet: Bool { command.flag("quiet") }
    var isVerbose: Bool { command.flag("verbose") }

    /// Colours for standard output.
    var outputStyle: Style {
        Style(
            choice: command.text("color"), environment: context.environment, isTerminal: context.outputIsTerminal)
    }

    /// Colours for standard error.
    var diagnosticStyle: Style {
        Style(
            choice: command.text("color"), environment: context.environment, isTerminal: context.diagnosticsIsTerminal)
    }

    /// Says a sentence that is not an error.
    func tell(_ sentence: String) {
        if !isQuiet { context.say(sentence) }
    }

    /// Opens the store. A command that only reads, or changes what is there, makes none.
    ///
    /// - Parameter store: another directory than the configured one, which is made.
    /// - Returns: the store's manager.
    /// - Throws: `LectureError` with `storeMissing`, or why the store cannot be opened.
    func manager(store: String? = nil) throws -> LectureManager {
        guard store != nil || MissingStore.mayMake(command) || storeExists else {
            throw LectureError(.storeMissing, detail: configuration.storeDirectory.value)
        }
        var settings = LectureConfiguration(storeDirectory: store ?? configuration.storeDirectory.value)
        settings.jobs = configuration.jobs.value
        settings.connections = command.integer("connections")
        settings.rateLimit = configuration.pace.rate.value
        settings.timetable = configuration.pace.timetable.value
        settings.maxAttempts = configuration.retries.value + 1
        settings.stallTimeout = configuration.timeout.value
        settings.connectionsPerHost = configuration.perHost.value
        settings.quotaBytes = configuration.quotaBytes.value
        settings.reserveBytes = configuration.reserveBytes.value
        settings.caFile = configuration.caFile.value
        settings.acceptsAnyMedia = command.flag("accept-any")
        settings.trustsLength = command.flag("trust-length")
        settings.seal = configuration.seal.value
        settings.rights = configuration.rights.value
        settings.statistics = configuration.statistics.value
        settings.application = configuration.application.value
        settings.deviceDirectory = configuration.deviceDirectory.value
        settings.proxy = configuration.proxy.value
        configuration.credentials.apply(to: &settings)
        settings.programName = "\(CommandTable.programName) \(command.path.joined(separator: " "))"
        return try LectureManager(settings)
    }

    /// Lends the store and closes it in every case.
    func withManager<Result: Sendable>(
        _ body: (LectureManager) async throws -> Result
    ) async throws -> Result {
        let manager = try manager()
        do {
            let result = try await body(manager)
            await manager.close()
            return result
        } catch {
            await manager.close()
            throw error
        }
    }

    /// The keys on the command line.
    func keys() throws -> [ContentKey] { try command.arguments.map { try ContentKey($0) } }

    /// Reports what became of one item and does not end the command: a sentence, and with `--json` a line.
    func report(_ error: LectureError, key: ContentKey? = nil) throws(OutputError) {
        context.say(error.message)
        if wantsJSON {
            try context.output.write(JSONLine.error(error.code, message: error.message, key: key?.text))
        }
    }

    /// Reports a member of a course list that means nothing: a sentence, and with `--json` a line.
    func report(_ warning: CourseList.Warning) throws(OutputError) {
        context.say("Warning: \(warning.message)")
        if wantsJSON { try context.output.write(JSONLine.warning(warning)) }
    }
}

/// Walks through contents page by page, so that a store of any size needs the memory of one page.
struct ContentPages {
    static let pageSize = 1000
    let manager: LectureManager
    let filter: ContentFilter
    let sort: ContentSort

    /// Hands every content over, in order.
    ///
    /// - Parameters:
    ///   - offset: how many to pass by.
    ///   - limit: how many at the most.
    ///   - body: takes one page.
    /// - Throws: `LectureError` when the store cannot be read; what `body` throws.
    func forEachPage(offset: Int = 0, limit: Int = .max, _ body: ([Content]) async throws -> Void) async throws {
        var (offset, left) = (offset, limit)
        while left > 0 {
            let page = ContentPage(offset: offset, limit: min(Self.pageSize, left))
            let contents = try await manager.contents(filter, sort: sort, page: page)
            if contents.isEmpty { return }
            try await body(contents)
            offset += contents.count
            left -= contents.count
        }
    }
}
