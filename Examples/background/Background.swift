import Glibc
import LectureKit

/// Pre-caches lectures; a worker process continues unfinished ones when this process ends, however it ends.
///
/// - Parameters:
///   - addresses: media files or gateway links, http or https.
///   - directory: the directory of the store; created when it is missing.
/// - Returns: whether every lecture is complete.
/// - Throws: `LectureError` when the store cannot be used, or `lecturectl` is missing.
func precache(_ addresses: [String], into directory: String) async throws -> Bool {
    let configuration = LectureConfiguration(storeDirectory: directory)
    let manager = try LectureManager(configuration)
    let events = manager.events
    let listener = Task {
        for await case .progress(let progress) in events { say("\(progress.key): \(progress.percent) %") }
    }
    let answers = try await manager.downloads.enqueue(addresses.map { DownloadRequest(url: $0) })
    // The requests are in the store: from here on nothing is lost if this process is killed.
    let worker = try BackgroundWorker(configuration)
    say("worker \(worker.processIdentifier)")
    try await manager.downloads.waitUntilIdle()

    var isComplete = true
    for answer in answers {
        let key = try answer.get().key
        if try await manager.contents.find(key)?.state != .completed { isComplete = false }
    }
    await manager.close()
    await listener.value
    // If lectures are left, it continues when this process ends.
    if isComplete { worker.dismiss() }
    return isComplete
}

/// Prints a line at once, also into a pipe.
///
/// - Parameter line: without its end.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// `background-example STORE URL…`: downloads that outlive their program.
@main
enum Background {
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        guard let directory = words.first, words.count > 1 else {
            print("usage: background-example STORE URL...")
            exit(64)
        }
        do {
            exit(try await precache(Array(words.dropFirst()), into: directory) ? 0 : 1)
        } catch let error as LectureError {
            print(error.message)
        } catch {
            print("\(error)")
        }
        exit(1)
    }
}
