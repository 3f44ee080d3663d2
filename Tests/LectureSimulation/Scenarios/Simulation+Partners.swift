import LectureCrypto
import LectureFormats
import LectureLicence
import LectureModel
import LectureSQLite
import LectureStore
import LectureTestSupport

/// Licences and reports beside the downloads.
extension Simulation {
    private static let learners = 3

    /// Learners report, each in a session of their own, while lectures are fetched and programs come and go.
    func scheduleReports() {
        for number in 0..<(3 * Self.learners) {
            later(world.some(0...8000)) { [unowned self] in store(report: number) }
        }
        sendLater()
    }

    /// An application stores a report; one that cannot is called again.
    private func store(report number: Int) {
        let id = "report-\(number)"
        var record = ReportRecord(
            id: id, content: "lecture-0", user: "learner \(number % Self.learners)",
            session: "session \(number % Self.learners)", sequence: 0, wall: world.now,
            values: .object([JSONMember("n", .integer(Int64(number)))]))
        record.target = ReportRecord.Target(url: PartnerServers.reports, format: .json)
        (record.boot, record.bootID) = (world.clock.boot(), "world")
        var report = NewReport(record)
        report.takesNextSequence = true
        do {
            _ = try onlooker.transaction { try $0.outbox.add(report, now: world.now) }
            reports.insert(id)
        } catch {
            later(1000) { [unowned self] in store(report: number) }
        }
    }

    /// Every program sends what is due, every two seconds, as long as there is anything.
    private func sendLater() {
        world.after(.seconds(2)) { [unowned self] in
            if world.findings.isEmpty, (try? hasOpenReports()) != false || reports.count < 3 * Self.learners {
                for program in programs { program.companions?.send() }
                sendLater()
            }
        }
    }

    private func hasOpenReports() throws -> Bool {
        let open: Bool? = try onlookerConnection.first(
            "SELECT 1 FROM report WHERE state IN (?, ?) LIMIT 1", ReportState.pending.rawValue,
            ReportState.leased.rawValue
        ) { _ in true }
        return open ?? false
    }

    /// Whether nothing is left to do for licences and reports.
    func areCompanionsIdle() throws -> Bool {
        guard scenario.work.isWhole == true else { return true }
        guard programs.allSatisfy({ $0.companions?.isIdle == true }), try !hasOpenReports() else { return false }
        return try onlookerConnection.first("SELECT count(*) FROM debt WHERE id > 0") { $0.int(0) } == 0
    }

    /// Every complete lecture of a gateway has its licence, the chain is whole, and every report arrived once.
    func judgePartners() throws {
        guard let partners = place.partners else { return }
        let ledger = try SQLiteLicenceLedger(index: onlooker, authenticator: try LedgerAuthenticator(partners.device))
        let anchor = try partners.anchors.anchor(of: try onlooker.identity().uuid)
        switch try ledger.inspect(against: anchor) {
        case .intact, .new: break
        case let finding: world.found("the ledger of licences is not intact: \(finding)")
        }
        for number in scenario.lectures.indices where scenario.lectures[number].source == .gateway {
            guard let item = try item(number), item.currentVersion != nil else { continue }
            guard let entry = try ledger.entry(item.content.key), let record = entry.record, entry.suspicion == nil
            else {
                world.found("lecture \(number) is complete without a licence")
                continue
            }
            if record.isDeleted { world.found("the licence of lecture \(number) was deleted") }
        }
        for id in reports.sorted() where self.partners.effects[id] != 1 {
            world.found("\(id) took effect \(self.partners.effects[id] ?? 0) times")
        }
        if let unknown = self.partners.effects.keys.filter({ !reports.contains($0) }).min() {
            world.found("\(unknown) arrived and was never stored")
        }
    }
}
