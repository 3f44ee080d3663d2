import LectureModel

/// One item the engine has leased, in memory.
final class ItemWork {
    let id: ContentID
    var record: ItemRecord
    var machine: ItemMachine
    var version: VersionID?
    var resources: [ResourceWork] = []
    var loader = LoaderWork()
    var renewal = URLRenewal()
    var restarts = Restarts()
    var course = Course.working
    /// A server's concurrency limit, or its licence, keeps the item from starting.
    var isBlocked = false
    /// Whether the licence lets its media be fetched.
    var grant = GrantStage.unknown
    var report = ProgressReport()
    var reuse = ReusedBytes()

    init(record: ItemRecord) {
        id = record.id
        self.record = record
        let content = record.content
        machine = ItemMachine(
            ItemStatus(
                content.state, stopReason: content.stopReason, error: content.error, attempts: content.attempts,
                nextAttempt: content.nextAttempt, waitSet: record.waitSet))
    }

    var lease: ContentLease { record.lease }
    var isEnding: Bool { course != .working }
    var hasTransfers: Bool { loader.running != nil || resources.contains { !$0.sinks.isEmpty } }
    /// Whether all its bytes were received.
    var isReceived: Bool { !resources.isEmpty && resources.allSatisfy(\.isReceived) }
    var media: ResourceWork? { resources.first { $0.record.role == .media } }

    /// Bytes received so far, those of running transfers included.
    var receivedBytes: Int64 { resources.reduce(0) { $0 + $1.receivedBytes } }

    /// Bytes of all resources, once that of the media is known.
    var totalBytes: Int64? {
        guard let media, media.record.total != nil else { return nil }
        return resources.reduce(0) { $0 + Int64(clamping: $1.record.total ?? 0) }
    }
}

/// What an item waits for before its work is over.
enum Course: Hashable {
    /// It is being fetched.
    case working
    /// All work is being ended; after that the machine's status is stored and the lease released.
    ///
    /// - Parameter discarding: whether the version being built is discarded then.
    case ending(discarding: Bool)
}

/// The exchange that asks a gateway for the descriptor.
struct LoaderWork {
    /// The running transfer.
    var running: TransferID?
    /// None before this moment.
    private var notBefore: BootInstant?
    /// Where a redirect leads it.
    private(set) var redirect: Redirect?
    /// Whether new URLs are wanted from the gateway.
    private(set) var isWanted = false

    /// Whether it has to wait.
    func isEarly(_ boot: BootInstant) -> Bool { notBefore.map { boot < $0 } ?? false }

    /// Whether it may start now.
    func isDue(_ boot: BootInstant) -> Bool { running == nil && !isEarly(boot) }

    /// It waits until then.
    mutating func wait(until moment: BootInstant) { notBefore = moment }

    /// The next one follows a redirect.
    mutating func follow(_ redirect: Redirect) { self.redirect = redirect }

    /// It starts; a redirect is followed once.
    mutating func started(_ id: TransferID) { (running, redirect) = (id, nil) }

    /// A transfer ended.
    mutating func ended(_ id: TransferID) { if running == id { running = nil } }

    /// The gateway is asked for new URLs.
    mutating func request() { isWanted = true }

    /// The gateway has answered.
    mutating func answered() { isWanted = false }
}

/// New URLs for the same bytes.
struct URLRenewal {
    /// How often they are requested without progress.
    private static let limit = 3
    /// How often they were since the last progress.
    private var count = 0
    /// Whether the resolver was asked and has not answered.
    private(set) var isResolving = false

    /// Whether they may be requested once more.
    var isAllowed: Bool { count < Self.limit }

    /// They are requested.
    ///
    /// - Parameter isResolving: of the application's resolver, not of a gateway.
    mutating func began(isResolving: Bool) {
        count += 1
        if isResolving { self.isResolving = true }
    }

    /// The resolver has answered.
    mutating func answered() { isResolving = false }

    /// Bytes were received.
    mutating func gainedBytes() { count = 0 }
}

/// Versions that were discarded in one claim, because their bytes were wrong.
struct Restarts {
    /// How many.
    var count = 0
    /// Whether answers to parallel ranges were of different versions: there are several servers behind one address.
    var isUneven = false
}

/// What is shown of an item while it is fetched.
struct ProgressReport {
    private(set) var speed = SpeedMeter()
    /// The bytes that were reported last.
    private(set) var bytes: Int64 = 0

    /// Measures, and returns whether the bytes are other ones than those that were reported last.
    mutating func measure(_ bytes: Int64, at boot: BootInstant) -> Bool {
        speed.record(bytes: bytes, at: boot)
        return bytes != self.bytes
    }

    /// They are reported; never fewer than before, unless the version is another one.
    mutating func reports(_ bytes: Int64) { self.bytes = max(self.bytes, bytes) }

    /// All bytes are there.
    mutating func ended(at bytes: Int64) { self.bytes = bytes }

    /// The next version begins with nothing.
    mutating func restarted() { bytes = 0 }
}

/// Bytes of an earlier run that count as reused, as long as their version is not discarded.
struct ReusedBytes {
    /// Whether they count: not when this run claims the item again.
    private let counts: Bool
    private(set) var bytes: Int64 = 0

    /// Of an item that is not the continuation of an earlier run.
    init() { counts = false }

    /// Begins with those of a claimed item.
    init(_ bytes: Int64, counts: Bool) {
        self.counts = counts
        self.bytes = counts ? bytes : 0
    }

    /// More were found; returns how many count.
    mutating func found(_ more: Int64) -> Int64 {
        guard counts else { return 0 }
        bytes += more
        return more
    }

    /// The version is discarded; returns how many had counted.
    mutating func discarded() -> Int64 {
        defer { bytes = 0 }
        return bytes
    }
}

/// The state of an item's grant.
enum GrantStage {
    /// It was not looked up.
    case unknown
    /// The licence server is being asked.
    case asking
    /// Its media may be fetched.
    case permitted
}

/// The route of a request: the first request's fields and server, and the number of redirects since. Credentials belong
/// to the first server, so that one that was dropped never comes back on a later hop.
struct Route {
    var fields: HeaderFields
    var origin: Origin
    var hops = 0
}

/// A URL that a redirect leads to.
struct Redirect {
    var url: String
    var fields: HeaderFields
    var route: Route
}

/// One resource of an item, in memory.
final class ResourceWork {
    /// The stages of a resource.
    enum Stage {
        /// Nothing is known of it; the first transfer finds out.
        case asking
        /// Its path is fixed; bytes are being received.
        case fetching
        /// All chunks are committed; the digest of the whole is computed.
        case digesting
        /// Chunks of an earlier opening are checked against their proofs.
        case checking
        /// It is being moved to its final name.
        case finalizing
        /// It has its final name.
        case finalized
        /// It cannot be downloaded.
        case failed
    }

    let token: PartToken
    let part: any PartFile
    var record: ResourceRecord
    var book: RangeBook
    var stage: Stage
    var urls: [URLLeaseRecord]
    var sinks: [TransferID: RangeSink] = [:]
    var remainders: [Int: ChunkRemainder] = [:]
    var redirect: Redirect?
    /// The URL the redirect came from.
    var redirectLease: URLLeaseID?
    /// How often in a row each URL failed.
    var urlFailures: [URLLeaseID: Int] = [:]
    /// How often since the last progress a URL was refused that had delivered bytes before.
    var refusals = 0
    /// Bytes a second of each URL.
    var speeds: [URLLeaseID: Double] = [:]
    /// The digest of the whole that the server's answers announce (`Repr-Digest`). It belongs to the version, so it
    /// is not stored as something the user expects.
    var announcedSHA256: [UInt8]?
    /// The server's validator changed while the digest let the download go on.
    var validatorWasChanged = false
    /// The server gets ranges wrong: the whole is requested, and committed chunks are skipped.
    var avoidsRanges = false
    /// The part file was asked to close.
    var isClosing = false
    /// No new transfer before this moment.
    var notBefore: BootInstant?
    /// Whether several transfers of it ran at once.
    var wasParallel = false
    /// Connections the trial or the settings allow.
    var connections = 1
    /// Measures whether more connections help; starts with the first bytes.
    var trial: RangeTrial?
    /// The connection the trial waits for.
    var awaited: TransferID?
    /// The URL whose answers made the stored validator.
    var validatorURL: URLLeaseID?
    /// URLs that delivered bytes of this version.
    var contributors: Set<URLLeaseID> = []
    /// The part file was asked to open.
    var isOpen = false
    /// The part file has reported that it is open.
    var hasOpened = false
    /// The part file has reported that it is closed.
    var isClosed = true
    /// Bytes gained since the last progress.
    var gained: UInt64 = 0
    /// Attempts without progress, for an optional resource; those of others count for the item.
    var failures = 0
    /// Chunks that were committed before this opening of the part file, and not yet checked against their proofs since.
    var resumed: ChunkSet
    /// Answers that delivered bytes of this version; an earlier run counts as two, since its number is unknown.
    var answers = 0
    /// The length is known only from the end of an answer, which may have been a cut.
    var endGaveLength = false
    /// Seals its files; nil for unencrypted ones, and before it was looked up.
    var cipher: (any ContentCipher)?
    /// Whether the part file was closed with no sealed chunks other than those it has reported.
    var isClosedClean = false
    /// Chunks that the part file has reported, or that were once committed, and that are not committed now: their
    /// segments are sealed under the file's header.
    var uncommitted: Set<Int> = []
    /// Whether an earlier run may have stored pieces of its chunks that were not looked up.
    var mayHavePieces: Bool
    /// Whether its version was complete before, and only lacks some chunks: its first bytes were inspected then.
    var isRepair = false
    /// Durable chunks that may be the short last one of a resource of unknown length.
    var unsized: [WrittenChunk] = []

    init(
        token: PartToken, part: any PartFile, record: ResourceRecord, committed: [Int], urls: [URLLeaseRecord]
    ) {
        self.token = token
        self.part = part
        self.record = record
        self.urls = urls
        book = RangeBook(total: record.total, grid: record.grid, committed: committed)
        resumed = book.committed
        mayHavePieces = record.state == .planned
        answers = committed.isEmpty ? 0 : 2
        stage =
            switch record.state {
            case .absent: .asking
            case .planned, .committed: .fetching
            case .finalized: .finalized
            case .failed: .failed
            }
    }

    /// Whether the user or the gateway named the expected digest, so that the final check decides whatever the sources.
    var digestIsKnown: Bool { record.expectedSHA256 != nil }

    /// Whether only the disk remains to finish.
    var isReceived: Bool {
        switch stage {
        case .asking, .digesting, .checking: false
        case .fetching: book.isReceived && sinks.isEmpty
        case .finalizing, .finalized, .failed: true
        }
    }

    /// Whether fetching a wrong file again may give other bytes: it was combined from several answers, may have been
    /// cut, or the server itself announces the expected digest. A single answer of known length is what the server has.
    var mayBeBetterNextTime: Bool {
        answers > 1 || endGaveLength || record.expectedSHA256 == nil || announcedSHA256 == record.expectedSHA256
    }

    /// The digest the whole must have.
    var dueSHA256: [UInt8]? { record.expectedSHA256 ?? announcedSHA256 }

    var validator: Validator { record.validator }

    func position(_ id: TransferID) -> UInt64 { sinks[id]?.position ?? 0 }

    var receivedBytes: Int64 {
        guard let total = record.total else {
            return Int64(clamping: sinks.values.reduce(book.committedBytes) { max($0, $1.position) })
        }
        return Int64(clamping: total - book.missingBytes(position: position))
    }
}

/// One running transfer.
struct TransferWork {
    let id: TransferID
    weak var item: ItemWork?
    /// Nil for a gateway's loader.
    weak var resource: ResourceWork?
    let isLoader: Bool
    let sink: RangeSink
    let lease: URLLeaseID?
    let origin: Origin
    let route: Route
    let span: TransferSpan
    let startedAt: Timestamp
    let startedBoot: BootInstant
    var speed: TransferSpeed
    let usesHTTP2: Bool
    /// Bytes that the statistics have counted.
    var countedBytes: Int64 = 0
}

/// What a transfer requests, and what was there before.
struct TransferSpan {
    /// The first byte.
    var start: UInt64
    /// How many bytes; nil for an open range.
    var count: UInt64?
    /// Bytes of whole chunks that its resource had.
    var receivedBefore: UInt64
}

/// The speed of one transfer, for finding slow connections.
struct TransferSpeed {
    /// Position at the last measurement.
    private var position: UInt64
    private var measuredAt: BootInstant
    private(set) var bytesPerSecond: Double = 0

    /// Starts at the first byte.
    init(position: UInt64, at boot: BootInstant) { (self.position, measuredAt) = (position, boot) }

    /// Measures, unless the last time was a moment ago.
    mutating func measure(_ position: UInt64, at boot: BootInstant) {
        let seconds = (boot - measuredAt).secondsDouble
        guard seconds > 0.5 else { return }
        let current = Double(position - min(position, self.position)) / seconds
        bytesPerSecond = bytesPerSecond * 0.6 + current * 0.4
        self.position = position
        measuredAt = boot
    }
}

/// A part file that has not reported that it is closed.
struct LivingPart {
    var item: ContentID
    var resource: ResourceID
    var file: any PartFile
}

/// A speed over the last seconds: an exponentially weighted mean with a time constant of four seconds.
struct SpeedMeter {
    private(set) var bytesPerSecond: Double = 0
    private var last: (at: BootInstant, bytes: Int64)?

    mutating func record(bytes: Int64, at now: BootInstant) {
        guard let last else {
            self.last = (now, bytes)
            return
        }
        let seconds = (now - last.at).secondsDouble
        guard seconds > 0.05 else { return }
        let current = max(0, Double(bytes - last.bytes) / seconds)
        let weight = min(1, seconds / 4)
        bytesPerSecond = bytesPerSecond == 0 ? current : bytesPerSecond * (1 - weight) + current * weight
        self.last = (now, bytes)
    }
}
