import LectureFiles
package import LectureLive
package import LectureLiveClient
import LectureModel
import LectureTransport

/// The entrance: which server, and the broadcasters and viewers of live lectures.
///
/// ```swift
/// import FlipFlopLiteSDK
///
/// FlipFlopLite.initialize(config: FFLConfig(serverAddr: "https://live.example"))
/// let streamer = FlipFlopLite.getStreamer(accessToken: token)
/// ```
///
/// An independent implementation of the interface in the FlipFlop Lite tutorial, for Linux, for a server of one's own.
public enum FlipFlopLite {
    private static let current = Guarded<FFLConfig?>(nil)

    /// Chooses the server for broadcasters and viewers that are made from now on.
    ///
    /// - Parameter config: the server.
    public static func initialize(config: FFLConfig) { current.withLock { $0 = config } }

    /// A broadcaster.
    ///
    /// - Parameter accessToken: the token of the member, from the application's own server.
    /// - Returns: a broadcaster that has to be prepared.
    public static func getStreamer(accessToken: String) -> FFLStreamer {
        FFLStreamer(LiveAccess(current.withLock { $0 }, accessToken))
    }

    /// A broadcaster of a server, whichever one is the application's.
    ///
    /// - Parameters:
    ///   - config: the server and the media.
    ///   - accessToken: the token of the member.
    /// - Returns: a broadcaster that has to be prepared.
    package static func streamer(_ config: FFLConfig, accessToken: String) -> FFLStreamer {
        FFLStreamer(LiveAccess(config, accessToken))
    }

    /// A viewer of a server, whichever one is the application's.
    ///
    /// - Parameters:
    ///   - config: the server and the media.
    ///   - accessToken: the token of the member.
    ///   - room: the room, with its channel.
    /// - Returns: a viewer that has to be prepared.
    package static func livePlayer(_ config: FFLConfig, accessToken: String, _ room: VideoRoom) -> FFLLivePlayer {
        FFLLivePlayer(LiveAccess(config, accessToken), room.id, room.channelID)
    }

    /// A viewer.
    ///
    /// - Parameters:
    ///   - accessToken: the token of the member, from the application's own server.
    ///   - videoRoomId: the room.
    ///   - channelId: its channel.
    /// - Returns: a viewer that has to be prepared.
    public static func getLivePlayer(accessToken: String, videoRoomId: UInt64, channelId: UInt64) -> FFLLivePlayer {
        FFLLivePlayer(LiveAccess(current.withLock { $0 }, accessToken), videoRoomId, channelId)
    }
}

/// Which server.
public struct FFLConfig: Sendable {
    /// The vendor's servers.
    public enum ServerConfig: String, Sendable, CaseIterable {
        /// For tests.
        case dev = "https://api-sandbox.flipflop.cloud"
        /// For members.
        case prod = "https://api.flipflop.cloud"
    }

    /// The address of the server.
    public let serverAddr: String
    /// Makes the media of a broadcaster; without it `prepare` fails with 80103.
    public var feedSource: (@Sendable () -> any FeedSource)?
    /// Makes the picture of a viewer; without it `prepare` fails with 80103.
    public var livePicture: (@Sendable () -> any LivePicture)?
    /// A PEM file with roots that are trusted beside the system's.
    public var caFile: String?
    /// The clock and its waits.
    package var time = LiveTime(clock: SystemClock(), random: SystemRandom())

    /// One of the vendor's servers.
    ///
    /// - Parameter serverConfig: which one.
    public init(serverConfig: ServerConfig) { serverAddr = serverConfig.rawValue }

    /// Another server.
    ///
    /// - Parameter serverAddr: an http or https URL.
    public init(serverAddr: String) { self.serverAddr = serverAddr }
}

/// What a broadcaster or a viewer reaches the server with. Its transport ends with it.
final class LiveAccess: Sendable {
    let config: FFLConfig?
    /// The member, or why there is none.
    let client: Result<MemberClient, LiveFailure>
    private let transport: CurlTransport?

    init(_ config: FFLConfig?, _ accessToken: String) {
        self.config = config
        var made: CurlTransport?
        client = Result { () throws(LiveFailure) in
            guard let config else { throw LiveFailure(.noServerAddress, "'FlipFlopLite.initialize' was not called") }
            let server = try LiveServer(address: config.serverAddr, accessToken: accessToken)
            var settings = TransportConfiguration()
            settings.caFile = config.caFile
            do throws(LectureError) {
                let transport = try CurlTransport(settings, clock: config.time.clock)
                made = transport
                return MemberClient(server, transport: transport)
            } catch { throw LiveFailure(.server, "no connection can be made: error \(error.code.number)") }
        }
        transport = made
    }

    var time: LiveTime { config?.time ?? LiveTime(clock: SystemClock(), random: SystemRandom()) }

    deinit {
        guard let transport else { return }
        Task { await transport.shutdown() }
    }
}
