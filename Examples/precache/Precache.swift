import Glibc
import LectureKit

/// Pre-caches lectures and prints their events, then the path of each.
///
/// - Parameters:
///   - addresses: media files or gateway links, http or https.
///   - directory: the directory of the store; created when it is missing.
/// - Returns: whether every lecture is complete.
/// - Throws: `LectureError` when the store cannot be used.
func precache(_ addresses: [String], into directory: String) async throws -> Bool {
    let manager = try LectureManager(LectureConfiguration(storeDirectory: directory))
    // Subscribe before enqueuing; events are not replayed.
    let events = manager.events
    let listener = Task {
        for await event in events { report(event) }
    }
    let answers = try await manager.downloads.enqueue(addresses.map { DownloadRequest(url: $0) })
    try await manager.downloads.waitUntilIdle()

    var isComplete = true
    for (address, answer) in zip(addresses, answers) {
        switch answer {
        case .failure(let error):
            print("\(address): \(error.message)")
            isComplete = false
        case .success(let request):
            if try await manager.contents.find(request.key)?.state == .completed {
                print("\(request.key): \(try await manager.contents.path(of: request.key))")
            } else {
                let reason = try await manager.contents.why(request.key)
                print("\(request.key): \(reason.why) \(reason.next)")
                isComplete = false
            }
        }
    }
    await manager.close()
    await listener.value
    return isComplete
}

/// Prints one event.
///
/// - Parameter event: the event.
func report(_ event: LectureEvent) {
    switch event {
    case .progress(let progress): print("\(progress.key): \(progress.percent) %")
    case .completed(let content): print("\(content.key): complete, \(content.committedBytes) bytes")
    case .failed(let content), .stopped(let content): print("\(content.key): \(content.state.name)")
    case .trouble(let error): print(error.message)
    default: break
    }
}

/// `precache-example STORE URL…`: the library without the command.
@main
enum Precache {
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        guard let directory = words.first, words.count > 1 else {
            print("usage: precache-example STORE URL...")
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
