import LectureModel

/// Opens transfers, records how they ended and measures their speed.
extension DownloadEngine {
    /// Opens what the item still needs. Idempotent.
    func advance(_ item: ItemWork, now: Timestamp, boot: BootInstant) throws {
        if item.isEnding { return try finishEnding(item, now: now) }
        item.isBlocked = false
        if item.resources.isEmpty || item.loader.isWanted {
            if item.loader.isDue(boot) {
                try openLoader(item, now: now, boot: boot)
            }
            return
        }
        if item.renewal.isResolving { return }
        guard try mayFetch(item, boot: boot) else { return }
        for resource in item.resources {
            try advance(resource, of: item, now: now, boot: boot)
            if item.isEnding { return }
        }
        try completeIfWhole(item, now: now)
    }

    private func advance(_ resource: ResourceWork, of item: ItemWork, now: Timestamp, boot: BootInstant) throws {
        switch resource.machine.state {
        case .probing:
            // An optional resource waits for the media's length, so that totals do not jump.
            if resource.record.role != .media, item.media?.machine.isProbing == true { return }
            if resource.sinks.isEmpty, !resource.attempts.isEarly(boot) {
                _ = try open(resource, of: item, now: now, boot: boot)
            }
        case .fetching:
            try openPartIfNeeded(resource, of: item)
            if item.isEnding { return }
            if resource.book.isWhole { return try wholeIsCommitted(resource, of: item, now: now) }
            guard !resource.book.isReceived, !resource.attempts.isEarly(boot) else { return }
            while resource.sinks.count < wantedConnections(resource, of: item) {
                guard try open(resource, of: item, now: now, boot: boot) else { break }
            }
        case .digesting, .checking, .finalizing, .finalized, .failed:
            return
        }
    }

    private func wantedConnections(_ resource: ResourceWork, of item: ItemWork) -> Int {
        guard resource.record.acceptsRanges, resource.record.total != nil, !item.restarts.isUneven,
            canCombine(resource)
        else { return 1 }
        // With its own rate limit a file gains nothing from more connections.
        if settings.rateLimitPerItem != nil { return 1 }
        return resource.connections.wanted(fixed: settings.connections, limit: settings.connectionsLimit)
    }

    // MARK: Opening

    private func openLoader(_ item: ItemWork, now: Timestamp, boot: BootInstant) throws {
        guard try hasFields(item) else { return }
        let redirect = item.loader.redirect
        let url = redirect?.url ?? item.record.content.sourceURL
        let origin = try originOf(url)
        guard mayStart(origin, item: item, now: now, boot: boot) else {
            return try waitForOrigin(origin, item, now: now)
        }
        let id = TransferID(newID())
        var asked = Expectation()
        asked.role = .media
        asked.isFirstContact = true
        let sink = RangeSink(
            id: id, asked: asked, start: 0, border: nil, grid: RangeBook.grid(total: nil, isSealed: false),
            learnsGrid: true,
            committed: ChunkSet(), acceptsWholeBody: false, remainder: nil, part: nil, post: poster())
        item.loader.started(id)
        var request = TransferRequest(id: id, url: url, sink: sink)
        request.headers = try redirect?.fields ?? requestHeaders(item, isFirstContact: true)
        request.stallTimeout = settings.stallTimeout
        request.allowsHTTP2 = governor.usesHTTP2(origin)
        start(
            request, sink, item: item, resource: nil, lease: nil, origin: origin, route: redirect?.route, from: 0,
            count: nil, now: now, boot: boot)
    }

    /// Opens one more transfer of a resource; returns whether it did.
    private func open(_ resource: ResourceWork, of item: ItemWork, now: Timestamp, boot: BootInstant) throws -> Bool {
        guard try hasFields(item) else { return false }
        guard let choice = pickURL(resource, boot) else {
            if resource.sinks.isEmpty { try outOfURLs(resource, of: item, now: now) }
            return false
        }
        if try endsUnasked(resource, of: item, url: choice.url, now: now) { return false }
        let origin = try originOf(choice.url)
        guard mayStart(origin, item: item, now: now, boot: boot) else {
            if !item.hasTransfers { try waitForOrigin(origin, item, now: now) }
            return false
        }
        guard try decideSeal(resource, of: item), try !startsOver(resource, of: item, now: now) else { return false }
        let id = TransferID(newID())
        guard var assignment = resource.take(id) else { return false }
        if resource.connections.avoidsRanges {
            resource.chunks.book.restart(id)
            assignment = resource.book.assignments[id] ?? assignment
            abandonRemainders(resource, inside: assignment)
        }
        let turn = resource.sources.turn
        let lease = turn == nil ? choice.lease : turn?.lease
        resource.sources.opened(lease)
        let remainder = resource.chunks.takeRemainder(of: assignment.first)
        abandonRemainders(resource, inside: assignment)
        // Bytes that are durable but uncommitted for lack of a length are fetched and written again.
        _ = resource.chunks.takeUnsized()
        let asks = try plan(
            assignment, remainder, resource, lease: lease, isFirstContact: isFirstContact(resource, item))
        let sink = RangeSink(
            id: id, asked: asks.expectation, start: asks.start, border: asks.border,
            grid: resource.book.grid, learnsGrid: resource.machine.isProbing, committed: resource.book.committed,
            acceptsWholeBody: resource.sinks.isEmpty, remainder: remainder, part: resource.part, post: poster())
        resource.sinks[id] = sink
        var request = TransferRequest(id: id, url: choice.url, sink: sink)
        request.range = asks.range
        request.ifRange = asks.ifRange
        request.headers =
            try turn?.redirect.fields
            ?? requestHeaders(item, isFirstContact: asks.expectation.isFirstContact, to: origin)
        request.rateLimit = settings.rateLimitPerItem
        request.stallTimeout = settings.stallTimeout
        let size = resource.record.total ?? resource.record.expectedBytes
        request.allowsHTTP2 = (size ?? 0) < settings.largeObjectBytes && governor.usesHTTP2(origin)
        resource.connections.opened(id, running: resource.sinks.count)
        start(
            request, sink, item: item, resource: resource, lease: lease, origin: origin, route: turn?.redirect.route,
            from: asks.start, count: asks.border.map { $0 - asks.start }, now: now, boot: boot)
        return true
    }

    /// Ends an item whose URL or size already shows that its media cannot be kept, without a request.
    ///
    /// - Returns: whether it has ended.
    private func endsUnasked(
        _ resource: ResourceWork, of item: ItemWork, url: String, now: Timestamp
    ) throws -> Bool {
        guard resource.record.role == .media, resource.machine.isProbing else { return false }
        if Self.isPlaylist(url) {
            try end(item, item.machine.failed(LectureError(.playlistUnsupported)))
            return true
        }
        let listed = item.record.expectedBytes.flatMap { UInt64(exactly: $0) }
        guard let bytes = resource.record.expectedBytes ?? listed, let code = try space(for: resource)?.refusal(bytes)
        else {
            return false
        }
        try stopForSpace(item, code, now: now)
        return true
    }

    /// Whether bytes of several answers may be combined: a validator or a digest shows that they belong to one version,
    /// or the user trusts the length.
    private func canCombine(_ resource: ResourceWork) -> Bool {
        canResume(resource.record) || resource.evidence.announcedSHA256 != nil
    }

    /// Discards received bytes that cannot be resumed. Without a validator or a known digest, the file may have changed
    /// since, and the halves of two versions would be joined unnoticed (RFC 9110 section 13.1.5).
    ///
    /// - Returns: whether they were discarded; the next step starts over.
    private func startsOver(_ resource: ResourceWork, of item: ItemWork, now: Timestamp) throws -> Bool {
        guard resource.machine.isFetching, resource.sinks.isEmpty, !canCombine(resource), resource.chunks.hasBytes
        else { return false }
        _ = try changed(resource, of: item, because: LectureError(.resumeUnsafe), now: now)
        return true
    }

    private func isFirstContact(_ resource: ResourceWork, _ item: ItemWork) -> Bool {
        resource.machine.isProbing && resource.record.role == .media && !item.record.isGateway
    }

    /// Whether a URL names a playlist, whatever media type its server gives it.
    private static func isPlaylist(_ url: String) -> Bool {
        guard let parts = try? URLParts(url) else { return false }
        let name = FieldText.lowercased(parts.lastPathPart)
        return name.hasSuffix(".m3u8") || name.hasSuffix(".mpd")
    }

    private func start(
        _ request: TransferRequest, _ sink: RangeSink, item: ItemWork, resource: ResourceWork?, lease: URLLeaseID?,
        origin: Origin, route: Route?, from start: UInt64, count: UInt64?, now: Timestamp, boot: BootInstant
    ) {
        transfers[request.id] = TransferWork(
            id: request.id, item: item, resource: resource, isLoader: resource == nil, sink: sink, lease: lease,
            origin: origin, route: route ?? Route(fields: request.headers, origin: origin),
            span: TransferSpan(start: start, count: count, receivedBefore: resource?.book.receivedBytes ?? 0),
            startedAt: now, startedBoot: boot, speed: TransferSpeed(position: start, at: boot),
            usesHTTP2: request.allowsHTTP2)
        started.append(request.id)
        governor.started(origin)
        effects.append(.transfer(.start(request)))
    }

    /// What one transfer requests, and what its answer is checked against.
    private func plan(
        _ assignment: RangeBook.Assignment, _ remainder: ChunkRemainder?, _ resource: ResourceWork, lease: URLLeaseID?,
        isFirstContact: Bool
    ) throws -> (start: UInt64, border: UInt64?, range: RangeRequest?, ifRange: String?, expectation: Expectation) {
        let total = resource.record.total
        let start = remainder?.offset ?? resource.book.grid.start(of: assignment.first)
        var border: UInt64?
        if let end = assignment.end, let total { border = min(total, resource.book.grid.start(of: end)) }
        var range: RangeRequest?
        if start > 0 || (border != nil && border != total) {
            range = border.flatMap { ByteRange(start: start, end: $0) }.map(RangeRequest.closed) ?? .from(start)
        }
        // A validator is meaningful only to the server it came from; with a known digest mirrors may differ in it.
        let owns = resource.sources.owns(lease)
        var asked = Expectation()
        asked.role = resource.record.role
        asked.range = range
        asked.total = total ?? resource.record.expectedBytes
        asked.validator = owns && !resource.machine.isProbing ? resource.validator : nil
        asked.digestIsKnown = resource.digestIsKnown
        asked.maximumBytes = resource.record.expectedBytes
        asked.isFirstContact = isFirstContact
        asked.checksFirstBytes = !settings.acceptsAny && !resource.isRepair
        asked.space = try space(for: resource)
        // After the validator has changed under a known digest, If-Range would only return the whole, not the range.
        let isConditional = range != nil && owns && !resource.evidence.validatorWasChanged
        let ifRange = isConditional ? resource.validator.ifRangeValue : nil
        asked.sentIfRange = ifRange != nil
        return (start, border, range, ifRange, asked)
    }

    private func abandonRemainders(_ resource: ResourceWork, inside assignment: RangeBook.Assignment) {
        for stream in resource.chunks.takeStreams(inside: assignment) { command(resource, .abandon(stream)) }
    }

    private func requestHeaders(
        _ item: ItemWork, isFirstContact: Bool, to origin: Origin? = nil
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

    private func mayStart(_ origin: Origin, item: ItemWork, now: Timestamp, boot: BootInstant) -> Bool {
        if knownOrigins.insert(origin).inserted, let stored = (try? index.origin(origin.text)) ?? nil {
            // Waits survive a restart, and a wall clock that was set back during the wait.
            let due = stored.waitUntil.map { RetryWait(setAt: stored.waitSet ?? now, due: $0) }
            let left = due?.remaining(at: now) ?? .zero
            governor.restore(
                OriginGovernor.Stored(
                    origin: origin, limit: stored.limit, waitUntil: left > .zero ? now + left : nil),
                at: boot, wall: now)
        }
        switch governor.mayStart(origin, at: boot) {
        case .yes: return true
        case .waiting, .originBusy, .hostBusy, .totalBusy:
            item.isBlocked = true
            return false
        }
    }

    /// The server asked to wait: a short wait keeps the item's job slot, a long one frees it.
    private func waitForOrigin(_ origin: Origin, _ item: ItemWork, now: Timestamp) throws {
        let boot = ports.clock.boot()
        guard case .waiting(let until) = governor.mayStart(origin, at: boot), until - boot > settings.longestHeldWait
        else { return }
        let left = until - boot
        let error = LectureError(.serverWait, detail: origin.host)
        try end(item, item.machine.stopped(.serverWait, error: error, until: now + left, now: now))
    }

    /// Reports to the governor how a transfer ended.
    func recordEnd(of transfer: TransferWork, _ report: TransferReport) {
        transfer.resource?.sinks[transfer.id] = nil
        transfer.item?.loader.ended(transfer.id)
        if let lease = transfer.lease {
            let (bytes, elapsed) = (report.outcome.bodyBytes, report.outcome.elapsed)
            transfer.resource?.sources.measured(lease, bytes: bytes, in: elapsed)
        }
        governor.ended(transfer.origin, governorOutcome(report))
        recordHTTP2(of: transfer, report)
    }

    /// One broken stream is an accident; a server where it happens repeatedly is used over HTTP/1.1.
    private func recordHTTP2(of transfer: TransferWork, _ report: TransferReport) {
        guard transfer.usesHTTP2 else { return }
        if report.verdict == .retry(ResponseJudge.unframed) { return governor.http2Failed(at: transfer.origin) }
        guard case .failed(let curl, _) = report.outcome.end, RetryTable.mayBeHTTP2(transfer: curl) else {
            if report.outcome.end == .complete { http2Failures[transfer.origin] = nil }
            return
        }
        http2Failures[transfer.origin, default: 0] += 1
        if http2Failures[transfer.origin, default: 0] >= 3 { governor.http2Failed(at: transfer.origin) }
    }

    private func governorOutcome(_ report: TransferReport) -> OriginGovernor.Outcome {
        if case .wait = report.verdict { return .overloaded }
        if case .failed(let curl, _) = report.outcome.end { return curl == 7 ? .overloaded : .other }
        return report.verdict?.mediaPlan != nil && report.outcome.end != .cancelled ? .served : .other
    }

    // MARK: Speeds

    /// Measures each transfer, lets the trial open or close connections, replaces hopelessly slow ones.
    func measureSpeeds(boot: BootInstant) {
        for id in transfers.keys.sorted(by: { $0.value < $1.value }) {
            guard let resource = transfers[id]?.resource else { continue }
            transfers[id]?.speed.measure(resource.position(id), at: boot)
        }
        for item in inOrder where !item.isEnding {
            for resource in item.resources where resource.machine.isFetching {
                tryConnections(resource, of: item, boot: boot)
                replaceSlow(resource, boot: boot)
            }
        }
    }

    private func tryConnections(_ resource: ResourceWork, of item: ItemWork, boot: BootInstant) {
        guard settings.connections == nil, resource.record.acceptsRanges, resource.record.total != nil,
            !resource.sinks.isEmpty
        else { return }
        guard let origin = resource.running.first.flatMap({ transfers[$0]?.origin }) else { return }
        let result = resource.connections.measure(
            running: resource.sinks.count, received: UInt64(clamping: resource.receivedBytes),
            missing: { resource.book.missingBytes(position: resource.position) }, limit: settings.connectionsLimit,
            known: governor.trial(of: origin, at: boot),
            delivers: { resource.position($0) > transfers[$0]?.span.start ?? .max }, at: boot)
        if result.closesNewest, let newest = resource.running.last { cancel([newest]) }
        if let outcome = result.outcome { governor.remember(outcome, for: origin, at: boot) }
    }

    /// Replaces a connection that is ten seconds old and slower than a quarter of the others' mean speed.
    private func replaceSlow(_ resource: ResourceWork, boot: BootInstant) {
        guard resource.sinks.count > 1 else { return }
        let running = resource.running.compactMap { transfers[$0] }
        for transfer in running where boot - transfer.startedBoot > .seconds(10) {
            let others = running.filter { $0.id != transfer.id }
            let mean = others.reduce(0) { $0 + $1.speed.bytesPerSecond } / Double(max(1, others.count))
            guard transfer.speed.bytesPerSecond * 4 < mean else { continue }
            cancel([transfer.id])
            return
        }
    }
}
