import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// What happens to links that a gateway refuses, and to lectures that are not kept.
@Suite(.timeLimit(.minutes(2)))
struct GatewayRefusalNetTests {
    private func codes(_ link: String, _ manager: LectureManager) async throws -> [LectureError?] {
        var errors: [LectureError?] = []
        // Requested at once, and as the first contact of a download.
        do { _ = try await manager.downloads.load(link) } catch { errors.append(error as? LectureError) }
        errors.append(try await manager.fetch(link).error)
        return errors
    }

    @Test func `an expired, a broken and an unknown link yield the gateway's number`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        let good = try await sandbox.link(key: "bytes-64K-4")
        let links = [
            (try await sandbox.link(key: "bytes-64K-4", expiresIn: -1), -4085, "HTTP 403"),
            (good.replacing("jwt=", with: "jwt=x"), -4007, "HTTP 403"), ("\(sandbox.http)/si", -4007, "HTTP 403"),
            ("\(sandbox.http)/i/unknown", -4012, "HTTP 404"),
        ]
        for (link, number, cause) in links {
            let errors = try await codes(link, manager)
            #expect(errors.map { $0?.code.number } == [number, number], "\(link)")
            #expect(errors.allSatisfy { $0?.cause == cause && $0?.detail == "127.0.0.1" }, "\(link)")
        }
        #expect(try await manager.fetch(good).state == .completed)
        await manager.close()
        await sandbox.stop()
    }

    @Test func `a refusal without a number keeps its status, and foreign bodies are not read`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        try await sandbox.set(fault: "status:403", on: "/si")
        let link = try await sandbox.link(key: "bytes-64K-4")
        #expect(try await codes(link, manager).map { $0?.code } == [.status(403), .status(403)])
        try await sandbox.set(fault: "", on: "/si")
        // A media server that answers JSON with a number is not a gateway.
        let body = #"{"error":4085}"#
        let server = try RawServer.answering(
            "HTTP/1.1 403 Forbidden\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
        #expect(
            try await codes("\(server.http)/media/a.mp4", manager).map { $0?.code } == [.status(403), .status(403)])
        #expect(try await codes("\(server.http)/si?jwt=x", manager).map { $0?.code.number } == [-4085, -4085])
        await manager.close()
        await sandbox.stop()
    }

    @Test(arguments: [
        ("set.content_type=streaming", -8650), ("set.content_type=adaptiveStreaming", -8650), ("intro", -8803),
    ])
    func `streaming-only lectures and intros are refused with their own code`(query: String, number: Int) async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        let link = try await sandbox.link(key: "bytes-64K-4", query: query)
        #expect(try await codes(link, manager).map { $0?.code.number } == [number, number])
        #expect(try site.mediaFiles().isEmpty)
        await manager.close()
        await sandbox.stop()
    }

    @Test func `pictures and texts of a descriptor are fetched with the lecture`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        let content = try await manager.fetch(try await sandbox.link(key: "bytes-64K-4", extras: true))
        #expect(content.state == .completed && content.duration == .seconds(600))
        #expect(try site.mediaFiles().count == 5)
        await manager.close()
        await sandbox.stop()
    }

    @Test func `a key from before the gateway named the lecture works for every question`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        let link = try await sandbox.link(key: "bytes-64K-4")
        let derived = try await manager.downloads.enqueue([DownloadRequest(url: link)])[0].get().key
        #expect(try await manager.downloads.waitUntilIdle())
        #expect(try await manager.contents.list().map(\.key) == [try ContentKey("bytes-64K-4")])
        #expect(try await manager.contents.verify(derived).chunks > 0)
        #expect(try await manager.contents.find(derived)?.isPlayable == true)
        #expect(try await manager.downloads.refresh([derived]) == [derived: .success(.unchanged)])
        await manager.close()
        await sandbox.stop()
    }

    @Test func `a dry run with a fresh token finds the lecture that the gateway describes`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        let content = try await manager.fetch(try await sandbox.link(key: "bytes-64K-4"))
        // Another lifetime makes another token, whatever the clock shows.
        let fresh = DownloadRequest(url: try await sandbox.link(key: "bytes-64K-4", expiresIn: 601))
        let other = DownloadRequest(url: try await sandbox.link(key: "bytes-80K-5"))
        let asked = try await manager.downloads.plan([fresh, other], check: .head).map { try $0.get() }
        #expect(asked.map(\.kind) == [.complete, .new])
        #expect(asked.map(\.bytes) == [0, 80 << 10] && asked.map(\.key) == [content.key, nil])
        // Without asking, a new token is all that is known.
        #expect(try await manager.downloads.plan([fresh], check: .list).map { try $0.get().kind } == [.new])
        #expect(try await manager.contents.list().count == 1, "a dry run stores nothing")
        let unfinished = DownloadRequest(url: try await sandbox.link(key: "bytes-64K-4", expiresIn: 602))
        try FileManager.default.removeItem(atPath: try await manager.contents.path(of: content.key))
        #expect(try await manager.downloads.plan([unfinished], check: .head).map { try $0.get().kind } == [.damaged])
        await manager.close()
        await sandbox.stop()
    }

    @Test(arguments: [true, false])
    func `a digest requested by a link with a fresh token applies to the lecture it leads to`(
        isDigestKnown: Bool
    ) async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        let (right, wrong) = (
            bytes(hex: try await sandbox.sha256(of: "/media/bytes-64K-4.mp4")), [UInt8](repeating: 7, count: 32)
        )
        let first = try await manager.fetch(try await sandbox.link(key: "bytes-64K-4")) { request in
            if isDigestKnown { request.sha256 = right }
        }
        let original = try await manager.bytes(first.key)

        let events = manager.events
        _ = try await manager.fetch(try await sandbox.link(key: "bytes-64K-4", expiresIn: 601)) { $0.sha256 = wrong }
        _ = try await manager.first(in: events) { event in
            if case .outdated(let content) = event { content.key == first.key } else { false }
        }
        let refused = try #require(try await manager.contents.find(first.key))
        #expect(refused.state == .failed && refused.error?.code == .digestMismatch && refused.isPlayable)
        #expect(try await manager.bytes(first.key) == original)

        _ = try await manager.fetch(try await sandbox.link(key: "bytes-64K-4", expiresIn: 602)) { $0.sha256 = right }
        #expect(try await manager.contents.find(first.key)?.state == .completed)
        #expect(try await manager.contents.list().count == 1)
        #expect(try await manager.bytes(first.key) == original)
        #expect(try await manager.downloads.refresh([first.key]) == [first.key: .success(.unchanged)])
        await manager.close()
        await sandbox.stop()
    }

    @Test func `a kollus link is distinguished by its action`() throws {
        guard case .download(let requests) = try KollusLink("kollus://download?url=http://a/&folder=x&url=http://b/"),
            case .play(let one) = try KollusLink("kollus://path?url=http://a/"),
            case .downloadAndPlay(let both) = try KollusLink("kollus://download_play?url=http://a/"),
            case .list(let folder) = try KollusLink("kollus://list?folder=a%2Fb")
        else {
            Issue.record("another link was read")
            return
        }
        #expect(requests.map(\.url) == ["http://a/", "http://b/"] && requests.map(\.folder) == ["x", nil])
        #expect(one == "http://a/" && both == "http://a/" && folder == "a/b")
        #expect(KollusLink.isLink("kollus:x") && !KollusLink.isLink("http://x"))
        #expect(throws: LectureError(.urlInvalid)) { try KollusLink("kollus://stop") }
        #expect(throws: LectureError(.linkFetchesNothing)) { try DownloadRequest.requests(link: "kollus://list") }
    }
}
