import LectureEngine
import LectureModel

/// Loading, versions, and the end of work on an item.
extension ItemStep {
    // MARK: Loading

    /// The gateway's answer has come, or will not.
    mutating func loaderEnded(_ transfer: TransferWork, _ report: TransferReport) throws {
        item.loader.ended(transfer.id)
        try keepWait(transfer.origin, report)
        var attempt = Attempt(transfer, report)
        defer { try? index.record(attempt, content: item.id, resource: nil) }
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
        case .readDescriptor(let document): return try descriptorCame(document, host: ended.host)
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

    /// A link that was taken for media turned out to be a gateway's.
    mutating func descriptorInsteadOfMedia(
        _ document: [UInt8]
    ) throws -> Decision {
        try abandonVersion()
        return try descriptorCame(document, host: "")
    }

    private mutating func descriptorCame(
        _ document: [UInt8], host: String
    ) throws -> Decision {
        let descriptor: ContentDescriptor
        do throws(LectureError) {
            descriptor = try ContentDescriptor(document)
        } catch {
            try end(item.machine.failed(LectureError(error.code, detail: host, cause: error.cause)))
            return .failed
        }
        if let code = descriptor.refusal {
            try end(item.machine.failed(LectureError(code, detail: host)))
            return .failed
        }
        if try endsRefused(descriptor) { return .refused }
        item.record.isGateway = true
        item.loader.answered()
        let requests = descriptor.requests(expecting: item.record)
        if let media = item.media {
            if media.record.agrees(with: requests.first), !item.unbinds(descriptor.facts) {
                // Only the URLs were renewed; committed bytes are kept.
                try item[media.token].replaceURLs(descriptor.mediaURLs, step)
                if !item.record.isLoaded {
                    item.record.isLoaded = try index.setFacts(item.lease, descriptor.facts, now: now) == nil
                }
                try recordLicence(descriptor, key: item.record.content.key)
                try apply(item.machine.sourceKnown())
                return .renewed
            }
            try abandonVersion()
        }
        if let other = try index.setFacts(item.lease, descriptor.facts, now: now) {
            try index.merge(item.lease, into: other)
            drop()
            try shared.files.settle(on: other, item.record, requests.first, &step)
            return .merged
        }
        try recordLicence(descriptor, key: descriptor.facts.key ?? item.record.content.key)
        item.record.isLoaded = true
        if let title = descriptor.facts.title { item.record.content.title = title }
        if let key = descriptor.facts.key { item.record.content.key = key }
        try beginVersion(requests: requests)
        try apply(item.machine.sourceKnown())
        return .loaded
    }

    /// The source is known, at the latest by the answer of the media's own server.
    mutating func sourceIsKnown() throws {
        if !item.record.isLoaded {
            item.record.isLoaded = try index.setFacts(item.lease, ContentFacts(), now: now) == nil
        }
        try apply(item.machine.sourceKnown())
    }

    // MARK: Versions

    /// Begins a version.
    mutating func beginVersion(requests: [ResourceRequest]) throws {
        try item.beginVersion(requests, &shared, &step)
    }

    /// A resource has changed on the server. An optional one fails alone, since a picture must not cost a lecture its
    /// bytes.
    mutating func changed(
        _ resource: PartToken, because error: LectureError
    ) throws -> Decision {
        guard item[resource].record.role.isRequired else { return try resourceFailed(resource, error) }
        return try restart(because: error)
    }

    /// Discards the version being built and its files; a new version starts.
    mutating func restart(because error: LectureError) throws -> Decision {
        item.restarts.count += 1
        let ruling = DiscardedVersion(
            because: error, count: item.restarts.count, isGateway: item.record.isGateway,
            urlsDisagree: item.resources.contains(where: \.sources.hasDisagreement)
        ).ruling
        switch ruling {
        case .failItem(let error): try end(item.machine.failed(error), discarding: true)
        case .askGateway, .fetchAgain:
            let requests = item.resources.map(\.request)
            // Over one connection all bytes come from one server.
            if item.resources.contains(where: \.connections.wasParallel) { item.restarts.isUneven = true }
            try abandonVersion()
            if ruling == .fetchAgain { try beginVersion(requests: requests) }
            // Without a version the next `advance` asks the gateway, which may describe the new bytes.
            try apply(item.machine.restarted())
        }
        return ruling.decision
    }

    private mutating func abandonVersion() throws { try item.abandonVersion(&shared, &step) }

    // MARK: Ending

    /// Carries out the action that a machine's event returned.
    mutating func apply(_ action: ItemMachine.Action) throws { try item.apply(action, &shared, &step) }

    /// Starts to end all work on the item, if that is the action.
    mutating func end(_ action: ItemMachine.Action, discarding: Bool = false) throws {
        if action == .endWork { try item.end(discarding: discarding, &shared, &step) }
    }

    /// Stops the item for a while.
    mutating func stop(_ reason: StopReason, _ error: LectureError, for pause: Duration) throws {
        try end(item.machine.stopped(reason, error: error, until: now + pause, now: now))
    }

    /// Ends the work as far as its transfers and its part files have ended.
    mutating func finishEnding() throws { try item.finishEnding(&shared, &step) }

    /// Completes the item, if every file has its final name.
    mutating func completeIfWhole() throws { try item.completeIfWhole(&shared, &step) }
}
