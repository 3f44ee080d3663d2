import LectureEngine
import LectureFormats
import LectureModel

/// Opens transfers, and tunes their number.
extension ItemStep {
    /// Opens what the item still needs. Idempotent.
    mutating func advance() throws {
        if item.isEnding { return try finishEnding() }
        item.isBlocked = false
        if item.resources.isEmpty || item.loader.isWanted {
            if item.loader.isDue(boot) {
                try openLoader()
            }
            return
        }
        if item.renewal.isResolving { return }
        guard try mayFetch() else { return }
        for resource in item.tokens {
            try advance(resource)
            // A new version has begun: its files are opened in the next step.
            if item.isEnding || !item.has(resource) { return }
        }
        try completeIfWhole()
    }

    private mutating func advance(_ resource: PartToken) throws {
        switch item[resource].machine.state {
        case .probing:
            // An optional resource waits for the media's length, so that totals do not jump.
            if item[resource].record.role != .media, item.media?.machine.isProbing == true { return }
            if item[resource].sinks.isEmpty, !item[resource].attempts.isEarly(boot) {
                _ = try open(resource)
            }
        case .fetching:
            try openPartIfNeeded(resource)
            if item.isEnding { return }
            if item[resource].book.isWhole { return try wholeIsCommitted(resource) }
            guard !item[resource].book.isReceived, !item[resource].attempts.isEarly(boot) else { return }
            while item[resource].sinks.count < wantedConnections(resource) {
                guard try open(resource) else { break }
            }
        case .digesting, .checking, .finalizing, .finalized, .failed:
            return
        }
    }

    private func wantedConnections(_ resource: PartToken) -> Int {
        guard item[resource].record.acceptsRanges, item[resource].record.total != nil, !item.restarts.isUneven,
            canCombine(resource)
        else { return 1 }
        // With its own rate limit a file gains nothing from more connections.
        if settings.rateLimitPerItem != nil { return 1 }
        return item[resource].connections.wanted(fixed: settings.connections, limit: settings.connectionsLimit)
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
        guard mayStart(origin) else {
            return try waitForOrigin(origin)
        }
        let id = step.newTransfer()
        var asked = Expectation()
        asked.role = .media
        asked.isFirstContact = true
        let sink = RangeSink(
            id: id, asked: asked, start: 0, border: nil, grid: RangeBook.grid(total: nil, isSealed: false),
            learnsGrid: true,
            committed: ChunkSet(), acceptsWholeBody: false, remainder: nil, part: nil, post: step.store.post)
        item.loader.started(id)
        var request = TransferRequest(id: id, url: url, sink: sink)
        request.headers = try redirect?.fields ?? requestHeaders(isFirstContact: true)
        request.stallTimeout = settings.stallTimeout
        request.allowsHTTP2 = shared.transfers.governor.usesHTTP2(origin)
        start(
            request, sink, resource: nil, lease: nil, origin: origin, route: redirect?.route, from: 0,
            count: nil)
    }

    /// Opens one more transfer of a resource; returns whether it did.
    private mutating func open(_ resource: PartToken) throws -> Bool {
        guard try hasFields() else { return false }
        guard let choice = pickURL(resource) else {
            if item[resource].sinks.isEmpty { try outOfURLs(resource) }
            return false
        }
        if try endsUnasked(resource, url: choice.url) { return false }
        let origin = try originOf(choice.url)
        guard mayStart(origin) else {
            if !item.hasTransfers { try waitForOrigin(origin) }
            return false
        }
        if let error = try item[resource].decideSeal(for: item.record, step) {
            try end(item.machine.failed(error))
            return false
        }
        if try startsOver(resource) { return false }
        let id = step.newTransfer()
        guard var assignment = item[resource].take(id) else { return false }
        if item[resource].connections.avoidsRanges {
            item[resource].chunks.book.restart(id)
            assignment = item[resource].book.assignments[id] ?? assignment
            abandonRemainders(resource, inside: assignment)
        }
        let turn = item[resource].sources.turn
        let lease = turn == nil ? choice.lease : turn?.lease
        item[resource].sources.opened(lease)
        let remainder = item[resource].chunks.takeRemainder(of: assignment.first)
        abandonRemainders(resource, inside: assignment)
        // Bytes that are durable but uncommitted for lack of a length are fetched and written again.
        _ = item[resource].chunks.takeUnsized()
        let asks = try plan(
            assignment, remainder, resource, lease: lease, isFirstContact: isFirstContact(resource))
        let sink = RangeSink(
            id: id, asked: asks.expectation, start: asks.start, border: asks.border,
            grid: item[resource].book.grid, learnsGrid: item[resource].machine.isProbing,
            committed: item[resource].book.committed,
            acceptsWholeBody: item[resource].sinks.isEmpty, remainder: remainder, part: item[resource].part,
            post: step.store.post)
        item[resource].sinks[id] = sink
        var request = TransferRequest(id: id, url: choice.url, sink: sink)
        request.range = asks.range
        request.ifRange = asks.ifRange
        request.headers =
            try turn?.redirect.fields
            ?? requestHeaders(isFirstContact: asks.expectation.isFirstContact, to: origin)
        request.rateLimit = settings.rateLimitPerItem
        request.stallTimeout = settings.stallTimeout
        let size = item[resource].record.total ?? item[resource].record.expectedBytes
        request.allowsHTTP2 = (size ?? 0) < settings.largeObjectBytes && shared.transfers.governor.usesHTTP2(origin)
        item[resource].connections.opened(id, running: item[resource].sinks.count)
        start(
            request, sink, resource: resource, lease: lease, origin: origin, route: turn?.redirect.route,
            from: asks.start, count: asks.border.map { $0 - asks.start })
        return true
    }

    /// Ends an item whose URL or size already shows that its media cannot be kept, without a request.
    ///
    /// - Returns: whether it has ended.
    private mutating func endsUnasked(
        _ resource: PartToken, url: String
    ) throws -> Bool {
        guard item[resource].record.role == .media, item[resource].machine.isProbing else { return false }
        if Self.isPlaylist(url) {
            try end(item.machine.failed(LectureError(.playlistUnsupported)))
            return true
        }
        let listed = item.record.expectedBytes.flatMap { UInt64(exactly: $0) }
        guard let bytes = item[resource].record.expectedBytes ?? listed,
            let code = try space(for: resource)?.refusal(bytes)
        else {
            return false
        }
        try stopForSpace(code)
        return true
    }

    /// Whether bytes of several answers may be combined: a validator or a digest shows that they belong to one version,
    /// or the user trusts the length.
    private func canCombine(_ resource: PartToken) -> Bool {
        settings.canResume(item[resource].record) || item[resource].evidence.announcedSHA256 != nil
    }

    /// Discards received bytes that cannot be resumed. Without a validator or a known digest, the file may have changed
    /// since, and the halves of two versions would be joined unnoticed (RFC 9110 section 13.1.5).
    ///
    /// - Returns: whether they were discarded; the next step starts over.
    private mutating func startsOver(_ resource: PartToken) throws -> Bool {
        guard item[resource].machine.isFetching, item[resource].sinks.isEmpty, !canCombine(resource),
            item[resource].chunks.hasBytes
        else { return false }
        _ = try changed(resource, because: LectureError(.resumeUnsafe))
        return true
    }

    private func isFirstContact(_ resource: PartToken) -> Bool {
        item[resource].machine.isProbing && item[resource].record.role == .media && !item.record.isGateway
    }

    /// Whether a URL names a playlist, whatever media type its server gives it.
    private static func isPlaylist(_ url: String) -> Bool {
        guard let parts = try? URLParts(url) else { return false }
        let name = FieldText.lowercased(parts.lastPathPart)
        return name.hasSuffix(".m3u8") || name.hasSuffix(".mpd")
    }

    private mutating func start(
        _ request: TransferRequest, _ sink: RangeSink, resource: PartToken?, lease: URLLeaseID?,
        origin: Origin, route: Route?, from start: UInt64, count: UInt64?
    ) {
        shared.transfers.started(
            TransferWork(
                id: request.id, claim: item.lease, resource: resource, sink: sink, lease: lease, origin: origin,
                route: route ?? Route(fields: request.headers, origin: origin),
                span: TransferSpan(
                    start: start, count: count, receivedBefore: resource.map { item[$0].book.receivedBytes } ?? 0),
                startedAt: now, startedBoot: boot, speed: TransferSpeed(position: start, at: boot),
                usesHTTP2: request.allowsHTTP2))
        step.effects.append(.transfer(.start(request)))
    }

    /// What one transfer requests, and what its answer is checked against.
    private func plan(
        _ assignment: RangeBook.Assignment, _ remainder: ChunkRemainder?, _ resource: PartToken, lease: URLLeaseID?,
        isFirstContact: Bool
    ) throws -> (start: UInt64, border: UInt64?, range: RangeRequest?, ifRange: String?, expectation: Expectation) {
        let total = item[resource].record.total
        let start = remainder?.offset ?? item[resource].book.grid.start(of: assignment.first)
        var border: UInt64?
        if let end = assignment.end, let total { border = min(total, item[resource].book.grid.start(of: end)) }
        var range: RangeRequest?
        if start > 0 || (border != nil && border != total) {
            range = border.flatMap { ByteRange(start: start, end: $0) }.map(RangeRequest.closed) ?? .from(start)
        }
        // A validator is meaningful only to the server it came from; with a known digest mirrors may differ in it.
        let owns = item[resource].sources.owns(lease)
        var asked = Expectation()
        asked.role = item[resource].record.role
        asked.range = range
        asked.total = total ?? item[resource].record.expectedBytes
        asked.validator = owns && !item[resource].machine.isProbing ? item[resource].validator : nil
        asked.digestIsKnown = item[resource].digestIsKnown
        asked.maximumBytes = item[resource].record.expectedBytes
        asked.isFirstContact = isFirstContact
        asked.checksFirstBytes = !settings.acceptsAny && !item[resource].isRepair
        asked.space = try space(for: resource)
        // After the validator has changed under a known digest, If-Range would only return the whole, not the range.
        let isConditional = range != nil && owns && !item[resource].evidence.validatorWasChanged
        let ifRange = isConditional ? item[resource].validator.ifRangeValue : nil
        asked.sentIfRange = ifRange != nil
        return (start, border, range, ifRange, asked)
    }

    private mutating func abandonRemainders(_ resource: PartToken, inside assignment: RangeBook.Assignment) {
        for stream in item[resource].chunks.takeStreams(inside: assignment) {
            item[resource].command(.abandon(stream), &step)
        }
    }

    private func requestHeaders(
        isFirstContact: Bool, to origin: Origin? = nil
    ) throws -> HeaderFields {
        var fields = HeaderFields()
        let accept = isFirstContact ? "\(ContentDescriptor.mediaType), */*;q=0.8" : "*/*"
        fields.append(HeaderField(name: "Accept", value: accept))
        // Headers of the request belong to the source's own server and to no other.
        let home = try originOf(item.record.content.sourceURL)
        guard origin == nil || origin == home else { return fields }
        for (name, value) in item.record.headers.sorted(by: { $0.key < $1.key }) {
            fields.append(HeaderField(name: name, value: value))
        }
        return fields
    }

    func originOf(_ url: String) throws -> Origin { try Origin(url: url) }

    // MARK: Servers

    /// Whether one more transfer may start at a server; if not, the item is blocked.
    private mutating func mayStart(_ origin: Origin) -> Bool {
        if shared.transfers.mayStart(origin, step) { return true }
        item.isBlocked = true
        return false
    }

    /// The server asked to wait: a short wait keeps the item's job slot, a long one frees it.
    private mutating func waitForOrigin(_ origin: Origin) throws {
        guard case .waiting(let until) = shared.transfers.governor.mayStart(origin, at: boot),
            until - boot > settings.longestHeldWait
        else { return }
        let left = until - boot
        let error = LectureError(.serverWait, detail: origin.host)
        try end(item.machine.stopped(.serverWait, error: error, until: now + left, now: now))
    }

    // MARK: Speeds

    /// Lets the trials open or close connections, and replaces hopelessly slow ones.
    mutating func tuneConnections() {
        for resource in item.tokens where item[resource].machine.isFetching {
            tryConnections(resource)
            replaceSlow(resource)
        }
    }

    private mutating func tryConnections(_ resource: PartToken) {
        let (file, transfers) = (item[resource], shared.transfers)
        guard settings.connections == nil, file.record.acceptsRanges, file.record.total != nil, !file.sinks.isEmpty
        else { return }
        guard let origin = file.running.first.flatMap({ transfers[$0]?.origin }) else { return }
        let result = item[resource].connections.measure(
            running: file.sinks.count, received: UInt64(clamping: file.receivedBytes),
            missing: { file.book.missingBytes(position: file.position) }, limit: settings.connectionsLimit,
            known: transfers.governor.trial(of: origin, at: boot),
            delivers: { file.position($0) > transfers[$0]?.span.start ?? .max }, at: boot)
        if result.closesNewest, let newest = file.running.last { step.cancel([newest]) }
        if let outcome = result.outcome { shared.transfers.governor.remember(outcome, for: origin, at: boot) }
    }

    /// Replaces a connection that is ten seconds old and slower than a quarter of the others' mean speed.
    private mutating func replaceSlow(_ resource: PartToken) {
        guard item[resource].sinks.count > 1 else { return }
        let running = item[resource].running.compactMap { shared.transfers[$0] }
        for transfer in running where boot - transfer.startedBoot > .seconds(10) {
            let others = running.filter { $0.id != transfer.id }
            let mean = others.reduce(0) { $0 + $1.speed.bytesPerSecond } / Double(max(1, others.count))
            guard transfer.speed.bytesPerSecond * 4 < mean else { continue }
            step.cancel([transfer.id])
            return
        }
    }
}
