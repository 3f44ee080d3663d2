import Foundation
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureKit

/// What lists and pages show of one lecture, from real stores.
@Suite(.timeLimit(.minutes(3)))
struct DetailNetTests {
    private func picture(_ sandbox: SandboxOrigin, _ name: String, _ size: String) -> String {
        "set.\(name)=\(sandbox.http)/media/bytes-\(size)-6.mp4"
    }

    @Test func `a list shows all known details of a lecture, and missing ones as empty`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        // Sealed: pictures for lists stay in clear anyway.
        let manager = try site.manager { configuration in
            configuration.seal = .always
            configuration.deviceDirectory = site.directory.file("device")
        }
        let query = [
            picture(sandbox, "snapshot_url", "5000"), picture(sandbox, "thumbnail_url", "7000"), "set.synopsis=About",
            "set.description_url=\(sandbox.http)/about",
        ].joined(separator: "&")
        let link = try await sandbox.link(key: "bytes-2M-7", query: query)
        let waiting = try await manager.downloads.load(try await sandbox.link(key: "bytes-1M-3"))
        let content = try await manager.fetch(link) { $0.folder = "maths/first" }
        #expect(content.state == .completed, "\(content.error?.message ?? "")")
        let all = try await manager.contents.details()
        #expect(try await all.map(\.content) == manager.contents.list())
        #expect(all.map(\.number) == [1, 2])
        let details = try #require(all.last)
        #expect(details.company == "Lecture Sandbox" && details.synopsis == "About")
        #expect(details.content.folder == "maths/first" && details.licence == nil && details.resumePoint == .zero)
        let still = try Data(contentsOf: URL(filePath: try #require(details.snapshotPath)))
        let sheet = try Data(contentsOf: URL(filePath: try #require(details.thumbnailPath)))
        #expect(still.count == 5000 && sheet.count == 7000)
        #expect(try await still == Data(manager.document(at: "\(sandbox.http)/media/bytes-5000-6.mp4")))
        let first = try #require(all.first)
        #expect(first.content == waiting && first.snapshotPath == nil && first.thumbnailPath == nil)
        #expect(try await manager.contents.details(of: content.key) == details)
        #expect(try await manager.contents.details(of: try ContentKey("unknown")) == nil)
        // All files of one lecture: media, its pictures.
        #expect(try await manager.contents.mediaBytes() == 2 << 20 + 5000 + 7000)
        try await manager.downloads.remove(content.key)
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(30)))
        #expect(try await manager.contents.details().map(\.content.key) == [waiting.key])
        #expect(try await manager.contents.mediaBytes() == 0)
        await manager.close()
        await sandbox.stop()
    }

    @Test func `a list judges licences as single calls do, and draws no key where there are none`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        var policy = CallbackPolicy()
        policy.expirationCount = 1
        try await sandbox.set(policy: policy)
        let device = site.directory.file("device")
        let manager = try site.manager { configuration in
            configuration.deviceDirectory = device
            configuration.rights.keys = [.init(id: "sandbox", place: .secret(sandbox.drmKeyFile))]
            configuration.rights.userKey = "sandbox"
        }
        _ = try await manager.fetch("\(sandbox.http)/media/bytes-64K-1.mp4")
        #expect(try await manager.contents.details().map(\.licence) == [nil])
        #expect(!FileManager.default.fileExists(atPath: device), "no licence, no key")
        for key in ["bytes-64K-2", "bytes-64K-3"] {
            _ = try await manager.fetch(try await sandbox.link(key: key, query: "licensed"))
        }
        try await manager.licences.beginPlay(try ContentKey("bytes-64K-3")).end()
        let details = try await manager.contents.details()
        #expect(details.map { $0.licence?.isPlayable } == [nil, true, false])
        #expect(details.last?.licence?.reasons == [.countUsedUp])
        let licences = try await manager.licences.statuses(of: details.map(\.content))
        for detail in details {
            #expect(detail.licence == licences[detail.content.key])
            #expect(try await manager.contents.details(of: detail.content.key) == detail)
        }
        // A changed row is shown as forged.
        try damage(site, "UPDATE licence SET count_limit = 99 WHERE content_key = 'bytes-64K-3'")
        #expect(try await manager.contents.details(sort: .title).last?.licence?.reasons.contains(.ledgerForged) == true)
        // And a licence row detached from its lecture still belongs to the lecture.
        try damage(site, "UPDATE licence SET content_id = NULL")
        #expect(try await manager.contents.details().map { $0.licence == nil } == [true, false, false])
        await manager.close()
        await sandbox.stop()
    }

    /// Changes a store as no program of ours does.
    private func damage(_ site: Site, _ sql: String) throws {
        try Connection(path: "\(site.store)/lecturekit.db", access: .readWrite).execute(sql)
    }

    @Test func `a play and its record store the resume position`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        let key = try await manager.fetch("\(sandbox.http)/media/bytes-64K-1.mp4").key
        func place() async throws -> Duration? { try await manager.contents.details(of: key)?.resumePoint }
        let play = try await manager.licences.beginPlay(key)
        try await play.reached(.seconds(3))
        #expect(try await place() == .seconds(3), "the first resume point is stored at once")
        try await play.reached(.seconds(12))
        #expect(try await place() == .seconds(12))
        try await play.reached(.seconds(13))
        #expect(try await place() == .seconds(12), "less than two seconds away")
        try await play.reached(.seconds(14))
        #expect(try await place() == .seconds(14))
        try await play.reached(.seconds(2))
        #expect(try await place() == .seconds(2), "backwards as well")
        try await play.reached(.milliseconds(6_789))
        try await play.end()
        #expect(try await place() == .milliseconds(6_789))
        try await play.reached(.seconds(50))
        #expect(try await place() == .milliseconds(6_789), "the play is over")

        let recorder = try await manager.reports.recordPlay(of: key, user: "kim", duration: .seconds(600))
        try await recorder.report()
        #expect(try await place() == .milliseconds(6_789), "it has not moved yet")
        await recorder.record(PlayedInterval(.play, from: .zero, to: .seconds(90), lasting: .seconds(90)))
        await recorder.record(PlayedInterval(.seek, from: .seconds(90), to: .seconds(40), lasting: .zero))
        try await recorder.report()
        #expect(try await place() == .seconds(40))

        try await manager.contents.setResumePoint(.seconds(-1), of: key)
        #expect(try await place() == .zero)
        let unknown = try ContentKey("unknown")
        await #expect(throws: LectureError(.unknownContent, detail: "unknown")) {
            try await manager.contents.setResumePoint(.zero, of: unknown)
        }
        // A lecture that is removed during its play takes its resume point along, and no error is reported.
        let last = try await manager.licences.beginPlay(key)
        try await manager.downloads.remove(key)
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(30)))
        try await last.reached(.seconds(30))
        try await last.end()
        try await recorder.report()
        #expect(try await manager.contents.details(of: key) == nil)
        await manager.close()
        await sandbox.stop()
    }

    @Test func `a resume position outlives the process, in a store of a licensed lecture too`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        var policy = CallbackPolicy()
        (policy.expirationPlaytime, policy.expirationPlaytimeType) = (60, 0)
        try await sandbox.set(policy: policy)
        func open() throws -> LectureManager {
            try site.manager { configuration in
                configuration.deviceDirectory = site.directory.file("device")
                configuration.rights.keys = [.init(id: "sandbox", place: .secret(sandbox.drmKeyFile))]
                configuration.rights.userKey = "sandbox"
            }
        }
        let manager = try open()
        let key = try await manager.fetch(try await sandbox.link(key: "bytes-64K-2", query: "licensed")).key
        let play = try await manager.licences.beginPlay(key)
        try await play.reached(.seconds(1))
        try await play.reached(.seconds(8))
        // Stored with the play time, although it is not ten seconds further; all the more since the play ends here.
        await #expect(throws: LectureError.self) { try await play.watched(media: .seconds(60), running: .seconds(60)) }
        await manager.close()
        let again = try open()
        #expect(try await again.contents.details(of: key)?.resumePoint == .seconds(8))
        #expect(try await again.contents.details(of: key)?.licence?.reasons == [.playTimeUsedUp])
        await again.close()
        await sandbox.stop()
    }

    @Test func `a lecture is found by its address and by what a link names`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        let link = try await sandbox.link(key: "bytes-64K-2", query: "digest=none")
        let gateway = try await manager.downloads.load(link)
        let media = try await manager.downloads.load("\(sandbox.http)/media/bytes-64K-9.mp4?token=1")
        let own = try ContentKey("own-key")
        let named = try await manager.fetch("\(sandbox.http)/media/bytes-64K-8.mp4") { $0.key = own }
        func find(_ url: String) async throws -> String? { try await manager.contents.find(url: url)?.key.text }
        #expect(try await find(link) == gateway.key.text && gateway.key.text == "bytes-64K-2")
        #expect(try await find("\(sandbox.http)/media/bytes-64K-9.mp4?token=2") == media.key.text)
        #expect(try await find("\(sandbox.http)/media/bytes-64K-8.mp4") == named.key.text)
        // Another link of the same lecture: its token differs.
        #expect(try await find(try await sandbox.link(key: "bytes-64K-2", expiresIn: -5, user: "lee")) == "bytes-64K-2")
        #expect(try await find("\(sandbox.http)/i/bytes-64K-2?x=1") == "bytes-64K-2")
        #expect(try await find("https://elsewhere.example/sub/i/bytes%2D64K-2") == "bytes-64K-2")
        // An extension makes it another lecture.
        #expect(try await find("\(sandbox.http)/i/bytes-64K-2-custom") == nil)
        #expect(try await find("\(sandbox.http)/i/bytes-64K") == nil)
        #expect(try await find("\(sandbox.http)/si?jwt=nonsense") == nil)
        #expect(try await find("\(sandbox.http)/other.mp4") == nil)
        await #expect(throws: LectureError(.urlScheme)) {
            try await manager.contents.find(url: "ftp://127.0.0.1/i/bytes-64K-2")
        }
        for url in ["", "bytes-64K-2", "http://"] {
            let error = await #expect(throws: LectureError.self) { try await manager.contents.find(url: url) }
            #expect(error?.code == .urlInvalid || error?.code == .urlScheme, "\(url)")
        }
        #expect(try await manager.contents.count() == 3, "nothing is registered")
        await manager.close()
        await sandbox.stop()
    }

    @Test func `an outline is read from the gateway's descriptor, and is empty without one`() async throws {
        let site = try Site()
        try FileManager.default.createDirectory(atPath: "\(site.root)/i", withIntermediateDirectories: true)
        try site.file("lecture.mp4", bytes: 5_000)
        try site.file("ko.vtt", bytes: 100)
        var options = NginxOrigin.Options()
        options.directives = "default_type application/vnd.lecturekit.descriptor+json;"
        let nginx = try await NginxOrigin.start(serving: site.root, options)
        let descriptor = """
            {"version": 1, "media_content_key": "outlined", "media": {"url": "\(nginx.http)/lecture.mp4"},
             "subtitles": [{"name": "ko.vtt", "language": "ko", "url": "\(nginx.http)/ko.vtt", "ai": true}],
             "chapters": [{"language": "ko",
                           "items": [{"position": 60, "value": "둘"}, {"position": 0, "value": "하나"}]},
                          {"language": "en", "items": [{"position": 0.5, "value": "one"}]}],
             "bookmarks": [{"position": 30, "title": "mine", "kind": 0},
                           {"position": 10, "title": "theirs", "kind": 1}]}
            """
        try Data(descriptor.utf8).write(to: URL(filePath: "\(site.root)/i/outlined"))
        let manager = try site.manager()
        let content = try await manager.fetch("\(nginx.http)/i/outlined")
        #expect(content.state == .completed && content.key.text == "outlined", "\(content.error?.message ?? "")")
        let outline = try await manager.contents.outline(of: content.key)
        #expect(outline.subtitles.map(\.name) == ["ko.vtt"] && outline.subtitles[0].isMachineMade)
        #expect(outline.chapters.map(\.language) == ["ko", "en"])
        #expect(outline.chapters[0].items.map(\.value) == ["하나", "둘"])
        #expect(outline.chapters[1].items == [.init(position: 0.5, value: "one", isLearners: false)])
        #expect(outline.bookmarks.map(\.value) == ["theirs", "mine"])
        #expect(outline.bookmarks.map(\.isLearners) == [false, true])
        #expect(try await manager.contents.find(url: "\(nginx.http)/i/outlined")?.key == content.key)

        // Not described, or a damaged description.
        let plain = try await manager.fetch("\(nginx.http)/lecture.mp4")
        #expect(try await manager.contents.outline(of: plain.key) == ContentOutline())
        try damage(site, #"UPDATE content SET descriptor = '{"chapters": [{' WHERE key = 'outlined'"#)
        #expect(try await manager.contents.outline(of: content.key) == ContentOutline())
        #expect(try await manager.contents.details(of: content.key)?.content == content)
        let unknown = try ContentKey("unknown")
        await #expect(throws: LectureError(.unknownContent)) { try await manager.contents.outline(of: unknown) }
        await manager.close()
        await nginx.stop()
    }

    @Test func `folders come first, and are listed`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        for (number, folder) in ["", "b", "a/x", "a"].enumerated() {
            let answers = try await manager.downloads.enqueue(
                [
                    DownloadRequest(url: "\(sandbox.http)/media/bytes-1K-\(number + 1).mp4")
                ].map { request in
                    var request = request
                    (request.folder, request.title) = (folder, "t\(number)")
                    return request
                })
            _ = try answers[0].get()
        }
        #expect(try await manager.contents.list(sort: .folder).map(\.title) == ["t3", "t2", "t1", "t0"])
        #expect(try await manager.contents.details(sort: .folder).map(\.content.title) == ["t3", "t2", "t1", "t0"])
        #expect(try await manager.contents.folders(below: "") == ["a", "b"])
        #expect(try await manager.contents.folders(below: "a") == ["x"])
        #expect(try await manager.contents.folders(below: "a/x").isEmpty)
        await manager.close()
        await sandbox.stop()
    }
}

/// Outlines of descriptors that no honest server sends.
@Suite struct OutlineTests {
    @Test(arguments: [
        "", "null", "[]", "7", "{", #"{"chapters": 7, "subtitles": {}, "bookmarks": "x"}"#, "{}", "\u{0}",
        #"{"chapters": [7, null, {}, {"items": 3}], "subtitles": [{}, "x", {"url": 3}, {"url": "no url"}]}"#,
        #"{"bookmarks": [null, {}, {"position": "1"}, {"position": 1, "kind": 2}]}"#,
        #"{"bookmarks": [{"position": -1}, {"position": 1e300}, {"position": null}]}"#,
    ])
    func `unreadable entries are left out`(text: String) {
        #expect(ContentOutline(descriptor: text) == ContentOutline())
    }

    @Test func `readable entries stay beside unreadable ones`() {
        let outline = ContentOutline(
            descriptor: #"""
                {"chapters": [{"items": [{"position": 9, "value": "b"}, {"position": 3}, {"value": "x"}, 7,
                    {"position": 1, "value": "a"}]}, {"language": "en", "items": []},
                    {"items": [{"position": 5, "value": "c"}]}],
                 "subtitles": [{"url": "https://h/s.vtt", "name": 7, "ai": "yes"}, {"url": "ftp://h/x"}],
                 "bookmarks": [{"position": 2.5, "kind": "user"}, {"position": 2, "title": "t", "kind": "index"},
                    {"position": 2, "title": "later", "kind": null}, {"position": 3, "kind": []}]}
                """#)
        #expect(outline.chapters.map(\.language) == ["", "en"])
        #expect(outline.chapters[0].items.map(\.value) == ["a", "c", "b"] && outline.chapters[1].items.isEmpty)
        #expect(outline.subtitles.map(\.url) == ["https://h/s.vtt"])
        #expect(outline.subtitles[0].name.isEmpty && !outline.subtitles[0].isMachineMade)
        #expect(outline.bookmarks.map(\.value) == ["t", "later", ""])
        #expect(outline.bookmarks.map(\.isLearners) == [false, false, true])
    }
}
