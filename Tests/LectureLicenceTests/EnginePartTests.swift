import LectureModel
import LectureTestSupport
import Testing

@testable import LectureLicence

/// The anchor that is to be stored.
struct AnchorQueueTests {
    private let start = VirtualClock().boot()
    private var queue = AnchorQueue()
    private var wakes: [BootInstant] = []

    private static func anchor(_ revision: Int64) -> LedgerAnchor {
        LedgerAnchor(revision: revision, code: [UInt8](repeating: 1, count: 32), proven: nil, estimate: nil)
    }

    private mutating func take(after seconds: Int = 0) -> Int64? {
        var wakes: [BootInstant] = []
        defer { self.wakes += wakes }
        return queue.take(at: start + .seconds(seconds)) { wakes.append($0) }?.revision
    }

    @Test mutating func `one anchor is stored at a time, and then the newest`() {
        #expect(take() == nil && queue.isSettled && !queue.isBusy)
        queue.add(Self.anchor(1))
        #expect(!queue.isSettled)
        #expect(take() == 1 && queue.isBusy && !queue.isSettled)
        queue.add(Self.anchor(3))
        queue.add(Self.anchor(2))
        #expect(take() == nil, "one is being stored")
        queue.stored(nil, at: start)
        #expect(take() == 3)
        queue.stored(nil, at: start)
        #expect(take() == nil && queue.isSettled && wakes.isEmpty)
    }

    @Test mutating func `after a failure the next one waits five seconds, and a stop does not wait for it`() {
        queue.add(Self.anchor(1))
        #expect(take() == 1)
        queue.stored(LectureError(.writeFile), at: start)
        #expect(queue.isSettled && take() == nil && wakes.isEmpty, "nothing is due")
        queue.add(Self.anchor(2))
        queue.stored(LectureError(.writeFile), at: start)
        #expect(take(after: 4) == nil && wakes == [start + .seconds(5)] && queue.isSettled)
        #expect(take(after: 5) == 2 && !queue.isSettled)
    }

    @Test mutating func `an answer that was lost stops no later anchor`() {
        queue.add(Self.anchor(1))
        #expect(take() == 1)
        queue.forget()
        queue.add(Self.anchor(2))
        #expect(take() == 2)
    }
}

/// Exchanges whose notices wait for removals.
struct OrderedRemovalsTests {
    private let start = VirtualClock().boot()
    private let keys = ["a", "b", "c"].map { ContentKey(stored: $0) }
    private let record = ExchangeRecord(origin: "https://drm.example", kind: .check, questions: "[]")
    private var removals = OrderedRemovals()

    private mutating func holds() -> Bool { removals.hold(record, of: keys, at: start) }

    /// A lecture is gone; the notices as words.
    private mutating func removed(_ index: Int, after seconds: Int? = 0) -> [String] {
        words(removals.removed(keys[index], at: seconds.map { start + .seconds($0) }))
    }

    private mutating func release() -> [String] { words(removals.release()) }

    private func words(_ notices: [LicenceNotice]) -> [String] {
        notices.map { notice in
            switch notice {
            case .exchange: "exchange"
            case .deleted(let key, let message): "deleted \(key.text) \(message ?? "-")"
            default: "\(notice)"
            }
        }
    }

    @Test mutating func `an exchange is reported when the last of its lectures is gone`() {
        removals.order(keys[0], "ended")
        removals.order(keys[1], nil)
        #expect(holds() == true)
        #expect(removals.waiting == [keys[0], keys[1]])
        #expect(removed(2) == [], "no server has ordered that")
        #expect(removed(0) == ["deleted a ended"])
        #expect(removed(0) == [], "once")
        #expect(removed(1, after: nil) == ["exchange", "deleted b -"])
        #expect(removals.overdue(.seconds(10)) == nil && release() == [])
    }

    @Test mutating func `an exchange without such a lecture does not wait`() {
        #expect(holds() == false)
        #expect(removals.overdue(.seconds(10)) == nil)
    }

    @Test mutating func `patience begins again with each removal`() {
        removals.order(keys[0], nil)
        removals.order(keys[1], nil)
        #expect(holds() == true)
        #expect(removals.overdue(.seconds(10)) == start + .seconds(10))
        _ = removed(0, after: 7)
        #expect(removals.overdue(.seconds(10)) == start + .seconds(17))
        #expect(removals.waiting == [keys[1]])
        #expect(release() == ["exchange"] && removals.waiting.isEmpty)
        #expect(removed(1) == ["deleted b -"], "the removal continues by itself")
    }
}
