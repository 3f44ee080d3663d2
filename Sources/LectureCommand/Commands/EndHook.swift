import LectureModel

/// Runs a command of the user's when a command of this program has ended: `--on-success`, `--on-failure`.
///
/// ```
/// ended ──0──────────────▶ --on-success
///   │ ───another status──▶ --on-failure
///   └──by a signal, a dry run, a command line that cannot be used──▶ nothing
/// ```
package enum EndHook {
    /// The options of a command that has hooks.
    static let group = OptionGroup(
        "When it has ended",
        [
            .value(
                "on-success", nil, "COMMAND", .text,
                help: "Run this in a shell when it ended with status 0. LECTURE_COMMAND, LECTURE_STATUS, LECTURE_STORE "
                    + "and LECTURE_CONFIG are set. Its output goes to standard error; its status changes nothing."),
            .value(
                "on-failure", nil, "COMMAND", .text,
                help: "The same for every other status, but not when a signal ended it."),
        ])

    /// The hook for an end.
    ///
    /// - Parameters:
    ///   - command: the command that has ended.
    ///   - status: how it ended.
    /// - Returns: the option and what it runs; nil for none.
    package static func hook(
        of command: ParsedCommand, after status: ExitStatus
    ) -> (option: String, script: String)? {
        if case .signal = status { return nil }
        guard status != .usage else { return nil }
        guard !command.flag("dry-run"), !command.flag("help"), !command.flag("version") else { return nil }
        let option = status == .done ? "on-success" : "on-failure"
        return command.text(option).map { (option, $0) }
    }

    /// Runs the hook for an end, if there is one, and waits for it.
    ///
    /// - Parameters:
    ///   - command: the command that has ended.
    ///   - status: how it ended.
    ///   - context: all effects.
    static func run(_ command: ParsedCommand, after status: ExitStatus, _ context: CommandContext) async {
        guard let (option, script) = hook(of: command, after: status) else { return }
        var variables = ["LECTURE_COMMAND": command.path.joined(separator: " "), "LECTURE_STATUS": "\(status.code)"]
        // What it calls uses the same store and configuration, though this command had them as options.
        if let settings = try? Configuration.load(command, environment: context.environment) {
            variables["LECTURE_STORE"] = settings.storeDirectory.value
            variables["LECTURE_CONFIG"] = settings.file.value
        }
        do throws(LectureError) {
            let program = try ForegroundProgram(["/bin/sh", "-c", script], keepsOutput: false, variables: variables)
            switch await program.ending() {
            case .exited(0): return
            case .exited(let number): context.say("The command of --\(option) ended with status \(number).", .warning)
            case .killed(let number): context.say("The command of --\(option) was ended by signal \(number).", .warning)
            }
        } catch {
            context.say("The command of --\(option) cannot be started: \(error.cause).", .warning)
        }
    }
}
