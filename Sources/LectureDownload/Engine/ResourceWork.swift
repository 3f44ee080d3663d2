import LectureEngine
import LectureModel

/// One resource of an item, in memory.
struct ResourceWork: Sendable {
    let token: PartToken
    /// The claim of its item, under which its rows are written.
    let lease: ContentLease
    let part: any PartFile
    var record: ResourceRecord
    var machine: ResourceMachine
    var sources: ResourceSources
    var connections = Connections()
    var chunks: ChunkLedger
    var attempts = Attempts()
    var evidence: Evidence
    /// The URL that answered it, if it is a playlist: its references are relative to that.
    var base: String?
    /// Its running transfers.
    var sinks: [TransferID: RangeSink] = [:]
    /// Seals its files; nil for unencrypted ones, and before it was looked up.
    var cipher: (any ContentCipher)?
    /// Whether an earlier run may have stored pieces of its chunks.
    let mayHavePieces: Bool
    /// Whether its version was complete before, and only lacks some chunks: its first bytes were inspected then.
    var isRepair = false

    init(
        token: PartToken, lease: ContentLease, part: any PartFile, record: ResourceRecord, committed: [Int],
        urls: [URLLeaseRecord]
    ) {
        self.token = token
        self.lease = lease
        self.part = part
        self.record = record
        sources = ResourceSources(urls)
        let book = RangeBook(total: record.total, grid: record.grid, committed: committed)
        chunks = ChunkLedger(book)
        machine = ResourceMachine(record.state, committed: book.committed)
        evidence = Evidence(hasEarlierBytes: !committed.isEmpty)
        mayHavePieces = record.state == .planned
    }

    var book: RangeBook { chunks.book }

    /// Whether the user or the gateway named the expected digest, so that the final check decides whatever the sources.
    var digestIsKnown: Bool { record.expectedSHA256 != nil }

    /// The digest the whole must have.
    var dueSHA256: [UInt8]? { record.expectedSHA256 ?? evidence.announcedSHA256 }

    /// Whether only the disk remains to finish.
    var isReceived: Bool { machine.isReceived(hasAllBytes: book.isReceived && sinks.isEmpty) }

    /// Whether another server's bytes may continue where this one's ended. Without a digest nothing shows that both
    /// have the same file, even if nothing is committed yet: bytes on their way to the disk count as well.
    var mayCombineServers: Bool { digestIsKnown || machine.isProbing }

    /// What another version of it would be requested with.
    var request: ResourceRequest { record.request(of: sources.usableURLs) }

    func position(_ id: TransferID) -> UInt64 { sinks[id]?.position ?? 0 }

    /// The byte after the last one that a running transfer has received.
    var furthestPosition: UInt64 { sinks.values.reduce(0) { max($0, $1.position) } }

    /// Its running transfers, the oldest first.
    var running: [TransferID] { sinks.keys.sorted { $0.value < $1.value } }

    var receivedBytes: Int64 {
        guard let total = record.total else { return Int64(clamping: max(book.committedBytes, furthestPosition)) }
        return Int64(clamping: total - book.missingBytes(position: position))
    }

    // MARK: Rows and effects

    /// Stores its row.
    func save(_ step: Step<DownloadMachine>) throws { try step.store.index.resources.updateResource(lease, record) }

    /// Commands its part file after the commit.
    func command(_ command: PartCommand, _ step: inout Step<DownloadMachine>) {
        step.effects.append(.part(PartHandle(token: token, file: part), command))
    }

    /// Ends its transfers and closes its part file, without waiting for either.
    mutating func abandon(deleting: Bool, _ step: inout Step<DownloadMachine>) {
        step.cancel(running)
        command(.close(deleting: deleting), &step)
        sinks = [:]
    }
}

extension [ResourceWork] {
    /// Whether one of them has nothing to do before something is reported.
    ///
    /// - Parameters:
    ///   - place: where it is; a copy of a file is dear.
    ///   - settings: the settings in force.
    ///   - isUneven: whether several servers are behind one address.
    ///   - isFull: whether no more files of streams may have a transfer.
    ///   - boot: the time.
    /// - Returns: whether ``ItemStep/advance()`` would do nothing with it.
    func isOccupied(_ place: Int, _ settings: DownloadSettings, isUneven: Bool, isFull: Bool, at boot: BootInstant)
        -> Bool
    {
        let waits = isFull && self[place].sinks.isEmpty && self[place].record.role.isOfStream
        switch self[place].machine.state {
        case .probing: return waits || !self[place].sinks.isEmpty
        case .fetching:
            if self[place].machine.needsOpening || self[place].book.isWhole { return false }
            if waits || self[place].book.isReceived || self[place].attempts.isEarly(boot) { return true }
            let wanted = self[place].wantedConnections(settings, isUneven: isUneven)
            return self[place].sinks.count >= wanted
        case .digesting, .checking, .inspecting, .finalizing, .finalized, .failed: return true
        }
    }
}

extension Step<DownloadMachine> {
    /// Ends exchanges after the commit.
    mutating func cancel(_ ids: [TransferID]) {
        if !ids.isEmpty { effects.append(.transfer(.cancel(ids))) }
    }

    /// Makes a part file, and the name under which it reports.
    func makePart() -> (PartToken, any PartFile) {
        let post = store.post
        let token = PartToken(value: newTransfer().value)
        return (token, store.files.make { event in post(.part(token, event)) })
    }
}

extension ResourceRecord {
    /// What another version of it would be requested with.
    fileprivate func request(of urls: [String]) -> ResourceRequest {
        var request = ResourceRequest(role: role, name: name, urls: urls)
        request.expectedSHA256 = expectedSHA256
        request.expectedBytes = expectedBytes
        return request
    }

    /// Whether a later descriptor agrees with what is known of it.
    func agrees(with request: ResourceRequest?) -> Bool {
        let digest = request?.expectedSHA256 ?? expectedSHA256
        let bytes = request?.expectedBytes ?? expectedBytes
        return digest == expectedSHA256 && bytes == expectedBytes
    }
}
