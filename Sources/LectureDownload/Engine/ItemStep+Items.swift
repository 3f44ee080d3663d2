import LectureEngine
import LectureModel

/// Loading, and what is done to the item itself.
extension ItemStep {
    // MARK: Loading

    /// The gateway's answer has come, or will not.
    mutating func loaderEnded(_ transfer: TransferWork, _ report: TransferReport) throws {
        item.forgetServer()
        item.loader.ended(transfer.id)
        try keepWait(transfer.origin, report)
        var attempt = Attempt(transfer, report)
        defer { try? index.servers.record(attempt, content: item.id, resource: nil) }
        attempt.decision = try loaderDecision(transfer, report).rawValue
    }

    private mutating func loaderDecision(
        _ transfer: TransferWork, _ report: TransferReport
    ) throws -> Decision {
        let isLate = item.isEnding || item.loader.running != nil
        let ended = EndedLoader(
            report, host: transfer.origin.host, isLate: isLate, isKnown: !item.resources.isEmpty)
        switch ended.ruling {
        case .proceed(let decision): return decision
        case .tryAgain(let error): return try tryAgain(nil, error)
        case .fail(let error): return try loaderFailed(error)
        case .readDescriptor(let document): return try item.descriptorCame(document, host: ended.host, &shared, &step)
        case .takeAsMedia:
            try beginVersion(requests: [item.record.directResource])
            return .media
        case .follow(let target): return try followLoader(target, transfer)
        case .wait(let wait, let status):
            return try serverAsksToWait(wait, status: status, transfer)
        }
    }

    private mutating func followLoader(_ target: String, _ transfer: TransferWork) throws -> Decision {
        do throws(LectureError) {
            item.loader.follow(try transfer.redirect(to: target))
            return .redirect
        } catch {
            return try loaderFailed(error)
        }
    }

    private mutating func loaderFailed(_ error: LectureError) throws -> Decision {
        try end(item.machine.failed(error))
        return .failed
    }

    // MARK: Versions

    /// Begins a version.
    mutating func beginVersion(requests: [ResourceRequest]) throws {
        try item.beginVersion(requests, &shared, &step)
    }

    // MARK: What the item does itself

    /// Carries out the action that a machine's event returned.
    mutating func apply(_ action: ItemMachine.Action) throws { try item.apply(action, &shared, &step) }

    /// Starts to end all work on the item, if that is the action.
    mutating func end(_ action: ItemMachine.Action, discarding: Bool = false) throws {
        try item.end(action, discarding: discarding, &shared, &step)
    }

    /// Stops the item for a while.
    mutating func stop(_ reason: StopReason, _ error: LectureError, for pause: Duration) throws {
        try item.stop(reason, error, for: pause, &shared, &step)
    }

    /// The attempt failed in a way that may be temporary.
    mutating func tryAgain(_ resource: PartToken?, _ error: LectureError) throws -> Decision {
        try item.tryAgain(resource, error, &shared, &step)
    }

    /// A file cannot be downloaded.
    mutating func resourceFailed(_ resource: PartToken, _ error: LectureError) throws -> Decision {
        try item.resourceFailed(resource, error, &shared, &step)
    }

    /// A file has changed on the server.
    mutating func changed(_ resource: PartToken, because error: LectureError) throws -> Decision {
        try item.changed(resource, because: error, &shared, &step)
    }

    /// Carries out what the machine of a file decided.
    mutating func follow(_ ruling: ResourceMachine.Ruling, _ resource: PartToken) throws {
        try item.follow(ruling, resource, &shared, &step)
    }

    /// Every chunk of a file is durable.
    mutating func wholeIsCommitted(_ resource: PartToken) throws {
        try item.wholeIsCommitted(resource, &shared, &step)
    }

    /// Has the part file of a file opened, once.
    mutating func openPartIfNeeded(_ resource: PartToken) throws {
        try item.openPartIfNeeded(resource, &shared, &step)
    }
}
