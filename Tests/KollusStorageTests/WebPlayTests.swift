import Foundation
import KollusSDK
import LectureModel
import LectureTestSupport
import Testing

/// Web views: `serverPort`, `proxyPort`, and what a URL of the storage's server gives. curl is the web view.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct WebPlayTests {
    private func get(_ url: URL, _ words: String...) async throws -> ChildProcess.Ending {
        try await ChildProcess.run("/usr/bin/curl", ["-q", "-s", "-f"] + words + [url.absoluteString])
    }

    private func film(_ name: String) throws -> Data {
        try Data(contentsOf: URL(filePath: "\(Places.repository())/Tools/lecture-sandbox/Fixtures/\(name).mp4"))
    }

    /// A port that was free a moment ago.
    private func freePort() async throws -> Int {
        let server = try await NginxOrigin.start(serving: "/nowhere")
        let port = try #require(URL(string: server.http)?.port)
        await server.stop()
        return port
    }

    @Test func `a web view plays a licensed content from the storage's port, and counts once`() async throws {
        var policy = CallbackPolicy()
        policy.expirationCount = 2
        let cinema = try await Cinema(policy)
        let port = try await freePort()
        cinema.storage.serverPort = port
        cinema.storage.settings.webOrigins = ["https://lms.example"]
        let play = try await cinema.storage.webPlay(cinema.key)
        #expect(play.url.port == port && play.url.host() == "127.0.0.1")
        #expect(try cinema.countLeft == 2)
        #expect(try await get(play.url, "-r", "0-99").output == (try film(cinema.key)).prefix(100))
        #expect(try await get(play.url).output == film(cinema.key))
        #expect(try cinema.countLeft == 1)
        #expect(try await get(play.url, "-H", "Origin: https://lms.example").status == 0)
        #expect(try await get(play.url, "-H", "Origin: https://evil.example").status == 22)
        await play.close()
        try await play.finish()
        #expect(try await get(play.url).status == 22)
        await cinema.end()
        #expect(try await get(play.url).status == 7, "nothing listens once the storage is closed")
    }

    @Test func `a view serves on its own port, also a URL`() async throws {
        let cinema = try await Cinema()
        let view = try cinema.view(nil)
        let (own, port) = (try await view.webPlay(), try await freePort())
        view.proxyPort = UInt(port)
        let other = try await view.webPlay()
        #expect(other.url.port == port && own.url.port != port)
        for play in [own, other] { #expect(try await get(play.url).output == film(cinema.key)) }
        let address = "\(cinema.classroom.origin.http)/media/ranges-and-resuming.mp4"
        let stream = try #require(KollusPlayerView(contentURL: address))
        stream.storage = cinema.storage
        let streamed = try await stream.webPlay()
        #expect(try await get(streamed.url).output == film("ranges-and-resuming"))
        await cinema.end()
    }

    @Test func `what cannot be served is refused with its number`() async throws {
        var policy = CallbackPolicy()
        policy.expirationCount = 1
        let cinema = try await Cinema(policy)
        let play = try await cinema.storage.webPlay(cinema.key)
        #expect(try await get(play.url, "-r", "0-0").status == 0)
        func code(_ work: () async throws -> KollusWebPlay) async -> Int? {
            do { _ = try await work() } catch { return (error as NSError).code }
            return nil
        }
        #expect(await code { try await cinema.storage.webPlay(cinema.key) } == -8644)
        #expect(await code { try await cinema.storage.webPlay("no-such-key") } == -8621)
        #expect(await code { try await cinema.storage.webPlay("") } == -8613)
        let taken = play.url.port ?? 0
        let view = try cinema.view(nil)
        view.proxyPort = UInt(taken)
        #expect(await code { try await view.webPlay() } == -20255)
        view.proxyPort = 100_000
        #expect(await code { try await view.webPlay() } == -8613)
        view.storage = nil
        #expect(await code { try await view.webPlay() } == -2108)
        #expect(await code { try await KollusStorage().webPlay(cinema.key) } == -8614)
        await cinema.end()
        #expect(await code { try await cinema.storage.webPlay(cinema.key) } == -8661)
    }
}
