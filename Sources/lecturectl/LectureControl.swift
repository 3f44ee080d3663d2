import Glibc
import LectureCommand

/// The program `lecturectl`.
@main
enum LectureControl {
    static func main() async { exit(await CommandProcess.run { _ in CommandRunner(actions: CommandActions.all) }) }
}
