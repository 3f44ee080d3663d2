import Foundation
import Glibc
import Synchronization
import Testing

@testable import LectureCrypto

/// How often the thread of the ending process has used OpenSSL.
private let uses = Atomic<Int>(0)

private func waitForUses(_ count: Int) {
    let due = uses.load(ordering: .acquiring) + count
    while uses.load(ordering: .acquiring) < due { sched_yield() }
}

@Suite(.timeLimit(.minutes(1))) struct OpenSSLProcessTests {
    @Test func `a thread may use OpenSSL while the process ends`() async {
        await #expect(processExitsWith: .exitCode(77)) {
            // Handlers are called in reverse order: this one after that of OpenSSL, if it has one.
            atexit { waitForUses(100) }
            OpenSSLProcess.prepare()
            Thread.detachNewThread {
                while (try? SHA256Algorithm()) != nil, (try? SecureRandom.bytes(32)) != nil {
                    uses.add(1, ordering: .releasing)
                }
            }
            waitForUses(1)
            exit(77)
        }
    }
}
