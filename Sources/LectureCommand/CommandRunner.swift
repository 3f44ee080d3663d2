import LectureModel
import LectureRecords

/// Runs one command line, from its words to its exit status.
package struct CommandRunner: Sendable {
    /// The action of a command, run with its parsed command line.
    ///
    /// Throws ``UsageError`` for what only the command can check, ``OutputError`` from the sinks, `LectureError` for
    /// everything else.
    package typealias Action = @Sendable (ParsedCommand, CommandContext) async throws -> ExitStatus

    /// How an error ends a command: what a program with numbers of its own makes of it.
    package struct Ending: Sendable, Equatable {
        /// The message on standard error.
        package let message: String
        /// The exit status.
        package let status: ExitStatus
        /// The line for `--json`, with its end.
        package let machine: String

        /// Makes an ending.
        ///
        /// - Parameters:
        ///   - message: the message on standard error.
        ///   - status: the exit status.
        ///   - machine: the line for `--json`, with its end.
        package init(message: String, status: ExitStatus, machine: String) {
            (self.message, self.status, self.machine) = (message, status, machine)
        }
    }

    /// Explains an error; nil leaves it to the runner. It is not asked about an ``OutputError``.
    package typealias Explanation = @Sendable (any Error, CommandContext) -> Ending?

    private let actions: [String: Action]
    private let explain: Explanation

    /// Makes a runner.
    ///
    /// - Parameters:
    ///   - actions: the action of each command, by its words joined with blanks; `help`, `version` and `completion` are
    ///     built in.
    ///   - explain: explains an error of this program.
    package init(actions: [String: Action], explain: @escaping Explanation = { _, _ in nil }) {
        self.explain = explain
        let builtIn: [String: Action] = [
            "help": Documents.help, "version": Documents.version, "completion": Documents.completion,
        ]
        self.actions = actions.merging(builtIn) { given, _ in given }
    }

    /// Runs the context's command line.
    ///
    /// - Parameter context: all effects.
    /// - Returns: the process's exit status. Every failure has been reported by then.
    package func run(_ context: CommandContext) async -> ExitStatus {
        // Also a command line that cannot be used is reported in the format that it names.
        let context = context.logging(as: LogFormat.named(by: context.arguments, context.environment))
        let number: Int32
        do throws(UsageError) {
            number = try ExitStatus.fullDiskStatus(in: context.environment)
        } catch {
            return report(error, wantsJSON: false, context)
        }
        let status = await perform(context)
        guard case .fullDisk = status else { return status }
        return .fullDisk(number)
    }

    private func perform(_ given: CommandContext) async -> ExitStatus {
        let command: ParsedCommand
        do throws(UsageError) {
            command = try ArgumentParser.parse(
                given.arguments, environment: given.environment, of: given.program)
            try Self.checkBars(command)
        } catch {
            // After 'lms add' the word is an option with a value.
            let words = given.arguments.prefix { word in error.path != ["lms", "add"] || word != "add" }
            return report(error, wantsJSON: words.contains("--json"), given)
        }
        let context = given.logging(as: command.text("log-format"))
        let status = await end(of: command, context)
        await EndHook.run(command, after: status, context)
        return status
    }

    /// Runs a command to its end.
    private func end(of command: ParsedCommand, _ context: CommandContext) async -> ExitStatus {
        do {
            if command.flag("help") {
                return try Documents.show(HelpPage.text(path: command.path, of: context.program), context)
            }
            if command.flag("version") { return try Documents.version(command, context) }
            guard let action = actions[command.path.joined(separator: " ")] else {
                throw LectureError(.bug, detail: "'\(command.path.joined(separator: " "))' has no action")
            }
            return try await action(command, context)
        } catch let error as LectureError where error.code == .storeMissing && MissingStore.isNothingToDo(command) {
            if !command.flag("quiet") { context.say(error.message, .information) }
            return .done
        } catch {
            return report(error, wantsJSON: command.flag("json"), context)
        }
    }

    /// Bars are drawn in place, so nothing else may write lines meanwhile.
    private static func checkBars(_ command: ParsedCommand) throws(UsageError) {
        guard command.text("progress") == "bar" else { return }
        let format = command.text("log-format")
        guard format == "text" || format == "json" || command.count("verbose") > 1 else { return }
        let other = command.count("verbose") > 1 ? "-vv" : "--log-format \(format ?? "")"
        throw UsageError(
            "'--progress bar' cannot be used with '\(other)': write '--progress plain'.", path: command.path)
    }

    /// Reports the error that ended a command: a message on standard error, and with `--json` a line on the output.
    private func report(_ error: any Error, wantsJSON: Bool, _ context: CommandContext) -> ExitStatus {
        if !(error is OutputError), let ending = explain(error, context) {
            context.say(ending.message)
            return write(machine: ending.machine, status: ending.status, wantsJSON, context)
        }
        switch error {
        case let error as OutputError:
            if !error.isClosedPipe { context.say(error.message) }
            return .inputOutput
        case let error as UsageError:
            context.say(error.message(of: context.program))
            return announce(.parameter, message: error.sentence, status: .usage, wantsJSON, context)
        case let error as LectureError:
            context.say(error.message, about: error)
            return announce(error.code, message: error.message, status: .status(for: error.code), wantsJSON, context)
        default:
            // No other error is thrown on purpose; the type helps to find the cause.
            let bug = LectureError(.bug, cause: "\(type(of: error))")
            context.say(bug.message, about: bug)
            return announce(.bug, message: bug.message, status: .software, wantsJSON, context)
        }
    }

    private func announce(
        _ code: LectureError.Code, message: String, status: ExitStatus, _ wantsJSON: Bool, _ context: CommandContext
    ) -> ExitStatus {
        write(machine: JSONLine.error(code, message: message), status: status, wantsJSON, context)
    }

    private func write(
        machine: String, status: ExitStatus, _ wantsJSON: Bool, _ context: CommandContext
    ) -> ExitStatus {
        guard wantsJSON else { return status }
        do throws(OutputError) {
            try context.output.write(machine: machine)
            return status
        } catch {
            return .inputOutput
        }
    }
}

/// The commands that need no store.
enum Documents {
    @Sendable static func help(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let program = context.program
        guard let spec = program.spec(at: command.arguments) else {
            // The parser's own message suggests the nearest word.
            _ = try ArgumentParser.parse(command.arguments, of: program)
            throw UsageError("There is no command '\(command.arguments.joined(separator: " "))'.", path: ["help"])
        }
        guard command.flag("man") else {
            return try show(HelpPage.text(path: command.arguments, of: program), context)
        }
        let page = command.arguments.isEmpty ? ManualPage.text() : ManualPage.text(of: command.arguments, spec)
        return try show(page, context)
    }

    @Sendable static func version(_ command: ParsedCommand, _ context: CommandContext) throws -> ExitStatus {
        let plain = "\(context.program.programName) \(ProgramVersion.number)\n"
        return try show(
            command.flag("json") ? JSONLine.version(ProgramVersion.number, of: context.program.programName) : plain,
            context)
    }

    @Sendable static func completion(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        guard let script = command.arguments.first.flatMap(ShellCompletion.script) else { return .usage }
        return try show(script, context)
    }

    static func show(_ text: String, _ context: CommandContext) throws(OutputError) -> ExitStatus {
        try context.output.write(machine: text)
        return .done
    }
}
