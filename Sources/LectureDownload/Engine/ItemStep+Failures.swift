import LectureEngine
import LectureModel

/// Handles failures, servers that ask to wait, and lost URLs.
extension ItemStep {
    // MARK: Waits

    /// A server's request to wait applies to all items, even if the item that received it has ended meanwhile.
    mutating func keepWait(_ origin: Origin, _ report: TransferReport) throws {
        guard case .wait(let wait?, _) = report.verdict else { return }
        try index.servers.setOrigin(shared.transfers.wait(origin, for: wait.delay, step), now: now)
    }

    /// A server asked to wait.
    mutating func serverAsksToWait(
        _ wait: RetryAfter?, status: Int, _ transfer: TransferWork
    ) throws -> Decision {
        let failures = try item.countFailure(transfer.resource, &shared, &step)
        var requested = RequestedWait(
            wait, status: status, host: transfer.origin.host, failures: failures, settings: settings)
        requested.isLoader = transfer.resource == nil
        requested.isOptional = transfer.resource.map { !item[$0].record.role.isRequired } ?? false
        requested.hasMirror = transfer.resource.map { canTurn($0, from: transfer.lease) } ?? false
        requested.othersRun = item.hasTransfers
        let ruling = requested.ruling(random: step.random)
        switch ruling {
        case .turnToMirror:
            if let resource = transfer.resource { item[resource].turnToMirror(from: transfer.lease, step) }
        case .hold(let pause): item.hold(transfer.resource, until: boot + pause)
        case .stop(let error, let pause):
            try stop(.serverWait, error, for: pause)
        case .failResource(let error):
            if let resource = transfer.resource { return try resourceFailed(resource, error) }
        case .failItem(let error): try end(item.machine.failed(error))
        }
        return ruling.decision
    }

    /// Whether another server can be used instead of one that fails or asks to wait.
    func canTurn(_ resource: PartToken, from lease: URLLeaseID?) -> Bool {
        item[resource].canTurn(from: lease, mayAsk: mayAsk)
    }

    // MARK: New URLs

    /// Where new URLs of the same bytes may be requested.
    var possibleRenewal: LostURL.Renewal {
        guard item.renewal.isAllowed else { return .none }
        return item.record.isGateway ? .gateway : step.store.hasResolver ? .resolver : .none
    }

    /// Requests new URLs of the same bytes.
    mutating func requestURLs(ofGateway isGateway: Bool) {
        item.renewal.began(isResolving: !isGateway)
        // The next `advance` opens the loader, for which resources wait.
        if isGateway { return item.loader.request() }
        let content = item.record.content
        step.effects.append(.resolve(item.id, key: content.key, sourceURL: content.sourceURL))
    }

    /// The application's resolver has answered.
    mutating func resolved(urls: [String], _ error: LectureError?) throws {
        item.forgetServer()
        item.renewal.answered()
        guard let media = item.media, !item.isEnding else { return }
        guard error == nil, !urls.isEmpty else {
            _ = try resourceFailed(media.token, error ?? LectureError(.status(403)))
            return
        }
        try item[media.token].replaceURLs(urls, step)
    }

    /// None of its URLs may be used.
    mutating func outOfURLs(_ resource: PartToken) throws {
        _ = try resourceFailed(resource, item.machine.status.error ?? LectureError(.status(404)))
    }
}
