import LectureFiles
import LectureFormats
import LectureLive
import LectureLiveClient
import LectureModel
import LectureTestSupport
import LectureTransport
import LiveTestSupport
import Testing

/// A client with a real transport. Waits take no time: they advance the clock.
struct Stand: Sendable {
    let transport: CurlTransport
    let client: MemberClient
    let time: LiveTime

    init(_ address: String, token: String = MemberServer.token, seed: UInt64 = 1) throws {
        var configuration = TransportConfiguration()
        configuration.proxy = ""
        let clock = VirtualClock()
        transport = try CurlTransport(configuration, clock: SystemClock())
        client = MemberClient(try LiveServer(address: address, accessToken: token), transport: transport)
        time = LiveTime(clock: clock, random: SeededRandom(seed: seed)) { clock.advance(to: clock.boot() + $0) }
    }

    /// Runs a test and ends the transport.
    static func with<Result>(
        _ address: String, token: String = MemberServer.token, seed: UInt64 = 1,
        _ body: (Stand) async throws -> Result
    ) async throws -> Result {
        let stand = try Stand(address, token: token, seed: seed)
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(stand)) } catch { result = .failure(error) }
        await stand.transport.shutdown()
        return try result.get()
    }

    func feed(
        after id: UInt64? = nil, inactivity: Duration = ChannelFeed.inactivity, patience: Duration? = nil
    ) -> ChannelFeed {
        ChannelFeed(
            MemberServer.channelID, client, after: id, inactivity: inactivity, patience: patience, time: time)
    }
}

/// The numbers of messages in the order of their delivery, up to one of them.
func numbers(_ feed: ChannelFeed, to last: UInt64) async -> [UInt64] {
    var numbers: [UInt64] = []
    for await event in feed.events {
        if case .messages(let messages) = event { numbers += messages.map(\.id) }
        if let end = numbers.last, end >= last { break }
    }
    feed.close()
    return numbers
}
