import Glibc
import LectureCommand
import LectureLiveCommand

/// The program `lecture-live`.
@main
enum LectureLiveProgram {
    static func main() async {
        exit(
            await CommandProcess.run(LiveTable.program) { environment in
                LiveActions.runner(LiveEffects(media: .standard(environment)))
            })
    }
}
