import Foundation
import KollusSDK
import LectureTestSupport
import Testing

/// `kollus:` links, and downloads that outlive their application.
@Suite struct LinkTests {
    @Test func `a download link fetches each lecture into its folder`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        func coded(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: allowed) ?? "" }
        let urls = [scene.media("64K-1"), scene.media("64K-2", "fault=404"), scene.media("64K-3")]
        let link =
            "kollus://download?url=\(coded(urls[0]))&folder=\(coded("maths/week 1"))"
            + "&url=\(coded(urls[1]))&url=\(coded(urls[2]))"
        guard case .download(let parts) = try await storage.open(link) else {
            Issue.record("no download")
            return
        }
        #expect(parts.map(\.url) == urls)
        #expect(parts[0].error == nil && parts[2].error == nil && parts[1].error?.code == -8404)
        #expect(await witness.finals(2).count == 2)
        let keys = parts.compactMap(\.key)
        #expect(keys.count == 2)
        #expect(try storage.content(keys[0])?.folder == "maths/week 1")
        #expect(try storage.content(keys[1])?.folder == "")
        #expect(try storage.folders() == ["maths"])
        #expect(try storage.folders(below: "maths") == ["week 1"])
        let list = try storage.contents(.all.sorted(by: .foldersFirst))
        #expect(list.map(\.mediaContentKey) == keys)
        #expect(try storage.contents(.all.inFolder("maths/week 1")).map(\.mediaContentKey) == [keys[0]])
        #expect(try storage.contents(.completed).count == 2)
        #expect(try storage.contents(.inProgress).isEmpty)
        #expect(try storage.contents(.recent(days: 7)).count == 2)
        #expect(try storage.contents(.recent(days: 7, now: Date().addingTimeInterval(8 * 86_400))).isEmpty)
        // Again: a complete lecture is left unchanged.
        guard case .download(let again) = try await storage.open(link) else {
            Issue.record("no download")
            return
        }
        #expect(again[0].error == nil && again[0].key == keys[0])
        // The local copy, if there is one.
        guard case .playDownloaded(keys[0]) = try await storage.open("kollus://download_play?url=\(coded(urls[0]))"),
            case .playDownloaded(nil) = try await storage.open(
                "kollus://download_play?url=\(coded(scene.media("64K-9")))"),
            case .list("maths") = try await storage.open("kollus://list?folder=maths"),
            case .play(urls[0]) = try await storage.open("kollus://path?url=\(coded(urls[0]))")
        else {
            Issue.record("another action")
            return
        }
        for wrong in ["kollus://download", "kollus://other?url=a", "http://example.com/", ""] {
            let error = await #expect(throws: KollusError.self) { _ = try await storage.open(wrong) }
            #expect(error?.kind == .ERROR_NO_USE_CONTENT_URL)
        }
        #expect(try storage.loadContentURL("kollus://download?url=\(coded(urls[0]))") == keys[0])
    }

    @Test func `a download continues after its storage was closed, if that was requested`() async throws {
        let scene = try await Classroom()
        let storage = try scene.storage()
        storage.settings.workerProgram = Places.builtProduct("lecturectl")
        storage.setBackgroundDownload(true)
        try storage.start()
        let witness = Witness()
        storage.delegate = witness
        let key = try storage.loadContentURL(scene.media("8M-7"))
        let passing = try await scene.holding("8M-7", after: 3_000_000)
        // Loaded and not requested: the worker ignores it.
        let other = try storage.loadContentURL(scene.media("64K-8"))
        try storage.downloadContent(key)
        #expect(await witness.wait { !$0.isEmpty })
        try await passing()
        storage.close()
        #expect(witness.finals.isEmpty)
        let later = try scene.started()
        defer { later.close() }
        let clock = ContinuousClock()
        let end = clock.now + .seconds(60)
        while clock.now < end, try later.content(key)?.downloaded != true { await Task.yield() }
        #expect(try later.content(key)?.downloaded == true)
        #expect(try later.content(other)?.state == .registered)
    }

    @Test func `a missing worker is reported and nothing else fails`() async throws {
        let scene = try await Classroom()
        let storage = try scene.storage()
        storage.settings.workerProgram = scene.place.path + "/none"
        storage.setBackgroundDownload(true)
        try storage.start()
        let witness = Witness()
        storage.delegate = witness
        try storage.downloadContent(storage.loadContentURL(scene.media("64K-1")))
        #expect(await witness.finals(1).count == 1)
        storage.close()
    }
}
