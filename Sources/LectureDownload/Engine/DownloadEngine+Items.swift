import LectureModel

/// Loading, versions, and the end of work on an item.
extension DownloadEngine {
    // MARK: Loading

    /// Handles the gateway's answer or its absence.
    func loaderEnded(
        _ transfer: TransferWork, _ report: TransferReport, _ item: ItemWork, now: Timestamp
    ) throws -> Decision {
        let isLate = item.isEnding || item.loader.running != nil
        let ended = EndedLoader(
            report, host: transfer.origin.host, isLate: isLate, isKnown: !item.resources.isEmpty)
        switch ended.ruling {
        case .proceed(let decision): return decision
        case .tryAgain(let error): return try tryAgain(nil, of: item, error, now: now)
        case .fail(let error): return try loaderFailed(item, error)
        case .readDescriptor(let document): return try descriptorCame(document, item, host: ended.host, now: now)
        case .takeAsMedia:
            try beginVersion(item, requests: [item.record.directResource], now: now)
            return .media
        case .follow(let target): return try followLoader(target, transfer, item)
        case .wait(let wait, let status):
            return try serverAsksToWait(wait, status: status, transfer, item, now: now)
        }
    }

    private func followLoader(_ target: String, _ transfer: TransferWork, _ item: ItemWork) throws -> Decision {
        do throws(LectureError) {
            item.loader.follow(try redirect(to: target, of: transfer))
            return .redirect
        } catch {
            return try loaderFailed(item, error)
        }
    }

    private func loaderFailed(_ item: ItemWork, _ error: LectureError) throws -> Decision {
        try end(item, item.machine.failed(error))
        return .failed
    }

    /// A link that was taken for media turned out to be a gateway's.
    func descriptorInsteadOfMedia(
        _ document: [UInt8], _ item: ItemWork, now: Timestamp
    ) throws -> Decision {
        try abandonVersion(item)
        return try descriptorCame(document, item, host: "", now: now)
    }

    private func descriptorCame(
        _ document: [UInt8], _ item: ItemWork, host: String, now: Timestamp
    ) throws -> Decision {
        let descriptor: ContentDescriptor
        do throws(LectureError) {
            descriptor = try ContentDescriptor(document)
        } catch {
            try end(item, item.machine.failed(LectureError(error.code, detail: host, cause: error.cause)))
            return .failed
        }
        if let code = descriptor.refusal {
            try end(item, item.machine.failed(LectureError(code, detail: host)))
            return .failed
        }
        if try endsRefused(descriptor, item) { return .refused }
        item.record.isGateway = true
        item.loader.answered()
        let requests = descriptor.requests(expecting: item.record)
        if let media = item.media {
            if describesSameBytes(requests.first, media), !unbinds(descriptor.facts, item) {
                // Only the URLs were renewed; committed bytes are kept.
                try replaceURLs(media, of: item, urls: descriptor.mediaURLs)
                if !item.record.isLoaded {
                    item.record.isLoaded = try index.setFacts(item.lease, descriptor.facts, now: now) == nil
                }
                try recordLicence(descriptor, of: item, key: item.record.content.key)
                try apply(item, item.machine.sourceKnown(), now: now)
                return .renewed
            }
            try abandonVersion(item)
        }
        if let other = try index.setFacts(item.lease, descriptor.facts, now: now) {
            try index.merge(item.lease, into: other)
            drop(item)
            try settle(on: other, item.record, requests.first, now: now)
            return .merged
        }
        try recordLicence(descriptor, of: item, key: descriptor.facts.key ?? item.record.content.key)
        item.record.isLoaded = true
        if let title = descriptor.facts.title { item.record.content.title = title }
        if let key = descriptor.facts.key { item.record.content.key = key }
        try beginVersion(item, requests: requests, now: now)
        try apply(item, item.machine.sourceKnown(), now: now)
        return .loaded
    }

    /// A link turned out to lead to another lecture, which may be complete. The link's request applies to that one.
    private func settle(
        on other: ContentID, _ link: ItemRecord, _ media: ResourceRequest?, now: Timestamp
    ) throws {
        switch try index.request(other, sha256: link.expectedSHA256, bytes: link.expectedBytes, now: now) {
        case .alreadyComplete:
            guard let version = try index.completeVersion(other) else { return }
            if media?.describes(version.media) == false {
                // The gateway describes a newer version.
                try index.supersede(other, version: version.id, by: .newerAtSource, now: now)
                notices.append(.outdated(other))
                return
            }
            // This link may have come with an output path.
            try publish(other)
            let unknown = version.media.sha256 == nil ? media?.expectedSHA256 : nil
            notices.append(.alreadyComplete(other, unknownDigest: unknown))
        case .checking: notices.append(.alreadyComplete(other, unknownDigest: link.expectedSHA256))
        case .outdated: notices.append(.outdated(other))
        case .damaged: notices.append(.changed(other))
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
    private func unbinds(_ facts: ContentFacts, _ item: ItemWork) -> Bool {
        guard let key = facts.key, key != item.record.content.key, !item.record.isLoaded else { return false }
        return item.resources.contains { $0.cipher != nil || $0.record.seal != .plain }
    }

    // MARK: Versions

    func beginVersion(_ item: ItemWork, requests: [ResourceRequest], now: Timestamp) throws {
        let version = try index.beginVersion(item.lease, requests: requests, now: now)
        item.version = version
        item.resources = try index.resources(version).map { try resourceWork($0, item) }
    }

    /// A resource has changed on the server. An optional one fails alone, since a picture must not cost a lecture its
    /// bytes.
    func changed(
        _ resource: ResourceWork, of item: ItemWork, because error: LectureError, now: Timestamp
    ) throws -> Decision {
        guard resource.record.role.isRequired else { return try resourceFailed(resource, of: item, error) }
        return try restart(item, because: error, now: now)
    }

    /// Discards the version being built and its files; a new version starts.
    func restart(_ item: ItemWork, because error: LectureError, now: Timestamp) throws -> Decision {
        item.restarts.count += 1
        let ruling = DiscardedVersion(
            because: error, count: item.restarts.count, isGateway: item.record.isGateway,
            urlsDisagree: item.resources.contains(where: \.sources.hasDisagreement)
        ).ruling
        switch ruling {
        case .failItem(let error): try end(item, item.machine.failed(error), discarding: true)
        case .askGateway, .fetchAgain:
            let requests = item.resources.map(\.request)
            // Over one connection all bytes come from one server.
            if item.resources.contains(where: \.connections.wasParallel) { item.restarts.isUneven = true }
            try abandonVersion(item)
            if ruling == .fetchAgain { try beginVersion(item, requests: requests, now: now) }
            // Without a version the next `advance` asks the gateway, which may describe the new bytes.
            try apply(item, item.machine.restarted(), now: now)
        }
        return ruling.decision
    }

    private func abandonVersion(_ item: ItemWork) throws {
        guard let version = item.version else { return }
        for resource in item.resources { abandon(resource, deleting: true) }
        statistics.bytesReused -= item.reuse.discarded()
        let paths = try index.discardVersion(item.lease, version)
        deleting.insert(version)
        delete(paths, for: .version(version))
        item.version = nil
        item.resources = []
        item.report.restarted()
    }

    // MARK: Ending

    /// Carries out the action that a machine's event returned.
    func apply(_ item: ItemWork, _ action: ItemMachine.Action, now: Timestamp) throws {
        switch action {
        case .nothing: return
        case .store:
            try index.setStatus(item.lease, item.machine.status, now: now)
            item.record.content.state = item.machine.status.state
            notices.append(.changed(item.id))
        case .endWork: try end(item, action)
        }
    }

    /// Starts to end all work on an item. Received bytes are synced and committed first; then the machine's status is
    /// stored and the lease released.
    func end(_ item: ItemWork, _ action: ItemMachine.Action, discarding: Bool = false) throws {
        guard action == .endWork, !item.isEnding else { return }
        item.course = .ending(discarding: discarding)
        var running = item.resources.flatMap(\.running)
        if let loader = item.loader.running { running.append(loader) }
        cancel(running)
        for resource in item.resources where resource.machine.part == .unopened {
            // Blocks wait for the part file to be opened, and block the transport's thread; this one never will be.
            command(resource, .close(deleting: false))
        }
        try finishEnding(item, now: ports.clock.now())
    }

    func finishEnding(_ item: ItemWork, now: Timestamp) throws {
        guard item.loader.running == nil, item.resources.allSatisfy({ $0.sinks.isEmpty }) else { return }
        try keepRemainders(item)
        for resource in item.resources {
            guard resource.machine.closes() == .close else { continue }
            command(resource, .flush)
            command(resource, .close(deleting: false))
        }
        guard item.resources.allSatisfy(\.machine.isSettled) else { return }
        if item.course == .ending(discarding: true) { try abandonVersion(item) }
        for resource in item.resources { try recordClean(resource, of: item) }
        item.machine.settled(wanting: try index.item(item.id)?.targetState ?? .fetch)
        try index.setStatus(item.lease, item.machine.status, now: now)
        try index.release(item.lease)
        for resource in item.resources { parts[resource.token] = nil }
        items[item.id] = nil
        needsStep = true
        notices.append(.changed(item.id))
    }
}
