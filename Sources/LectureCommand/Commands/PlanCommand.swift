package import LectureKit
import LectureModel
import LectureRecords
package import LectureUpkeep

/// `lecturectl plan`.
enum PlanCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        if !command.arguments.isEmpty, let option = ["course", "items"].first(where: { command.text($0) != nil }) {
            throw UsageError("Option '--\(option)' takes the place of keys.", path: ["plan"])
        }
        let time = try readyBy(command, context)
        let session = try CommandSession(command, context)
        guard command.text("items") != nil else {
            return try await session.withManager { try await answer(session, $0, by: time) }
        }
        // A list can be planned before there is a store.
        return try await session.withManagerOrNone { try await answer(session, $0, by: time) }
    }

    /// The time of `--ready-by`.
    ///
    /// - Returns: nil without the option.
    /// - Throws: ``UsageError`` for a text that is no time.
    static func readyBy(_ command: ParsedCommand, _ context: CommandContext) throws(UsageError) -> Timestamp? {
        guard let text = command.text("ready-by") else { return nil }
        let now = context.clock.now()
        guard let time = ReadyTime.time(text, now: now, secondsEast: SystemTime.secondsEastOfUTC) else {
            throw UsageError(
                "Option '--ready-by' must be a time such as 'Mon 08:00', 'tomorrow 08:00' or '2026-11-30 08:00', and "
                    + "not \(UsageError.quoted(text)).", path: command.path)
        }
        return time
    }

    private static func answer(
        _ session: CommandSession, _ manager: LectureManager, by time: Timestamp?
    ) async throws -> ExitStatus {
        let planner = ReadinessPlanner(manager)
        let lectures = try await lectures(session, manager, planner)
        let now = session.context.clock.now()
        let typed = session.command.rate("speed")
        let (answer, measured) = try await planner.readiness(
            of: lectures, by: time, speed: typed.map { Double($0) }, jobs: session.configuration.jobs.value,
            prunable: try await prunable(session, manager), now: now)
        let plan = PlanAnswer(answer, measured: measured, typed: typed, isRunning: try await isRunning(manager))
        if session.wantsJSON {
            try session.context.output.write(machine: JSONLine.readiness(plan))
        } else {
            try session.context.output.write(.lines(plan.lines(bytes: HumanText.byteCount).map { SafeText($0) }))
        }
        return answer.isReady == true ? .done : .tryAgain
    }

    private static func lectures(
        _ session: CommandSession, _ manager: LectureManager, _ planner: ReadinessPlanner
    ) async throws -> [PlannedLecture] {
        let command = session.command
        if let course = command.text("course") {
            let lectures = try await planner.lectures(ofCourse: course)
            guard !lectures.isEmpty else {
                throw LectureError(.unknownCourse, detail: "'\(course)'")
            }
            return lectures
        }
        if let list = command.text("items") { return try await planned(list, session, manager, planner) }
        guard command.arguments.isEmpty else { return try await planner.lectures(of: try session.keys()) }
        var filter = ContentFilter()
        filter.states = Set(ItemState.allCases).subtracting([.completed, .removing])
        let pages = ContentPages(manager: manager, filter: filter, sort: .priority)
        return try await planner.lectures(of: try await pages.keys())
    }

    private static func planned(
        _ list: String, _ session: CommandSession, _ manager: LectureManager, _ planner: ReadinessPlanner
    ) async throws -> [PlannedLecture] {
        var reading = session.command
        reading.arguments = [list]
        var sources = try PrecacheSources(reading)
        let check = session.command.text("check").flatMap(SourceCheck.init) ?? .list
        var lectures: [PlannedLecture] = []
        try await sources.forEachGroup(of: manager) { group in
            var requests: [DownloadRequest] = []
            for item in group.items {
                switch item {
                case .request(let request): requests.append(request)
                case .refused(let error): try session.report(error)
                case .warning(let warning): try session.report(warning)
                }
            }
            var plans: [PlannedDownload] = []
            for result in try await manager.downloads.plan(requests, check: check) {
                switch result {
                case .success(let plan): plans.append(plan)
                case .failure(let error): try session.report(error)
                }
            }
            lectures += try await planner.lectures(of: plans)
        }
        return lectures
    }

    /// What the rules of the configuration would free, once they were accepted.
    private static func prunable(_ session: CommandSession, _ manager: LectureManager) async throws -> Int64 {
        let rules = session.configuration.retention
        guard !rules.isEmpty,
            try await manager.contents.acceptedRetention() == RetentionRule.text(of: rules)
        else { return 0 }
        return try await Retention(manager).plan(rules).bytes
    }

    private static func isRunning(_ manager: LectureManager) async throws -> Bool {
        try await manager.processes().contains { $0.lectures > 0 }
    }
}

/// The answer of `plan`, and what it rests on.
package struct PlanAnswer: Sendable {
    /// Where the speed comes from.
    package enum Source: String, Sendable {
        /// Measured without a limit.
        case measured
        /// Measured while the timetable or a rate limit applied: the server may be faster.
        case bounded
        /// Named with `--speed`.
        case option
        /// Nothing is known.
        case none
    }

    /// The answer.
    package let answer: Readiness
    /// Where the speed comes from.
    package let source: Source
    /// Bytes a second of the servers that are needed, the slowest one; nil when nothing is known.
    package let speed: Double?
    /// How many servers were measured.
    let servers: Int
    /// What to know besides.
    package let notes: [String]

    /// Gathers it.
    package init(_ answer: Readiness, measured: [MeasuredSpeed], typed: Int64?, isRunning: Bool) {
        self.answer = answer
        let origins = Set(answer.lectures.filter { !$0.isComplete }.map(\.origin))
        let used = measured.filter { origins.contains($0.origin) }
        let relevant = used.isEmpty ? measured : used
        servers = relevant.count
        if let typed {
            (source, speed) = (.option, Double(typed))
        } else if let slowest = relevant.map(\.bytesPerSecond).min() {
            (source, speed) = (relevant.contains { $0.bound != nil } ? .bounded : .measured, slowest)
        } else {
            (source, speed) = (.none, nil)
        }
        var notes: [String] = []
        if answer.estimated > 0, answer.bytesLeft > 0 {
            let subject =
                answer.estimated == 1 ? "The size of 1 lecture is" : "The sizes of \(answer.estimated) lectures are"
            notes.append("\(subject) not known: the median of the others is taken.")
        }
        let unmeasured = origins.subtracting(measured.map(\.origin)).count
        if source == .measured || source == .bounded, unmeasured > 0 {
            let subject = unmeasured == 1 ? "1 server was" : "\(unmeasured) servers were"
            notes.append("\(subject) not measured yet: the mean of the others is taken.")
        }
        if source == .bounded {
            notes.append("The speed was measured while a limit applied: the server may be faster.")
        }
        if !isRunning, answer.complete < answer.lectures.count {
            notes.append("No process is downloading: run 'lecturectl precache' now.")
        }
        self.notes = notes
    }

    /// The answer for people, the most important line first.
    ///
    /// - Parameter bytes: writes a number of bytes.
    /// - Returns: lines for standard output.
    package func lines(bytes: (Int64) -> String) -> [String] {
        var lines = [sentence]
        let count = answer.lectures.count
        lines.append(
            "\(answer.complete) of \(HumanText.lectures(count)) complete, \(bytes(answer.bytesLeft)) left\(basis).")
        for obstacle in answer.obstacles {
            let key = obstacle.key.map { "\($0.text): " } ?? ""
            lines.append("In the way: \(key)\(obstacle.message) \(obstacle.remedy)")
        }
        return lines + notes
    }

    private var basis: String {
        guard let speed else { return "" }
        let rate = HumanText.rate(Int64(speed))
        switch source {
        case .option: return ", at \(rate) (--speed)"
        case .none: return ""
        case .measured, .bounded:
            return servers > 1 ? ", at \(rate) from the slowest of \(servers) servers" : ", at \(rate) as measured"
        }
    }

    private var sentence: String {
        if answer.lectures.isEmpty { return "There is nothing to download." }
        let end = answer.end.map(Self.date)
        guard let time = answer.time else {
            guard let end else { return "When they will be ready is not known." }
            return answer.isReady == true ? "Ready \(end)." : "Ready \(end), but for what is in the way."
        }
        let by = Self.date(time)
        guard let isReady = answer.isReady else { return "Whether they will be ready by \(by) is not known." }
        if isReady, let last = answer.end {
            if answer.complete == answer.lectures.count { return "Ready now, and by \(by)." }
            return "Ready \(Self.date(last)), \(Self.length(time - last)) before \(by)."
        }
        let count = HumanText.lectures(answer.lectures.count)
        let done = end.map { ", done \($0)" } ?? ""
        return "Not ready by \(by): \(answer.ready) of \(count)\(done)."
    }

    /// `Mon 2026-11-30 08:00`, in local time.
    static func date(_ time: Timestamp) -> String {
        let local = time.milliseconds / 1000 + Int64(SystemTime.secondsEastOfUTC(time))
        let day = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(((local / 86_400) % 7 + 7) % 7)]
        return "\(day) \(HumanText.date(time).dropLast(3))"
    }

    private static func length(_ time: Duration) -> String {
        let minutes = time.milliseconds / 60_000
        if minutes < 1 { return "less than a minute" }
        if minutes < 60 { return "\(minutes) min" }
        if minutes < 2880 { return "\(minutes / 60) h \(minutes % 60) min" }
        return "\(minutes / 1440) days"
    }
}
