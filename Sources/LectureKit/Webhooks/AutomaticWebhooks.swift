import Dispatch
import LectureFormats
import LectureModel
import LectureStatistics
import LectureStore

/// Sends the events of webhooks by themselves, as long as the manager of a long-running program is open: performs what
/// a ``DeliveryMachine`` decides, with one timer. Without an endpoint and while nothing waits there is no timer, and
/// nothing is registered at the store.
///
/// `@unchecked Sendable`: used on the core queue only.
final class AutomaticWebhooks: @unchecked Sendable {
    private var machine = DeliveryMachine()
    private weak var core: StoreCore?
    private weak var webhooks: Webhooks?
    private let timer: any DispatchSourceTimer
    private var isLookDue = false

    /// Creates a delivery that does nothing yet.
    ///
    /// - Parameters:
    ///   - core: the store.
    ///   - webhooks: sends.
    init(_ core: StoreCore, _ webhooks: Webhooks) {
        (self.core, self.webhooks) = (core, webhooks)
        timer = DispatchSource.makeTimerSource(queue: core.executor.queue)
        timer.setEventHandler { [weak self] in self?.change { $0.timeCame($1, at: $2) } }
        timer.schedule(deadline: .distantFuture)
        timer.activate()
    }

    deinit { timer.cancel() }

    /// The store was written: it is looked at once the current transaction is over, once for all of it.
    func needsLook() {
        guard !isLookDue, let core else { return }
        isLookDue = true
        core.executor.queue.async { [weak self] in
            self?.isLookDue = false
            self?.change { $0.looked($1, at: $2) }
        }
    }

    /// The network is another one.
    func networkChanged() { change { $0.networkChanged($1, at: $2) } }

    /// Nothing is sent by itself any more; a run that is under way is ended with the manager.
    func close() {
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

    /// What waits for configured endpoints. One that was switched off waits for a person.
    private func outlook(_ core: StoreCore) throws -> DeliveryMachine.Outlook {
        var outlook = DeliveryMachine.Outlook()
        let (now, rows) = (core.clock.now(), core.writer.webhooks)
        let configured = core.state.configuration.webhooks ?? []
        for entry in try rows.endpoints() where entry.waiting > 0 && !entry.condition.isSuspended {
            guard configured.contains(where: { $0.url.utf8.elementsEqual(entry.url.utf8) }) else { continue }
            let found = try rows.outlook(entry.id, owner: core.state.host?.session.owner, now: now)
            if found.isHeldElsewhere { outlook.isHeldElsewhere = true }
            guard let next = found.next else { continue }
            let wait = max(next, entry.condition.wait?.remaining(at: now) ?? .zero)
            outlook.next = min(outlook.next ?? wait, wait)
        }
        return outlook
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
            send(endsWaits: resumption != .nothing, core)
        }
    }

    private func send(endsWaits: Bool, _ core: StoreCore) {
        guard let webhooks else { return }
        let (queue, hub) = (core.executor.queue, core.hub)
        Task { [weak self] in
            var hasSettled = false
            do { hasSettled = try await webhooks.deliver(endsWaits: endsWaits) } catch {
                let known = error as? LectureError ?? LectureError(.bug, cause: "\(type(of: error))")
                if known.code != .closing { hub.send(.trouble(known)) }
            }
            let isFruitful = hasSettled
            queue.async { [weak self] in self?.change { $0.ended($1, hasSettled: isFruitful, at: $2) } }
        }
    }
}
