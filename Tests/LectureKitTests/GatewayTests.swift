import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// What becomes of links that a gateway refuses, and of contents that are not kept.
@Suite(.timeLimit(.minutes(2)))
struct GatewayRefusalNetTests {
    private func codes(_ link: String, _ manager: LectureManager) async throws -> [LectureError?] {
        var errors: [LectureError?] = []
        // Asked at once, and as the first contact of a download.
        do { _ = try await manager.load(link) } catch { errors.append(error as? LectureError) }
        errors.append(try await manager.fetch(link).error)
        return errors
    }

    @Test func `an expired, a broken and an unknown link tell the gateway's number`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        let good = try await sandbox.link(key: "bytes-64K-4")
        let links = [
            (try await sandbox.link(key: "bytes-64K-4", expiresIn: -1), -4085, "HTTP 403"),
            (good.replacing("jwt=", with: "jwt=x"), -4007, "HTTP 403"), ("\(sandbox.http)/si", -4007, "HTTP 403"),
            ("\(sandbox.http)/i/nobody", -4012, "HTTP 404"),
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

    @Test func `a refusal without a number keeps its status, and what is no gateway's is not read`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        try await sandbox.set(fault: "status:403", on: "/si")
        let link = try await sandbox.link(key: "bytes-64K-4")
        #expect(try await codes(link, manager).map { $0?.code } == [.status(403), .status(403)])
        try await sandbox.set(fault: "", on: "/si")
        // A server of media that answers JSON with a number is no gateway.
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
    func `what is streamed only, and an intro, are refused by name`(query: String, number: Int) async throws {
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

    @Test func `a kollus link is told apart by what it asks`() throws {
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
