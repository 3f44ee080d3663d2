import Foundation
import LectureTestSupport
import Testing

/// Pictures and texts of descriptors.
@Suite(.timeLimit(.minutes(1))) struct ExtrasNetTests {
    private func object(_ answer: Answer) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: answer.body) as? [String: Any])
    }

    /// Width and height of a baseline JPEG file, read from marker to marker.
    private func size(ofJPEG bytes: [UInt8]) throws -> [Int] {
        try #require(bytes.starts(with: [0xFF, 0xD8]) && bytes.suffix(2) == [0xFF, 0xD9])
        var place = 2
        while place + 9 < bytes.count {
            try #require(bytes[place] == 0xFF)
            if bytes[place + 1] == 0xC0 {
                let numbers = stride(from: place + 5, to: place + 9, by: 2).map {
                    Int(bytes[$0]) << 8 | Int(bytes[$0 + 1])
                }
                return [numbers[1], numbers[0]]
            }
            place += 2 + (Int(bytes[place + 2]) << 8 | Int(bytes[place + 3]))
        }
        return []
    }

    @Test func `there are none unless requested`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let plain = try object(try await Answer.get(try await sandbox.link(key: "bytes-1M-4")))
        for name in ["synopsis", "snapshot_url", "thumbnail_url", "subtitles", "chapters", "bookmarks"] {
            #expect(plain[name] == nil)
        }
        await sandbox.stop()
    }

    @Test(arguments: [true, false])
    func `files named by the descriptor are served`(byOption: Bool) async throws {
        let sandbox = try await SandboxOrigin.start(byOption ? ["--no-https", "--extras"] : ["--no-https"])
        let link = try await sandbox.link(key: "bytes-1M-4", extras: !byOption)
        let descriptor = try object(try await Answer.get(link))
        #expect(descriptor["company"] as? String == "Sandbox Academy")
        #expect((descriptor["synopsis"] as? String)?.contains("bytes-1M-4") == true)
        #expect(descriptor["width"] as? Int == 1280 && descriptor["height"] as? Int == 720)
        #expect(descriptor["duration"] as? Int == 600)

        let snapshot = try await Answer.get(try #require(descriptor["snapshot_url"] as? String))
        #expect(snapshot.status == 200 && snapshot.fields["content-type"] == "image/jpeg")
        #expect(try size(ofJPEG: Array(snapshot.body)) == [640, 360])
        let sheetURL = try #require(descriptor["thumbnail_url"] as? String)
        #expect(sheetURL.hasSuffix("/thumb-160x90x10.jpg"))
        let sheet = try await Answer.get(sheetURL)
        #expect(try size(ofJPEG: Array(sheet.body)) == [1600, 90])
        #expect(sheet.body.count < 20_000 && snapshot.body.count < 20_000)
        #expect(try await Answer.get(sheetURL).body == sheet.body)
        #expect(try await Answer.get(sheetURL.replacing("1M-4", with: "1M-5")).body != sheet.body)
        let about = try await Answer.get(try #require(descriptor["description_url"] as? String))
        #expect(about.status == 200 && String(decoding: about.body, as: UTF8.self).contains("bytes-1M-4"))

        let subtitles = try #require(descriptor["subtitles"] as? [[String: Any]])
        #expect(subtitles.compactMap { $0["language"] as? String } == ["ko", "en"])
        #expect(subtitles.compactMap { $0["ai"] as? Bool } == [false, true])
        for subtitle in subtitles {
            let text = try await Answer.get(try #require(subtitle["url"] as? String))
            #expect(text.status == 200 && text.body.starts(with: Data("WEBVTT\n".utf8)))
        }
        let chapters = try #require(descriptor["chapters"] as? [[String: Any]])
        #expect(chapters.compactMap { $0["language"] as? String } == ["ko", "en"])
        #expect(
            chapters.allSatisfy { ($0["items"] as? [[String: Any]])?.map { $0["position"] as? Int } == [0, 200, 400] })
        let bookmarks = try #require(descriptor["bookmarks"] as? [[String: Any]])
        #expect(bookmarks.compactMap { $0["kind"] as? String } == ["index", "user"])
        await sandbox.stop()
    }

    @Test func `other names and other lectures do not exist`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https", "--extras"])
        for path in ["bytes-1M-4/x.jpg", "bytes-1M-4", "unknown/snapshot.jpg", "bytes-1M-4/a/snapshot.jpg", ""] {
            #expect(try await Answer.get("\(sandbox.http)/extras/\(path)").status == 404, "\(path)")
        }
        let faulty = "\(sandbox.http)/extras/bytes-1M-4/snapshot.jpg?fault=status:503"
        #expect(try await Answer.get(faulty).status == 503)
        await sandbox.stop()
    }

    @Test func `a test link describes the needs of its lecture`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let link = try await sandbox.link(
            key: "bytes-1M-4", user: "kim", extras: true, licensed: "other",
            lms: ["one", "http://127.0.0.1:9/x?a=1&b=2"],
            query: "uservalue0=v&json.playback=%7B%22seekable%22%3Afalse%7D&json.broken=%7B")
        let descriptor = try object(try await Answer.get(link))
        #expect(descriptor["client_user_id"] as? String == "kim" && descriptor["snapshot_url"] != nil)
        #expect((descriptor["playback"] as? [String: Any])?["seekable"] as? Bool == false)
        #expect(descriptor["broken"] == nil)
        let drm = try #require(descriptor["drm"] as? [String: Any])
        #expect(drm["callback_url"] as? String == "\(sandbox.http)/drm/callback/other")
        let channels = try #require(descriptor["lms"] as? [[String: Any]])
        #expect(
            channels.compactMap { $0["url"] as? String } == ["\(sandbox.http)/lms/one", "http://127.0.0.1:9/x?a=1&b=2"])
        #expect((descriptor["uservalues"] as? [String: Any])?["uservalue0"] as? String == "v")
        let usual = try object(try await Answer.get(try await sandbox.link(key: "bytes-1M-4", licensed: "")))
        #expect((usual["drm"] as? [String: Any])?["callback_url"] as? String == sandbox.drmCallback)
        await sandbox.stop()
    }
}
