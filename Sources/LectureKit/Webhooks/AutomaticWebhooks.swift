import LectureModel
import LectureStatistics
import LectureStore

/// Sends the events of webhooks by themselves, as long as the manager of a long-running program is open.
///
/// `@unchecked Sendable`: used on the core queue only.
final class AutomaticWebhooks: AutomaticSender, @unchecked Sendable {
    private weak var webhooks: Webhooks?

    /// Creates a delivery that does nothing yet.
    ///
    /// - Parameters:
    ///   - core: the store.
    ///   - webhooks: sends.
    init(_ core: StoreCore, _ webhooks: Webhooks) {
        self.webhooks = webhooks
        super.init(core)
    }

    /// What waits for configured endpoints. One that was switched off waits for a person.
    override func outlook(_ core: StoreCore) throws -> DeliveryMachine.Outlook {
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

    override func run(_ resumption: SendResumption) -> (@Sendable () async throws -> Bool)? {
        guard let webhooks else { return nil }
        return { try await webhooks.deliver(endsWaits: resumption != .nothing) }
    }
}
