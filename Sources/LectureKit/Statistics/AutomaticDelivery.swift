import Dispatch
import Glibc
import LectureCrypto
import LectureFormats
import LectureModel
import LectureStatistics
import LectureStore

/// Sends reports by themselves (``StatisticsConfiguration/Delivery/automatic``): performs what a ``DeliveryMachine``
/// decides, with one timer.
///
/// Nothing is opened and no program is registered at the store before there is something to send.
///
/// `@unchecked Sendable`: used on the core queue only.
final class AutomaticDelivery: @unchecked Sendable {
    /// The note with the settings that suspended targets were last sent reports with.
    private static let note = "delivery.settings"

    private var machine = DeliveryMachine()
    private weak var core: StoreCore?
    private weak var reports: LectureManager.Reports?
    private let timer: any DispatchSourceTimer
    private var isLookDue = false
    /// What the next run changes at least, since the settings are others.
    private var resumption: SendResumption?

    /// Creates a delivery that does nothing yet.
    ///
    /// - Parameters:
    ///   - core: the store.
    ///   - reports: sends.
    init(_ core: StoreCore, _ reports: LectureManager.Reports) {
        (self.core, self.reports) = (core, reports)
        timer = DispatchSource.makeTimerSource(queue: core.executor.queue)
        timer.setEventHandler { [weak self] in self?.change { $0.timeCame($1, at: $2) } }
        timer.schedule(deadline: .distantFuture)
        timer.activate()
    }

    deinit { timer.cancel() }

    /// Looks at what the store has from before.
    func start() {
        if haveSettingsChanged() { resumption = .everything }
        needsLook()
    }

    /// Reports may have been stored: they are looked at once the current transaction is over, once for all of it.
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

    // MARK: The machine

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

    /// Suspended targets count while the settings that suspended them are no longer those in use.
    private func outlook(_ core: StoreCore) throws -> DeliveryMachine.Outlook {
        let outbox = SQLiteOutbox(index: core.writer)
        let outlook = try DeliveryMachine.Outlook(outbox, now: core.clock.now())
        guard resumption == .everything, machine.state != .sending else { return outlook }
        let isSuspended = try outbox.targets().contains { $0.open > 0 && $0.condition.suspension != nil }
        return isSuspended ? DeliveryMachine.Outlook(next: .zero) : outlook
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
        case .send(let wanted):
            timer.schedule(deadline: .distantFuture)
            let resumption = self.resumption ?? wanted
            self.resumption = nil
            send(resumption, core)
        }
    }

    private func send(_ resumption: SendResumption, _ core: StoreCore) {
        guard let reports else { return }
        let (queue, hub) = (core.executor.queue, core.hub)
        Task { [weak self] in
            var hasSettled = false
            do { hasSettled = try await reports.deliver(resumption) } catch {
                let known = error as? LectureError ?? LectureError(.bug, cause: "\(type(of: error))")
                if known.code != .closing { hub.send(.trouble(known)) }
            }
            let isFruitful = hasSettled
            queue.async { [weak self] in self?.change { $0.ended($1, hasSettled: isFruitful, at: $2) } }
        }
    }

    // MARK: Settings

    /// Whether the settings of reports, or a file of credentials, are others than those of the last manager that sent
    /// by itself. A secret itself is not kept, nor anything made of it.
    private func haveSettingsChanged() -> Bool {
        guard let core else { return false }
        let statistics = core.state.configuration.statistics
        var words = ["\(statistics.target.map { "\($0)" } ?? "")"]
        for rule in statistics.rules {
            words.append("\(rule)")
            var facts = stat()
            guard let path = rule.authorizationFile, unsafe stat(path, &facts) == 0 else { continue }
            words.append("\(facts.st_ino) \(facts.st_size) \(facts.st_mtim.tv_sec).\(facts.st_mtim.tv_nsec)")
        }
        do {
            let digest = Hexadecimal.text(try core.digests.sha256(of: Array(words.joined(separator: "\n").utf8)))
            let known = try core.writer.settings.value(of: Self.note)
            guard known != digest else { return false }
            try core.writer.transaction { try $0.index.settings.set(Self.note, digest) }
            return known != nil
        } catch {
            // Who cannot read or write the store sends nothing either.
            return false
        }
    }
}
