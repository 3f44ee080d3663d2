import LectureFormats
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

}

/// Exchanges that are published after removals.
struct OrderedRemovalsTests {
    private let start = VirtualClock().boot()
    private let keys = ["a", "b", "c"].map { ContentKey(stored: $0) }
    private let exchange = LicenceExchange(
        server: "https://drm.example", kind: 3, items: "[]", answer: nil, error: nil)
    private var removals = OrderedRemovals()

    private mutating func holds() -> Bool { removals.hold(exchange, of: keys, at: start) }

    private mutating func removed(_ index: Int, after seconds: Int = 0) -> [LectureEvent] {
        removals.removed(keys[index], at: start + .seconds(seconds))
    }

    private mutating func release() -> [LectureEvent] { removals.release() }

    @Test mutating func `an exchange is reported when the last of its lectures is gone`() {
        removals.order(keys[0])
        removals.order(keys[1])
        #expect(holds() == true)
        #expect(removals.waiting == [keys[0], keys[1]])
        #expect(removed(2) == [], "no server has ordered that")
        #expect(removed(0) == [.licenceDeleted(keys[0])])
        #expect(removed(0) == [], "once")
        #expect(removed(1) == [.licenceExchange(exchange), .licenceDeleted(keys[1])])
        #expect(removals.overdue(.seconds(10)) == nil && release() == [])
    }

    @Test mutating func `an exchange without such a lecture does not wait`() {
        #expect(holds() == false)
        #expect(removals.overdue(.seconds(10)) == nil)
    }

    @Test mutating func `patience begins again with each removal`() {
        removals.order(keys[0])
        removals.order(keys[1])
        #expect(holds() == true)
        #expect(removals.overdue(.seconds(10)) == start + .seconds(10))
        _ = removed(0, after: 7)
        #expect(removals.overdue(.seconds(10)) == start + .seconds(17))
        #expect(removals.waiting == [keys[1]])
        #expect(release() == [.licenceExchange(exchange)] && removals.waiting.isEmpty)
        #expect(removed(1) == [.licenceDeleted(keys[1])], "the removal continues by itself")
    }
}

/// Items whose request waits.
struct RequestQueuesTests {
    private let renewals = BatchQueue(rank: 2, url: "https://drm.example/callback", keyID: "")
    private var queues = RequestQueues()

    private func origin() throws -> Origin { try Origin(url: renewals.url) }

    private func asked(_ key: String, isAlone: Bool = false) -> Asked {
        Asked(key: ContentKey(stored: key), purpose: .renewal(RenewalRunID(1)), isAlone: isAlone)
    }

    private mutating func take(_ queue: BatchQueue, limit: Int = 10) throws -> [String] {
        queues.takeGroup(queue, try origin(), limit: limit).map(\.key.text)
    }

    @Test mutating func `a group ends before an item that is requested alone`() throws {
        for key in ["a", "b"] { queues.add(asked(key), to: renewals) }
        queues.add(asked("alone", isAlone: true), to: renewals)
        queues.add(asked("c"), to: renewals)
        queues.add(asked("first"), to: renewals, first: true)
        let groups = [try take(renewals), try take(renewals), try take(renewals), try take(renewals)]
        #expect(groups == [["first", "a", "b"], ["alone"], ["c"], []])
        #expect(queues.isEmpty && queues.inOrder.isEmpty)
    }

    @Test mutating func `a group has a limit, and one item where a server answers only one`() throws {
        for number in 0..<5 { queues.add(asked("\(number)"), to: renewals) }
        let limited = try take(renewals, limit: 3)
        queues.requestAlone(try origin())
        let single = try take(renewals)
        #expect(limited == ["0", "1", "2"] && single == ["3"])
    }

    @Test mutating func `a check goes alone and first, and equal requests are found`() throws {
        let checks = BatchQueue(rank: 0, url: renewals.url, keyID: "")
        let (key, other) = (ContentKey(stored: "a"), ContentKey(stored: "b"))
        let deadline = VirtualClock().boot()
        queues.add(asked("a"), to: renewals)
        for key in [key, other] { queues.add(Asked(key: key, purpose: .check(deadline: deadline)), to: checks) }
        #expect(queues.inOrder == [checks, renewals])
        #expect(queues.contains(Asked(key: key, purpose: .check(deadline: deadline + .seconds(1)))))
        #expect(!queues.contains(Asked(key: key, purpose: .renewal(RenewalRunID(2)))), "another run")
        let first = try take(checks)
        #expect(first == ["a"])
        queues.remove(Asked(key: other, purpose: .check(deadline: deadline)), from: checks)
        #expect(queues.inOrder == [renewals] && queues[checks].isEmpty)
        let rest = queues.remove(renewals).map(\.key.text)
        #expect(rest == ["a"] && queues.items.isEmpty)
    }
}
