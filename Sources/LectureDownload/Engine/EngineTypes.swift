package import LectureModel

/// How the engine is to work. Every value has a twin on the command line or in the configuration.
package struct DownloadSettings: Sendable {
    /// Items at once.
    package var jobs = 4
    /// Connections for one file; nil opens more only when they help.
    package var connections: Int?
    /// The most connections for one file when they help.
    package var connectionsLimit = 8
    /// Connections to one server.
    package var connectionsPerHost = 16
    /// Attempts without gaining a byte before an item is given up.
    package var maxAttempts = 5
    /// How long without a byte is too long.
    package var stallTimeout: Duration = .seconds(30)
    /// Bytes that all contents together may take; nil for no bound.
    package var quotaBytes: UInt64?
    /// Bytes that stay free on the disk.
    package var reserveBytes: UInt64 = 157_286_400
    /// Bytes a second of all downloads together; nil for no bound.
    package var rateLimit: Int?
    /// Bytes a second of one item; nil for no bound of its own.
    package var rateLimitPerItem: Int?
    /// When downloads may run, and how fast; nil for always.
    package var timetable: Timetable?
    /// Whether media may begin with any bytes, and be empty.
    package var acceptsAny = false
    /// Whether a download that was interrupted continues when nothing but the length says that the file is still the
    /// same one.
    package var trustsLength = false
    /// The longest that received bytes wait to be synced and committed.
    package var groupInterval: Duration = .milliseconds(250)
    /// How often progress is told.
    package var progressInterval: Duration = .milliseconds(250)
    /// A longer wait gives the item's place to another.
    package var longestHeldWait: Duration = .seconds(10)
    /// Objects from this size on are fetched over HTTP/1.1, one range a connection.
    package var largeObjectBytes: UInt64 = 8 << 20

    /// The defaults.
    package init() {}

    /// Transfers at once for one server, for one host, and in all. A number of connections that the user named is not
    /// worked up to.
    var originLimits: OriginGovernor.Limits {
        OriginGovernor.Limits(
            initial: max(OriginGovernor.initialLimit, connections ?? 0), perOrigin: connectionsPerHost,
            perHost: connectionsPerHost, total: max(64, jobs, connectionsPerHost))
    }
}

/// Names a part file among the engine's events.
package struct PartToken: Hashable, Sendable {
    /// Counted up within one engine.
    package let value: UInt64
}

/// What comes back from transfers, from the disk and from work done elsewhere. Queued by any thread, handled in turn.
package enum EngineEvent: Sendable {
    /// A transfer's header was judged.
    case head(TransferID, ResponseVerdict, status: Int)
    /// A transfer is over.
    case ended(TransferID, TransferReport)
    /// A part file has done something.
    case part(PartToken, PartFileEvent)
    /// Chunks of a part file were held against their proofs.
    case checked(PartToken, damaged: [Int], LectureError?)
    /// The files below the store's media directory.
    case listed([String])
    /// Files of a content or of a version were deleted, or could not be.
    case deleted(DeletionPurpose, LectureError?)
    /// The finished bytes stand where the user wants them, or cannot.
    case published(ContentID, path: String, LectureError?)
    /// The application's resolver answered with new URLs, or could not.
    case resolved(ContentID, urls: [String], LectureError?)
    /// The licence server was asked whether the content may be kept.
    case granted(ContentID, GrantAnswer)
}

/// What became of the question whether a content may be kept.
package enum GrantAnswer: Sendable, Hashable {
    /// It may, or need not be asked any more; the ledger says it.
    case settled
    /// It may not.
    case refused(LectureError)
    /// The server could not be asked, or gave no answer that can be used.
    case failed(LectureError)
}

/// What files were deleted for.
package enum DeletionPurpose: Sendable, Hashable {
    /// The content goes.
    case content(ContentID)
    /// A version was given up.
    case version(VersionID)
    /// No row names the files.
    case orphans
}

/// How a transfer ended, as its sink saw it.
package struct TransferReport: Sendable {
    /// Why the sink stopped by itself.
    package enum Cause: Sendable, Hashable {
        /// It did not.
        case none
        /// It reached the place where another transfer takes over.
        case border
        /// The header was refused.
        case refusedHead
        /// More bytes than announced.
        case tooLong
        /// More bytes than allowed.
        case tooLarge
        /// The part file takes no more.
        case disk
        /// The first bytes are no lecture's.
        case firstBytes(FirstBytes.Refusal)
        /// There is no room for a body of the announced length; nothing of it was read.
        case noRoom(LectureError.Code)

        /// Whether the first bytes were refused.
        var isFirstBytes: Bool { if case .firstBytes = self { true } else { false } }
    }

    /// How the transport saw it end.
    package var outcome: TransferOutcome
    /// What the header was judged to mean; nil when none came.
    package var verdict: ResponseVerdict?
    /// The HTTP status; nil when none came.
    package var status: Int?
    /// Why the sink stopped it.
    package var cause: Cause
    /// The byte after the last one received.
    package var position: UInt64
    /// The byte after the last one handed to the disk as part of a whole chunk.
    package var handedOver: UInt64
    /// Whether the object's last byte was received.
    package var reachedEnd: Bool
    /// The body of a descriptor, or of a gateway's refusal.
    package var document: [UInt8]?
    /// The begun chunk, for a transfer that goes on in its middle.
    package var remainder: ChunkRemainder?
}

/// A chunk that was received in part: the next transfer goes on in its middle, so that a server which cuts every
/// answer short of a chunk cannot keep a download from ending.
package struct ChunkRemainder: Sendable {
    /// The lane of the part file that knows the chunk's first bytes.
    package var lane: TransferID
    /// The next byte of the resource.
    package var offset: UInt64
    /// The bytes that are not yet handed to the disk.
    package var block: Block?
}

/// What the engine tells the outside, after the commit that makes it true.
package enum EngineNotice: Sendable {
    /// A content changed its state.
    case changed(ContentID)
    /// A link led to a content that is complete, and nothing that its source says speaks against it.
    ///
    /// - Parameters:
    ///   - content: the content.
    ///   - unknownDigest: the SHA-256 that its source names, where that of the file was never computed.
    case alreadyComplete(ContentID, unknownDigest: [UInt8]?)
    /// Bytes came.
    case progress(DownloadProgress)
    /// A content was deleted.
    case removed(ContentKey)
    /// The finished bytes stand at a path outside the store, or cannot.
    case published(ContentKey, path: String, LectureError?)
    /// The store could not be written, or a file not be deleted; it is taken up again.
    case storeTrouble(LectureError)
    /// Everything that was stopped by ``DownloadEngine/stop()`` has come to rest.
    case stopped
}

/// Runs blocking work away from the engine's executor and queues the event it answers with.
package protocol WorkOffload: Sendable {
    /// Runs `work` soon, on a thread that may block.
    func run(_ work: @escaping @Sendable () -> EngineEvent)
}

/// Asks the application for new URLs of a content; the answer comes as ``EngineEvent/resolved(_:urls:_:)``.
package protocol URLResolver: Sendable {
    /// Whether there is anybody to ask.
    var isPresent: Bool { get }
    /// Asks.
    func resolve(_ content: ContentID, key: ContentKey, sourceURL: String)
}

/// What was fetched and what was not fetched again in this run.
package struct EngineStatistics: Sendable, Hashable {
    /// Bytes of bodies that came over the network.
    package var bytesFetched: Int64 = 0
    /// Bytes that were proven before this run took the item up.
    package var bytesReused: Int64 = 0
}
