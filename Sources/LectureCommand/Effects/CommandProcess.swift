import Glibc

/// A program of this package: its process, from the first instruction to the exit status.
package enum CommandProcess {
    /// Runs the command line of this process with the process's own effects.
    ///
    /// - Parameters:
    ///   - program: the program's commands.
    ///   - runner: makes what runs them, from the environment.
    /// - Returns: the exit status.
    package static func run(
        _ program: ProgramTable = .lecturectl, _ runner: @Sendable ([String: String]) -> CommandRunner
    ) async -> Int32 {
        // It logs to the system that an ordinary user's process may not raise the priority of its threads.
        unsafe setenv("LIBDISPATCH_LOG", "NO", 0)
        let environment = ProcessInput.environment()
        ProcessMemory.boundHeaps(environment: environment)
        ProcessSignals.prepare(environment: environment)
        OpenFiles.raiseLimit()
        do throws(UsageError) {
            let arguments = try ProcessInput.arguments()
            let context = CommandContext.process(arguments: arguments, environment: environment, program: program)
            return await runner(environment).run(context).code
        } catch {
            CommandContext.process(arguments: [], environment: environment, program: program)
                .say(error.message(of: program))
            return ExitStatus.usage.code
        }
    }
}
