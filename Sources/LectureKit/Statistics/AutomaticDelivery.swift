import Glibc
import LectureCrypto
import LectureFormats
import LectureModel
import LectureStatistics
import LectureStore

/// Sends reports by themselves (``StatisticsConfiguration/Delivery/automatic``).
///
/// `@unchecked Sendable`: used on the core queue only.
final class AutomaticDelivery: AutomaticSender, @unchecked Sendable {
    /// The note with the settings that suspended targets were last sent reports with.
    private static let note = "delivery.settings"

    private weak var reports: LectureManager.Reports?
    /// What the next run changes at least, since the settings are others.
    private var resumption: SendResumption?

    /// Creates a delivery that does nothing yet.
    ///
    /// - Parameters:
    ///   - core: the store.
    ///   - reports: sends.
    init(_ core: StoreCore, _ reports: LectureManager.Reports) {
        self.reports = reports
        super.init(core)
    }

    /// Looks at what the store has from before.
    func start() {
        if haveSettingsChanged() { resumption = .everything }
        needsLook()
    }

    /// Suspended targets count while the settings that suspended them are no longer those in use.
    override func outlook(_ core: StoreCore) throws -> DeliveryMachine.Outlook {
        let outbox = SQLiteOutbox(index: core.writer)
        let outlook = try DeliveryMachine.Outlook(outbox, now: core.clock.now())
        guard resumption == .everything, machine.state != .sending else { return outlook }
        let isSuspended = try outbox.targets().contains { $0.open > 0 && $0.condition.suspension != nil }
        return isSuspended ? DeliveryMachine.Outlook(next: .zero) : outlook
    }

    override func run(_ wanted: SendResumption) -> (@Sendable () async throws -> Bool)? {
        let resumption = resumption ?? wanted
        self.resumption = nil
        guard let reports else { return nil }
        return { try await reports.deliver(resumption) }
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
