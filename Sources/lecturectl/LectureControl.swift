import Glibc
import LectureCommand

/// The program: runs the command with the process's own effects and exits with its status.
@main
enum LectureControl {
    static func main() async {
        // It logs to the system that an ordinary user's process may not raise the priority of its threads.
        unsafe setenv("LIBDISPATCH_LOG", "NO", 0)
        let environment = ProcessInput.environment()
        ProcessMemory.boundHeaps(environment: environment)
        ProcessSignals.prepare(environment: environment)
        OpenFiles.raiseLimit()
        do throws(UsageError) {
            let arguments = try ProcessInput.arguments()
            let context = CommandContext.process(arguments: arguments, environment: environment)
            exit(await CommandRunner(actions: CommandActions.all).run(context).code)
        } catch {
            CommandContext.process(arguments: [], environment: environment).say(error.message)
            exit(ExitStatus.usage.code)
        }
    }
}
