import Foundation
import LectureModel
import Testing

@testable import KollusSDK

class WrongOptionals: NSObject, KollusStorageDelegate {
    func kollusStorage(_ kollusStorage: KollusStorage?, downloadContent content: KollusContent, error: (any Error)?) {}
    func kollusStorage(_ kollusStorage: KollusStorage, cur: Int, count: Int, error: (any Error)?) {}
}

class Nothing: NSObject, KollusStorageDelegate {}

class Marker: NSObject, KollusStorageDelegate {}

/// Its name in the symbol table differs from the one the runtime knows: no warning comes too early, but an event
/// that it misses is reported.
private class Hidden: NSObject, KollusStorageDelegate {
    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {}
}

class OneMethod: NSObject, KollusStorageDelegate {
    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {}
}

class GuideMethod: NSObject, KollusStorageDelegate {
    func kollusStorage(
        _ storage: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any]?, error: (any Error)?
    ) {}
}

@MainActor
final class Isolated: NSObject, @MainActor KollusStorageDelegate {
    func kollusStorage(_ storage: KollusStorage!, cur: Int32, count: Int32, error: (any Error)!) {}
}

class Child: OneMethod {}

class Extended: NSObject {}

extension Extended: KollusStorageDelegate {
    func kollusStorage(_ storage: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]?) {}
}

/// The log as a developer reads it.
private final class Log: UtilDelegate, Sendable {
    private struct State {
        var lines: [String] = []
        var waiter: (name: String, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Guarded(State())

    func onLogUtil(_ logData: String) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.lines.append(logData)
            guard let waiter = state.waiter, logData.hasPrefix("\(waiter.name) ") else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume()
    }

    func lines(about name: String) -> [String] { state.withLock { $0.lines.filter { $0.hasPrefix("\(name) ") } } }

    /// Waits for a line about a class.
    func until(_ name: String) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.lines.contains(where: { $0.hasPrefix("\(name) ") }) { return true }
                state.waiter = (name, continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}

/// Delegates whose methods are never called are reported; others are not.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct DelegateInspectionTests {
    fileprivate let log = Log()

    init() { LogUtil.shared().utilDelegate = log }

    @Test
    func `a value of another type changes nothing, and an unknown name is logged`() {
        LogUtil.shared().utilDelegate = log
        let (content, bookmark) = (KollusContent(), KollusBookmark())
        content.setValue("many", forKey: "fileSize")
        content.setValue(5, forKey: "title")
        content.setValue(nil, forKey: "downloaded")
        content.setValue("x", forKey: "downloadStatus")
        bookmark.setValue("x", forKey: "position")
        bookmark.setValue("x", forKey: "colour")
        #expect(content.fileSize == 0 && content.title == "" && !content.downloaded && bookmark.position == 0)
        #expect(content.value(forKey: "downloadStatus") == nil && bookmark.value(forKey: "colour") == nil)
        let lines = log.lines(about: "KollusContent") + log.lines(about: "KollusBookmark")
        for end in ["for fileSize.", "for title.", "for downloaded.", "for position."] {
            #expect(lines.contains { $0.hasSuffix(end) }, "\(end)")
        }
        #expect(lines.filter { $0.hasSuffix("has no property downloadStatus.") }.count == 2)
        #expect(lines.filter { $0.hasSuffix("has no property colour.") }.count == 2)
        LogUtil.shared().utilDelegate = nil
    }

    @Test
    func `a class that implements nothing is logged once when it is set`() async {
        let storage = KollusStorage()
        let (delegate, end) = (WrongOptionals(), Nothing())
        storage.delegate = delegate
        storage.delegate = WrongOptionals()
        storage.delegate = end
        await log.until("Nothing")
        let lines = log.lines(about: "WrongOptionals")
        #expect(lines.count == 1)
        #expect(lines.first?.contains("implements no method of KollusStorageDelegate") == true)
        LogUtil.shared().utilDelegate = nil
    }

    @Test
    func `a class with a method is not logged, in any spelling, isolation, parent or extension`() async {
        let storage = KollusStorage()
        let isolated = await MainActor.run {
            let delegate = Isolated()
            storage.delegate = delegate
            return delegate
        }
        let delegates: [any KollusStorageDelegate] = [OneMethod(), GuideMethod(), Child(), Extended(), Hidden()]
        for delegate in delegates { storage.delegate = delegate }
        let end = Marker()
        storage.delegate = end
        // They are inspected one after the other.
        await log.until("Marker")
        for heard in ["OneMethod", "GuideMethod", "Child", "Extended", "Hidden", "Isolated"] {
            #expect(log.lines(about: heard).isEmpty)
        }
        withExtendedLifetime((isolated, end)) {}
        LogUtil.shared().utilDelegate = nil
    }

    @Test
    func `an event without a method is logged, once per class`() {
        let storage = KollusStorage()
        let queue = DispatchQueue(label: "inspection.tests")
        storage.delegateQueue = queue
        let delegate = OneMethod()
        storage.delegate = delegate
        for _ in 0..<2 { storage.core.deliverer.post(.renewal(current: 1, count: 1, error: nil)) }
        storage.core.deliverer.post(.reportsEnded(delivered: 1, failed: 0))
        for _ in 0..<20 { queue.sync {} }
        let lines = log.lines(about: "OneMethod")
        #expect(lines.count == 1)
        #expect(lines.first?.contains("kollusStorage(_:cur:count:error:)") == true)
        LogUtil.shared().utilDelegate = nil
    }
}

class WrongPlayerOptionals: NSObject, KollusPlayerDelegate {
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView?, prepareToPlayWithError error: any Error) {}
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, play userInteraction: Bool, error: (any Error)?) {}
}

extension DelegateInspectionTests {
    @Test
    func `a player's result without a method is logged, once per class, and other events are not`() {
        let view = KollusPlayerView()
        let queue = DispatchQueue(label: "inspection.tests.player")
        view.delegateQueue = queue
        let delegate = WrongPlayerOptionals()
        view.delegate = delegate
        for _ in 0..<2 { view.core.mailbox.post(.prepared(nil)) }
        for delivery in [PlayerDelivery.play(true, nil), .position(1), .naturalSize(.zero), .rate(2)] {
            view.core.mailbox.post(delivery)
        }
        queue.sync {}
        let lines = log.lines(about: "WrongPlayerOptionals")
        #expect(lines.count == 1)
        #expect(lines.first?.contains("kollusPlayerView(_:prepareToPlayWithError:)") == true)
        LogUtil.shared().utilDelegate = nil
    }
}

/// Counts events that no delegate method receives.
struct UnheardTests {
    @Test
    func `a delivery is unheard when every spelling ends in a default`() {
        #expect(Unheard.all(of: 2) { for _ in 0..<2 { Unheard.record() } })
        #expect(!Unheard.all(of: 2) { Unheard.record() })
        #expect(!Unheard.all(of: 1) {})
    }

    @Test
    func `a delivery within another one counts for itself`() {
        let outer = Unheard.all(of: 2) {
            Unheard.record()
            #expect(Unheard.all(of: 1) { Unheard.record() })
            #expect(!Unheard.all(of: 1) {})
            Unheard.record()
        }
        #expect(outer)
        // Outside of a delivery it is not counted.
        Unheard.record()
        #expect(!Unheard.all(of: 1) {})
    }

    @Test
    func `threads do not count for each other`() {
        let results = Guarded<[Bool]>([])
        DispatchQueue.concurrentPerform(iterations: 64) { number in
            let isUnheard = Unheard.all(of: 3) { for _ in 0..<(number.isMultiple(of: 2) ? 3 : 2) { Unheard.record() } }
            results.withLock { $0.append(isUnheard == number.isMultiple(of: 2)) }
        }
        #expect(results.withLock { $0 } == Array(repeating: true, count: 64))
    }
}
