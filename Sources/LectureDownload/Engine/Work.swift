import LectureEngine
import LectureFormats
import LectureModel

/// One item the engine has leased, in memory.
struct ItemWork: Sendable {
    let id: ContentID
    var record: ItemRecord
    var machine: ItemMachine
    var version: VersionID?
    var resources: [ResourceWork] = []
    /// What its media names, if that is a playlist.
    var stream = StreamWork()
    /// Those of a version that was discarded in this step.
    private var discarded: [ResourceWork] = []
    var loader = LoaderWork()
    var renewal = URLRenewal()
    var restarts = Restarts()
    var course = Course.working
    /// Whether it may start, and counts as a job.
    var place = JobPlace()
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
    /// Whether a server or its licence keeps it from starting.
    var isBlocked: Bool { obstacle != .none }

    /// The server that has no place for its first request. Nil where another one may serve it as well: which one is
    /// asked may change with time.
    var busyServer: Server? {
        guard course == .working, case .busy(let server) = obstacle,
            resources.all({ $0.machine.isProbing && $0.sinks.isEmpty && !$0.sources.hasChoice })
        else { return nil }
        return server
    }

    /// Something was reported of it: it may want another server now.
    mutating func forgetServer() { if isBlocked { obstacle = .other } }

    /// Whether it has nothing to do before something is reported: its transfers run, or the disk has all its bytes.
    ///
    /// ``ItemStep/advance()`` would change nothing then. A step asks this of every item, and has work for few.
    func isOccupied(_ settings: DownloadSettings, at boot: BootInstant) -> Bool {
        guard course == .working, !isBlocked, grant == .permitted, !loader.isWanted, !renewal.isResolving else {
            return false
        }
        if stream.needsRefill(resources) || stream.wantsPlaylists(boot) { return false }
        let isFull = StreamActions.isFull(self, settings)
        let (isUneven, places) = (restarts.isUneven, resources.indices)
        return places.allSatisfy { resources.isOccupied($0, settings, isUneven: isUneven, isFull: isFull, at: boot) }
            && !resources.all { $0.machine.isOver }
    }

    /// Whether the disk may make bytes of it durable.
    var isWriting: Bool { resources.any { $0.machine.isWriting } }
    /// Whether it counts as a job: not while it only waits for a busy server, or for the disk to make its last bytes
    /// durable, nor while it runs beside the jobs.
    var usesSlot: Bool { hasTransfers ? !place.isBesideJobs : !(isBlocked || isReceived) }
    /// Whether a file of it is, or may be, larger than those that are fetched beside the jobs.
    var isLarge: Bool {
        if place.mustBeJob || record.expectedBytes ?? 0 > Int64(FarServers.smallFile) { return true }
        return resources.any { $0.record.total ?? $0.record.expectedBytes ?? 0 > FarServers.smallFile }
    }
    var hasTransfers: Bool { loader.running != nil || resources.any { !$0.sinks.isEmpty } }
    /// Whether all its bytes were received.
    var isReceived: Bool { !resources.isEmpty && resources.all { $0.isReceived } && stream.isDrained }
    var media: ResourceWork? { mediaPlace.map { resources[$0] } }
    /// What keeps it from starting.
    var obstacle: Obstacle {
        get { place.obstacle }
        set { place.obstacle = newValue }
    }
    /// Whether its media was not answered yet.
    var isMediaProbing: Bool { mediaPlace.map { resources[$0].machine.isProbing } ?? false }
    /// Whether its media is a playlist.
    var isPlaylist: Bool { mediaPlace.map { resources[$0].record.isPlaylist } ?? false }
    private var mediaPlace: Int? { resources.firstPlace { $0.record.role == .media } }
    /// Its resources, by name. By places: an adaptive lecture has many, which would each be copied.
    var tokens: [PartToken] { resources.indices.map { resources[$0].token } }

    /// Whether a resource belongs to the version that is being built.
    func has(_ token: PartToken) -> Bool { resources.any { $0.token == token } }

    /// A resource of the version that is being built, or of one that was discarded in this step.
    subscript(token: PartToken) -> ResourceWork {
        _read {
            if let position = resources.firstPlace(where: { $0.token == token }) {
                yield resources[position]
            } else {
                yield discarded[discardedPosition(of: token)]
            }
        }
        _modify {
            if let position = resources.firstPlace(where: { $0.token == token }) {
                yield &resources[position]
            } else {
                yield &discarded[discardedPosition(of: token)]
            }
        }
    }

    private func discardedPosition(of token: PartToken) -> Int {
        guard let position = discarded.firstIndex(where: { $0.token == token }) else {
            preconditionFailure("a resource of another item")
        }
        return position
    }

    /// The version that is being built is discarded.
    mutating func discardVersion() {
        discarded += resources
        (version, resources) = (nil, [])
        stream = StreamWork()
        report.restarted()
    }

    /// The step is over: nothing refers to the resources of a discarded version any more.
    mutating func forgetDiscarded() { discarded = [] }

    /// Whether a lecture with sealed files would get another key, to which they are not bound.
    func unbinds(_ facts: ContentFacts) -> Bool {
        guard let key = facts.key, key != record.content.key, !record.isLoaded else { return false }
        return resources.any { $0.cipher != nil || $0.record.seal != .plain }
    }

    /// Bytes received so far, those of running transfers included.
    var receivedBytes: Int64 {
        resources.sum(from: stream.backlog?.finished.bytes ?? 0) { $0.receivedBytes }
    }

    /// Bytes of files of unknown length, which no quota has counted yet. Received bytes that are not committed also use
    /// space.
    ///
    /// - Parameter position: where the body of one has just ended; 0 during the transfer.
    /// - Returns: the sum of these files.
    func unplannedBytes(endingAt position: UInt64 = 0) -> UInt64 {
        resources.filter { $0.machine.isFetching && $0.record.total == nil }
            .reduce(0) { $0 + max($1.book.committedBytes, position, $1.furthestPosition) }
    }

    /// What is shown of it.
    var progress: DownloadProgress {
        var progress = DownloadProgress(
            key: record.content.key, title: record.content.title, state: machine.status.state)
        progress.bytes = report.bytes
        progress.total = totalBytes
        progress.bytesPerSecond = report.speed.bytesPerSecond
        if let total = progress.total, progress.bytesPerSecond >= 1 {
            progress.remaining = .seconds(Double(max(0, total - progress.bytes)) / progress.bytesPerSecond)
        }
        let finished = stream.backlog?.finished.chunks ?? 0
        progress.committedChunks = resources.sum(from: finished) { $0.book.committed.count }
        progress.totalChunks = resources.sum(from: finished + stream.waiting(besides: resources)) {
            $0.book.chunkCount ?? ($0.record.role.isOfStream ? 1 : 0)
        }
        return progress
    }

    /// Bytes of all resources, once that of the media is known; of an adaptive lecture once those of all files are.
    var totalBytes: Int64? {
        guard let mediaPlace, resources[mediaPlace].record.total != nil else { return nil }
        if resources[mediaPlace].record.isPlaylist {
            guard stream.knowsLengths(of: resources) else { return nil }
        }
        return resources.sum(from: stream.backlog?.finished.bytes ?? 0) { Int64(clamping: $0.record.total ?? 0) }
    }
}

/// Where a transfer would go, and how.
struct Server: Hashable {
    let origin: Origin
    let carrier: OriginPacer.Carrier
}

/// Whether an item may start, and counts as a job.
struct JobPlace: Hashable {
    /// What keeps it from starting.
    var obstacle = Obstacle.none
    /// Whether its transfers were started beside the jobs.
    var isBesideJobs = false
    /// Whether it was found to be no small file when it ran beside the jobs.
    var mustBeJob = false

    /// The length of a file is known, or its server does not say it. If the item runs beside the jobs and is not small
    /// after all, it becomes a job, or waits until it can.
    ///
    /// - Parameters:
    ///   - total: the length in bytes; nil when the server does not say it.
    ///   - isFree: whether there are fewer jobs than there may be.
    /// - Returns: whether its transfers have to end.
    mutating func learnedLength(_ total: UInt64?, isFree: Bool) -> Bool {
        guard isBesideJobs, total ?? .max > FarServers.smallFile else { return false }
        mustBeJob = true
        if isFree { isBesideJobs = false }
        return !isFree
    }
}

/// What keeps an item from starting a transfer.
enum Obstacle: Hashable {
    /// Nothing, or it was not tried.
    case none
    /// The server has as many requests as it may have.
    case busy(Server)
    /// The server asked to wait, or the licence is not granted.
    case other
}

/// What an item waits for before its work is over.
enum Course: Hashable {
    /// It is being fetched.
    case working
    /// All work is being ended; after that the machine's status is stored and the lease released.
    ///
    /// - Parameter discarding: whether the version being built is discarded then.
    case ending(discarding: Bool)
    /// It is not in work any more.
    case over
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
struct Route: Sendable, Equatable {
    var fields: HeaderFields
    var origin: Origin
    var hops = 0
}

/// A URL that a redirect leads to.
struct Redirect: Sendable, Equatable {
    var url: String
    var fields: HeaderFields
    var route: Route
}

/// One running transfer. A class, since nothing of it changes while every step copies the machine.
final class TransferWork: Sendable {
    let id: TransferID
    /// The claim of the item that it was started for: a later claim of the same item does not know it.
    let claim: ContentLease
    /// Nil for a gateway's loader.
    let resource: PartToken?
    /// What is requested.
    let url: String
    let sink: RangeSink
    let lease: URLLeaseID?
    let origin: Origin
    let route: Route
    let span: TransferSpan
    let startedAt: Timestamp
    let startedBoot: BootInstant
    let carrier: OriginPacer.Carrier

    init(
        _ request: TransferRequest, claim: ContentLease, resource: PartToken?, sink: RangeSink, lease: URLLeaseID?,
        origin: Origin, route: Route, span: TransferSpan, _ step: Step<DownloadMachine>
    ) {
        (id, carrier) = (request.id, request.allowsHTTP2 ? .stream : .connection)
        url = request.url
        (self.claim, self.resource, self.sink, self.lease) = (claim, resource, sink, lease)
        (self.origin, self.route, self.span) = (origin, route, span)
        (startedAt, startedBoot) = (step.now, step.boot)
    }

    /// Whether a gateway is asked for the descriptor.
    var isLoader: Bool { resource == nil }

    /// Where a redirect leads, with the fields that may be sent.
    func redirect(to target: String) throws(LectureError) -> Redirect {
        var route = route
        route.hops += 1
        let next = try RedirectPolicy.follow(target, from: origin, hop: route.hops)
        let fields = RedirectPolicy.fields(route.fields.elements, from: route.origin, to: next)
        return Redirect(url: target, fields: HeaderFields(fields), route: route)
    }
}

extension Attempt {
    /// How a transfer went, for the item's history.
    init(_ transfer: TransferWork, _ report: TransferReport) {
        self.init(at: transfer.startedAt, origin: transfer.origin.text, decision: Decision.continued.rawValue)
        duration = report.outcome.elapsed
        status = report.status
        bytes = report.outcome.bodyBytes
        rangeFirst = Int64(clamping: transfer.span.start)
        rangeCount = transfer.span.count.map { Int64(clamping: $0) }
        if case .failed(let curl, let detail) = report.outcome.end { (curlCode, self.detail) = (curl, detail) }
    }
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
