import LectureModel

/// One item the engine has leased, in memory.
final class ItemWork {
    let id: ContentID
    var record: ItemRecord
    var machine: ItemMachine
    var version: VersionID?
    var resources: [ResourceWork] = []
    /// The transfer that asks a gateway for the descriptor.
    var loader: TransferID?
    /// No loader before this moment.
    var loaderNotBefore: BootInstant?
    /// Where a redirect leads the loader.
    var loaderRedirect: Redirect?
    /// New URLs are wanted from the gateway.
    var wantsLoader = false
    /// When all work has ended, the version being built is given up.
    var discardsVersion = false
    /// The resolver was asked and has not answered.
    var isResolving = false
    /// How often new URLs were fetched since bytes were last gained.
    var renewals = 0
    /// Versions given up in this claim because the bytes were not the right ones.
    var restarts = 0
    /// Answers to parallel ranges were of different versions: several servers stand behind one address.
    var isUneven = false
    /// All work is being ended; when it has, the machine's status is stored and the lease given back.
    var isEnding = false
    /// A server's concurrency limit, or its licence, keeps the item from starting.
    var isBlocked = false
    /// Whether the licence lets its media be fetched.
    var grant = GrantStage.unknown
    var speed = SpeedMeter()
    var reportedBytes: Int64 = 0
    /// Bytes of an earlier run that count as reused, as long as their version is not given up.
    var reusedBytes: Int64 = 0

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
    var hasTransfers: Bool { loader != nil || resources.contains { !$0.sinks.isEmpty } }
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

/// How far an item is on its way to a grant.
enum GrantStage {
    /// Nobody has looked.
    case unknown
    /// The licence server is being asked.
    case asking
    /// Its media may be fetched.
    case permitted
}

/// The way a request has come: the first request's fields and server, and how many redirects since. Credentials are
/// held against the first server, so that one left behind never comes back on a later hop.
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
    /// How far it is.
    enum Stage {
        /// Nothing is known of it; the first transfer asks.
        case asking
        /// Its place on the disk is fixed; bytes come.
        case fetching
        /// All chunks are proven; the digest of the whole is computed.
        case digesting
        /// Chunks of an earlier opening are held against their proofs.
        case checking
        /// It gets its final name.
        case placing
        /// It stands under its final name.
        case placed
        /// It cannot be had.
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
    var troubles: [URLLeaseID: Int] = [:]
    /// How often since bytes were last gained a URL was refused that had given bytes before.
    var refusals = 0
    /// Bytes a second that each URL gave.
    var speeds: [URLLeaseID: Double] = [:]
    /// The digest of the whole that the server's answers announce (`Repr-Digest`). It belongs to the version, so it
    /// is not stored as something the user expects.
    var announcedSHA256: [UInt8]?
    /// The server's validator changed while the digest let the download go on.
    var validatorWasChanged = false
    /// The server gets ranges wrong: it is asked for the whole, and what is proven is passed by.
    var avoidsRanges = false
    /// The part file was told to close.
    var isClosing = false
    /// No new transfer before this moment.
    var notBefore: BootInstant?
    /// Whether several transfers of it ran at once.
    var wasParallel = false
    /// Connections the trial or the settings allow.
    var connections = 1
    /// Whether more connections help; begun with the first bytes.
    var trial: RangeTrial?
    /// The connection the trial waits for.
    var awaited: TransferID?
    /// The URL whose answers made the stored validator.
    var validatorURL: URLLeaseID?
    /// URLs that gave bytes to this version.
    var contributors: Set<URLLeaseID> = []
    /// The part file was told to open.
    var isOpen = false
    /// The part file has told that it is open.
    var hasOpened = false
    /// The part file has told that it is closed.
    var isClosed = true
    /// Bytes gained since that last counted as progress.
    var gained: UInt64 = 0
    /// Attempts without gaining a byte, for a resource that may be missing; the others count for the item.
    var failures = 0
    /// Chunks that were proven before this opening of the part file, and not yet held against their proofs since.
    var resumed: ChunkSet
    /// Answers that gave bytes to this version; an earlier run counts as two, since nobody knows how many it had.
    var answers = 0
    /// Nothing but the end of an answer told the length, so that a cut may have been taken for it.
    var endToldLength = false
    /// Seals its files; nil for one in clear, and before it was asked for.
    var cipher: (any ContentCipher)?
    /// Whether the part file was closed with nothing sealed in it but chunks it has told.
    var isClosedClean = false
    /// Chunks that the part file has told, or that were once proven, and that are not proven now: their segments are
    /// sealed under the file's header.
    var unproven: Set<Int> = []
    /// Whether its version was complete before, and only lacks some chunks: what it holds was looked at then.
    var isRepair = false
    /// Durable chunks that may be the short last one of a resource whose length is not known yet.
    var unsized: [WrittenChunk] = []

    init(
        token: PartToken, part: any PartFile, record: ResourceRecord, proven: [Int], urls: [URLLeaseRecord]
    ) {
        self.token = token
        self.part = part
        self.record = record
        self.urls = urls
        book = RangeBook(total: record.total, grid: record.grid, proven: proven)
        resumed = book.proven
        answers = proven.isEmpty ? 0 : 2
        stage =
            switch record.state {
            case .absent: .asking
            case .planned, .proven: .fetching
            case .placed: .placed
            case .failed: .failed
            }
    }

    /// Whether the user or the gateway told which bytes are due, so that the end decides whatever the way.
    var digestIsKnown: Bool { record.expectedSHA256 != nil }

    /// Whether only the disk is waited for.
    var isReceived: Bool {
        switch stage {
        case .asking, .digesting, .checking: false
        case .fetching: book.isReceived && sinks.isEmpty
        case .placing, .placed, .failed: true
        }
    }

    /// Whether other bytes may come when a wrong whole is fetched anew: it was put together, may have been cut, or the
    /// server itself announces the digest that it should have. A single answer of known length is what the server has.
    var mayBeBetterNextTime: Bool {
        answers > 1 || endToldLength || record.expectedSHA256 == nil || announcedSHA256 == record.expectedSHA256
    }

    /// The digest the whole must have.
    var dueSHA256: [UInt8]? { record.expectedSHA256 ?? announcedSHA256 }

    var validator: Validator {
        Validator(etag: record.entityTag, lastModified: record.lastModified, total: record.total)
    }

    func position(_ id: TransferID) -> UInt64 { sinks[id]?.position ?? 0 }

    var receivedBytes: Int64 {
        guard let total = record.total else {
            return Int64(clamping: sinks.values.reduce(book.provenBytes) { max($0, $1.position) })
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
    let url: String
    let lease: URLLeaseID?
    let origin: Origin
    let route: Route
    let start: UInt64
    let count: UInt64?
    /// Bytes of whole chunks that its resource had.
    let receivedAtStart: UInt64
    let startedAt: Timestamp
    let startedBoot: BootInstant
    /// Position at the last look, for finding slow connections.
    var lastPosition: UInt64
    var lastLook: BootInstant
    var bytesPerSecond: Double = 0
    var usesHTTP2: Bool
    /// Bytes that the statistics have counted.
    var countedBytes: Int64 = 0
}

/// A part file that has not told that it is closed.
struct LivingPart {
    var item: ContentID
    var resource: ResourceID
    var file: any PartFile
}

/// A speed over the last seconds: an exponentially weighted mean with a time constant of four seconds.
struct SpeedMeter {
    private(set) var bytesPerSecond: Double = 0
    private var last: (at: BootInstant, bytes: Int64)?

    mutating func note(bytes: Int64, at now: BootInstant) {
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
