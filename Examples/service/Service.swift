import Dispatch
import Glibc
import LectureKit

/// Keeps the lectures of a course list complete until a signal asks the program to end.
///
/// - Parameters:
///   - list: the URL of a course list: `.jsonl`, `.csv` or `.txt`.
///   - directory: the directory of the store; made when it is missing.
/// - Throws: `LectureError` when the store cannot be used, or the list cannot be read.
func serve(_ list: String, in directory: String) async throws {
    var configuration = LectureConfiguration(storeDirectory: directory)
    configuration.programName = "service-example"
    configuration.observer = LineObserver()
    let manager = try LectureManager(configuration)
    do {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await keepComplete(list, with: manager) }
            group.addTask { for await number in stopSignals() { throw Stopped(signal: number) } }
            // What ends first ends the other: its calls throw CancellationError.
            try await group.next()
            group.cancelAll()
        }
    } catch let stopped as Stopped {
        say("signal \(stopped.signal)")
    } catch {
        await manager.close()
        throw error
    }
    // What was received is durable, and goes on from there when the program is started again.
    await manager.close()
    say("closed")
}

/// Reads the list, downloads what is new, and does so again every hour.
///
/// - Parameters:
///   - list: the URL of a course list.
///   - manager: stays open.
/// - Throws: `LectureError`, and `CancellationError` when the task is cancelled, wherever it waits.
func keepComplete(_ list: String, with manager: LectureManager) async throws {
    while true {
        let bytes = try await manager.document(at: list)
        var reader = try CourseList(path: list)
        var requests: [DownloadRequest] = []
        for line in reader.read(bytes) + reader.finish() {
            switch line {
            case .lecture(let request, _): requests.append(request)
            case .issue(let error): say(error.message)
            case .warning(let warning): say("line \(warning.line): unknown member '\(warning.member)'")
            }
        }
        _ = try await manager.downloads.enqueue(requests)
        say("\(requests.count) lectures")
        try await manager.downloads.waitUntilIdle()
        let counts = try await manager.summary().counts
        say("\(counts[.completed] ?? 0) complete, \(counts[.failed] ?? 0) failed")
        try await Task.sleep(for: .seconds(3600))
    }
}

/// A signal asked the program to end.
struct Stopped: Error {
    let signal: Int32
}

/// The signals that ask the program to end. The first is what a service manager sends, the second comes from a
/// terminal.
func stopSignals() -> AsyncStream<Int32> {
    AsyncStream { continuation in
        for number in [SIGTERM, SIGINT] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            // The handler keeps its source for as long as the program runs.
            source.setEventHandler { withExtendedLifetime(source) { _ = continuation.yield(number) } }
            source.activate()
        }
    }
}

/// Prints what an operator wants to know; a service would hand it to its logger.
struct LineObserver: LectureObserver {
    func log(_ record: LectureLogRecord) {
        guard record.level != .debug else { return }
        let fields = record.fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        say("\(record.level) \(record.category): \(record.message) \(fields.joined(separator: " "))")
    }

    func record(_ metric: LectureMetric) {}
}

/// Prints a line at once, also into a pipe.
///
/// - Parameter line: without its end.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// `service-example STORE LIST`: keeps a course list complete until it gets SIGTERM.
@main
enum Service {
    static func main() async {
        let words = CommandLine.arguments
        guard words.count == 3 else {
            say("usage: service-example STORE LIST")
            exit(64)
        }
        do {
            try await serve(words[2], in: words[1])
            exit(0)
        } catch {
            say((error as? LectureError)?.message ?? "\(error)")
            exit(1)
        }
    }
}
