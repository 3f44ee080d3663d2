import LectureModel

/// How the bytes of one resource are requested: over how many connections, and whether by ranges.
struct Connections: Sendable, Equatable {
    /// What is requested.
    private enum Use: Sendable, Equatable {
        /// Ranges, over as many connections as are allowed. The trial measures whether more of them help, and may wait
        /// for the first bytes of one.
        case ranges(allowed: Int, trial: RangeTrial?, awaited: TransferID?)
        /// It gets ranges wrong: the whole is requested, and committed chunks are skipped.
        case whole
    }

    /// What a trial decided.
    struct TrialResult: Equatable {
        /// Whether the connection that was opened last is closed again.
        var closesNewest = false
        /// The result so far, for other files of the same server.
        var outcome: RangeTrial.Outcome?
    }

    private var use = Use.ranges(allowed: 1, trial: nil, awaited: nil)
    /// Whether several transfers ran at once.
    private(set) var wasParallel = false

    /// Whether the whole is requested, because the server gets ranges wrong.
    var avoidsRanges: Bool { use == .whole }

    /// The server has no ranges: one connection is enough.
    mutating func useOne() {
        switch use {
        case .ranges(_, let trial, let awaited): use = .ranges(allowed: 1, trial: trial, awaited: awaited)
        case .whole: return
        }
    }

    /// The server gets ranges wrong.
    mutating func avoidRanges() { use = .whole }

    /// How many are wanted of a server that has ranges.
    ///
    /// - Parameters:
    ///   - fixed: the number that the user set.
    ///   - limit: the most.
    /// - Returns: at least one.
    func wanted(fixed: Int?, limit: Int) -> Int {
        switch use {
        case .ranges(let allowed, _, _): max(1, fixed ?? min(allowed, limit))
        case .whole: 1
        }
    }

    /// One more was opened.
    ///
    /// - Parameters:
    ///   - id: its transfer.
    ///   - running: how many run, with this one.
    mutating func opened(_ id: TransferID, running: Int) {
        guard running > 1 else { return }
        wasParallel = true
        switch use {
        case .ranges(let allowed, let trial, _): use = .ranges(allowed: allowed, trial: trial, awaited: id)
        case .whole: return
        }
    }

    /// One failed while others run: no more than these from now on.
    mutating func failed(leaving running: Int) {
        switch use {
        case .ranges(_, var trial, let awaited):
            trial?.openFailed()
            use = .ranges(allowed: running, trial: trial, awaited: awaited)
        case .whole: return
        }
    }

    /// Measures whether more connections help.
    ///
    /// - Parameters:
    ///   - running: how many run.
    ///   - reading: what has been received of the file so far.
    ///   - missing: bytes that are missing.
    ///   - limit: the most connections.
    ///   - known: what an earlier trial with this server showed; if that was no gain, no other is opened.
    ///   - delivers: whether a transfer has received bytes.
    ///   - boot: the time.
    /// - Returns: what to do.
    mutating func measure(
        running: Int, _ reading: RangeTrial.Reading, missing: () -> UInt64, limit: Int, known: RangeTrial.Outcome?,
        delivers: (TransferID) -> Bool, at boot: BootInstant
    ) -> TrialResult {
        guard case .ranges(var allowed, let earlier, var awaited) = use else { return TrialResult() }
        var trial =
            earlier
            ?? RangeTrial(connections: running, limit: known?.helped == false ? 1 : limit, reading, at: boot)
        if let newest = awaited, delivers(newest) {
            trial.opened(reading, at: boot)
            awaited = nil
        }
        var result = TrialResult()
        switch trial.progressed(reading, at: boot) {
        case .none: break
        case .openAnother:
            // With less than this left, a new connection would hardly pay off.
            if Double(missing()) > max(trial.worthwhileBytes, 4 * Double(RangeTrial.windowBytes)) {
                allowed = min(limit, running + 1)
            } else {
                trial.openFailed()
            }
        case .closeNewest:
            allowed = max(1, running - 1)
            result.closesNewest = running > 1
        }
        result.outcome = trial.outcome
        use = .ranges(allowed: allowed, trial: trial, awaited: awaited)
        return result
    }
}

/// The chunks of one resource: which transfer fetches which, what is there of partial ones, and what is durable but not
/// committed.
struct ChunkLedger {
    var book: RangeBook
    /// Partial chunks, for the transfers that continue them.
    private(set) var remainders: [Int: ChunkRemainder] = [:]
    /// Chunks that the part file has reported, or that were once committed, and that are not committed now: their
    /// segments are sealed under the file's header.
    private var uncommitted: Set<Int> = []
    /// Durable chunks that may be the short last one of a resource of unknown length.
    private var unsized: [WrittenChunk] = []

    /// Opens the book.
    init(_ book: RangeBook) { self.book = book }

    /// Whether everything that the part file has sealed is committed.
    var isAllCommitted: Bool { uncommitted.isEmpty }

    /// Whether bytes were received that a new version would have to fetch again.
    var hasBytes: Bool { book.receivedBytes > 0 || !remainders.isEmpty }

    /// The bytes of some chunks.
    func bytes(of chunks: some Sequence<Int>) -> UInt64 { chunks.reduce(0) { $0 + book.byteCount(of: $1) } }

    // MARK: Durable chunks

    /// Chunks became durable.
    ///
    /// - Parameters:
    ///   - chunks: as the part file reported them.
    ///   - position: the byte after the last one received, while the length is unknown: then the last chunk is short,
    ///     and waits for the end of its transfer.
    /// - Returns: the chunks to commit, and those that are committed and were written again, with new proofs.
    mutating func written(
        _ chunks: [WrittenChunk], lengthUnknownAt position: UInt64?
    ) -> (fresh: [WrittenChunk], again: [WrittenChunk]) {
        var fresh = chunks.filter { !book.committed.contains($0.index) }
        if let position {
            let waiting = fresh.filter { book.grid.start(of: $0.index + 1) > position }
            unsized += waiting
            fresh.removeAll { book.grid.start(of: $0.index + 1) > position }
            uncommitted.formUnion(unsized.map(\.index))
        }
        return (fresh, chunks.filter { book.committed.contains($0.index) })
    }

    /// Their rows are committed.
    mutating func committed(_ chunks: [Int]) {
        book.commit(chunks)
        uncommitted.subtract(chunks)
    }

    /// They were found damaged, and their rows are gone.
    mutating func lost(_ chunks: [Int]) {
        book.lost(chunks)
        uncommitted.formUnion(chunks)
    }

    /// Takes the chunks that waited for the length.
    mutating func takeUnsized() -> [WrittenChunk] {
        defer { unsized = [] }
        return unsized
    }

    // MARK: Partial chunks

    /// A transfer left a partial chunk behind.
    ///
    /// - Returns: the stream to give up, when the chunk was committed meanwhile.
    mutating func keep(_ remainder: ChunkRemainder) -> TransferID? {
        let chunk = book.grid.chunk(at: remainder.offset)
        if book.committed.contains(chunk) { return remainder.stream }
        remainders[chunk] = remainder
        return nil
    }

    /// Takes a partial chunk to continue it.
    mutating func takeRemainder(of chunk: Int) -> ChunkRemainder? { remainders.removeValue(forKey: chunk) }

    /// Takes the partial chunks inside an assignment; their streams are given up, in this order.
    mutating func takeStreams(inside assignment: RangeBook.Assignment) -> [TransferID] {
        let chunks = remainders.keys.filter { $0 >= assignment.first && $0 < assignment.end ?? .max }.sorted()
        return chunks.compactMap { remainders.removeValue(forKey: $0)?.stream }
    }

    /// Takes all partial chunks, in order.
    mutating func takeRemainders() -> [ChunkRemainder] {
        defer { remainders = [:] }
        return remainders.sorted { $0.key < $1.key }.map(\.value)
    }
}

/// What the answers of one version have shown about its bytes.
struct Evidence: Sendable, Equatable {
    /// The digest of the whole that the server's answers announce (`Repr-Digest`). It belongs to the version, so it
    /// is not stored as something the user expects.
    private(set) var announcedSHA256: [UInt8]?
    /// Whether the server's validator changed while the digest let the download go on.
    private(set) var validatorWasChanged = false
    /// Answers that delivered bytes of this version; an earlier run counts as two, since its number is unknown.
    private var answers: Int
    /// Whether the length is known only from the end of an answer, which may have been a cut.
    private var endGaveLength = false

    /// Begins with what an earlier run left.
    init(hasEarlierBytes: Bool) { answers = hasEarlierBytes ? 2 : 0 }

    /// A header was accepted.
    mutating func answered(_ plan: BodyPlan) {
        announcedSHA256 = announcedSHA256 ?? plan.digest
        if plan.validatorChanged { validatorWasChanged = true }
    }

    /// An answer delivered bytes.
    mutating func delivered() { answers += 1 }

    /// Bytes of an earlier run were found.
    mutating func foundEarlierBytes() { answers = 2 }

    /// The length follows from the end of an answer.
    mutating func lengthFollowedFromEnd() { endGaveLength = true }

    /// Whether fetching a wrong file again may give other bytes: it was combined from several answers, may have been
    /// cut, or the server itself announces the expected digest. A single answer of known length is what the server has.
    func mayBeBetterNextTime(expecting sha256: [UInt8]?) -> Bool {
        answers > 1 || endGaveLength || sha256 == nil || announcedSHA256 == sha256
    }
}

/// The attempts at one resource since its last progress.
struct Attempts: Sendable, Equatable {
    /// Fewer bytes than this, over several attempts, are no progress: a server that sends one byte at a time would be
    /// retried millions of times.
    private static let leastGain: UInt64 = 16_384
    /// Bytes gained since the last progress.
    private var gained: UInt64 = 0
    /// Attempts without progress, of an optional resource; those of others count for the item.
    private(set) var failures = 0
    /// No new transfer before this moment.
    private var notBefore: BootInstant?

    /// Whether the next transfer has to wait.
    func isEarly(_ boot: BootInstant) -> Bool { notBefore.map { boot < $0 } ?? false }

    /// The next transfer waits until then.
    mutating func wait(until moment: BootInstant) { notBefore = moment }

    /// A transfer ended.
    ///
    /// - Parameters:
    ///   - bytes: what it gained.
    ///   - hasEnd: whether it received the object's last byte.
    /// - Returns: whether there is progress.
    mutating func ended(gaining bytes: UInt64, hasEnd: Bool) -> Bool {
        gained += bytes
        guard gained >= Self.leastGain || hasEnd else { return false }
        (gained, failures) = (0, 0)
        return true
    }

    /// An attempt was without progress.
    mutating func failed() { failures += 1 }
}
