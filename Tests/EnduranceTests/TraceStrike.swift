import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A strike at one system call of the program; `Tools/strike` carries it out, and documents how it counts.
enum Strike: Sendable {
    /// Killed in place of this call.
    case kill(Int)
    /// Half of what this call should write is written, then killed.
    case tear(Int)
    /// This call fails with this error, once or permanently.
    case fail(Int, String, isSticky: Bool)
    /// Of these calls about files with this in their path this one fails, once or permanently.
    case failOf(String, path: String, Int, isSticky: Bool)
    /// No call is struck.
    case none
    /// No sync reaches the disk, though each reports success. Only for files with this in their path.
    case lie(path: String)

    /// The calls to the disk: without locks, which no disk refuses.
    private static let ofDisks =
        "pwrite64,pwritev,pwritev2,writev,fsync,fdatasync,openat,open,creat,truncate,ftruncate,fallocate,"
        + "rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat,copy_file_range"

    fileprivate var words: [String] {
        switch self {
        case .kill(let number): ["--kill", "\(number)"]
        case .tear(let number): ["--tear", "\(number)"]
        case .fail(let number, let error, let isSticky):
            ["--fail", "\(number)", "--errno", error, "--calls", Self.ofDisks] + (isSticky ? ["--sticky"] : [])
        case .failOf(let calls, let path, let number, let isSticky):
            ["--fail", "\(number)", "--calls", calls, "--path", path] + (isSticky ? ["--sticky"] : [])
        case .none: ["--count"]
        case .lie(let path): ["--skip", "--calls", "fsync,fdatasync", "--path", path]
        }
    }

    /// Whether processes may be traced here, which a sandbox around the tests may forbid.
    static let isPossible: Bool = {
        #if arch(x86_64)
            return unsafe access("/usr/bin/python3", X_OK) == 0
        #else
            return false
        #endif
    }()

    /// Why not, for the report.
    static let reason: Comment = "Tools/strike needs python3 on x86-64"
}

/// What a strike hit.
struct StrikeReport: Decodable, Sendable {
    struct Call: Decodable, Sendable {
        let call: String
        let file: String
        let number: Int
    }

    /// How many calls were counted.
    let calls: Int
    /// The one that was struck; nil when the program ended before.
    let struck: Call?
}

extension CrashScene {
    /// Runs a command under a strike.
    ///
    /// - Parameters:
    ///   - words: of the program.
    ///   - strike: what is done to it.
    ///   - log: a file that gets every call; nil for none.
    /// - Returns: how the program ended, 124 when it hung, and what was hit.
    /// - Throws: when the tracer cannot be started.
    func run(
        _ words: [String], under strike: Strike, log: String? = nil
    ) async throws -> (ending: ChildProcess.Ending, report: StrikeReport) {
        let report = me.home.file("strike.json")
        // A hang is a finding, not a wait; the limit is far from what a busy machine needs.
        let tracer =
            ["/usr/bin/timeout", "120", Places.repository() + "/Tools/strike"] + strike.words
            + (log.map { ["--log", $0] } ?? []) + ["--report", report, "--"]
        try? FileManager.default.removeItem(atPath: report)
        let ending = try await run(words, behind: tracer)
        guard let data = FileManager.default.contents(atPath: report) else {
            return (ending, StrikeReport(calls: 0, struck: nil))
        }
        return (ending, try JSONDecoder().decode(StrikeReport.self, from: data))
    }
}
