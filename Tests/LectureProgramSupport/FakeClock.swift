import Foundation
import LectureTestSupport

/// Another clock for child programs: libfaketime.
package enum FakeClock {
    /// Debian's library; nil when it is not installed.
    package static let library: String? = {
        let root = "/usr/lib"
        let places = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return places.map { "\(root)/\($0)/faketime/libfaketimeMT.so.1" }
            .first { FileManager.default.fileExists(atPath: $0) }
    }()

    /// libfaketime also shifts timers of the monotonic clock (`timerfd_settime`), as no kernel does: a pause of a
    /// second would become one of a year. This library is loaded before it and corrects them.
    package static let timers: String? = {
        guard let directory, let compiler = try? Places.command("clang") else { return nil }
        let source = """
            #include <sys/syscall.h>
            #include <sys/timerfd.h>
            #include <unistd.h>
            int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old) {
                return syscall(SYS_timerfd_settime, fd, flags, new, old);
            }
            """
        guard let file = try? directory.write(source, to: "timers.c") else { return nil }
        let library = directory.file("timers.so")
        let result = try? BuiltProgram.run(
            URL(filePath: compiler), ["-shared", "-fPIC", "-o", library, file],
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"])
        return result?.status == 0 ? library : nil
    }()
    /// Lives as long as the test run.
    private static let directory = try? TemporaryDirectory()

    /// Whether everything needed is available.
    package static let isPossible = library != nil && timers != nil

    /// The environment of a program whose wall clock shows another time.
    ///
    /// - Parameter time: as libfaketime reads it, for instance `+9h` or `@1970-01-01 00:00:01`.
    /// - Returns: variables.
    package static func at(_ time: String) -> [String: String] {
        environment.merging(["FAKETIME": time]) { _, new in new }
    }

    /// The environment of a program with another wall clock; as on a real machine the monotonic clocks keep running.
    /// `FAKETIME` or `FAKETIME_TIMESTAMP_FILE` sets the time.
    package static let environment = [
        "LD_PRELOAD": [timers, library].compactMap(\.self).joined(separator: ":"),
        "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_NO_CACHE": "1",
    ]
}
