package import LectureKit
import LectureModel

/// What a dry run adds up to.
package struct PlanTotals: Sendable, Equatable {
    /// Lectures by what would be done with them.
    package var counts: [PlannedDownload.Kind: Int] = [:]
    /// Lectures that would be removed.
    package var gone = 0
    /// Lines and links that cannot be used.
    package var refused = 0
    /// Bytes that would be downloaded, as far as they are known.
    package var bytes: Int64 = 0
    /// Lectures to download whose size is not known.
    package var unknownSizes = 0
    /// Bytes that the disk and the quota leave; nil where the system does not say.
    package var room: Int64?
    /// When it would be done; nil where no speed is known.
    package var estimate: FinishEstimate?

    /// Starts with nothing.
    package init() {}

    /// Whether the known bytes fit; nil where the room is not known.
    package var fits: Bool? { room.map { bytes <= $0 } }

    /// Counts a lecture.
    ///
    /// - Parameter planned: what would be done with it.
    package mutating func add(_ planned: PlannedDownload) {
        counts[planned.kind, default: 0] += 1
        guard let size = planned.bytes else {
            if planned.kind != .unchecked { unknownSizes += 1 }
            return
        }
        bytes += size
    }

    /// The numbers as sentences.
    ///
    /// - Parameter isTerminal: whether times are shown in local time.
    /// - Returns: sentences for standard error.
    package func sentences(isTerminal: Bool) -> [String] {
        var parts = PlannedDownload.Kind.allCases.compactMap { kind in
            counts[kind].flatMap { $0 > 0 ? "\($0) \(kind.rawValue)" : nil }
        }
        if gone > 0 { parts.append("\(gone) gone") }
        if refused > 0 { parts.append("\(refused) refused") }
        if parts.isEmpty { parts = ["nothing to do"] }
        let unknown = unknownSizes > 0 ? " and \(unknownSizes) of unknown size (--check head asks)" : ""
        var sentences = ["\(parts.joined(separator: ", ")): \(HumanText.byteCount(bytes))\(unknown) to download."]
        if let room, bytes > room {
            sentences.append("It does not fit: there is room for \(HumanText.byteCount(room)).")
        } else if let room, bytes > 0 {
            sentences.append("It fits: there is room for \(HumanText.byteCount(room)).")
        }
        if let estimate, bytes > 0 {
            let speed = HumanText.rate(Int64(estimate.bytesPerSecond))
            sentences.append(
                "At \(speed) it would be done by \(HumanText.date(estimate.end, isTerminal: isTerminal)).")
        }
        return sentences
    }
}

/// `precache --dry-run`: what a run would do.
struct PrecachePlan {
    let session: CommandSession
    private var command: ParsedCommand { session.command }

    /// Plans a run. Where there is no store, an empty one is made in a temporary directory and goes again.
    ///
    /// - Parameter sources: what is requested.
    /// - Returns: how the command ends.
    /// - Throws: `LectureError` when the store cannot be read; ``OutputError``.
    func run(_ sources: PrecacheSources) async throws -> ExitStatus {
        if session.storeExists { return try await session.withManager { try await plan(sources, $0) } }
        let place = try TemporaryStore()
        defer { place.remove() }
        let manager = try session.manager(store: place.path)
        do {
            let status = try await plan(sources, manager)
            await manager.close()
            return status
        } catch {
            await manager.close()
            throw error
        }
    }

    private func plan(_ sources: PrecacheSources, _ manager: LectureManager) async throws -> ExitStatus {
        var sources = sources
        var totals = PlanTotals()
        var keys: Set<ContentKey> = []
        let check = command.text("check").flatMap(SourceCheck.init) ?? .list
        if command.arguments.isEmpty { try await planUnfinished(manager, &totals) }
        try await sources.forEachGroup(of: manager) { group in
            var requests: [DownloadRequest] = []
            for item in group.items {
                switch item {
                case .request(let request): requests.append(request)
                case .refused(let error):
                    totals.refused += 1
                    try session.report(error)
                case .warning(let warning): try session.report(warning)
                }
            }
            for result in try await manager.plan(requests, check: check) {
                switch result {
                case .success(let planned):
                    totals.add(planned)
                    if let key = planned.key { keys.insert(key) }
                    try write(planned)
                case .failure(let error):
                    totals.refused += 1
                    try session.report(error)
                }
            }
        }
        if command.flag("prune"), totals.refused == 0, !sources.listNames.isEmpty {
            let pruning = Pruning(manager: manager, session: session)
            totals.gone = try await pruning.wouldRun(sources.listNames, stillNamed: keys)
        }
        totals.room = try await room(manager)
        totals.estimate = try await manager.finishEstimate(bytes: totals.bytes)
        if session.wantsJSON { try session.context.output.write(JSONLine.plan(totals)) }
        for sentence in totals.sentences(isTerminal: session.context.diagnosticsIsTerminal) { session.tell(sentence) }
        if totals.refused > 0 { return .data }
        return totals.fits == false ? .tryAgain : .done
    }

    /// Without a source: what waits in the store.
    private func planUnfinished(_ manager: LectureManager, _ totals: inout PlanTotals) async throws {
        var filter = ContentFilter()
        filter.states = Set(ItemState.allCases).subtracting([.completed, .removing])
        var open: [Content] = []
        try await ContentPages(manager: manager, filter: filter, sort: .priority).forEachPage { open += $0 }
        for lecture in open {
            guard lecture.stopReason != .user, let request = try await manager.request(for: lecture.key) else {
                continue
            }
            for case .success(let planned) in try await manager.plan([request], check: .never) {
                totals.add(planned)
                try write(planned)
            }
        }
    }

    private func write(_ planned: PlannedDownload) throws {
        if session.wantsJSON { return try session.context.output.write(JSONLine.planned(planned)) }
        let size = planned.bytes.map(HumanText.byteCount) ?? "?"
        let columns = [
            planned.kind.rawValue, size, planned.title ?? "", URLText.withoutSecrets(planned.request.url),
        ]
        try session.context.output.write("\(columns.map(TerminalText.neutralised).joined(separator: "\t"))\n")
    }

    /// What the disk, the reserve and the quota leave.
    private func room(_ manager: LectureManager) async throws -> Int64? {
        let space = try await manager.overview().space
        let disk = space.free.map { max(0, $0 - space.reserve) }
        let quota = space.quota.map { max(0, $0 - space.used) }
        return [disk, quota].compactMap(\.self).min()
    }
}
