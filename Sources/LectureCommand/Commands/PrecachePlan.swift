import LectureFormats
package import LectureKit
import LectureModel
import LectureRecords

/// The totals of a dry run.
package struct PlanTotals: Sendable, Equatable {
    /// Lectures by planned action.
    package var counts: [PlannedDownload.Kind: Int] = [:]
    /// Lectures that would be removed.
    package var gone = 0
    /// Lines and links that cannot be used.
    package var refused = 0
    /// Bytes that would be downloaded, as far as they are known.
    package var bytes: Int64 = 0
    /// Lectures to download whose size is not known.
    package var unknownSizes = 0
    /// Bytes that the disk and the quota leave; nil if unknown.
    package var space: Int64?
    /// When it would be done; nil if no speed is known.
    package var estimate: FinishEstimate?

    /// Makes empty totals.
    package init() {}

    /// Whether the known bytes fit; nil if the space is unknown.
    package var fits: Bool? { space.map { bytes <= $0 } }

    /// Counts a lecture.
    ///
    /// - Parameter planned: the planned action.
    package mutating func add(_ planned: PlannedDownload) {
        counts[planned.kind, default: 0] += 1
        guard let size = planned.bytes else {
            if planned.kind != .unchecked { unknownSizes += 1 }
            return
        }
        bytes += size
    }

    /// The totals as messages.
    ///
    /// - Parameter isTerminal: whether times are shown in local time.
    /// - Returns: messages for standard error.
    package func sentences(isTerminal: Bool) -> [String] {
        var parts = PlannedDownload.Kind.allCases.compactMap { kind in
            counts[kind].flatMap { $0 > 0 ? "\($0) \(kind.rawValue)" : nil }
        }
        if gone > 0 { parts.append("\(gone) gone") }
        if refused > 0 { parts.append("\(refused) refused") }
        if parts.isEmpty { parts = ["nothing to do"] }
        let unknown = unknownSizes > 0 ? " and \(unknownSizes) of unknown size (--check head asks the servers)" : ""
        var sentences = ["\(parts.joined(separator: ", ")): \(HumanText.byteCount(bytes))\(unknown) to download."]
        if let space, bytes > space {
            sentences.append("It does not fit: there is space for \(HumanText.byteCount(space)).")
        } else if let space, bytes > 0 {
            sentences.append("It fits: there is space for \(HumanText.byteCount(space)).")
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

    /// Plans a run. If there is no store, an empty one is created in a temporary directory and deleted again.
    ///
    /// - Parameter sources: what is requested.
    /// - Returns: the exit status.
    /// - Throws: `LectureError` when the store cannot be read; ``OutputError``.
    func run(_ sources: PrecacheSources) async throws -> ExitStatus {
        try await session.withManagerOrNone { try await plan(sources, $0) }
    }

    private func plan(_ sources: PrecacheSources, _ manager: LectureManager) async throws -> ExitStatus {
        var sources = sources
        var totals = PlanTotals()
        var lists = NamedLists(sources.listNames)
        var reading = PlannedReading()
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
            var (used, unanswered) = (0, 0)
            for result in try await manager.downloads.plan(requests, check: check) {
                switch result {
                case .success(let planned):
                    totals.add(planned)
                    used += 1
                    if planned.isUnanswered { unanswered += 1 }
                    switch group.origin {
                    case .courseList: reading.named.insert(planned.identity)
                    case .single: reading.single.insert(planned.identity)
                    }
                    try write(planned)
                    if case .single = group.origin {
                        try await writeStreams(of: planned, asking: asking(for: planned, check), manager, &totals)
                    }
                case .failure(let error):
                    totals.refused += 1
                    try session.report(error)
                }
            }
            lists.record(group.list, used: used, refused: group.lineCount - used, unanswered: unanswered)
        }
        if command.flag("prune") {
            totals.gone = try await Pruning(manager: manager, session: session).wouldRun(lists, reading)
        }
        totals.space = try await space(manager)
        totals.estimate = try await manager.downloads.finishEstimate(bytes: totals.bytes)
        if session.wantsJSON { try session.context.output.write(machine: JSONLine.plan(totals)) }
        for sentence in totals.sentences(isTerminal: session.context.diagnosticsIsTerminal) { session.report(sentence) }
        if totals.refused > 0 { return .data }
        return totals.fits == false ? .tryAgain : .done
    }

    /// Without a source: the unfinished lectures in the store.
    private func planUnfinished(_ manager: LectureManager, _ totals: inout PlanTotals) async throws {
        var filter = ContentFilter()
        filter.states = Set(ItemState.allCases).subtracting([.completed, .removing])
        var open: [Content] = []
        try await ContentPages(manager: manager, filter: filter, sort: .priority).forEachPage { open += $0 }
        for lecture in open {
            guard lecture.stopReason != .user, let request = try await manager.contents.request(for: lecture.key) else {
                continue
            }
            for case .success(let planned) in try await manager.downloads.plan([request], check: .never) {
                totals.add(planned)
                try write(planned)
            }
        }
    }

    private func write(_ planned: PlannedDownload) throws {
        if session.wantsJSON { return try session.context.output.write(machine: JSONLine.planned(planned)) }
        let size = planned.bytes.map(HumanText.byteCount) ?? "?"
        let columns = [
            planned.kind.rawValue, size, planned.title ?? "", URLText.withoutSecrets(planned.request.url),
        ]
        try session.context.output.write(.row(columns))
    }

    /// Whether a source may lead to a playlist.
    private enum Asking {
        /// Its name says so.
        case playlist
        /// Only its server knows.
        case link
        /// It does not, or its server is not to be asked.
        case nothing
    }

    private func asking(for planned: PlannedDownload, _ check: SourceCheck) -> Asking {
        guard let parts = try? URLParts(planned.request.url) else { return .nothing }
        if parts.namesPlaylist { return .playlist }
        guard check != .never, ![.complete, .unchecked].contains(planned.kind) else { return .nothing }
        // The name of a file says that it is one; a link has none.
        return check == .head || !parts.lastPathPart.contains(".") ? .link : .nothing
    }

    /// What an adaptive lecture that was named on the command line offers, and what of it would be kept.
    private func writeStreams(
        of planned: PlannedDownload, asking: Asking, _ manager: LectureManager, _ totals: inout PlanTotals
    ) async throws {
        do {
            let found: StreamOutline?
            switch asking {
            case .playlist: found = try await manager.downloads.streams(of: planned.request)
            case .link: found = try await manager.downloads.streams(behind: planned.request)
            case .nothing: return
            }
            guard let outline = found else { return }
            if session.wantsJSON {
                try session.context.output.write(machine: JSONLine.streams(outline, of: planned.request))
            } else {
                for line in outline.lines { try session.context.output.write(.row(["", line])) }
            }
            guard let refusal = outline.refusal else { return }
            totals.refused += 1
            try session.report(refusal)
        } catch let error as LectureError {
            totals.refused += 1
            try session.report(error)
        }
    }

    /// The space that the disk, the reserve and the quota leave.
    private func space(_ manager: LectureManager) async throws -> Int64? {
        let space = try await manager.overview().space
        let disk = space.free.map { max(0, $0 - space.reserve) }
        let quota = space.quota.map { max(0, $0 - space.used) }
        return [disk, quota].compactMap(\.self).min()
    }
}
