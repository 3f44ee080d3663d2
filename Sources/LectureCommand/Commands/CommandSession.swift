import LectureKit
import LectureModel
import LectureRecords

/// What commands that use a store share: settings, output and the manager.
struct CommandSession: Sendable {
    let command: ParsedCommand
    let context: CommandContext
    let configuration: Configuration

    /// Gathers the settings and warns about unknown ones.
    init(_ command: ParsedCommand, _ context: CommandContext) throws {
        self.command = command
        self.context = context
        configuration = try Configuration.load(command, environment: context.environment)
        for warning in configuration.warnings { context.say(warning, .warning) }
    }

    var wantsJSON: Bool { command.flag("json") }
    var isQuiet: Bool { command.flag("quiet") }
    var isVerbose: Bool { command.flag("verbose") }
    /// Whether everything that the library logs is written among the messages.
    var logsRequests: Bool { command.count("verbose") > 1 }
    /// Whether progress may be drawn in place on standard error.
    var mayDraw: Bool { context.mayDraw && !logsRequests }

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

    /// Prints a message that is not an error.
    func report(_ sentence: String) {
        if !isQuiet { context.say(sentence, .information) }
    }

    /// Opens the store. Commands that only read or change what exists do not create one.
    ///
    /// - Parameters:
    ///   - store: a directory to use instead of the configured one; it is created.
    ///   - adjust: changes the settings of this command.
    /// - Returns: the store's manager.
    /// - Throws: `LectureError` with `storeMissing`, or why the store cannot be opened.
    func manager(
        store: String? = nil, _ adjust: (inout LectureConfiguration) -> Void = { _ in }
    ) throws -> LectureManager {
        let directory = configuration.storeDirectory.value
        guard store != nil || MissingStore.mayMake(command, in: directory) || storeExists else {
            throw LectureError(.storeMissing, detail: directory)
        }
        var settings = librarySettings(store: store)
        adjust(&settings)
        let isNew = store == nil && !storeExists
        let manager: LectureManager
        do throws(LectureError) {
            manager = try LectureManager(settings)
        } catch {
            guard error.code == .storageFull, command.path != ["precache"] else { throw error }
            // It cannot be read either: a killed program has left a log.
            settings.spendsSpaceReserve = true
            manager = try LectureManager(settings)
        }
        for error in manager.webhooks.removed { context.say(error.message, .warning) }
        if isNew, command.path != MissingStore.rebuild { try reportKeptMedia() }
        return manager
    }

    /// The settings of the library for this command.
    ///
    /// - Parameter store: a directory to use instead of the configured one.
    /// - Returns: the settings.
    func librarySettings(store: String? = nil) -> LectureConfiguration {
        var settings = LectureConfiguration(storeDirectory: store ?? configuration.storeDirectory.value)
        // A default is no bound where more help.
        if configuration.jobs.origin != .default { settings.jobs = configuration.jobs.value }
        settings.connections = command.integer("connections")
        settings.rateLimit = configuration.pace.rate.value
        settings.timetable = configuration.pace.timetable.value
        settings.maxAttempts = configuration.retries.value + 1
        settings.stallTimeout = configuration.timeout.value
        if configuration.perHost.origin != .default { settings.connectionsPerHost = configuration.perHost.value }
        settings.quotaBytes = configuration.quotaBytes.value
        settings.reserveBytes = configuration.reserveBytes.value
        // Another program may fill what is given up: on a full disk the others only read.
        settings.spendsSpaceReserve = [["remove"], ["prune"]].contains(command.path)
        settings.caFile = configuration.caFile.value
        settings.acceptsAnyMedia = command.flag("accept-any")
        settings.trustsLength = command.flag("trust-length")
        settings.seal = configuration.seal.value
        settings.rights = configuration.rights.value
        settings.statistics = configuration.statistics.value
        settings.application = configuration.application.value
        settings.webhooks = configuration.webhooks
        settings.deviceDirectory = configuration.deviceDirectory.value
        // A query before there is a store makes no key that stays.
        if let store, let device = settings.deviceDirectory, !DeviceHome(directory: device).hasKey {
            settings.deviceDirectory = "\(store)/device"
        }
        settings.sharedGroup = configuration.group.value
        settings.proxy = configuration.proxy.value
        configuration.credentials.apply(to: &settings)
        settings.programName = "\(CommandTable.programName) \(command.path.joined(separator: " "))"
        if logsRequests { settings.observer = LogObserver(context: context) }
        // Commands that end send reports only when they are asked to.
        settings.isLongRunning = [["daemon"], ["serve"]].contains(command.path)
        settings.statistics.delivery = settings.isLongRunning ? .automatic : .onDemand
        return settings
    }

    /// Reports media files that are older than the store's database.
    func reportKeptMedia() throws {
        let kept = try StoreTools.keptMedia(in: configuration.storeDirectory.value)
        guard kept.count > 0 else { return }
        let files = kept.count == 1 ? "1 media file" : "\(kept.count) media files"
        context.say(
            "Kept \(files) (\(HumanText.byteCount(kept.bytes))) of a database that was here before. They belong to no "
                + "lecture: put that database back, or run 'lecturectl store rebuild'.", .warning)
    }

    /// Runs a body with the store's manager and always closes it.
    func withManager<Result: Sendable>(
        _ body: (LectureManager) async throws -> Result
    ) async throws -> Result {
        try await Self.closing(try manager(), after: body)
    }

    /// Runs a body with the store's manager; where there is no store, with that of an empty one in a temporary
    /// directory, which is deleted again.
    func withManagerOrNone<Result: Sendable>(
        _ body: (LectureManager) async throws -> Result
    ) async throws -> Result {
        if storeExists { return try await withManager(body) }
        let place = try TemporaryStore()
        defer { place.remove() }
        return try await Self.closing(try manager(store: place.path), after: body)
    }

    private static func closing<Result: Sendable>(
        _ manager: LectureManager, after body: (LectureManager) async throws -> Result
    ) async throws -> Result {
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

    /// Reports an error of one item without ending the command: a message, and with `--json` a line.
    func report(_ error: LectureError, key: ContentKey? = nil) throws(OutputError) {
        try context.report(error, key: key, wantsJSON: wantsJSON)
    }

    /// Reports an unknown member of a course list: a message, and with `--json` a line.
    func report(_ warning: CourseList.Warning) throws(OutputError) {
        context.say("Warning: \(warning.message)", .warning)
        if wantsJSON { try context.output.write(machine: JSONLine.warning(warning)) }
    }
}

/// Reads lectures page by page, so that memory use does not grow with the store.
struct ContentPages {
    let manager: LectureManager
    let filter: ContentFilter
    let sort: ContentSort
    /// How many are read at once.
    var pageSize = 1000

    /// Passes all lectures to a body, in order.
    ///
    /// - Parameters:
    ///   - offset: how many to skip.
    ///   - limit: the maximum number.
    ///   - body: receives one page.
    /// - Throws: `LectureError` when the store cannot be read; what `body` throws.
    func forEachPage(offset: Int = 0, limit: Int = .max, _ body: ([Content]) async throws -> Void) async throws {
        try await forEachRun(offset: offset, limit: limit) { place, offset, limit in
            let run = try await manager.contents.list(
                filter, sort: sort, after: place, skipping: offset, limit: limit)
            if !run.contents.isEmpty { try await body(run.contents) }
            return (run.contents.count, run.end)
        }
    }

    /// Writes a line for people about each lecture, in order.
    ///
    /// - Parameters:
    ///   - offset: how many to skip.
    ///   - limit: the maximum number.
    ///   - lines: what they are written to.
    ///   - line: writes the line of one lecture.
    ///   - page: receives the lines of one page, and clears them.
    /// - Throws: `LectureError` when the store cannot be read; what `page` throws.
    func writeLines<Lines: Sendable>(
        offset: Int = 0, limit: Int = .max, to lines: Lines,
        line: @Sendable (borrowing ContentLine, inout Lines) -> Void,
        page: (inout Lines) throws -> Void
    ) async throws {
        var lines = lines
        try await forEachRun(offset: offset, limit: limit) { place, offset, limit in
            let run = try await ListLines.write(
                filter, sort: sort, after: place, skipping: offset, limit: limit, in: manager.contents, to: lines, line)
            lines = run.lines
            if run.count > 0 { try page(&lines) }
            return (run.count, run.end)
        }
    }

    /// Reads one page behind the other until the end, or until there are enough.
    private func forEachRun(
        offset: Int, limit: Int,
        _ read: (_ place: ListPlace?, _ offset: Int, _ limit: Int) async throws -> (count: Int, end: ListPlace?)
    ) async throws {
        var (place, offset, left) = (ListPlace?.none, offset, limit)
        while left > 0 {
            let run = try await read(place, offset, min(pageSize, left))
            guard run.count > 0, let end = run.end else { return }
            left -= run.count
            (place, offset) = (end, 0)
        }
    }

    /// The keys of all lectures, in order.
    ///
    /// - Returns: the keys.
    /// - Throws: `LectureError` when the store cannot be read.
    func keys() async throws -> [ContentKey] {
        var keys: [ContentKey] = []
        try await forEachPage { keys += $0.map(\.key) }
        return keys
    }
}
