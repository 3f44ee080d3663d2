import Foundation
import KollusSDK
import LectureKit
import LectureSQLite
import LectureTestSupport
import Testing

/// What a gateway describes besides the media, as an application shows it.
@Suite struct DescriptionTests {
    @Test func `a lecture has its texts, pictures, chapters and bookmarks`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        let key = try storage.loadContentURL(try await scene.origin.link(key: "bytes-256K-5", extras: true))
        let loaded = try #require(try storage.content(key))
        #expect(!loaded.company.isEmpty && !loaded.synopsis.isEmpty && loaded.descriptionURL.hasPrefix("http"))
        #expect(loaded.naturalSize.width > 0 && loaded.naturalSize.height > 0 && loaded.duration > 0)
        #expect(loaded.snapshot == nil && loaded.thumbnail == nil, "nothing is fetched yet")
        #expect(loaded.fileSize == 256 << 10)

        let outline = try storage.outline(key)
        #expect(outline.subtitles.count == 2)
        #expect(outline.subtitles.filter(\.isAISubtitles).count == 1)
        #expect(outline.subtitles.allSatisfy { !$0.strLanguage.isEmpty && $0.strUrl.hasPrefix("http") })
        #expect(outline.chapters.count == 2)
        for language in outline.chapters {
            let chapters = try #require(language.listChapter as? [Chapter])
            #expect(!language.strLanguage.isEmpty && !chapters.isEmpty)
            #expect(chapters.map(\.position) == chapters.map(\.position).sorted())
            #expect(chapters.allSatisfy { !$0.value.isEmpty })
        }
        #expect(Set(outline.bookmarks.map(\.kind)) == [.user, .index])
        for bookmark in outline.bookmarks {
            #expect((bookmark.title == nil) == (bookmark.kind == .user))
            #expect((bookmark.value == nil) == (bookmark.kind == .index))
        }

        try storage.downloadContent(key)
        #expect(await witness.finals(1).count == 1)
        let content = try #require(try storage.content(key))
        let snapshot = try #require(content.snapshot)
        let thumbnail = try #require(content.thumbnail)
        #expect(FileManager.default.contents(atPath: snapshot)?.starts(with: [0xFF, 0xD8]) == true)
        #expect(FileManager.default.contents(atPath: thumbnail)?.starts(with: [0xFF, 0xD8]) == true)
        #expect(URL(filePath: thumbnail).lastPathComponent.hasSuffix(".160x90x10.jpg"))

        #expect(content.position == 0)
        try storage.setPosition(61.5, of: key)
        #expect(try storage.content(key)?.position == 61.5)
        #expect(code { try storage.setPosition(.nan, of: key) } == KollusError.Code.ERROR_PARAM_VALUE.rawValue)
        #expect(code { try storage.setPosition(1, of: "unknown") } == KollusError.Code.ERROR_NOT_FOUND_ID.rawValue)
        #expect(code { _ = try storage.outline("unknown") } == KollusError.Code.ERROR_NOT_FOUND_ID.rawValue)
    }

    @Test func `a sheet that an earlier version has stored is found under its old name`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        let witness = Witness()
        storage.delegate = witness
        let key = try storage.loadContentURL(try await scene.origin.link(key: "bytes-64K-3", extras: true))
        try storage.downloadContent(key)
        #expect(await witness.finals(1).count == 1)
        let new = try #require(try storage.content(key)?.thumbnail)
        storage.close()
        // The name in version 0.1.0.
        let old = new.replacingOccurrences(of: ".160x90x10.", with: "-160x90x10.")
        try FileManager.default.moveItem(atPath: new, toPath: old)
        let database = try Connection(path: scene.place.path + "/store/lecturekit.db", access: .readWrite)
        try database.execute("UPDATE resource SET file_path = replace(file_path, '.160x90x10.', '-160x90x10.')")
        let later = try scene.started()
        defer { later.close() }
        #expect(try later.content(key)?.thumbnail == old)
        // Also after a download has searched the directory for orphaned files.
        let heard = Witness()
        later.delegate = heard
        try later.downloadContent(later.loadContentURL(scene.media("64K-4")))
        #expect(await heard.finals(1).count == 1)
        #expect(await (try? later.manager().downloads.waitUntilIdle()) == true)
        #expect(FileManager.default.contents(atPath: old)?.starts(with: [0xFF, 0xD8]) == true)
    }

    @Test func `a gateway's refusal has the vendor's number`() async throws {
        let scene = try await Classroom()
        let storage = try scene.started()
        defer { storage.close() }
        let expired = try await scene.origin.link(key: "bytes-64K-1", expiresIn: -60)
        let unknown = try await scene.origin.link(key: "unknown-lecture")
        #expect(code { _ = try storage.loadContentURL(expired) } == -4085)
        #expect(code { _ = try storage.loadContentURL(unknown) } == -4012)
        #expect(code { _ = try storage.loadContentURL(scene.origin.http + "/si?jwt=a.b.c") } == -4007)
        #expect(storage.contents()?.count == 0, "what cannot be loaded leaves nothing behind")
    }
}
