import Dispatch
import LectureModel
import LectureStatistics

/// Sends what waits by itself: performs what a ``DeliveryMachine`` decides, with one timer. Its subclasses know what
/// waits, and send it.
///
/// While nothing waits there is no timer, and nothing is opened or registered at the store.
///
/// `@unchecked Sendable`: used on the core queue only.
class AutomaticSender: @unchecked Sendable {
    /// The machine.
    private(set) final var machine = DeliveryMachine()
    /// The store.
    private(set) final weak var core: StoreCore?
    private let timer: any DispatchSourceTimer
    private final var isLookDue = false

    /// Creates a sender that does nothing yet.
    ///
    /// - Parameter core: the store.
    init(_ core: StoreCore) {
        self.core = core
        timer = DispatchSource.makeTimerSource(queue: core.executor.queue)
        timer.setEventHandler { [weak self] in self?.change { $0.timeCame($1, at: $2) } }
        timer.schedule(deadline: .distantFuture)
        timer.activate()
    }

    deinit { timer.cancel() }

    /// What waits; nothing in this class.
    func outlook(_ core: StoreCore) throws -> DeliveryMachine.Outlook { DeliveryMachine.Outlook() }

    /// What sends it once, and says whether anything was settled; nil when that is gone.
    func run(_ resumption: SendResumption) -> (@Sendable () async throws -> Bool)? { nil }

    /// The store was written: it is looked at once the current transaction is over, once for all of it.
    final func needsLook() {
        guard !isLookDue, let core else { return }
        isLookDue = true
        core.executor.queue.async { [weak self] in
            self?.isLookDue = false
            self?.change { $0.looked($1, at: $2) }
        }
    }

    /// The network is another one.
    final func networkChanged() { change { $0.networkChanged($1, at: $2) } }

    /// Nothing is sent by itself any more; a run that is under way is ended with the manager.
    final func close() {
        machine.close()
        timer.cancel()
    }

    private func change(
        _ event: (inout DeliveryMachine, DeliveryMachine.Outlook, BootInstant) -> DeliveryMachine.Action
    ) {
        guard let core, machine.state != .closed else { return }
        let outlook: DeliveryMachine.Outlook
        do {
            outlook = try self.outlook(core)
        } catch {
            // A store that cannot be read now is read again as for one that another program keeps busy.
            outlook = DeliveryMachine.Outlook(isHeldElsewhere: true)
        }
        perform(event(&machine, outlook, core.clock.boot()), core)
    }

    private func perform(_ action: DeliveryMachine.Action, _ core: StoreCore) {
        switch action {
        case .nothing: return
        case .rest: timer.schedule(deadline: .distantFuture)
        case .wait(let until):
            // Rounded up: a timer that came early would find nothing due.
            let delay = max(.zero, until - core.clock.boot()) + .microseconds(999)
            let milliseconds = Int(clamping: delay.milliseconds)
            timer.schedule(deadline: .now() + .milliseconds(milliseconds), leeway: .milliseconds(milliseconds / 20))
        case .send(let resumption):
            timer.schedule(deadline: .distantFuture)
            send(resumption, core)
        }
    }

    private func send(_ resumption: SendResumption, _ core: StoreCore) {
        guard let run = run(resumption) else { return }
        let (queue, hub) = (core.executor.queue, core.hub)
        Task { [weak self] in
            var hasSettled = false
            do { hasSettled = try await run() } catch {
                let known = error as? LectureError ?? LectureError(.bug, cause: "\(type(of: error))")
                if known.code != .closing { hub.send(.trouble(known)) }
            }
            let isFruitful = hasSettled
            queue.async { [weak self] in self?.change { $0.ended($1, hasSettled: isFruitful, at: $2) } }
        }
    }
}
