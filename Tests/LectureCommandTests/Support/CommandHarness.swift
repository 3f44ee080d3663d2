import Foundation
import LectureCommand
import LectureModel
import LectureTestSupport

/// Collects written bytes in memory.
final class MemorySink: ByteSink {
    private let bytes = Guarded<[UInt8]>([])

    func write(_ more: [UInt8]) throws(OutputError) { bytes.withLock { $0 += more } }

    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
}

/// A sink whose reader has gone, or whose disk is full.
struct FailingSink: ByteSink {
    let number: Int32

    func write(_ bytes: [UInt8]) throws(OutputError) { throw OutputError(number: number) }
}

/// What a command did in this process.
struct Outcome {
    let status: ExitStatus
    let output: String
    let diagnostics: String
}

/// Runs a command line in this process.
func run(
    _ arguments: String..., environment: [String: String] = [:], actions: [String: CommandRunner.Action] = [:]
) async -> Outcome {
    let (output, diagnostics) = (MemorySink(), MemorySink())
    let context = context(arguments, environment: environment, output: output, diagnostics: diagnostics)
    let status = await CommandRunner(actions: actions).run(context)
    return Outcome(status: status, output: output.text, diagnostics: diagnostics.text)
}

func context(
    _ arguments: [String], environment: [String: String] = [:], output: any ByteSink, diagnostics: any ByteSink
) -> CommandContext {
    CommandContext(
        arguments: arguments, environment: environment, output: output, diagnostics: diagnostics,
        outputIsTerminal: false, diagnosticsIsTerminal: false, terminalSize: { .standard },
        clock: VirtualClock(
            wall: Timestamp(milliseconds: 1_700_000_000_000), boot: BootInstant(nanoseconds: 5_000_000_000)),
        signals: { nil })
}

/// A directory that is deleted when the test is over.
final class ScratchDirectory {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "lecture-command-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Writes a file and returns its path.
    func write(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
        let file = url.appending(path: name)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        return file.path
    }
}
