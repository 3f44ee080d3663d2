import Foundation
import LectureModel
import Testing

@testable import KollusSDK

private class WrongOptionals: NSObject, KollusStorageDelegate {
    func kollusStorage(_ kollusStorage: KollusStorage?, downloadContent content: KollusContent, error: (any Error)?) {}
    func kollusStorage(_ kollusStorage: KollusStorage, cur: Int, count: Int, error: (any Error)?) {}
}

private class Nothing: NSObject, KollusStorageDelegate {}

private class OneMethod: NSObject, KollusStorageDelegate {
    func onSendCompleteStoredLms(_ successCount: Int32, failCount: Int32) {}
}

private class GuideMethod: NSObject, KollusStorageDelegate {
    func kollusStorage(
        _ storage: KollusStorage, request: [AnyHashable: Any], json: [AnyHashable: Any]?, error: (any Error)?
    ) {}
}

@MainActor
private final class Isolated: NSObject, @MainActor KollusStorageDelegate {
    func kollusStorage(_ storage: KollusStorage!, cur: Int32, count: Int32, error: (any Error)!) {}
}

private class Child: OneMethod {}

private class Extended: NSObject {}

extension Extended: KollusStorageDelegate {
    func kollusStorage(_ storage: KollusStorage, lmsData: String, resultJson: [AnyHashable: Any]?) {}
}

/// The log as a developer reads it.
private final class Log: UtilDelegate, Sendable {
    let lines = Guarded<[String]>([])
    let came = DispatchSemaphore(value: 0)
    func onLogUtil(_ logData: String) {
        lines.withLock { $0.append(logData) }
        came.signal()
    }

    /// The lines about a class, once the line about another one has come.
    func lines(about name: String, until other: String) -> [String] {
        while !lines.withLock({ $0.contains { $0.hasPrefix("\(other) ") } }) { came.wait() }
        return lines.withLock { $0.filter { $0.hasPrefix("\(name) ") } }
    }
}

/// Delegates that are never called are told of; others are not.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct DelegateInspectionTests {
    private let log = Log()

    init() { LogUtil.shared().utilDelegate = log }

    @Test
    func `a class that implements nothing is told of when it is set, once`() {
        let storage = KollusStorage()
        let (delegate, end) = (WrongOptionals(), Nothing())
        storage.delegate = delegate
        storage.delegate = WrongOptionals()
        storage.delegate = end
        let lines = log.lines(about: "WrongOptionals", until: "Nothing")
        #expect(lines.count == 1)
        #expect(lines.first?.contains("implements no method of KollusStorageDelegate") == true)
        LogUtil.shared().utilDelegate = nil
    }

    @Test
    func `a class with a method is not told of, in whichever spelling, isolation, parent or extension`() async {
        class Marker: NSObject, KollusStorageDelegate {}
        let storage = KollusStorage()
        let isolated = await MainActor.run {
            let delegate = Isolated()
            storage.delegate = delegate
            return delegate
        }
        let delegates: [any KollusStorageDelegate] = [OneMethod(), GuideMethod(), Child(), Extended()]
        for delegate in delegates { storage.delegate = delegate }
        let end = Marker()
        storage.delegate = end
        // They are looked at one after the other.
        let name = "\(type(of: end))"
        for heard in ["OneMethod", "GuideMethod", "Child", "Extended", "Isolated"] {
            #expect(log.lines(about: heard, until: name).isEmpty)
        }
        _ = isolated
        LogUtil.shared().utilDelegate = nil
    }

    @Test
    func `an event that no method hears is told of, once for a class`() {
        let storage = KollusStorage()
        let queue = DispatchQueue(label: "inspection.tests")
        storage.delegateQueue = queue
        let delegate = OneMethod()
        storage.delegate = delegate
        for _ in 0..<2 { storage.core.deliverer.post(.renewal(current: 1, count: 1, error: nil)) }
        storage.core.deliverer.post(.reportsEnded(delivered: 1, failed: 0))
        for _ in 0..<20 { queue.sync {} }
        let lines = log.lines.withLock { $0.filter { $0.hasPrefix("OneMethod ") } }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("kollusStorage(_:cur:count:error:)") == true)
        LogUtil.shared().utilDelegate = nil
    }
}

/// Counting what nobody hears.
struct UnheardTests {
    @Test
    func `a delivery is unheard when every spelling ends in a default`() {
        #expect(Unheard.all(of: 2) { for _ in 0..<2 { Unheard.note() } })
        #expect(!Unheard.all(of: 2) { Unheard.note() })
        #expect(!Unheard.all(of: 1) {})
    }

    @Test
    func `a delivery within another one counts for itself`() {
        let outer = Unheard.all(of: 2) {
            Unheard.note()
            #expect(Unheard.all(of: 1) { Unheard.note() })
            #expect(!Unheard.all(of: 1) {})
            Unheard.note()
        }
        #expect(outer)
        // Outside of deliveries it is nobody's count.
        Unheard.note()
        #expect(!Unheard.all(of: 1) {})
    }

    @Test
    func `threads do not count for each other`() {
        let results = Guarded<[Bool]>([])
        DispatchQueue.concurrentPerform(iterations: 64) { number in
            let isUnheard = Unheard.all(of: 3) { for _ in 0..<(number.isMultiple(of: 2) ? 3 : 2) { Unheard.note() } }
            results.withLock { $0.append(isUnheard == number.isMultiple(of: 2)) }
        }
        #expect(results.withLock { $0 } == Array(repeating: true, count: 64))
    }
}
