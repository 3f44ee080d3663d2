import HostileSuite
import LectureModel
import Testing

/// The built program meets servers whose playlists lead to what is not there, not media, or too much.
@Suite(.timeLimit(.minutes(10))) struct HostileStreamNetTests {
    private static let head = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n"
    private static let page = "application/vnd.apple.mpegurl"

    private static func media(_ count: Int = 3, key: String = "") -> String {
        head + key + (0..<count).map { "#EXTINF:4,\n\($0).ts\n" }.joined() + "#EXT-X-ENDLIST\n"
    }

    private static func playlist(_ text: String) -> Reply { .answer(Answer(200, text: text, type: page)) }

    private static let signIn = "<html><body><form>Sign in</form></body></html>\n"

    /// Packets of MPEG-TS.
    private static func segment(_ count: Int = 400) -> Answer {
        let packet = [0x47] + [UInt8](repeating: 1, count: 187)
        return Answer(200, [("Content-Type", "video/mp2t")], body: (0..<count).flatMap { _ in packet }[...])
    }

    /// A server: what its playlist is, how it answers for the rest, and the code that is due; nil for success.
    private struct Scene: Sendable {
        let name: String
        let code: LectureError.Code?
        var playlist = media()
        let rest: @Sendable (Visit) -> Reply

        init(
            _ name: String, _ code: LectureError.Code?, playlist: String = media(),
            rest: @escaping @Sendable (Visit) -> Reply = { _ in .answer(segment()) }
        ) { (self.name, self.code, self.playlist, self.rest) = (name, code, playlist, rest) }
    }

    private static let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n"

    private static func isKey(_ visit: Visit) -> Bool { visit.asked.path == "/k" }

    private static let scenes: [Scene] = [
        Scene("honest", nil),
        Scene("missing segments", .segmentsMissing) { _ in .answer(Answer(404, text: "not found\n")) },
        Scene("one missing segment", .segmentsMissing) { visit in
            visit.asked.path == "/1.ts" ? .answer(Answer(410)) : .answer(segment())
        },
        Scene("a page for segments", .segmentsMissing) { _ in
            .answer(Answer(200, text: signIn, type: "text/html"))
        },
        Scene("the playlist for segments", .segmentsMissing) { _ in playlist(media()) },
        Scene("segments that are cut once", nil) { visit in
            visit.isFirst(visit.asked.path)
                ? .answer(segment().with { $0.ending = .cut(after: 1_000) }) : .answer(segment())
        },
        Scene("empty segments", .segmentsMissing) { _ in .answer(Answer(200, [("Content-Type", "video/mp2t")])) },
        Scene("segments that lead in circles", .segmentsMissing) { visit in
            .answer(Answer(302, [("Location", visit.asked.path)]))
        },
        Scene("segments that lead to a file", .segmentsMissing) { _ in
            .answer(Answer(302, [("Location", "file:///etc/passwd")]))
        },
        Scene("a short key", .streamKey, playlist: media(key: key)) { visit in
            isKey(visit) ? .answer(Answer(200, text: "123456789012345")) : .answer(segment())
        },
        Scene("segments that their key does not decrypt", .segmentsMissing, playlist: media(key: key)) { visit in
            isKey(visit) ? .answer(Answer(200, text: "1234567890123456")) : .answer(segment())
        },
        Scene("encrypted segments that are no whole blocks", .segmentsMissing, playlist: media(key: key)) { visit in
            isKey(visit) ? .answer(Answer(200, text: "1234567890123456")) : .answer(segment(401))
        },
        Scene("a page for a key", .notMedia, playlist: media(key: key)) { visit in
            isKey(visit) ? .answer(Answer(200, text: signIn, type: "text/html")) : .answer(segment())
        },
        Scene(
            "variants of variants", .playlistDamaged, playlist: "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"
        ) { _ in playlist("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nmain.m3u8\n") },
        Scene(
            "a file as a segment", .playlistDamaged,
            playlist: head + "#EXTINF:4,\nfile:///etc/passwd\n"
                + "#EXT-X-ENDLIST\n"),
        Scene("no end", .streamLive, playlist: head + "#EXTINF:4,\n0.ts\n"),
        Scene("no segments", .playlistDamaged, playlist: head + "#EXT-X-ENDLIST\n"),
        Scene("half a playlist", .playlistDamaged, playlist: String(media().dropLast(20))),
        Scene(
            "a key of a DRM system", .streamProtected,
            playlist: media(key: "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://k\",KEYFORMAT=\"com.widevine\"\n")),
    ]

    @Test(arguments: scenes.map(\.name))
    func `an adaptive lecture is complete with all its segments, or the failure is clear`(name: String) async throws {
        let scene = try #require(Self.scenes.first { $0.name == name })
        let hostileCase = HostileCase("stream", .impostors, "An adaptive lecture.", due: .refusal) { visit in
            visit.asked.path == "/main.m3u8" ? Self.playlist(scene.playlist) : scene.rest(visit)
        }.with { $0.path = "/main.m3u8" }
        let whole = Client.lecturectl()
        let client = Client(name: "lecturectl", program: whole.program, takesDigest: false) { task in
            ["precache", task.url, "--timeout", "2s", "--retries", "2", "--json", "--quiet", "--deadline", "20s"]
        } environment: {
            whole.environment($0)
        }
        let meeting = Meeting(hostileCase, client, knowsDigest: false)
        let seen = try await Turnstile.shared.pass { try await meeting.hold() }
        #expect(meeting.brokenPromises(seen) == [], "\(seen.story)")
        #expect((seen.status == 0) == (scene.code == nil), "\(seen.words)\n\(seen.output)\n\(seen.story)")
        #expect(![.hung, .crashed, .flooded].contains(seen.verdict))
        guard let code = scene.code else { return }
        #expect(seen.output.contains("\"code\":\(code.number)"), "\(seen.words)\n\(seen.output)\n\(seen.story)")
    }
}
