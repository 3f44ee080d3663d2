import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl config show|check`.
enum ConfigCommands {
    @Sendable static func show(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let settings = session.configuration.origins(command, context.environment)
        if session.wantsJSON {
            for setting in settings { try context.output.write(machine: JSONLine.setting(setting)) }
            return .done
        }
        let width = settings.map(\.name.utf8.count).max() ?? 0
        let lines = settings.map { setting in
            let line = "\(TerminalText.padded(setting.name, to: width))  \(setting.value.isEmpty ? "-" : setting.value)"
            return command.flag("origin") ? "\(line)  (\(setting.place))" : line
        }
        try context.output.write(.lines(lines))
        return .done
    }

    @Sendable static func check(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let named = try command.arguments.first ?? Configuration.file(command, context.environment).value
        let isQuiet = command.flag("quiet")
        guard let path = named else {
            if !isQuiet { context.say("There is no configuration file: the defaults apply.", .information) }
            return .done
        }
        var mistakes = LectureConfiguration.mistakes(inFile: path)
        if let settings = try? ConfigurationFile.read(path, services: ServiceDirectories(context.environment)) {
            do throws(LectureError) { _ = try Configuration.rules(settings, path) } catch { mistakes.append(error) }
        }
        for mistake in mistakes { try context.report(mistake, wantsJSON: command.flag("json")) }
        guard mistakes.isEmpty else { return .configuration }
        if !isQuiet { context.say("\(path) has no mistakes.", .information) }
        return .done
    }
}
