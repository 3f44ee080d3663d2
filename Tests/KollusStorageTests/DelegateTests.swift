import Foundation
import KollusSDK
import LectureTestSupport
import Testing

/// Delegates that are released, replaced or added while events are delivered.
@Suite struct DelegateTests {
    /// Is released with the first event.
    final class Mortal: NSObject, KollusStorageDelegate, @unchecked Sendable {
        private let lock = NSLock()
        private var count = 0
        var last: (@Sendable () -> Void)?
        var calls: Int { lock.withLock { count } }

        func kollusStorage(_ s: KollusStorage!, downloadContent content: KollusContent!, error: (any Error)!) {
            lock.withLock { count += 1 }
            last?()
            // Still alive within its own method.
            lock.withLock { count += 1 }
        }
    }

    @Test func `a delegate released within its own method gets no more calls`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        final class Holder: @unchecked Sendable {
            let lock = NSLock()
            var delegate: Mortal? = Mortal()
            func drop() { lock.withLock { delegate = nil } }
        }
        let holder = Holder()
        weak var watched: Mortal?
        watched = holder.delegate
        holder.delegate?.last = { holder.drop() }
        storage.delegate = holder.delegate
        let key = try storage.loadContentURL(scene.media("2M-1", "fault=slow:4000000"))
        let events = storage.events
        try storage.downloadContent(key)
        for await event in events {
            if case .completed = event { break }
        }
        #expect(watched == nil)
        #expect(storage.delegate == nil)
        // A new one receives only what comes from now on.
        let witness = Witness()
        storage.delegate = witness
        let other = try storage.loadContentURL(scene.media("64K-2"))
        try storage.downloadContent(other)
        _ = await witness.wait {
            $0.contains { if case .download(other, 100, true, _, nil) = $0 { true } else { false } }
        }
        guard case .download(other, 100, true, _, nil) = witness.finals.last else {
            Issue.record("\(witness.reported)")
            return
        }
    }

    @Test func `a delegate may call every method of its storage`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        let removed = Counter()
        let urls = (1...3).map { scene.media("256K-\($0)") }
        witness.also = { reported, content in
            guard reported.isFinal, let key = content?.mediaContentKey else { return }
            do {
                // The list, another download, the removal of the completed lecture: all from within.
                let known = try #require(storage.contents() as? [KollusContent]).count
                #expect(known >= 1)
                if let next = urls.dropFirst(witness.finals.count).first {
                    try storage.downloadContent(storage.loadContentURL(next))
                }
                try storage.removeContent(key)
                #expect(try storage.content(key) == nil)
            } catch { Issue.record(error) }
            removed.add()
        }
        storage.delegate = witness
        try storage.downloadContent(storage.loadContentURL(urls[0]))
        #expect(await witness.finals(3).count == 3)
        await removed.reaches(3)
    }

    @Test func `events before the first delegate wait for it`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let events = storage.events
        let key = try storage.loadContentURL(scene.media("512K-4"))
        try storage.downloadContent(key)
        for await event in events {
            if case .completed = event { break }
        }
        let witness = Witness()
        storage.delegate = witness
        let finals = await witness.finals(1)
        guard case .download(key, 100, true, _, nil) = finals.first else {
            Issue.record("\(finals)")
            return
        }
    }

    @Test func `two storages on one path see the same lectures and fetch nothing twice`() async throws {
        let scene = try await Classroom()
        let (one, two) = (try scene.started(), try scene.started())
        defer {
            one.close()
            two.close()
        }
        let (first, second) = (Witness(), Witness())
        one.delegate = first
        two.delegate = second
        let url = scene.media("4M-5")
        let key = try one.loadContentURL(url)
        #expect(try two.checkContentURL(url) == key)
        // Bytes that the server sent before it saw that loading reads no further do not count.
        let path = "/media/bytes-4M-5.mp4"
        let asked = try await scene.origin.requests(for: path).count
        let passing = try await scene.holding("4M-5", after: 2_000_000)
        try one.downloadContent(key)
        #expect(await first.wait { !$0.isEmpty })
        // Accepted, and delivered to both: a request is never answered with silence.
        #expect(code { try two.downloadContent(key) } == nil)
        #expect(code { try two.downloadContent(key) } == KollusError.Code.ERROR_ALREADY_DOWNLOADING.rawValue)
        // Continues over a connection that does not stall, once the stalled one is abandoned.
        try await passing()
        for witness in [first, second] {
            guard case .download(key, 100, true, 4 << 20, nil) = await witness.finals(1).last else {
                Issue.record("\(witness.reported)")
                continue
            }
        }
        #expect((two.contents() as? [KollusContent])?.first?.downloaded == true)
        let fetched = try await scene.origin.requests(for: path).dropFirst(asked).map(\.bytes).reduce(0, +)
        // Once, plus the part of a chunk that a stalled connection leaves.
        #expect(fetched < 6 << 20)
        try two.removeContent(key)
        #expect(one.contents()?.count == 0)
    }

    @Test func `a storage released without being closed ends its work`() async throws {
        let scene = try await Classroom()
        var key = ""
        do {
            let storage = try scene.started()
            key = try storage.loadContentURL(scene.media("16M-6", "fault=slow:2000000"))
            let witness = Witness()
            storage.delegate = witness
            try storage.downloadContent(key)
            #expect(await witness.wait { !$0.isEmpty })
        }
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        try await scene.origin.set(fault: "", on: "/media/bytes-16M-6.mp4")
        // The first one may keep it for the moment that its end takes.
        let busy = KollusError.Code.ERROR_ALREADY_DOWNLOADING.rawValue
        try await waitUntil { code { try storage.downloadContent(key) } != busy }
        #expect(await witness.finals(1).count == 1)
    }
}
