package import LectureAdaptive
import LectureEngine
package import LectureModel

/// The engine's settings. Every value has an option on the command line or in the configuration.
package struct DownloadSettings: Sendable {
    /// Items at once.
    package var jobs = 4
    /// Whether more items than ``jobs`` are in work where their files are small and their server is far: not if the
    /// user has chosen a number.
    package var exceedsJobs = false
    /// Connections for one file; nil opens more only when they help.
    package var connections: Int?
    /// The most connections for one file when they help.
    package var connectionsLimit = 8
    /// Connections to one server.
    package var connectionsPerHost = 16
    /// Whether there may be more of them to a server that is far and answers at once: not if the user has chosen a
    /// number.
    package var exceedsPerHost = false
    /// Attempts without progress before an item fails or is stopped.
    package var maxAttempts = 5
    /// How long a transfer may go without a byte.
    package var stallTimeout: Duration = .seconds(30)
    /// Bytes that all lectures together may use; nil for no limit.
    package var quotaBytes: UInt64?
    /// Bytes that stay free on the disk.
    package var reserveBytes: UInt64 = 157_286_400
    /// Bytes a second of all downloads together; nil for no limit.
    package var rateLimit: Int?
    /// Bytes a second of one item; nil for no limit of its own.
    package var rateLimitPerItem: Int?
    /// When downloads may run, and how fast; nil for always.
    package var timetable: Timetable?
    /// Whether media may start with any bytes, and be empty.
    package var acceptsAny = false
    /// Whether an interrupted download continues when only the length indicates that the file is still the same.
    package var trustsLength = false
    /// What is kept of an adaptive lecture whose request selects nothing.
    package var selection = StreamSelection()
    /// Whether what other programs write is reported as ``EngineEvent/targetsChanged``, so that a machine without work
    /// need not look for it.
    package var hearsOthers = false
    /// The longest time that received bytes wait to be synced and committed.
    package var groupInterval: Duration = .milliseconds(250)
    /// How long a transfer may take for a chunk before what it has of it is stored, each time.
    package var pieceInterval: Duration = .milliseconds(500)
    /// How often progress is reported.
    package var progressInterval: Duration = .milliseconds(250)
    /// A longer wait frees the item's job slot.
    package var longestHeldWait: Duration = .seconds(10)
    /// Objects from this size on are fetched over HTTP/1.1, one range a connection.
    package var largeObjectBytes: UInt64 = 8 << 20

    /// The defaults.
    package init() {}

    /// How many transfers a server may have at first.
    static let initialTransfers = 4
    /// How many transfers may share one connection: what every server should allow (RFC 9113 section 6.5.2).
    static let streams = 100
    /// How many transfers of small files a far server may have where nothing was chosen: at 50 ms about 900 files a
    /// second, and fewer than all kinds of traffic may have together (``OriginBudgets/total``).
    package static let farTransfers = 48

    /// Whether later bytes can be shown to belong to the present ones: by a validator or a digest, or because the user
    /// trusts the length.
    func canResume(_ resource: ResourceRecord) -> Bool {
        trustsLength || resource.entityTag != nil || resource.lastModified != nil || resource.expectedSHA256 != nil
    }

    /// Transfers at once for one server, for one host, and in all. A number of jobs or connections that the user set
    /// applies from the start. How often a failed transfer is repeated depends on its item, so there is no breaker.
    var pacing: OriginPacer.Rules {
        var window = OriginPacer.Window(
            initial: max(Self.initialTransfers, jobs, connections ?? 0), maximum: connectionsPerHost,
            halvedBy: [.overloaded])
        window.doublesAtFirst = true
        var rules = OriginPacer.Rules(
            window: window, perHost: connectionsPerHost, total: max(Self.streams, jobs, connectionsPerHost))
        rules.streams = Self.streams
        if exceedsPerHost { rules.far = Self.farTransfers }
        return rules
    }
}

/// Names a part file among the engine's events.
package struct PartToken: Hashable, Sendable {
    /// Counted up within one engine.
    package let value: UInt64
}

/// Results of transfers, of the disk and of work done elsewhere, and requests of the application. Queued by any thread,
/// handled in order.
package enum EngineEvent: Sendable {
    /// A transfer's header was judged.
    case head(TransferID, ResponseVerdict, status: Int)
    /// The first bytes of a transfer show the media type of its object, whatever its header says.
    case recognised(TransferID, mediaType: String)
    /// A transfer is over.
    case ended(TransferID, TransferReport)
    /// A part file reported an event.
    case part(PartToken, PartFileEvent)
    /// Chunks of a part file were checked against their proofs.
    case checked(PartToken, damaged: [Int], LectureError?)
    /// The ends of an encrypted file were read, or could not be.
    case inspected(PartToken, SegmentOutcome)
    /// The playlists of a lecture were read from the disk, in the order of the request, or could not be.
    case documentsRead(ContentID, Result<[StreamText], LectureError>)
    /// The segment indexes of a version were read from its files, as far as they could be, by the names of the files.
    case indexesRead(ContentID, VersionID, [String: OpenPlaylists.IndexBytes])
    /// The files below the store's media directory.
    case listed([String])
    /// Files of a lecture or of a version were deleted, or could not be.
    case deleted(DeletionPurpose, LectureError?)
    /// Finished files were published, or could not be.
    case published([PublishedFile])
    /// The application's resolver returned new URLs, or failed.
    case resolved(ContentID, urls: [String], LectureError?)
    /// A request for the licence server's grant is over.
    case granted(ContentID, GrantAnswer)
    /// This program changed a target state in the store.
    case targetsChanged
    /// The application changed the settings.
    case configured(DownloadSettings)
    /// The application asks to publish a complete lecture.
    case publish(ContentID)
    /// The network is another one, or is back: what waits for it is due.
    case networkChanged
}

/// What files were deleted for.
package enum DeletionPurpose: Sendable, Hashable {
    /// The lecture is removed.
    case content(ContentID)
    /// A version was discarded.
    case version(VersionID)
    /// No row refers to the files.
    case orphans
}

/// How a transfer ended, as its sink saw it.
package struct TransferReport: Sendable {
    /// Why the sink stopped by itself.
    package enum Cause: Sendable, Hashable {
        /// It did not stop by itself.
        case none
        /// It reached the chunk where another transfer takes over.
        case border
        /// The header was refused.
        case refusedHead
        /// More bytes than announced.
        case tooLong
        /// More bytes than allowed.
        case tooLarge
        /// The part file accepts no more.
        case disk
        /// The first bytes cannot belong to a lecture.
        case firstBytes(FirstBytes.Refusal)
        /// There is no space for a body of the announced length; nothing of it was read.
        case noSpace(LectureError.Code)

        /// Whether the first bytes were refused.
        var isFirstBytes: Bool { if case .firstBytes = self { true } else { false } }
    }

    /// How the transport saw it end.
    package var outcome: TransferOutcome
    /// The verdict on the header; nil when none was received.
    package var verdict: ResponseVerdict?
    /// The HTTP status; nil when none was received.
    package var status: Int?
    /// Why the sink stopped it.
    package var cause: Cause
    /// The byte after the last one received.
    package var position: UInt64
    /// The byte after the last one handed to the disk as part of a whole chunk.
    package var handedOver: UInt64
    /// Whether the object's last byte was received.
    package var reachedEnd: Bool
    /// Whether it was answered over HTTP/2.
    package var isHTTP2 = false
    /// The body of a descriptor, or of a gateway's refusal.
    package var document: [UInt8]?
    /// The partial chunk, for the transfer that continues it.
    package var remainder: ChunkRemainder?
}

/// A chunk that was received in part: the next transfer continues in its middle, so that a server which cuts every
/// answer short of a chunk cannot keep a download from finishing.
package struct ChunkRemainder: Sendable {
    /// The stream of the part file that has the chunk's first bytes.
    package var stream: TransferID
    /// The next byte of the resource.
    package var offset: UInt64
    /// The bytes that are not yet handed to the disk.
    package var block: Block?
    /// How many bytes of the block are stored, or on their way to be.
    package var kept = 0
}

/// What a step led to, after the commit that makes it true.
package enum EngineNotice: StateMachineNotice, Hashable {
    /// What applications are informed of, beside changed items.
    case event(LectureEvent)
    /// An item changed: its row as it was written, and what applications are informed of.
    case changed(ItemRecord, LectureEvent)
    /// A link led to a lecture that is complete and does not contradict its source.
    ///
    /// - Parameters:
    ///   - content: the lecture.
    ///   - unknownDigest: the SHA-256 that its source names, if that of the file was never computed.
    case alreadyComplete(ContentID, unknownDigest: [UInt8]?)
    /// The store could not be written; the step is repeated.
    case failure(LectureError)
    /// All work that ``DownloadEngine/stop()`` ended is finished; the engine is idle.
    case stopped
}

/// What became of a finished file that was to be published.
package struct PublishedFile: Sendable {
    /// The lecture.
    package var content: ContentID
    /// The output path.
    package var path: String
    /// The file that is there now, or the error.
    package var outcome: Result<OutputFacts, LectureError>
}

/// Runs blocking work away from the engine's executor and queues the event it returns.
package protocol WorkOffload: Sendable {
    /// Runs `work` soon, on a thread that may block.
    func run(_ work: @escaping @Sendable () -> EngineEvent)
}

/// Asks the application for new URLs of a lecture; the answer comes as ``EngineEvent/resolved(_:urls:_:)``.
package protocol URLResolver: Sendable {
    /// Whether the application has a resolver.
    var isPresent: Bool { get }
    /// Requests new URLs.
    func resolve(_ content: ContentID, key: ContentKey, sourceURL: String)
}

/// How much was fetched and how much was reused in this run.
package struct EngineStatistics: Sendable, Hashable {
    /// Bytes of bodies received over the network.
    package var bytesFetched: Int64 = 0
    /// Bytes that were committed before this run claimed the item.
    package var bytesReused: Int64 = 0
}
