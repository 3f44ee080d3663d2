import Dispatch
import Foundation
import LectureModel

/// Delivers events to the delegate: in order, each once, on the queue that the application chose.
///
/// Events before the first delegate is set wait for it. After the delegate was released nothing is delivered, as on
/// iOS.
///
/// `@unchecked Sendable`: all state is behind the lock; the delegate is fetched and called on its queue only.
final class Deliverer: @unchecked Sendable {
    /// A delivery.
    enum Delivery: Sendable {
        case download(KollusContent, error: KollusError?, isFinal: Bool)
        case exchange(KollusExchange)
        case renewal(current: Int, count: Int, error: KollusError?)
        case report(data: String, answer: String?)
        case reportsEnded(delivered: Int, failed: Int)

        /// The content's key if this is progress, which a later delivery replaces.
        fileprivate var progressKey: String? {
            if case .download(let content, nil, isFinal: false) = self { content.mediaContentKey } else { nil }
        }

        fileprivate var key: String? {
            if case .download(let content, _, _) = self { content.mediaContentKey } else { nil }
        }
    }

    private struct State {
        var waiting: [Delivery] = []
        weak var delegate: (any KollusStorageDelegate)?
        var queue = DispatchQueue.main
        var hadDelegate = false
        var isPumping = false
        var isClosed = false
        var reported: Set<String> = []
    }

    /// The most events that wait for the first delegate: beyond that the oldest progress and then the oldest events are
    /// dropped.
    private static let mostWaiting = 10_000
    /// The most deliveries in one block, so that the main queue stays responsive.
    private static let batch = 32

    private let state = Guarded(State())
    private weak var storage: KollusStorage?

    /// Sets the storage that is passed to the delegate; once, before any delivery.
    func serve(_ storage: KollusStorage) { self.storage = storage }

    var delegate: (any KollusStorageDelegate)? {
        get { state.withLock { $0.delegate } }
        set {
            state.withLock { state in
                state.delegate = newValue
                if newValue != nil { state.hadDelegate = true }
            }
            if let newValue { DelegateInspection.inspect(newValue) }
            pump()
        }
    }

    var queue: DispatchQueue {
        get { state.withLock { $0.queue } }
        set { state.withLock { $0.queue = newValue } }
    }

    /// Queues a delivery.
    func post(_ delivery: Delivery) {
        let dropped = state.withLock { state -> Bool in
            if state.isClosed || state.hadDelegate && state.delegate == nil { return false }
            // Only the newest progress of a content is kept.
            if let key = delivery.progressKey, let last = state.waiting.lastIndex(where: { $0.key == key }),
                state.waiting[last].progressKey != nil
            {
                state.waiting[last] = delivery
                return false
            }
            state.waiting.append(delivery)
            guard state.waiting.count > Self.mostWaiting else { return false }
            state.waiting.remove(at: state.waiting.firstIndex { $0.progressKey != nil } ?? 0)
            return true
        }
        // Not here: events come on the manager's queue, where a delegate of the log must not call the storage.
        if dropped {
            DispatchQueue.global(qos: .utility).async {
                LogUtil.utilLog("\(Self.mostWaiting) events are waiting for a delegate; the oldest ones are dropped.")
            }
        }
        pump()
    }

    /// Drops waiting deliveries about a content.
    func forget(_ key: String) { state.withLock { $0.waiting.removeAll { $0.key == key } } }

    /// Stops all deliveries.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.waiting = []
        }
    }

    private func pump() {
        let queue = state.withLock { state -> DispatchQueue? in
            guard !state.isPumping, !state.waiting.isEmpty, state.delegate != nil else { return nil }
            state.isPumping = true
            return state.queue
        }
        queue?.async { [self] in drain() }
    }

    private func drain() {
        for _ in 0..<Self.batch {
            // The delegate is retained until its call returns.
            let next = state.withLock { state -> (Delivery, any KollusStorageDelegate)? in
                guard let delegate = state.delegate else {
                    if state.hadDelegate { state.waiting = [] }
                    return nil
                }
                return state.waiting.isEmpty ? nil : (state.waiting.removeFirst(), delegate)
            }
            guard let (delivery, delegate) = next, let storage else { break }
            notify(delivery, delegate, storage)
        }
        state.withLock { $0.isPumping = false }
        pump()
    }

    // MARK: The spellings

    private func notify(_ delivery: Delivery, _ delegate: any KollusStorageDelegate, _ storage: KollusStorage) {
        // Typed as optionals, the arguments select the implicitly unwrapped spelling.
        let some: KollusStorage? = storage
        let name: String
        let unheard: Bool
        switch delivery {
        case .download(let content, let error, _):
            name = "kollusStorage(_:downloadContent:error:)"
            let (content, error): (KollusContent?, (any Error)?) = (content, error)
            unheard = Unheard.all(of: 2) {
                delegate.kollusStorage(some, downloadContent: content, error: error)
                if let content { delegate.kollusStorage(storage, downloadContent: content, error: error) }
            }
        case .exchange(let exchange):
            name = "kollusStorage(_:request:json:error:)"
            unheard = notify(exchange, delegate, storage)
        case .renewal(let current, let count, let error):
            name = "kollusStorage(_:cur:count:error:)"
            let (cur, count, error): (Int32, Int32, (any Error)?) = (
                Int32(clamping: current), Int32(clamping: count), error
            )
            unheard = Unheard.all(of: 2) {
                delegate.kollusStorage(some, cur: cur, count: count, error: error)
                delegate.kollusStorage(storage, cur: cur, count: count, error: error)
            }
        case .report(let data, let answer):
            name = "kollusStorage(_:lmsData:resultJson:)"
            let json = answer?.jsonObject
            let (text, object): (String?, [AnyHashable: Any]?) = (data, json ?? [:])
            unheard = Unheard.all(of: 3) {
                delegate.kollusStorage(some, lmsData: text, resultJson: object)
                delegate.kollusStorage(storage, lmsData: data, resultJson: json ?? [:])
                delegate.kollusStorage(storage, lmsData: data, resultJson: json)
            }
        case .reportsEnded(let delivered, let failed):
            name = "onSendCompleteStoredLms(_:failCount:)"
            unheard = Unheard.all(of: 1) {
                delegate.onSendCompleteStoredLms(Int32(clamping: delivered), failCount: Int32(clamping: failed))
            }
        }
        if unheard { diagnose(name, of: delegate) }
    }

    private func notify(
        _ exchange: KollusExchange, _ delegate: any KollusStorageDelegate, _ storage: KollusStorage
    ) -> Bool {
        let (request, json) = exchange.dictionaries
        let error: (any Error)? = exchange.error
        let (some, asked, answered): (KollusStorage?, [AnyHashable: Any]?, [AnyHashable: Any]?) = (
            storage, request, json
        )
        return Unheard.all(of: 3) {
            delegate.kollusStorage(some, request: asked, json: answered, error: error)
            delegate.kollusStorage(storage, request: request, json: json ?? [:], error: error)
            delegate.kollusStorage(storage, request: request, json: answered, error: error)
        }
    }

    /// Logs once that a class has no method for an event.
    private func diagnose(_ method: String, of delegate: any KollusStorageDelegate) {
        let line = DelegateInspection.sentence(method, type(of: delegate))
        if state.withLock({ $0.reported.insert(line).inserted }) { LogUtil.utilLog(line) }
    }
}

/// Counts the empty defaults that a delivery reaches.
///
/// A delivery runs on one thread; the count is kept with the thread, since several storages may deliver at once.
enum Unheard {
    private static let key = "KollusSDK.unheard"

    /// Called by every default.
    static func record() {
        let values = Thread.current.threadDictionary
        guard let count = values[key] as? Int else { return }
        values[key] = count + 1
    }

    /// Whether a delivery reached only defaults.
    ///
    /// - Parameters:
    ///   - spellings: how many spellings the delivery calls.
    ///   - delivery: calls all spellings.
    /// - Returns: whether the delegate received nothing.
    static func all(of spellings: Int, _ delivery: () -> Void) -> Bool {
        let values = Thread.current.threadDictionary
        // A delegate may run another delivery on this thread.
        let outer = values[key]
        values[key] = 0
        delivery()
        let count = values[key] as? Int
        values[key] = outer
        return count == spellings
    }
}
