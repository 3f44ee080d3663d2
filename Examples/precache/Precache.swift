import Glibc
import LectureKit

/// Pre-caches lectures and prints what becomes true, then where each of them lies.
///
/// - Parameters:
///   - addresses: media files or gateway links, http or https.
///   - directory: the directory of the store; made when it is missing.
/// - Returns: whether every lecture is complete.
/// - Throws: `LectureError` when the store cannot be used.
func precache(_ addresses: [String], into directory: String) async throws -> Bool {
    let manager = try LectureManager(LectureConfiguration(storeDirectory: directory))
    // A stream tells what becomes true after it was asked for, so it comes before the wishes.
    let events = manager.events
    let listener = Task {
        for await event in events { tell(event) }
    }
    let answers = try await manager.enqueue(addresses.map { DownloadRequest(url: $0) })
    try await manager.untilRest()

    var isComplete = true
    for (address, answer) in zip(addresses, answers) {
        switch answer {
        case .failure(let error):
            print("\(address): \(error.message)")
            isComplete = false
        case .success(let wish):
            if try await manager.content(wish.key)?.state == .completed {
                print("\(wish.key): \(try await manager.path(wish.key))")
            } else {
                let reason = try await manager.why(wish.key)
                print("\(wish.key): \(reason.why) \(reason.next)")
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
/// - Parameter event: what became true.
func tell(_ event: LectureEvent) {
    switch event {
    case .progress(let progress): print("\(progress.key): \(progress.percent) %")
    case .completed(let content): print("\(content.key): complete, \(content.provenBytes) bytes")
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
