import LectureKit
import LectureModel
import LectureRecords
package import LectureUpkeep

/// `lecturectl prune`.
enum PruneCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let typed: [RetentionRule]
        do throws(LectureError) { typed = try RetentionRule.rules(command.texts("rule")) } catch {
            throw UsageError("Option '--rule': \(error.detail): \(error.cause).", path: ["prune"])
        }
        if command.flag("yes"), !typed.isEmpty {
            throw UsageError("--yes accepts the rules of the configuration; --rule needs none.", path: ["prune"])
        }
        let rules = typed.isEmpty ? session.configuration.retention : typed
        guard !rules.isEmpty else {
            session.report("There are no rules ('retention.rules'): nothing is removed.")
            return .done
        }
        return try await session.withManager { manager in
            var run = PruneRun(manager: manager, session: session, rules: rules, isTyped: !typed.isEmpty)
            return try await run.run()
        }
    }
}

/// One run of the rules.
private struct PruneRun {
    /// Where files share their bytes with others, or are still open, a removal frees less than their length; then there
    /// is more to remove.
    static let mostRounds = 8

    let manager: LectureManager
    let session: CommandSession
    let rules: [RetentionRule]
    /// Whether the rules are those of the command line.
    let isTyped: Bool

    private var command: ParsedCommand { session.command }
    private var text: String { RetentionRule.text(of: rules) }

    mutating func run() async throws -> ExitStatus {
        let retention = Retention(manager)
        var plan = try await retention.plan(rules)
        let isAccepted = try await isAccepted()
        if command.flag("dry-run") || !isAccepted {
            try show(plan, isDryRun: true)
            if command.flag("dry-run") { return .done }
            try session.report(LectureError(.retentionUnseen))
            return .configuration
        }
        if let status = try await finishKilledRun() {
            guard status == .done else { return status }
            plan = try await retention.plan(rules)
        }
        try await check(plan)
        if command.flag("yes") { try await manager.contents.acceptRetention(text) }
        let free = plan.free
        var (current, bytes, lectures) = (plan, Int64(0), 0)
        for round in 1...Self.mostRounds {
            let (status, removed) = try await remove(current)
            bytes += current.removals.filter { removed.contains($0.lecture.key) }.reduce(0) { $0 + $1.lecture.bytes }
            lectures += removed.count
            guard status == .done else { return status }
            let left = try await retention.plan(rules)
            let isFreer = (left.free ?? 0) > (current.free ?? 0)
            guard !left.removals.isEmpty, !removed.isEmpty, isFreer, round < Self.mostRounds else {
                try finish(PruneTotals(plan: left, lectures: lectures, bytes: bytes, freeBefore: free))
                return left.missing > 0 ? .fullDisk() : .done
            }
            current = left
        }
        return .done
    }

    /// Deletes the rest of lectures that a killed run has begun to delete: the space that they take is not free yet.
    ///
    /// - Returns: how that ended; nil where there are none.
    private func finishKilledRun() async throws -> ExitStatus? {
        var filter = ContentFilter()
        filter.states = [.removing]
        let keys = try await ContentPages(manager: manager, filter: filter, sort: .added).keys()
        return keys.isEmpty ? nil : try await Removal(manager: manager, session: session).some(keys)
    }

    private func isAccepted() async throws -> Bool {
        if isTyped || command.flag("yes") { return true }
        return try await manager.contents.acceptedRetention() == text
    }

    /// Refuses more than `--max-delete`.
    private func check(_ plan: RetentionPlan) async throws {
        var filter = ContentFilter()
        filter.states = [.completed]
        let total = try await manager.contents.count(filter)
        let limit = command.text("max-delete").flatMap { CountLimit($0) } ?? Pruning.defaultLimit
        // Of a few lectures one is always more than the share.
        let allowed = command.text("max-delete") == nil ? max(1, limit.allowed(of: total)) : limit.allowed(of: total)
        guard plan.removals.count > allowed else { return }
        throw LectureError(
            .retentionRefused, detail: "\(plan.removals.count) of \(HumanText.lectures(total)) would be removed",
            cause: "--max-delete allows \(allowed)")
    }

    private func remove(_ plan: RetentionPlan) async throws -> (status: ExitStatus, removed: Set<ContentKey>) {
        let retention = Retention(manager)
        var (removed, late): (Set<ContentKey>, [RetentionPlan.Kept]) = ([], [])
        let removal = Removal(manager: manager, session: session)
        let status = try await removal.requested {
            let outcome = try await retention.request(plan)
            removed = Set(outcome.removing)
            late = plan.removals.compactMap { removal in
                outcome.kept[removal.lecture.key].map {
                    removal.kept(because: $0)
                }
            }
            return outcome.removing
        }
        for kept in plan.kept + late where kept.obstacle != .gone { try write(kept) }
        return (status, removed)
    }

    // MARK: Output

    private func show(_ plan: RetentionPlan, isDryRun: Bool) throws {
        for removal in plan.removals { try write(removal) }
        for kept in plan.kept { try write(kept) }
        let totals = PruneTotals(
            plan: plan, lectures: plan.removals.count, bytes: plan.bytes, freeBefore: plan.free, isDryRun: isDryRun)
        try finish(totals)
    }

    private func write(_ removal: RetentionPlan.Removal) throws {
        if session.wantsJSON {
            return try session.context.output.write(machine: JSONLine.plannedRemoval(removal))
        }
        let lecture = removal.lecture
        var notes = [removal.reason]
        if lecture.use.resumePoint > .zero {
            notes.append("left at \(HumanText.duration(seconds: lecture.use.resumePoint.milliseconds / 1000))")
        }
        if lecture.use.isListed { notes.append("still in a course list") }
        try session.context.output.write(
            .row([
                "gone", HumanText.byteCount(lecture.bytes), lecture.key.text, lecture.title, removal.rule.text,
                notes.joined(separator: "; "),
            ]))
    }

    private func write(_ kept: RetentionPlan.Kept) throws {
        if session.wantsJSON { return try session.context.output.write(machine: JSONLine.kept(kept)) }
        try session.context.output.write(
            .row([
                "kept", HumanText.byteCount(kept.lecture.bytes), kept.lecture.key.text, kept.lecture.title,
                kept.rule.text, PruneTotals.sentence(kept.obstacle),
            ]))
    }

    private func finish(_ totals: PruneTotals) throws {
        if session.wantsJSON { try session.context.output.write(machine: JSONLine.pruned(totals)) }
        for sentence in totals.sentences { session.report(sentence) }
        if totals.plan.missing > 0 {
            let more = HumanText.byteCount(totals.plan.missing)
            session.context.say(
                "\(more) more would have to be freed, and there is nothing else that may go.", .warning)
        }
    }
}

/// What a run of the rules has done, or would do.
package struct PruneTotals: Sendable {
    /// What is left to do, or would be done.
    package let plan: RetentionPlan
    /// Lectures that were or would be removed.
    package let lectures: Int
    /// Their bytes.
    package let bytes: Int64
    /// Bytes that were free at the beginning; nil if unknown.
    package let freeBefore: Int64?
    /// Whether nothing was removed.
    package let isDryRun: Bool

    /// Counts.
    package init(plan: RetentionPlan, lectures: Int, bytes: Int64, freeBefore: Int64?, isDryRun: Bool = false) {
        (self.plan, self.lectures, self.bytes) = (plan, lectures, bytes)
        (self.freeBefore, self.isDryRun) = (freeBefore, isDryRun)
    }

    /// Bytes that are free now, or would be.
    package var freeAfter: Int64? { isDryRun ? plan.freeAfter : plan.free }

    /// Lectures that go and that a course list still names.
    package var listed: Int { isDryRun ? plan.removals.count { $0.lecture.use.isListed } : 0 }

    /// Messages for standard error.
    package var sentences: [String] {
        let kept = plan.kept.isEmpty ? "" : ", \(plan.kept.count) kept although a rule takes them"
        let verb = isDryRun ? "would be removed" : "removed"
        var sentences = ["\(HumanText.lectures(lectures)) \(verb) (\(HumanText.byteCount(bytes)))\(kept)."]
        if let freeAfter {
            let verb = isDryRun ? "would be" : "are"
            sentences[0] += " \(HumanText.byteCount(freeAfter)) \(verb) free."
        }
        if listed > 0 {
            sentences.append(
                "\(listed) of them \(listed == 1 ? "is" : "are") still in a course list: the next 'lecturectl "
                    + "precache' of that list downloads \(listed == 1 ? "it" : "them") again.")
        }
        return sentences
    }

    static func sentence(_ obstacle: LectureUse.Obstacle) -> String {
        switch obstacle {
        case .gone: "it is gone"
        case .pinned: "it is pinned"
        case .playing: "it is being played, or was just now"
        case .unreported: "the last report of a play is still to be made"
        case .incomplete: "a process works on it"
        }
    }
}
