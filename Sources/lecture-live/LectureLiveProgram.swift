import Glibc
import LectureCommand
import LectureLiveCommand

/// The program: runs the command with the process's own effects and exits with its status.
@main
enum LectureLiveProgram {
    static func main() async {
        // It logs to the system that an ordinary user's process may not raise the priority of its threads.
        unsafe setenv("LIBDISPATCH_LOG", "NO", 0)
        let environment = ProcessInput.environment()
        ProcessMemory.boundHeaps(environment: environment)
        ProcessSignals.prepare(environment: environment)
        let media = MediaFactories.standard(environment)
        do throws(UsageError) {
            let arguments = try ProcessInput.arguments()
            let context = CommandContext.process(
                arguments: arguments, environment: environment, program: LiveTable.program)
            exit(await LiveActions.runner(LiveEffects(media: media)).run(context).code)
        } catch {
            CommandContext.process(arguments: [], environment: environment, program: LiveTable.program)
                .say(error.message(of: LiveTable.program))
            exit(ExitStatus.usage.code)
        }
    }
}
