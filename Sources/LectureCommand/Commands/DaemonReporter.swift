import LectureDaemon
import LectureKit
import LectureModel
import LectureRecords

/// What a daemon says: messages, the lines of `--json`, and its state to the service manager.
struct DaemonReporter {
    private let session: CommandSession
    private let notifier: ServiceNotifier
    /// What was said last to the service manager.
    private let status = Guarded("")

    private var context: CommandContext { session.context }

    init(session: CommandSession, notifier: ServiceNotifier) { (self.session, self.notifier) = (session, notifier) }

    // MARK: States

    func ready(_ lists: Int) throws(OutputError) {
        notifier.send(.ready)
        session.report("ready; \(lists == 1 ? "1 course list" : "\(lists) course lists").")
        try line(JSONLine.daemon("ready"))
    }

    func reloading() throws(OutputError) {
        notifier.send(.reloading(monotonicMicroseconds: ServiceNotifier.monotonicMicroseconds))
        session.report("reading the configuration and the course lists again.")
        try line(JSONLine.daemon("reloading"))
    }

    func stopping() throws(OutputError) {
        notifier.send(.stopping)
        session.report("stopping.")
        try line(JSONLine.daemon("stopping"))
    }

    func read(_ path: String, _ reading: DaemonLists.Reading) throws(OutputError) {
        let (used, refused) = reading.lists.lists.reduce((0, 0)) { ($0.0 + $1.used, $0.1 + $1.refused) }
        session.report("\(path): \(HumanText.lectures(used))\(refused > 0 ? ", \(refused) refused" : "").")
        try line(JSONLine.daemon("list_read", list: path, used: used, refused: refused))
    }

    func forgot(_ path: String) throws(OutputError) {
        session.report("\(path) is gone; its lectures stay.")
        try line(JSONLine.daemon("list_gone", list: path))
    }

    /// Reports to the service manager in one sentence what there is to do.
    func show(_ store: StoreStatus) {
        func count(_ states: ItemState...) -> Int { states.reduce(0) { $0 + (store.counts[$1] ?? 0) } }
        let parts = [
            (count(.loading, .downloading, .verifying), "downloading"), (count(.queued), "queued"),
            (count(.stopped), "stopped"), (count(.failed), "failed"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let work = parts.isEmpty ? "nothing to do" : parts.joined(separator: ", ")
        let sentence = "\(HumanText.lectures(count(.completed))) complete; \(work)."
        let isNew = status.withLock { last -> Bool in
            defer { last = sentence }
            return last != sentence
        }
        if isNew { notifier.send(.status(sentence)) }
    }

    // MARK: Events of the library

    func take(_ event: LectureEvent) throws(OutputError) {
        switch event {
        case .queued(let content): if content.state == .queued { try line(JSONLine.queued(content)) }
        case .progress(let progress):
            if progress.state == .downloading { try line(JSONLine.progress(progress)) }
        case .completed(let content):
            session.report("complete: \(content.title) (\(content.key.text))")
            try line(JSONLine.completed(content))
        case .failed(let content):
            let reason = content.error?.message ?? ""
            context.say("failed: \(content.title) (\(content.key.text)): \(reason)", about: content.error)
            try line(JSONLine.failed(content))
        case .stopped(let content):
            context.say(PrecacheResult.sentence(stopped: content), .warning, about: content.error)
            try line(JSONLine.stopped(content))
        case .outdated(let content): try line(JSONLine.outdated(content))
        case .checkFailed(let key, let error):
            context.say("not checked: \(key.text): \(error.message)", .warning, about: error)
            try line(JSONLine.checkFailed(key, error))
        case .removed(let key): try line(JSONLine.removed(key))
        case .licenceGranted(let key): try line(JSONLine.licenceChanged(key, change: "granted"))
        case .licenceEnded(let key):
            context.say("\(key.text): the licence server has ended the licence.", .warning)
            try line(JSONLine.licenceChanged(key, change: "ended"))
        case .licenceDeleted(let key):
            context.say("\(key.text): the licence server has revoked this lecture; its files were deleted.", .warning)
            try line(JSONLine.licenceChanged(key, change: "deleted"))
        case .renewed(let key, let current, let count, let error):
            if let error { context.say("\(key.text): \(error.message)", .warning, about: error) }
            try line(JSONLine.renewed(key, current: current, count: count, licence: nil, error: error))
        case .renewalEnded(let report):
            session.report("\(report.renewed) licences renewed, \(report.failed) failed, \(report.waiting) waiting.")
        case .reportRefused(let id, let reason, let error):
            context.say(error.message, about: error)
            try line(JSONLine.refused(id, reason, error))
        case .reportObstacle(let obstacle):
            let isRefused = ExitStatus.status(for: obstacle.error.code) == .noPermission
            context.say(obstacle.error.message, isRefused ? .error : .warning, about: obstacle.error)
            try line(JSONLine.obstacle(obstacle))
        case .reportsSent(let result):
            session.report("\(result.delivered) reports delivered, \(result.refused) refused, \(result.left) left.")
            try line(JSONLine.sending(result))
        case .trouble(let error): try context.report(error, wantsJSON: session.wantsJSON)
        case .advanced, .unchanged, .published, .publishingFailed, .renewalBegan, .licenceExchange, .reportsProgress,
            .reportsDelivered, .reportExchange:
            return
        }
    }

    private func line(_ text: String) throws(OutputError) {
        if session.wantsJSON { try context.output.write(machine: text) }
    }
}
