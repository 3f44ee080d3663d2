import LectureEngine
import LectureModel

/// How an item copes with failures.
extension ItemWork {
    /// An optional resource fails alone, and so does a segment: when all others are there, the lecture fails with a
    /// list of those that are missing. Any other fails the item.
    mutating func resourceFailed(
        _ resource: PartToken, _ error: LectureError, _ shared: inout SharedWork, _ step: inout Step<DownloadMachine>
    ) throws -> Decision {
        if try CaptureActions.survives(resource, error, of: &self, &shared, &step) { return .failed }
        if self[resource].record.role.failsItem {
            let isKey = self[resource].record.role == .key && error.code == .lengthChanged
            let reason = isKey ? LectureError(.streamKey, detail: record.content.key.text) : error
            try end(machine.failed(reason), &shared, &step)
        } else if try self[resource].failAlone(&step) == .bug {
            try endForBug(&shared, &step)
        }
        return .failed
    }

    /// Counts an attempt without progress; returns how many there were in a row. An optional resource has its own
    /// count, so that it does not use up the attempts of the media, and so has each file of a stream, of which several
    /// are fetched at once.
    mutating func countFailure(
        _ resource: PartToken?, _ shared: inout SharedWork, _ step: inout Step<DownloadMachine>
    ) throws -> Int {
        if let resource, !self[resource].record.role.isRequired || self[resource].record.role.isOfStream {
            self[resource].attempts.failed()
            return self[resource].attempts.failures
        }
        try apply(machine.attemptFailed(), &shared, &step)
        return machine.status.attempts
    }

    /// The attempt failed in a way that may be temporary.
    mutating func tryAgain(
        _ resource: PartToken?, _ error: LectureError, _ shared: inout SharedWork, _ step: inout Step<DownloadMachine>
    ) throws -> Decision {
        let failures = try countFailure(resource, &shared, &step)
        var attempt = FailedAttempt(error, failures: failures, settings: shared.settings)
        attempt.isOptional = resource.map { !self[$0].record.role.isRequired } ?? false
        attempt.othersRun = resource.map { !self[$0].sinks.isEmpty } ?? false
        let ruling = attempt.ruling(random: step.random)
        switch ruling {
        case .useFewer(let pause):
            if let resource { self[resource].connections.failed(leaving: self[resource].sinks.count) }
            hold(resource, until: step.boot + pause)
        case .wait(let pause): hold(resource, until: step.boot + pause)
        case .postpone(let error, let pause):
            try end(machine.retryLater(error: error, until: step.now + pause, now: step.now), &shared, &step)
        case .failResource(let error):
            if let resource { return try resourceFailed(resource, error, &shared, &step) }
        case .stopForNetwork(let error, let pause):
            try stop(.network, error, for: pause, &shared, &step)
        case .failItem(let error):
            if let resource { return try resourceFailed(resource, error, &shared, &step) }
            try end(machine.failed(error), &shared, &step)
        }
        return ruling.decision
    }

    /// The next transfer of a file, or of the loader, waits.
    mutating func hold(_ resource: PartToken?, until moment: BootInstant) {
        if let resource { self[resource].attempts.wait(until: moment) } else { loader.wait(until: moment) }
    }

    /// A resource has changed on the server. An optional one fails alone, since a picture must not cost a lecture its
    /// bytes; a file of a stream is fetched again alone.
    mutating func changed(
        _ resource: PartToken, because error: LectureError, _ shared: inout SharedWork,
        _ step: inout Step<DownloadMachine>
    ) throws -> Decision {
        let role = self[resource].record.role
        if role.isOfStream { return try StreamActions.fetchAgain(resource, of: &self, because: error, &shared, &step) }
        guard role.isRequired else { return try resourceFailed(resource, error, &shared, &step) }
        return try restart(because: error, &shared, &step)
    }

    /// Discards the version being built and its files; a new version starts.
    mutating func restart(
        because error: LectureError, _ shared: inout SharedWork, _ step: inout Step<DownloadMachine>
    ) throws -> Decision {
        restarts.count += 1
        let ruling = DiscardedVersion(
            because: error, count: restarts.count, isGateway: record.isGateway,
            urlsDisagree: resources.contains(where: \.sources.hasDisagreement)
        ).ruling
        switch ruling {
        case .failItem(let error): try end(machine.failed(error), discarding: true, &shared, &step)
        case .askGateway, .fetchAgain:
            let requests = resources.filter { !$0.record.role.isOfStream && $0.record.role != .playlist }
                .map(\.request)
            // Over one connection all bytes come from one server.
            if resources.contains(where: \.connections.wasParallel) { restarts.isUneven = true }
            try abandonVersion(&shared, &step)
            if ruling == .fetchAgain { try beginVersion(requests, &shared, &step) }
            // Without a version the next `advance` asks the gateway, which may describe the new bytes.
            try apply(machine.restarted(), &shared, &step)
        }
        return ruling.decision
    }
}
