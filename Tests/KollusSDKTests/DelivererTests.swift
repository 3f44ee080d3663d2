import Foundation
import LectureKit
import LectureModel
import Testing

@testable import KollusSDK

/// A delegate that records its calls, and may do more.
private final class Listener: NSObject, KollusStorageDelegate, Sendable {
    let reported = Guarded<[String]>([])
    let whenNotified = Guarded<(@Sendable (String) -> Void)?>(nil)

    func receive(_ text: String) {
        reported.withLock { $0.append(text) }
        whenNotified.withLock { $0 }?(text)
    }

    func kollusStorage(_ kollusStorage: KollusStorage!, downloadContent content: KollusContent!, error: (any Error)!) {
        receive("\(content.mediaContentKey ?? "") \(content.downloadSize) \(content.downloaded ? "end" : "")")
    }
    func kollusStorage(_ kollusStorage: KollusStorage!, cur: Int32, count: Int32, error: (any Error)!) {
        receive("\(cur)")
    }
}

/// Events on their way to a delegate.
@Suite(.timeLimit(.minutes(1)))
struct DelivererTests {
    private let storage = KollusStorage()
    private let queue = DispatchQueue(label: "deliverer.tests")
    private var deliverer: Deliverer { storage.core.deliverer }

    init() { storage.delegateQueue = queue }

    private func post(_ number: Int) { deliverer.post(.renewal(current: number, count: 1000, error: nil)) }

    private func progress(_ key: String, _ bytes: Int64, isFinal: Bool = false) throws {
        var content = Content(
            key: try ContentKey(key), sourceURL: "", title: "", state: isFinal ? .completed : .downloading,
            added: Timestamp(milliseconds: 0))
        (content.committedBytes, content.totalBytes) = (bytes, 1000)
        let picture = KollusContent(ContentDetails(content: content, number: 1))
        deliverer.post(.download(picture, error: nil, isFinal: isFinal))
    }

    /// Waits until everything that was posted has been delivered: a step posts the next one before it ends, and each
    /// delivers up to 32.
    private func settle(_ queue: DispatchQueue? = nil) {
        for _ in 0..<100 { (queue ?? self.queue).sync {} }
    }

    @Test
    func `events are delivered in order and once each, also while more are posted`() {
        let listener = Listener()
        storage.delegate = listener
        for number in 0..<1000 { post(number) }
        settle()
        #expect(listener.reported.withLock { $0 } == (0..<1000).map { "\($0)" })
    }

    @Test
    func `only the newest progress of a lecture is kept, and an end is never replaced`() throws {
        let listener = Listener()
        storage.delegate = listener
        queue.suspend()
        try progress("a", 1)
        try progress("b", 1)
        try progress("a", 2)
        post(7)
        try progress("a", 3)
        try progress("a", 1000, isFinal: true)
        try progress("b", 2)
        // A new download of the same lecture.
        try progress("a", 5)
        try progress("a", 6)
        queue.resume()
        settle()
        #expect(listener.reported.withLock { $0 } == ["a 3 ", "b 2 ", "7", "a 1000 end", "a 6 "])
    }

    @Test
    func `events before the first delegate wait for it`() throws {
        try progress("a", 1)
        for number in 0..<100 { post(number) }
        let listener = Listener()
        storage.delegate = listener
        settle()
        #expect(listener.reported.withLock { $0 } == ["a 1 "] + (0..<100).map { "\($0)" })
    }

    @Test
    func `not all events wait forever; progress is dropped first`() throws {
        try progress("a", 1)
        for number in 0..<10_000 { post(number) }
        post(10_000)
        let listener = Listener()
        storage.delegate = listener
        for _ in 0..<10 { settle() }
        #expect(listener.reported.withLock { $0 } == (1...10_000).map { "\($0)" })
    }

    @Test
    func `a delegate released during a call completes that call and gets no more`() {
        let reported = Guarded<[String]>([])
        let holder = Guarded<Listener?>(Listener())
        weak let gone = holder.withLock { $0 }
        gone?.whenNotified.withLock { action in
            action = { text in
                holder.withLock { $0 = nil }
                reported.withLock { $0.append(text) }
            }
        }
        storage.delegate = gone
        queue.suspend()
        for number in 0..<5 { post(number) }
        queue.resume()
        settle()
        #expect(gone == nil)
        #expect(reported.withLock { $0 } == ["0"])
        post(6)
        // A new delegate does not receive what was meant for the previous one.
        let next = Listener()
        storage.delegate = next
        post(7)
        settle()
        #expect(next.reported.withLock { $0 } == ["7"])
    }

    @Test
    func `another delegate gets the events after it was set, also when the first one sets it`() {
        let (first, second) = (Listener(), Listener())
        storage.delegate = first
        first.whenNotified.withLock { $0 = { [storage] text in if text == "1" { storage.delegate = second } } }
        queue.suspend()
        for number in 0..<4 { post(number) }
        queue.resume()
        settle()
        #expect(first.reported.withLock { $0 } == ["0", "1"])
        #expect(second.reported.withLock { $0 } == ["2", "3"])
    }

    @Test
    func `a delegate may call back into the storage`() {
        let listener = Listener()
        listener.whenNotified.withLock {
            $0 = { [storage] _ in
                #expect(storage.contents() == nil)
                #expect(throws: KollusError.self) { try storage.downloadContent("lecture") }
                storage.setCacheSize(10)
                storage.sendStoredLms()
            }
        }
        storage.delegate = listener
        post(1)
        post(2)
        settle()
        #expect(listener.reported.withLock { $0 } == ["1", "2"])
    }

    @Test
    func `a changed queue takes effect with the next delivery`() {
        let other = DispatchQueue(label: "deliverer.tests.other")
        let listener = Listener()
        let places = Guarded<[Bool]>([])
        let mark = DispatchSpecificKey<Bool>()
        other.setSpecific(key: mark, value: true)
        listener.whenNotified.withLock {
            $0 = { _ in places.withLock { $0.append(DispatchQueue.getSpecific(key: mark) == true) } }
        }
        storage.delegate = listener
        post(1)
        settle()
        storage.delegateQueue = other
        post(2)
        settle(other)
        #expect(places.withLock { $0 } == [false, true])
    }

    @Test
    func `a forgotten lecture and a closed storage are silent`() throws {
        let listener = Listener()
        storage.delegate = listener
        queue.suspend()
        try progress("a", 1)
        try progress("b", 1)
        deliverer.forget("a")
        queue.resume()
        settle()
        #expect(listener.reported.withLock { $0 } == ["b 1 "])
        queue.suspend()
        post(1)
        storage.close()
        post(2)
        queue.resume()
        settle()
        #expect(listener.reported.withLock { $0 } == ["b 1 "])
    }

    @Test
    func `a released storage discards its waiting events`() {
        let listener = Listener()
        var storage: KollusStorage? = KollusStorage()
        let deliverer = storage?.core.deliverer
        storage?.delegateQueue = queue
        storage?.delegate = listener
        queue.suspend()
        deliverer?.post(.renewal(current: 1, count: 1, error: nil))
        storage = nil
        queue.resume()
        settle()
        #expect(listener.reported.withLock { $0 }.isEmpty)
    }
}
