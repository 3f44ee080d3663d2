import LectureEngine
import LectureModel

/// Loading, versions, and the end of work on an item.
extension ItemStep {
    // MARK: Loading

    /// Handles the gateway's answer or its absence.
    mutating func loaderEnded(
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
            if describesSameBytes(requests.first, media), !unbinds(descriptor.facts) {
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
            try settle(on: other, item.record, requests.first)
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

    /// A link turned out to lead to another lecture, which may be complete. The link's request applies to that one.
    private mutating func settle(
        on other: ContentID, _ link: ItemRecord, _ media: ResourceRequest?
    ) throws {
        switch try index.request(other, sha256: link.expectedSHA256, bytes: link.expectedBytes, now: now) {
        case .alreadyComplete:
            guard let version = try index.completeVersion(other) else { return }
            if media?.describes(version.media) == false {
                // The gateway describes a newer version.
                try index.supersede(other, version: version.id, by: .newerAtSource, now: now)
                step.notices.append(.outdated(other))
                return
            }
            // This link may have come with an output path.
            try shared.files.publish(other, &step)
            let unknown = version.media.sha256 == nil ? media?.expectedSHA256 : nil
            step.notices.append(.alreadyComplete(other, unknownDigest: unknown))
        case .checking: step.notices.append(.alreadyComplete(other, unknownDigest: link.expectedSHA256))
        case .outdated: step.notices.append(.outdated(other))
        case .damaged: step.notices.append(.changed(other))
        case .added, .alreadyQueued, .resumed: break
        }
    }

    /// Whether a later descriptor agrees with what is known of the media.
    private func describesSameBytes(_ request: ResourceRequest?, _ media: ResourceWork) -> Bool {
        let digest = request?.expectedSHA256 ?? media.record.expectedSHA256
        let bytes = request?.expectedBytes ?? media.record.expectedBytes
        return digest == media.record.expectedSHA256 && bytes == media.record.expectedBytes
    }

    /// Whether a lecture with sealed files would get another key, to which they are not bound.
    private func unbinds(_ facts: ContentFacts) -> Bool {
        guard let key = facts.key, key != item.record.content.key, !item.record.isLoaded else { return false }
        return item.resources.contains { $0.cipher != nil || $0.record.seal != .plain }
    }

    // MARK: Versions

    mutating func beginVersion(requests: [ResourceRequest]) throws {
        let version = try index.beginVersion(item.lease, requests: requests, now: now)
        item.version = version
        try takeResources(try index.resources(version))
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

    private mutating func abandonVersion() throws {
        guard let version = item.version else { return }
        for resource in item.tokens { item[resource].abandon(deleting: true, &step) }
        shared.statistics.bytesReused -= item.reuse.discarded()
        let paths = try index.discardVersion(item.lease, version)
        shared.files.delete(version, paths, &step)
        item.discardVersion()
    }

    // MARK: Ending

    /// Carries out the action that a machine's event returned.
    mutating func apply(_ action: ItemMachine.Action) throws {
        switch action {
        case .nothing: return
        case .store:
            try index.setStatus(item.lease, item.machine.status, now: now)
            item.record.content.state = item.machine.status.state
            step.notices.append(.changed(item.id))
        case .endWork: try end(action)
        }
    }

    /// Starts to end all work on an item. Received bytes are synced and committed first; then the machine's status is
    /// stored and the lease released.
    mutating func end(_ action: ItemMachine.Action, discarding: Bool = false) throws {
        guard action == .endWork, !item.isEnding else { return }
        item.course = .ending(discarding: discarding)
        var running = item.resources.flatMap(\.running)
        if let loader = item.loader.running { running.append(loader) }
        step.cancel(running)
        for resource in item.tokens where item[resource].machine.part == .unopened {
            // Blocks wait for the part file to be opened, and block the transport's thread; this one never will be.
            item[resource].command(.close(deleting: false), &step)
        }
        try finishEnding()
    }

    mutating func finishEnding() throws {
        guard item.loader.running == nil, item.resources.allSatisfy({ $0.sinks.isEmpty }) else { return }
        let isDiscarded = item.course == .ending(discarding: true)
        for resource in item.tokens {
            try item[resource].keepRemainders(isDiscarded: isDiscarded, settings, step)
        }
        for resource in item.tokens {
            guard item[resource].machine.closes() == .close else { continue }
            item[resource].command(.flush, &step)
            item[resource].command(.close(deleting: false), &step)
        }
        guard item.resources.allSatisfy(\.machine.isSettled) else { return }
        if isDiscarded { try abandonVersion() }
        for resource in item.tokens { try item[resource].recordClean(step) }
        item.machine.settled(wanting: try index.item(item.id)?.targetState ?? .fetch)
        try index.setStatus(item.lease, item.machine.status, now: now)
        try index.release(item.lease)
        for resource in item.tokens { shared.parts[resource] = nil }
        leave()
        shared.needsStep = true
        step.notices.append(.changed(item.id))
    }
}
