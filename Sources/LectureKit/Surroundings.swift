import Dispatch
import LectureDownload
import LectureEngine
import LectureFiles
import LectureStore

/// What happens outside this process, for a manager that stays open: the network becomes another one, and other
/// programs write to the store. On the core queue.
///
/// A write to the store is reported; that its commit is complete is not (``CommitSearch``). So the store is looked at
/// for a while after a write, and not while nothing is written.
final class Surroundings {
    /// Why changes of the network are not reported; nil when they are.
    private(set) var networkRefusal: String?
    /// Whether writes of other programs are heard of.
    var hearsStore: Bool { store != nil }
    /// Called when the network is another one.
    var networkListeners: [() -> Void] = []
    private var network: ChangeWatch?
    private var store: ChangeWatch?
    private var search: CommitSearch
    private let timer: any DispatchSourceTimer

    /// Follows both as far as the system permits it: where it does not, timers alone decide.
    ///
    /// - Parameters:
    ///   - core: the store. Its files are watched only for programs that stay open.
    ///   - storeWritten: this program or another one has written to the store, or has committed what it wrote.
    ///   - storeChanged: another program has committed.
    init(_ core: StoreCore, storeWritten: @escaping () -> Void, storeChanged: @escaping () -> Void) {
        let queue = core.executor.queue
        search = CommitSearch(version: try? core.writer.dataVersion())
        timer = DispatchSource.makeTimerSource(queue: queue)
        do throws(ChangeWatch.Refusal) {
            network = try ChangeWatch.network(on: queue) { [weak self] in
                for listener in self?.networkListeners ?? [] { listener() }
            }
        } catch {
            networkRefusal = error.cause
        }
        let look = { [weak self, weak core] in
            guard let self, let core else { return }
            let isChanged = self.search.looked((try? core.writer.dataVersion()) ?? self.search.version)
            let pause = self.search.pause.map { DispatchTimeInterval.milliseconds(Int(clamping: $0.milliseconds)) }
            self.timer.schedule(deadline: pause.map { .now() + $0 } ?? .distantFuture, leeway: .milliseconds(20))
            guard isChanged else { return }
            storeWritten()
            storeChanged()
        }
        timer.setEventHandler(handler: look)
        timer.schedule(deadline: .distantFuture)
        timer.activate()
        // A commit is a write to the log of the database, which exists as long as the store is open.
        store = try? ChangeWatch.files(
            in: core.location.directory, named: "\(StoreLocation.databaseName)-wal", isWriting: true, on: queue
        ) { [weak self] in
            storeWritten()
            self?.search.written()
            look()
        }
    }

    deinit { timer.cancel() }
}

extension StoreCore {
    /// Begins to follow the surroundings, and to send reports by itself, if that is configured. A long-running program
    /// also sends the events of its webhooks: it looks for some whenever any program writes the store.
    ///
    /// - Parameters:
    ///   - reports: sends reports.
    ///   - webhooks: sends events.
    func followSurroundings(delivering reports: LectureManager.Reports, _ webhooks: Webhooks) {
        wait { follow(delivering: reports, webhooks) }
    }

    private func follow(delivering reports: LectureManager.Reports, _ webhooks: Webhooks) {
        let isAutomatic = state.configuration.statistics.delivery == .automatic
        guard isAutomatic || state.configuration.isLongRunning, writer.whyReadOnly == nil else { return }
        let surroundings = Surroundings(self) { [weak self] in
            self?.state.webhooks?.needsLook()
        } storeChanged: { [weak self] in
            guard let state = self?.state else { return }
            state.service?.engine.setNeedsStep()
            state.delivery?.needsLook()
        }
        surroundings.networkListeners.append { [weak self] in
            guard let state = self?.state else { return }
            state.service?.engine.inbox.post(.networkChanged)
            state.delivery?.networkChanged()
            state.webhooks?.networkChanged()
        }
        state.surroundings = surroundings
        if state.configuration.isLongRunning {
            let sender = AutomaticWebhooks(self, webhooks)
            state.webhooks = sender
            sender.needsLook()
        }
        guard isAutomatic else { return }
        let delivery = AutomaticDelivery(self, reports)
        state.delivery = delivery
        delivery.start()
    }

    /// Reports were stored, or are due again: delivery looks at them after the transaction that is open.
    func reportsChanged() { state.delivery?.needsLook() }

    /// Nothing outside this process leads to anything any more.
    func ignoreSurroundings() {
        state.delivery?.close()
        state.webhooks?.close()
        (state.delivery, state.webhooks, state.surroundings) = (nil, nil, nil)
    }
}

extension LectureManager {
    /// Why changes of the network are not reported to this process; nil when they are.
    package var networkRefusal: String? { core.state.surroundings.map(\.networkRefusal) ?? "the manager does not look" }

    /// Calls a closure when the network is another one, as long as the manager is open. Only for a long-running
    /// program (``LectureConfiguration/isLongRunning``).
    ///
    /// - Parameter body: returns soon; it runs on the manager's queue.
    package func onNetworkChange(_ body: @escaping @Sendable () -> Void) {
        core.state.surroundings?.networkListeners.append(body)
    }
}
