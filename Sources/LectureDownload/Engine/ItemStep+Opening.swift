import LectureEngine
import LectureFormats
import LectureModel

/// Opens transfers, and tunes their number.
extension ItemStep {
    /// Opens what the item still needs. Idempotent.
    mutating func advance() throws {
        if item.isEnding { return try item.finishEnding(&shared, &step) }
        item.obstacle = .none
        if item.resources.isEmpty || item.loader.isWanted {
            if item.loader.isDue(boot) {
                try openLoader()
            }
            return
        }
        if item.renewal.isResolving { return }
        guard try mayFetch() else { return }
        try StreamActions.refill(&self)
        try CaptureActions.loadDue(&self)
        var isFull = StreamActions.isFull(item, settings)
        for (place, resource) in item.tokens.enumerated() {
            if item.resources.isOccupied(
                place, settings, isUneven: item.restarts.isUneven, isFull: isFull, at: boot)
            {
                continue
            }
            try advance(resource)
            // A new version has begun: its files are opened in the next step.
            if item.isEnding || !item.has(resource) { return }
            isFull = StreamActions.isFull(item, settings)
        }
        if try StreamActions.waitsForPlaylists(&self) { return }
        try item.completeIfWhole(&shared, &step)
    }

    private mutating func advance(_ resource: PartToken) throws {
        switch item[resource].machine.state {
        case .probing:
            // An optional resource waits for the media's length, so that totals do not jump.
            if item[resource].record.role != .media, item.isMediaProbing, !item.stream.isOpen { return }
            guard item[resource].sinks.isEmpty, !item[resource].attempts.isEarly(boot) else { return }
            if item[resource].record.role.isOfStream, !StreamActions.mayOpen(item, settings) { return }
            _ = try open(resource)
        case .fetching:
            try openPartIfNeeded(resource)
            if item.isEnding { return }
            if item[resource].book.isWhole { return try wholeIsCommitted(resource) }
            guard !item[resource].book.isReceived, !item[resource].attempts.isEarly(boot) else { return }
            if item[resource].record.role.isOfStream, item[resource].sinks.isEmpty,
                !StreamActions.mayOpen(item, settings)
            {
                return
            }
            while item[resource].sinks.count
                < item[resource].wantedConnections(settings, isUneven: item.restarts.isUneven)
            {
                guard try open(resource) else { break }
            }
        case .digesting, .checking, .inspecting, .finalizing, .finalized, .failed:
            return
        }
    }

    // MARK: Opening

    /// Whether the request's own header fields are readable. Without them the server would refuse, or send a page.
    ///
    /// - Returns: false when the item has ended, since another device has sealed them.
    private mutating func hasFields() throws -> Bool {
        guard item.record.headers.values.contains(where: SealedField.isSealed) else { return true }
        try end(item.machine.failed(LectureError(.headersSealed, detail: item.record.content.key.text)))
        return false
    }

    private mutating func openLoader() throws {
        guard try hasFields() else { return }
        let redirect = item.loader.redirect
        let url = redirect?.url ?? item.record.content.sourceURL
        let origin = try originOf(url)
        let allowsHTTP2 = shared.transfers.servers.usesHTTP2(origin)
        guard mayStart(origin, allowsHTTP2: allowsHTTP2) else {
            return try waitForOrigin(origin)
        }
        let id = step.newTransfer()
        var asked = Expectation()
        asked.role = .media
        asked.isFirstContact = true
        asked.acceptsPlaylist = true
        let sink = RangeSink(
            id: id, asked: asked, start: 0, border: nil, grid: RangeBook.grid(total: nil, isSealed: false),
            learnsGrid: true,
            committed: ChunkSet(), acceptsWholeBody: false, remainder: nil, part: nil, post: step.store.post)
        item.loader.started(id)
        var request = TransferRequest(id: id, url: url, sink: sink)
        request.headers = try redirect?.fields ?? item.record.requestFields(isFirstContact: true, to: nil)
        request.stallTimeout = settings.stallTimeout
        request.allowsHTTP2 = allowsHTTP2
        start(
            request, sink, resource: nil, lease: nil, origin: origin, route: redirect?.route, from: 0,
            count: nil)
    }

    /// Opens one more transfer of a resource; returns whether it did.
    private mutating func open(_ resource: PartToken) throws -> Bool {
        guard try hasFields() else { return false }
        guard let choice = item[resource].pickURL(shared.transfers, mayAsk: mayAsk) else {
            if item[resource].sinks.isEmpty { try outOfURLs(resource) }
            return false
        }
        if try endsUnasked(resource, url: choice.url) { return false }
        let origin = try originOf(choice.url)
        let allowsHTTP2 =
            item[resource].record.allowsHTTP2(settings) && shared.transfers.servers.usesHTTP2(origin)
        guard mayStart(origin, allowsHTTP2: allowsHTTP2) else {
            if !item.hasTransfers { try waitForOrigin(origin) }
            return false
        }
        if let error = try item[resource].decideSeal(for: item.record, step) {
            try end(item.machine.failed(error))
            return false
        }
        if item[resource].startsOver(settings) {
            // The next step starts over.
            _ = try changed(resource, because: LectureError(.resumeUnsafe))
            return false
        }
        let id = step.newTransfer()
        let isFirstContact =
            item[resource].machine.isProbing && item[resource].record.role == .media && !item.record.isGateway
        guard
            let opened = try item[resource].open(
                id, from: choice, isFirstContact: isFirstContact, settings, &step)
        else { return false }
        let plan = opened.plan
        var request = TransferRequest(id: id, url: choice.url, sink: opened.sink)
        (request.range, request.ifRange) = (plan.range, plan.ifRange)
        request.headers =
            try opened.redirect?.fields ?? item.record.requestFields(isFirstContact: isFirstContact, to: origin)
        request.rateLimit = settings.rateLimitPerItem
        request.stallTimeout = settings.stallTimeout
        request.allowsHTTP2 = allowsHTTP2
        request.subject = subject(of: resource)
        start(
            request, opened.sink, resource: resource, lease: opened.lease, origin: origin,
            route: opened.redirect?.route, from: plan.start, count: plan.border.map { $0 - plan.start })
        return true
    }

    /// What other stores are asked for. Only the media: everything that says what a lecture is comes from its server.
    private func subject(of resource: PartToken) -> TransferSubject? {
        let file = item[resource]
        guard file.record.role == .media, !file.record.isPlaylist else { return nil }
        return TransferSubject(
            key: item.record.content.key, sha256: file.dueSHA256, total: file.record.total,
            wasDiscarded: item.restarts.count > 0)
    }

    /// Ends an item whose URL or size already shows that its media cannot be kept, without a request.
    ///
    /// - Returns: whether it has ended.
    private mutating func endsUnasked(
        _ resource: PartToken, url: String
    ) throws -> Bool {
        guard item[resource].record.role == .media, item[resource].machine.isProbing else { return false }
        let listed = item.record.expectedBytes.flatMap { UInt64(exactly: $0) }
        guard let bytes = item[resource].record.expectedBytes ?? listed,
            let code = try item[resource].space(settings, step)?.refusal(bytes)
        else {
            return false
        }
        try stopForSpace(code)
        return true
    }

    private mutating func start(
        _ request: TransferRequest, _ sink: RangeSink, resource: PartToken?, lease: URLLeaseID?,
        origin: Origin, route: Route?, from start: UInt64, count: UInt64?
    ) {
        shared.transfers.started(
            TransferWork(
                request, claim: item.lease, resource: resource, sink: sink, lease: lease, origin: origin,
                route: route ?? Route(fields: request.headers, origin: origin),
                span: TransferSpan(
                    start: start, count: count, receivedBefore: resource.map { item[$0].book.receivedBytes } ?? 0),
                step))
        step.effects.append(.transfer(.start(request)))
    }

    func originOf(_ url: String) throws -> Origin { try Origin(url: url) }

    // MARK: Servers

    /// Whether one more transfer may start at a server; if not, the item is blocked.
    private mutating func mayStart(_ origin: Origin, allowsHTTP2: Bool) -> Bool {
        let server = Server(origin: origin, carrier: allowsHTTP2 ? .stream : .connection)
        // While it waited for the server, others were claimed in its place.
        let isJob = shared.items.jobCount < settings.jobs
        guard item.hasTransfers || isJob || shared.mayStartBesideJobs(item, at: origin) else {
            item.obstacle = .busy(server)
            return false
        }
        switch shared.transfers.admission(server, &step) {
        case .yes:
            if !item.hasTransfers { item.place.isBesideJobs = !isJob }
            return true
        case .busy: item.obstacle = .busy(server)
        case .later, .waiting, .broken: item.obstacle = .other
        }
        return false
    }

    /// Whether a URL's server does not ask to wait.
    func mayAsk(_ url: String) -> Bool {
        guard let origin = try? originOf(url) else { return false }
        return shared.transfers.wait(of: origin, step) == nil
    }

    /// The server asked to wait: a short wait keeps the item's job slot, a long one frees it.
    private mutating func waitForOrigin(_ origin: Origin) throws {
        guard let left = shared.transfers.wait(of: origin, step), left > settings.longestHeldWait else { return }
        try stop(.serverWait, LectureError(.serverWait, detail: origin.host), for: left)
    }

    // MARK: Speeds

    /// Lets the trials open or close connections, and replaces hopelessly slow ones.
    mutating func tuneConnections() {
        for resource in item.tokens where item[resource].machine.isFetching {
            tryConnections(resource)
            if let slow = shared.transfers.slow(among: item[resource].running, at: boot) { step.cancel([slow]) }
        }
    }

    private mutating func tryConnections(_ resource: PartToken) {
        let (file, transfers) = (item[resource], shared.transfers)
        guard file.record.mayTryConnections(settings) else { return }
        guard let origin = file.running.first.flatMap({ transfers[$0]?.origin }) else { return }
        let reading = RangeTrial.Reading(
            bytes: UInt64(clamping: file.receivedBytes), diskTime: step.store.files.blockedTime)
        let result = item[resource].connections.measure(
            running: file.sinks.count, reading,
            missing: { file.book.missingBytes(position: file.position) }, limit: settings.connectionsLimit,
            known: transfers.servers.trial(of: origin, at: boot),
            delivers: { file.position($0) > transfers[$0]?.span.start ?? .max }, at: boot)
        if result.closesNewest, let newest = file.running.last { step.cancel([newest]) }
        if let outcome = result.outcome { shared.transfers.servers.remember(outcome, for: origin, at: boot) }
    }
}
