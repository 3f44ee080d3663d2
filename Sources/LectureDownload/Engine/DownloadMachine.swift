package import LectureEngine
package import LectureModel

/// The rules of downloads as a value: claims items from the queue, opens transfers, makes bytes durable, commits their
/// proofs, and reports what became true.
///
///     claim → load? → probe → fetch → commit chunks → digest or check → final name → complete
///
/// What happens to one item is in ``ItemStep``, what happens to one of its files in ``ResourceStep``; this type decides
/// which items are in work. docs/downloads.md has the drawings.
package struct DownloadMachine: StateMachine {
    /// What other threads report, and what the application requests.
    package typealias Event = EngineEvent
    /// Transfers, part files, and work away from the executor.
    package typealias Effect = DownloadEffect
    /// What became true.
    package typealias Notice = EngineNotice
    /// What a decision depends on besides the rows.
    package typealias Environment = DownloadEnvironment
    /// The rows, and what else a decision depends on.
    package typealias Store = DownloadStore
    /// Whose rows are to be reported.
    package typealias Context = ChangedItems

    /// This program's row, under which it leases items.
    let owner: OwnerID
    /// The items that this program wants.
    let run: RunID
    /// What all items share, and the items themselves.
    var shared: SharedWork
    /// The version of the store when the target states were read last.
    var seenDataVersion: Int64 = -1
    var paces = Paces()
    var rate = RateInForce()
    /// Whether the store has leases of this owner that are not in memory.
    var needsAdoption = false

    /// Nothing is in work.
    ///
    /// - Parameters:
    ///   - settings: the initial settings.
    ///   - owner: the row of this program's run.
    ///   - run: which items are wanted.
    package init(_ settings: DownloadSettings, owner: OwnerID, run: RunID) {
        (self.owner, self.run, shared) = (owner, run, SharedWork(settings))
    }

    /// Never: another process may have changed a target state.
    package var isIdle: Bool { false }

    /// The transfers that run.
    package var traffic: OriginBudgets { shared.transfers.pacer.budgets }

    /// How many items are in work, and how many files are being removed, published or checked against the rows.
    var activeCount: Int { shared.items.count + shared.files.activeCount }

    /// The items in work, sorted. A dictionary's order differs between processes, so a seed could not replay it.
    var inOrder: [ContentID] { shared.items.inOrder }

    /// The items in work, for a status display.
    var progressOfActive: [DownloadProgress] { inOrder.compactMap { shared.items[$0]?.progress } }

    // MARK: Events

    /// The rows of lectures.
    package static func store(
        _ environment: DownloadEnvironment, in transaction: any StoreTransaction
    ) throws -> DownloadStore { try DownloadStore(environment, transaction) }

    /// Nothing has changed yet.
    package static func begin(_ store: DownloadStore, now: Timestamp, boot: BootInstant) -> ChangedItems {
        ChangedItems()
    }

    /// Applies a result, or accepts a request of the application.
    package mutating func handle(_ event: EngineEvent, _ step: inout Step<Self>) throws {
        paces.lastWork = step.boot
        switch event {
        case .head(let id, let verdict, let status):
            guard let transfer = shared.transfers[id] else { return }
            shared.transfers.answered(transfer, verdict)
            try withFile(of: transfer, &step) { try $0.headCame(transfer, verdict, status: status) }
        case .recognised(let id, let type):
            guard let transfer = shared.transfers[id] else { return }
            try withFile(of: transfer, &step) { try $0.recognised(transfer, type) }
        case .ended(let id, let report):
            guard let transfer = shared.ended(id, report, at: step.boot) else { return }
            try withLoader(of: transfer, &step) { try $0.loaderEnded(transfer, report) }
            try withFile(of: transfer, &step) { try $0.transferEnded(transfer, report) }
        case .part(let token, let event):
            guard let place = shared.parts[token] else { return }
            if case .closed = event { shared.parts[token] = nil }
            try withFile(token, of: place, &step) { try $0.partFileReported(event) }
        case .checked(let token, let damaged, let error):
            guard let place = shared.parts[token] else { return }
            try withFile(token, of: place, &step) { try $0.checked(damaged, error) }
        case .inspected(let token, let outcome):
            guard let place = shared.parts[token] else { return }
            try withFile(token, of: place, &step) { try $0.inspected(outcome) }
        case .listed(let paths): shared.files.orphans.listed(paths)
        case .deleted(let purpose, let error): try shared.files.deletionEnded(purpose, error, &step)
        case .published(let files):
            for file in files { try shared.files.publishEnded(file, &step) }
        case .resolved(let content, let urls, let error):
            try withItem(content, &step) { try $0.resolved(urls: urls, error) }
        case .documentsRead(let content, let outcome):
            try withItem(content, &step) { try StreamActions.playlistsCame(outcome, &$0) }
        case .indexesRead(let content, let version, let indexes):
            try withItem(content, &step) { try StreamActions.indexesCame(indexes, of: version, &$0) }
        case .granted(let content, let outcome): try withItem(content, &step) { try $0.grantCame(outcome) }
        case .networkChanged:
            shared.transfers.networkChanged()
            try step.store.index.owners.endNetworkWaits(run: run, now: step.now)
        case .targetsChanged, .configured, .publish: accept(event)
        }
    }

    /// Applies what needs no row.
    private mutating func accept(_ event: EngineEvent) {
        switch event {
        case .targetsChanged: shared.needsStep = true
        case .configured(let settings):
            shared.configure(settings)
            rate.forget()
        case .publish(let content): shared.files.wanted.insert(content)
        case .head, .recognised, .ended, .part, .checked, .inspected, .documentsRead, .indexesRead, .listed, .deleted,
            .published, .resolved, .granted, .networkChanged:
            break
        }
    }

    /// Runs `body` for an item that is in work. One that another process has taken over is dropped: nothing was
    /// changed, and nothing more will be.
    mutating func withItem(
        _ id: ContentID, _ step: inout Step<Self>, _ body: (inout ItemStep) throws -> Void
    ) throws {
        guard let item = shared.items.take(id) else { return }
        var work = ItemStep(item, taking: &shared, &step)
        defer { work.giveBack(to: &shared, &step) }
        do {
            try body(&work)
        } catch let error as LectureError where error.code == .leaseLost {
            work.drop()
        }
    }

    /// The same for one of its files.
    private mutating func withFile(
        _ token: PartToken, of id: ContentID, _ step: inout Step<Self>, _ body: (inout ResourceStep) throws -> Void
    ) throws {
        guard let item = shared.items.take(id) else { return }
        var work = ResourceStep(lecture: ItemStep(item, taking: &shared, &step), token: token)
        work.lecture.item.forgetServer()
        defer { work.lecture.giveBack(to: &shared, &step) }
        do {
            try body(&work)
        } catch let error as LectureError where error.code == .leaseLost {
            work.lecture.drop()
        }
    }

    /// The same for the file of a transfer, if its item is in work under the same claim.
    private mutating func withFile(
        of transfer: TransferWork, _ step: inout Step<Self>, _ body: (inout ResourceStep) throws -> Void
    ) throws {
        guard let token = transfer.resource, shared.items[transfer.claim.content]?.lease == transfer.claim
        else { return }
        try withFile(token, of: transfer.claim.content, &step, body)
    }

    /// The same for a file that still belongs to its item.
    private mutating func withFile(
        _ token: PartToken, of place: LivingPart, _ step: inout Step<Self>, _ body: (inout ResourceStep) throws -> Void
    ) throws {
        guard shared.items[place.item]?.has(token) == true else { return }
        try withFile(token, of: place.item, &step, body)
    }

    /// The same for the item of a gateway's transfer.
    private mutating func withLoader(
        of transfer: TransferWork, _ step: inout Step<Self>, _ body: (inout ItemStep) throws -> Void
    ) throws {
        guard transfer.isLoader, shared.items[transfer.claim.content]?.lease == transfer.claim else { return }
        try withItem(transfer.claim.content, &step, body)
    }

    // MARK: A store that cannot be written

    /// Continues as after a crash: transfers are cancelled and part files closed; when they are, the items, which are
    /// still leased, go back to the queue.
    package mutating func recover(
        losing events: [EngineEvent], after error: LectureError, at boot: BootInstant
    ) -> (effects: [DownloadEffect], notices: [EngineNotice]) {
        for event in events {
            // Ended transfers and closed part files are recorded; what else was reported is looked for again.
            switch event {
            case .ended(let id, let report): _ = shared.ended(id, report, at: boot)
            case .part(let token, .closed): shared.parts[token] = nil
            case .head, .recognised, .part, .checked, .inspected, .documentsRead, .indexesRead, .listed, .deleted,
                .published, .resolved, .granted, .networkChanged:
                break
            case .targetsChanged, .configured, .publish: accept(event)
            }
        }
        let running = shared.transfers.ids.sorted { $0.value < $1.value }
        let closing = shared.parts.sorted { $0.key.value < $1.key.value }.map { token, part in
            DownloadEffect.part(PartHandle(token: token, file: part.file), .close(deleting: false))
        }
        shared.items = LeasedItems()
        shared.files.recover()
        (shared.needsStep, needsAdoption) = (true, true)
        return ((running.isEmpty ? [] : [.transfer(.cancel(running))]) + closing, [])
    }

    /// Nothing more: the next program recovers the store as after a crash.
    package mutating func abandon() -> [EngineNotice] { [] }
}
