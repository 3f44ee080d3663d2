import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `precache --from` with adaptive lectures.
@Suite(.timeLimit(.minutes(5))) struct AdaptivePeerNetTests {
    @Test(arguments: [TestStreams.Kind.ts, .aes])
    func `adaptive lectures come from the internet, and the summary says so`(kind: TestStreams.Kind) async throws {
        let streams = try await TestStreams.shared.value
        let origin = try await streams.serve()
        let (office, client) = (try BadDay(), try BadDay())
        let film = try Data(contentsOf: URL(filePath: streams.directory.file("film.mp4")))
        let sum = String(
            try await ChildProcess.run("/usr/bin/sha256sum", [streams.directory.file("film.mp4")]).text.prefix(64))
        let lines = [
            #"{"url":"\#(origin.http)/film.mp4","key":"film","sha256":"\#(sum)"}"#,
            #"{"url":"\#(origin.http)/\#(kind.rawValue)/main.m3u8","key":"stream"}"#,
        ]
        var lists: [String] = []
        for person in [office, client] {
            lists.append(try person.home.write(lines.joined(separator: "\n") + "\n", to: "course.jsonl"))
        }
        #expect(try await office("precache", "-q", lists[0]).status == 0)
        let server = try await OfficeServer.start(office)
        let tokens = try client.home.write(server.token + "\n", to: "office.token")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: tokens)
        let key = try client.home.write(Array(try await office("device", "show", "--json").output), to: "office.jwk")
        let before = try await origin.requests().count
        let ending = try await client(
            "precache", lists[1], "--json", "--from", server.url, "--from-token-file", tokens, "--from-trust", key)
        let fetched = try Fetched(ending, Array(try await origin.requests().dropFirst(before)))
        #expect(ending.status == 0 && fetched.totals.completed == 2, "\(fetched.said)")
        // The film from the office; of the stream every file from its own server, and no store is blamed for that.
        #expect(fetched.totals.lecturesFromPeers == 1 && fetched.totals.bytesFromPeers == film.count)
        #expect(fetched.totals.bytesFromInternet > 0 && fetched.totals.withoutDigest == 0, "\(fetched.said)")
        #expect(fetched.faults.isEmpty, "\(fetched.said)")
        let media = fetched.requests.filter { !$0.target.hasSuffix("film.mp4") }
        #expect(media.reduce(0) { $0 + $1.bytes } >= fetched.totals.bytesFromInternet)
        #expect(try await client("verify", "--all").status == 0)
        try await client.expectSound()
        // The sentence for people.
        #expect(try await client("remove", "stream").status == 0)
        let again = try await client(
            "precache", lists[1], "--from", server.url, "--from-token-file", tokens, "--from-trust", key)
        let sentence = "From branch servers: 0 lectures, 0 B; from the internet: "
        #expect(again.status == 0 && again.errorText.contains(sentence), "\(again.errorText)")
        #expect(!again.errorText.contains("\(sentence)0 B"))
        await server.stop()
        await origin.stop()
    }
}
