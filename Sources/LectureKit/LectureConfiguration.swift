import LectureFiles
public import LectureModel

/// How a ``LectureManager`` works. Every member has a default that suits one machine on a shared network.
public struct LectureConfiguration: Sendable {
    /// Returns new URLs of a lecture whose URL has expired (401, 403, 404, 410). Verified bytes stay.
    public typealias URLResolver = @Sendable (_ key: ContentKey, _ sourceURL: String) async throws -> [String]

    /// The directory of the store; created when it is missing.
    public var storeDirectory: String
    /// Lectures downloaded at once. If this is not set, up to 48 small files (of at most 1 MiB) of a server that is far
    /// and answers at once are downloaded beside them.
    public var jobs: Int {
        get { chosenJobs ?? 4 }
        set { chosenJobs = newValue }
    }
    /// What ``jobs`` was set to; nil for the default, which is no bound for far servers.
    package var chosenJobs: Int?
    /// Connections for one file; nil opens more only when they help.
    public var connections: Int?
    /// Bytes a second of all downloads together; nil for no limit.
    public var rateLimit: Int?
    /// Bytes a second of one lecture; nil for no limit of its own.
    public var rateLimitPerContent: Int?
    /// When downloads may run and how fast, for example `02:00-06:00=full, else=2M`; nil for always.
    public var timetable: String?
    /// Attempts without progress before a lecture fails.
    public var maxAttempts = 5
    /// How long without a byte is too long.
    public var stallTimeout: Duration = .seconds(30)
    /// Connections to one server. If this is not set, up to 48 where the server is far, answers at once and has small
    /// files, and up to 64 for the requests of licences.
    public var connectionsPerHost: Int {
        get { chosenPerHost ?? 16 }
        set { chosenPerHost = newValue }
    }
    /// What ``connectionsPerHost`` was set to; nil for the default, which is no bound for far servers and for licences.
    package var chosenPerHost: Int?
    /// Bytes that all lectures together may take; nil for no limit.
    public var quotaBytes: Int64?
    /// Bytes that stay free on the disk.
    public var reserveBytes: Int64 = 157_286_400
    /// Whether the store may be opened on a full disk with the 1 MiB it keeps for that. Without, a full disk's store
    /// can only be read. Not for programs that only add to a store: the space is there to remove from a full one.
    public var spendsSpaceReserve = true
    /// Whether media may start with any bytes, and be empty. Otherwise text, pages, playlists, and what a server calls
    /// video or audio without the signature of a known format, are refused where no digest is expected.
    public var acceptsAnyMedia = false
    /// What is kept of an adaptive lecture (HLS, DASH) whose request selects nothing.
    public var streamSelection = StreamSelection()
    /// Whether a download that was interrupted continues when a server gives no validator for the file and no digest is
    /// expected. Then only the length is compared, and a file that changed in between may end up half old, half new.
    public var trustsLength = false
    /// A PEM file with roots that are trusted beside the system's.
    public var caFile: String?
    /// A proxy's URL; nil reads the environment.
    public var proxy: String?
    /// A secret file with request headers by server: `{"https://host": {"headers": {"Authorization": "…"}}}`. They are
    /// sent to that server alone, never to one that it redirects to.
    public var credentialsFile: String?
    /// A `.netrc` file, from which servers get a user and a password; a secret file.
    public var netrcFile: String?
    /// A PEM file with the certificate for servers that ask for one.
    public var clientCertificateFile: String?
    /// A PEM file with the certificate's key, a secret file; nil when the key is in ``clientCertificateFile``.
    public var clientKeyFile: String?
    /// Rules of retention, as the configuration file has them. The product `LectureUpkeep` reads and applies them; the
    /// library itself removes nothing.
    public var retentionRules: [String] = []
    /// What is sealed before it is written.
    public var seal = SealPolicy.licensed
    /// How the answers of DRM callbacks are verified.
    public var rights = RightsConfiguration()
    /// Where learning reports go.
    public var statistics = StatisticsConfiguration()
    /// Where events go; nil leaves the endpoints that the store has as they are, and an empty array removes them. A
    /// secret is read when events are sent. See ``LectureManager/webhooks``.
    public var webhooks: [WebhookConfiguration]?
    /// The application's key; nil without one.
    public var application: ApplicationConfiguration?
    /// Where the device's key is kept; nil asks the environment (see ``DeviceHome/directory(in:)``).
    public var deviceDirectory: String?
    /// A group whose members use the store and the device's key as their owner does; nil leaves both as they are. Only
    /// the owner's programs share them; the directories keep the setting.
    public var sharedGroup: String?
    /// Called for new URLs when those of a lecture have expired; nil for none (a gateway is always asked).
    public var resolver: URLResolver?
    /// Whether the program keeps its manager open for long, as a service or an application does. Then downloads that
    /// wait for the network continue as soon as it is another one, and while there is nothing to do nothing is looked
    /// at again and again: what other programs write is noticed when they write it.
    public var isLongRunning = false
    /// Gets log records and metrics; nil for none.
    public var observer: (any LectureObserver)?
    /// The name of this program among those that share the store.
    public var programName = "library"
    /// Looks at the machine, where a stream must not be played in a virtual one.
    package var inspector: any MachineInspector = SystemInspector()
    /// What is at hand under the URLs of its sources, and is not asked of servers; nil for nothing. `LectureBundle`
    /// sets it to import a bundle.
    package var nearby: (any NearbyBytes)?
    /// Other stores that are asked for media before its servers are; nil for none. `LectureBundle` sets it.
    package var detour: (any TransferDetour)?

    /// Creates a configuration.
    ///
    /// - Parameter storeDirectory: the directory of the store; created when it is missing.
    public init(storeDirectory: String) { self.storeDirectory = storeDirectory }
}
