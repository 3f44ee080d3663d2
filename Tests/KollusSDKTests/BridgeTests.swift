import Foundation
import LectureModel
import Testing

@testable import KollusSDK

private actor Counter {
    private(set) var count = 0
    func add() { count += 1 }
}

/// Waiting for asynchronous work.
@Suite(.timeLimit(.minutes(1)))
struct BridgeTests {
    @Test
    func `callers that block every thread of the pool are still served`() async throws {
        // On the pool's own threads the first callers would occupy them all, and their work would never start.
        let counter = Counter()
        let count = 16 * ProcessInfo.processInfo.activeProcessorCount
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<count {
                group.addTask {
                    try waiting {
                        await counter.add()
                        await Task.yield()
                        return try await withThrowingTaskGroup(of: Int.self) { inner in
                            inner.addTask { number }
                            return try await inner.next() ?? -1
                        }
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == count * (count - 1) / 2)
        #expect(await counter.count == count)
    }

    @Test
    func `a caller on the main actor is served`() async throws {
        let answer = try await MainActor.run { try waiting { 7 } }
        #expect(answer == 7)
    }

    @Test
    func `every error comes out as one of the SDK`() {
        #expect(throws: KollusError(.ERROR_NOT_FOUND_ID)) {
            try waiting { throw KollusError(.ERROR_NOT_FOUND_ID) }
        }
        let library = #expect(throws: KollusError.self) { try waiting { throw LectureError(.storageFull) } }
        #expect(library?.kind == .ERROR_STORAGE_FULL)
        struct Foreign: Error {}
        let foreign = #expect(throws: KollusError.self) { try waiting { throw Foreign() } }
        #expect(foreign?.code == LectureError.Code.bug.number)
        let cancelled = #expect(throws: KollusError.self) { try waiting { throw CancellationError() } }
        #expect(cancelled?.code == LectureError.Code.cancelled.number)
        // A call that suspends its task throws Swift's error; one that blocks a thread cannot be cancelled.
        #expect(KollusError.ofWaiting(CancellationError()) is CancellationError)
        #expect(KollusError.ofWaiting(LectureError(.storageFull)) is KollusError)
        let translated = #expect(throws: KollusError.self) { try translating { throw LectureError(.unknownContent) } }
        #expect(translated?.kind == .ERROR_NOT_FOUND_ID)
    }

    @Test
    func `dates and durations keep their milliseconds`() {
        #expect(Timestamp(Date(timeIntervalSince1970: 1.2345)).milliseconds == 1234)
        #expect(Timestamp(Date(timeIntervalSince1970: -0.0005)).milliseconds == -1)
        #expect(Timestamp(milliseconds: 1_500).date == Date(timeIntervalSince1970: 1.5))
        #expect(Duration.milliseconds(2_500).seconds == 2.5)
    }

    @Test
    func `JSON of servers is read as far as it has the expected types`() {
        #expect(#"{"a":1}"#.jsonObject?["a"] as? Int == 1)
        #expect("[1]".jsonObject == nil)
        #expect("nothing".jsonObject == nil)
        #expect(#"[{"a":1},2,{"b":2}]"#.jsonObjects.count == 2)
        #expect("{}".jsonObjects.isEmpty)
    }
}
