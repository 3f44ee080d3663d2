import Foundation
import Glibc
import LectureCrypto
import LectureKit
import LectureTestSupport
import Synchronization
import Testing

/// How often the thread of the ending process has used OpenSSL.
private let uses = Atomic<Int>(0)

private func waitForUses(_ count: Int) {
    let due = uses.load(ordering: .acquiring) + count
    while uses.load(ordering: .acquiring) < due { sched_yield() }
}

@Suite(.timeLimit(.minutes(1))) struct ProcessEndTests {
    /// A thread that reads ahead is not waited for.
    @Test func `a thread may use OpenSSL while a program that opened a store ends`() async throws {
        let directory = try TemporaryDirectory()
        await #expect(processExitsWith: .exitCode(77)) { [store = directory.file("store") as String] in
            // Handlers are called in reverse order: this one after that of OpenSSL, if it has one.
            atexit { waitForUses(100) }
            let manager = try LectureManager(LectureConfiguration(storeDirectory: store))
            Thread.detachNewThread {
                while (try? OpenSSLDigests(proofKey: [UInt8](repeating: 1, count: 32))) != nil,
                    (try? SecureRandom.bytes(32)) != nil
                {
                    uses.add(1, ordering: .releasing)
                }
            }
            waitForUses(1)
            withExtendedLifetime(manager) { exit(77) }
        }
    }
}
