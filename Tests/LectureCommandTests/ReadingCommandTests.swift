import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Commands that only read.
@Suite(.timeLimit(.minutes(2)), .enabled(if: StruckRun.isPossible, "Tools/strike needs python3 on x86-64"))
struct ReadingCommandTests {
    @Test func `they do not wait for the disk`() async throws {
        let directory = try TemporaryDirectory()
        let environment = [
            "HOME": directory.file("home/of/user"), "LECTURE_STORE": directory.file("store"), "LECTURE_RESERVE": "1M",
            "LECTURE_DEVICE": "", "LECTURE_CONFIG": "", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "",
        ]
        let program = BuiltProgram.url.path
        func run(_ words: [String]) async throws -> ChildProcess.Ending {
            try await ChildProcess.run(program, words, environment: environment)
        }
        let queueing = ["precache", "--timetable", "else=off", "--deadline", "1s", "http://127.0.0.1:1/a.mp4"]
        #expect(try await run(queueing).status == 75)
        // The first one makes the key of the device: a name lost in a power cut would take the key with it.
        let making = try StruckRun(program, ["status"], environment: environment)
        let names = ["home", "of", "user", ".local", "share"]
        #expect(try await making.counted("fsync,fdatasync") > names.count)
        for words in [["status"], ["list"], ["licence", "list"]] {
            // It may make what is missing.
            let first = try await run(words)
            let struck = try StruckRun(program, words, environment: environment)
            #expect(try await struck.counted("fsync,fdatasync") == 0, "\(words) \(first.errorText)")
        }
        // They would be counted.
        let writing = try StruckRun(program, ["remove", "--all"], environment: environment)
        #expect(try await writing.counted("fsync,fdatasync") > 0)
    }
}
