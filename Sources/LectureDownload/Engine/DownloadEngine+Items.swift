import LectureModel

/// Loading, versions, and the end of work on an item.
extension DownloadEngine {
    // MARK: Loading

    /// The gateway has answered, or not; answers the decision's word.
    func loaderEnded(
        _ transfer: TransferWork, _ report: TransferReport, _ item: ItemWork, now: Timestamp
    ) throws -> String {
        if item.isEnding || item.loader != nil { return "ended" }
        let host = transfer.origin.host
        switch report.verdict {
        case nil:
            guard case .failed(let curl, let detail) = report.outcome.end else { return "cancelled" }
            let error = LectureError.belowHTTP(curl, detail, host: host)
            return try loaderFailed(item, error, isFinal: error.isFinalForURL, now: now)
        case .descriptor:
            guard report.outcome.end == .complete, let document = report.document else {
                return try loaderFailed(
                    item, LectureError(.descriptorUnreadable, detail: host), isFinal: false, now: now)
            }
            return try descriptorCame(document, item, host: host, now: now)
        case .body, .noRanges:
            // The link is the media itself; it is asked again as such.
            guard item.resources.isEmpty else {
                return try loaderFailed(
                    item, LectureError(.descriptorUnreadable, detail: host), isFinal: true, now: now)
            }
            try beginVersion(item, wishes: [item.record.directWish], now: now)
            return "media"
        case .redirect(let target):
            return try followLoader(target, transfer, item, now: now)
        case .wait(let wait, let status):
            return try serverAsksToWait(wait, status: status, transfer, item, now: now)
        case .retry(let code):
            return try loaderFailed(item, LectureError(code, detail: host), isFinal: false, now: now)
        case .renewLease(let status):
            return try loaderRefused(.status(status), report, item, host: host, now: now)
        case .refuse(let code):
            return try loaderRefused(code, report, item, host: host, now: now)
        case .empty, .changed, .rangeBeyondEnd:
            return try loaderFailed(item, LectureError(.descriptorEmpty, detail: host), isFinal: true, now: now)
        }
    }

    private func followLoader(
        _ target: String, _ transfer: TransferWork, _ item: ItemWork, now: Timestamp
    ) throws -> String {
        do throws(LectureError) {
            item.loaderRedirect = try redirect(to: target, of: transfer)
            return "redirect"
        } catch {
            return try loaderFailed(item, error, isFinal: true, now: now)
        }
    }

    private func loaderRefused(
        _ code: LectureError.Code, _ report: TransferReport, _ item: ItemWork, host: String, now: Timestamp
    ) throws -> String {
        let body = report.outcome.end == .complete ? report.document : nil
        return try loaderFailed(item, GatewayRefusal.error(code, body: body, host: host), isFinal: true, now: now)
    }

    func loaderFailed(_ item: ItemWork, _ error: LectureError, isFinal: Bool, now: Timestamp) throws -> String {
        if isFinal {
            try end(item, item.machine.failed(error))
            return "failed"
        }
        return try tryAgain(nil, of: item, error, now: now)
    }

    /// A content that was taken for media turned out to be described by a gateway.
    func descriptorInsteadOfMedia(
        _ report: TransferReport, _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws -> String {
        guard report.outcome.end == .complete, let document = report.document else {
            return try tryAgain(resource, of: item, LectureError(.descriptorUnreadable), now: now)
        }
        try giveUpVersion(item)
        return try descriptorCame(document, item, host: "", now: now)
    }

    private func descriptorCame(
        _ document: [UInt8], _ item: ItemWork, host: String, now: Timestamp
    ) throws -> String {
        let descriptor: ContentDescriptor
        do throws(LectureError) {
            descriptor = try ContentDescriptor(document)
        } catch {
            try end(item, item.machine.failed(LectureError(error.code, detail: host, cause: error.cause)))
            return "failed"
        }
        if let code = descriptor.refusal {
            try end(item, item.machine.failed(LectureError(code, detail: host)))
            return "failed"
        }
        if try endsRefused(descriptor, item) { return "refused" }
        item.record.isGateway = true
        item.wantsLoader = false
        let wishes = descriptor.wishes(expecting: item.record)
        if let media = item.media {
            if describesSameBytes(wishes.first, media), !unbinds(descriptor.facts, item) {
                // Only new URLs were asked for; proven bytes stay.
                try replaceURLs(media, of: item, urls: descriptor.mediaURLs)
                if !item.record.isLoaded {
                    item.record.isLoaded = try index.setFacts(item.lease, descriptor.facts, now: now) == nil
                }
                try noteLicence(descriptor, of: item, key: item.record.content.key)
                try apply(item, item.machine.sourceKnown(), now: now)
                return "renewed"
            }
            try giveUpVersion(item)
        }
        if let other = try index.setFacts(item.lease, descriptor.facts, now: now) {
            try index.merge(item.lease, into: other)
            drop(item)
            try settle(on: other, wishes.first, now: now)
            return "merged"
        }
        try noteLicence(descriptor, of: item, key: descriptor.facts.key ?? item.record.content.key)
        item.record.isLoaded = true
        if let title = descriptor.facts.title { item.record.content.title = title }
        if let key = descriptor.facts.key { item.record.content.key = key }
        try beginVersion(item, wishes: wishes, now: now)
        try apply(item, item.machine.sourceKnown(), now: now)
        return "loaded"
    }

    /// A link turned out to lead to another content, which may be complete.
    private func settle(on other: ContentID, _ media: ResourceWish?, now: Timestamp) throws {
        guard let record = try index.item(other) else { return }
        guard let version = try index.completeVersion(other), record.content.state == .completed else {
            // A request for what is stopped starts it again, by whatever link it comes.
            _ = try index.setDesire(record.content.key, .fetch, now: now)
            return
        }
        let total = version.media.total
        let isOtherDigest = media?.expectedSHA256.map { $0 != version.media.sha256 } ?? false
        let isOtherLength = media?.expectedBytes.map { $0 != total } ?? false
        if isOtherLength || isOtherDigest && version.media.sha256 != nil {
            try index.supersede(other, by: .newerAtSource, now: now)
            notices.append(.changed(other))
            return
        }
        // A place for the bytes may have come with this link.
        try publish(other)
        notices.append(.alreadyComplete(other, unknownDigest: isOtherDigest ? media?.expectedSHA256 : nil))
    }

    /// Whether a descriptor that came later contradicts what is known of the media.
    private func describesSameBytes(_ wish: ResourceWish?, _ media: ResourceWork) -> Bool {
        let digest = wish?.expectedSHA256 ?? media.record.expectedSHA256
        let bytes = wish?.expectedBytes ?? media.record.expectedBytes
        return digest == media.record.expectedSHA256 && bytes == media.record.expectedBytes
    }

    /// Whether a content that has sealed files would get another key, to which they are not bound.
    private func unbinds(_ facts: ContentFacts, _ item: ItemWork) -> Bool {
        guard let key = facts.key, key != item.record.content.key, !item.record.isLoaded else { return false }
        return item.resources.contains { $0.cipher != nil || $0.record.seal != .plain }
    }

    // MARK: Versions

    func beginVersion(_ item: ItemWork, wishes: [ResourceWish], now: Timestamp) throws {
        let version = try index.beginVersion(item.lease, wishes: wishes, now: now)
        item.version = version
        item.resources = try index.resources(version).map { try resourceWork($0, item) }
    }

    /// A resource is not the one any more that was begun. One that may be missing is given up alone, since a picture
    /// must not cost a lecture its bytes.
    func changed(
        _ resource: ResourceWork, of item: ItemWork, because error: LectureError, now: Timestamp
    ) throws -> String {
        guard resource.record.role.isRequired else { return try resourceFailed(resource, of: item, error) }
        return try restart(item, because: error, now: now)
    }

    /// The bytes of the version being built are given up; its files go, a new version begins.
    func restart(_ item: ItemWork, because error: LectureError, now: Timestamp) throws -> String {
        item.restarts += 1
        guard item.restarts <= 3 else {
            try end(item, item.machine.failed(error), discarding: true)
            return "failed"
        }
        let wishes = item.resources.map { resource in
            var wish = ResourceWish(
                role: resource.record.role, name: resource.record.name,
                urls: resource.urls.filter { $0.state == .usable }.map(\.url))
            wish.expectedSHA256 = resource.record.expectedSHA256
            wish.expectedBytes = resource.record.expectedBytes
            return wish
        }
        // Over one connection all bytes come from one of them.
        if item.resources.contains(where: { $0.wasParallel }) { item.isUneven = true }
        let isGatewayTrusted = !item.resources.contains { $0.urls.contains { $0.state == .disagrees } }
        try giveUpVersion(item)
        if !(item.record.isGateway && isGatewayTrusted) { try beginVersion(item, wishes: wishes, now: now) }
        // Without a version the next `advance` asks the gateway, which may describe the new bytes.
        try apply(item, item.machine.restarted(), now: now)
        return "restart"
    }

    private func giveUpVersion(_ item: ItemWork) throws {
        guard let version = item.version else { return }
        for resource in item.resources { abandon(resource, deleting: true) }
        statistics.bytesReused -= item.reusedBytes
        item.reusedBytes = 0
        let paths = try index.discardVersion(item.lease, version)
        deleting.insert(version)
        delete(paths, for: .version(version))
        item.version = nil
        item.resources = []
        item.reportedBytes = 0
    }

    // MARK: Ending

    /// Stores what a machine's event asks for.
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

    /// Begins to end all work on an item. What was received is synced and committed first; then the machine's status
    /// is stored and the lease given back.
    func end(_ item: ItemWork, _ action: ItemMachine.Action, discarding: Bool = false) throws {
        guard action == .endWork, !item.isEnding else { return }
        item.isEnding = true
        item.discardsVersion = discarding
        var running = item.resources.flatMap { $0.sinks.keys.sorted { $0.value < $1.value } }
        if let loader = item.loader { running.append(loader) }
        effects.append { [ports] in for id in running { ports.transport.cancel(id) } }
        for resource in item.resources where !resource.isOpen {
            // Blocks wait for a part file to be opened, and with them the transport's thread; this one never will be.
            effects.append { [part = resource.part] in part.close(deleting: false) }
        }
        try finishEnding(item, now: ports.clock.now())
    }

    func finishEnding(_ item: ItemWork, now: Timestamp) throws {
        guard item.loader == nil, item.resources.allSatisfy({ $0.sinks.isEmpty }) else { return }
        for resource in item.resources where resource.isOpen && !resource.isClosing {
            resource.isClosing = true
            effects.append { [part = resource.part] in
                part.flush()
                part.close(deleting: false)
            }
        }
        guard item.resources.allSatisfy({ !$0.isOpen || $0.isClosed }) else { return }
        if item.discardsVersion { try giveUpVersion(item) }
        for resource in item.resources { try noteClean(resource, of: item) }
        item.machine.cameToRest(wanting: try index.item(item.id)?.desire ?? .fetch)
        try index.setStatus(item.lease, item.machine.status, now: now)
        try index.release(item.lease)
        for resource in item.resources { parts[resource.token] = nil }
        items[item.id] = nil
        wasPoked = true
        notices.append(.changed(item.id))
    }
}
