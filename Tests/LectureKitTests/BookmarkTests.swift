import Foundation
import LectureTestSupport
import Testing

@testable import LectureKit

/// Bookmarks against a real server, which loses answers, refuses, and answers with a page.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct BookmarkTests {
    /// A store with a lecture that has an index bookmark at 0:30 and a learner's at 1:35.
    private struct Desk {
        let site: Site
        let sandbox: SandboxOrigin
        let manager: LectureManager
        let key: ContentKey

        init(server: Bool = true, policy: CallbackPolicy? = nil) async throws {
            (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
            if let policy { try await sandbox.set(policy: policy) }
            let (site, sandbox) = (site, sandbox)
            manager = try site.manager { configuration in
                configuration.deviceDirectory = "\(site.directory.path)/device"
                configuration.rights.keys = [.init(id: "sandbox", place: .secret(sandbox.drmKeyFile))]
                configuration.rights.userKey = "sandbox"
                if server { configuration.statistics.bookmarkURL = sandbox.bookmarkURL }
            }
            let link = try await sandbox.link(
                key: "bytes-64K-1", user: "kim", extras: true, licensed: policy == nil ? nil : "")
            try await manager.downloads.enqueue(DownloadRequest(url: link))
            #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
            key = try ContentKey("bytes-64K-1")
        }

        /// `kind position text` of each bookmark, with `+` after one that waits.
        func list() async throws -> [String] {
            try await manager.bookmarks.list(of: key).map { bookmark in
                let text = bookmark.kind == .user ? bookmark.value : bookmark.label
                return "\(bookmark.kind) \(bookmark.position.milliseconds) \(text)\(bookmark.isWaiting ? "+" : "")"
            }
        }

        func end() async {
            await manager.close()
            await sandbox.stop()
        }
    }

    @Test func `what came with the lecture is listed, changed without a network, and sent later`() async throws {
        let desk = try await Desk()
        let (given, manager, key) = (["index 30000 Definition", "user 95000 Ask about this"], desk.manager, desk.key)
        #expect(try await desk.list() == given)
        try await desk.sandbox.set(fault: "503", on: "/bookmarks")
        try await manager.bookmarks.add("the proof", at: .milliseconds(120_500), to: key)
        try await manager.bookmarks.add("once more", at: .seconds(95), to: key)
        let changed = ["index 30000 Definition", "user 95000 once more+", "user 120500 the proof+"]
        #expect(try await desk.list() == changed)
        await #expect(throws: LectureError(.status(503))) { try await manager.bookmarks.sync(key) }
        #expect(try await desk.list() == changed)
        #expect(try await manager.bookmarks.waiting().map(\.user) == ["kim"])

        try await desk.sandbox.set(fault: "", on: "/bookmarks")
        // Another device has set one meanwhile; the server does not know the one that came with the lecture.
        try await desk.sandbox.setBookmarks(
            key.text, user: "kim",
            #"""
            [{"position":30,"label":"Definition","kind":1},
             {"position":7,"value":"elsewhere","localtime":1700000000}]
            """#)
        let result = try await manager.bookmarks.sync(key)
        #expect(result.sent == 2 && result.waiting == 0)
        #expect(
            try await desk.list() == [
                "user 7000 elsewhere", "index 30000 Definition", "user 95000 once more", "user 120500 the proof",
            ])
        #expect(try await desk.sandbox.bookmarkChanges() == 2)
        #expect(try await manager.bookmarks.waiting().isEmpty)
        await desk.end()
    }

    @Test func `changes are written in one request, each once in effect, also when the answer is lost`() async throws {
        let desk = try await Desk()
        let (manager, key) = (desk.manager, desk.key)
        for second in 1...20 { try await manager.bookmarks.add("\(second)", at: .seconds(second), to: key) }
        for second in 1...5 { try await manager.bookmarks.remove(at: .seconds(second), from: key) }
        // The first answer is lost after the changes were applied.
        try await desk.sandbox.set(fault: "drop:0;times=1", on: "/bookmarks")
        // Delivered like any other learning report.
        var options = SendOptions()
        options.attempts = 3
        let result = try await manager.reports.send(options: options)
        #expect(result.delivered == 1 && result.left == 0, "\(result)")
        let posts = try await desk.sandbox.requests(for: "/bookmarks").filter { $0.method == "POST" }
        #expect(posts.count == 2)
        let expected = ["index 30000 Definition"] + ["user 95000 Ask about this"]
        let own = (6...20).map { "user \($0 * 1000) \($0)" }
        #expect(try await desk.list() == own + expected)
        try await manager.bookmarks.sync(key)
        // The server never had the learner's bookmark of the descriptor. It keeps no index, which does not end that.
        #expect(try await desk.list() == own + ["index 30000 Definition"])
        await desk.end()
    }

    @Test func `a server that refuses or answers with a page loses nothing`() async throws {
        let desk = try await Desk()
        let (manager, key) = (desk.manager, desk.key)
        try await manager.bookmarks.add("kept", at: .seconds(3), to: key)
        let kept = ["user 3000 kept+", "index 30000 Definition", "user 95000 Ask about this"]
        try await desk.sandbox.set(fault: "html", on: "/bookmarks")
        await #expect(throws: LectureError.self) { try await manager.bookmarks.sync(key) }
        #expect(try await desk.list() == kept)
        try await desk.sandbox.set(fault: "", on: "/bookmarks")
        try await desk.sandbox.setBookmarkError(7)
        await #expect(throws: LectureError(.bookmarkAnswer)) { try await manager.bookmarks.sync(key) }
        #expect(try await desk.list() == kept)
        #expect(try await desk.sandbox.bookmarkChanges() == 0)
        // The refused report is a dead letter, and the change is reported again.
        try await desk.sandbox.setBookmarkError(0)
        #expect(try await manager.bookmarks.sync(key).sent == 1)
        #expect(try await desk.list() == ["user 3000 kept", "index 30000 Definition"])
        await desk.end()
    }

    @Test func `reports that are sent elsewhere take no bookmarks with them`() async throws {
        let desk = try await Desk()
        let (manager, key) = (desk.manager, desk.key)
        try await manager.bookmarks.add("mine", at: .seconds(3), to: key)
        try await manager.reports.add(LearningReport(user: "kim", session: "s"))
        try await desk.sandbox.set(fault: "503", on: "/bookmarks")
        var options = SendOptions()
        options.target = ReportTarget(url: "\(desk.sandbox.http)/lms/json", format: .json)
        (options.attempts, options.longestWait) = (1, .zero)
        #expect(try await manager.reports.send(options: options).delivered == 1)
        #expect(try await manager.bookmarks.waiting().map(\.key) == [key])
        try await desk.sandbox.set(fault: "", on: "/bookmarks")
        #expect(try await manager.bookmarks.sync(key).sent == 1)
        #expect(try await desk.sandbox.bookmarkChanges() == 1)
        await desk.end()
    }

    @Test(arguments: [
        #"{"position":1,"kind":1e300}"#, #"{"position":1,"kind":2}"#, #"{"position":1,"kind":0.5}"#,
        #"{"position":-1}"#, #"{"position":1e300}"#, #"{"position":"nan"}"#, #"{"value":"no position"}"#, "7",
    ])
    func `an answer with an impossible bookmark is refused as a whole`(bookmark: String) {
        let answer = #"{"error":0,"result":{"bookmark_positions":[\#(bookmark)]}}"#
        #expect(throws: LectureError(.bookmarkAnswer)) { try BookmarkChannel.bookmarks(Array(answer.utf8)) }
    }

    @Test func `numbers may be texts, and an impossible time is left out`() throws {
        let answer = #"{"bookmark_positions":[{"position":"7.5","kind":"1","label":"a","localtime":1e300}]}"#
        let bookmarks = try BookmarkChannel.bookmarks(Array(answer.utf8))
        #expect(bookmarks.map(\.position) == [7500] && bookmarks[0].kind == .index && bookmarks[0].changed == nil)
    }

    @Test func `an unusable URL of the gateway is no server, and ends nothing`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        let urls = ["ftp%3A%2F%2Fa%2Fb", "http%3A%2F%2Fa%40b%2Fc", "x"]
        for (number, url) in urls.enumerated() {
            let key = try ContentKey("bytes-64K-\(number)")
            let link = try await sandbox.link(key: key.text, extras: true, query: "set.bookmark_url=\(url)")
            try await manager.downloads.enqueue(DownloadRequest(url: link))
            #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
            #expect(try await manager.bookmarks.list(of: key).count == 2)
            try await manager.bookmarks.add("kept", at: .zero, to: key)
            await #expect(throws: LectureError(.bookmarkServerMissing)) { try await manager.bookmarks.sync(key) }
        }
        await manager.close()
        await sandbox.stop()
    }

    @Test func `without a server changes stay, and a configured one gets them`() async throws {
        let desk = try await Desk(server: false)
        let (manager, key) = (desk.manager, desk.key)
        try await manager.bookmarks.add("early", at: .seconds(3), to: key)
        await #expect(throws: LectureError(.bookmarkServerMissing)) { try await manager.bookmarks.sync(key) }
        #expect(try await manager.reports.list().rows.isEmpty)
        await manager.close()
        let later = try desk.site.manager { $0.statistics.bookmarkURL = desk.sandbox.bookmarkURL }
        #expect(try await later.bookmarks.sync(key).sent == 1)
        await later.close()
        await desk.sandbox.stop()
    }

    @Test func `what cannot be removed or stored is refused with its code`() async throws {
        let desk = try await Desk()
        let (bookmarks, key) = (desk.manager.bookmarks, desk.key)
        await #expect(throws: LectureError(.bookmarkMissing)) { try await bookmarks.remove(at: .seconds(1), from: key) }
        await #expect(throws: LectureError(.bookmarkOfTeacher)) {
            try await bookmarks.remove(at: .seconds(30), from: key)
        }
        let early = Duration.seconds(-1)
        await #expect(throws: LectureError(.bookmarkInvalid)) { try await bookmarks.add("x", at: early, to: key) }
        let long = String(repeating: "x", count: 4097)
        await #expect(throws: LectureError(.bookmarkInvalid)) { try await bookmarks.add(long, at: .zero, to: key) }
        await #expect(throws: LectureError(.bookmarkInvalid)) { try await bookmarks.add("a\0b", at: .zero, to: key) }
        let unknown = try ContentKey("unknown")
        await #expect(throws: LectureError(.unknownContent)) { try await bookmarks.list(of: unknown) }
        #expect(try await bookmarks.waiting().isEmpty)
        await desk.end()
    }

    @Test(arguments: [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1)])
    func `the licence decides which bookmarks are kept, and whether they may be changed`(
        _ download: Int, _ isReadOnly: Int
    ) async throws {
        var policy = CallbackPolicy()
        policy.offlineBookmark = .init(download: download, readonly: isReadOnly)
        let desk = try await Desk(policy: policy)
        let (bookmarks, key) = (desk.manager.bookmarks, desk.key)
        let permission = try await bookmarks.permission(of: key)
        #expect(permission.isUsed == (download > 0) && permission.includesUsers == (download == 2))
        #expect(permission.isEditable == (download > 0 && isReadOnly == 0))
        let kinds = try await bookmarks.list(of: key).map(\.kind)
        switch (download, isReadOnly) {
        case (0, _):
            #expect(kinds.isEmpty)
            await #expect(throws: LectureError(.bookmarksNotPermitted)) {
                try await bookmarks.add("a", at: .zero, to: key)
            }
            await #expect(throws: LectureError(.bookmarksNotPermitted)) { try await bookmarks.sync(key) }
        case (_, 1):
            #expect(kinds == (download == 2 ? [.index, .user] : [.index]))
            await #expect(throws: LectureError(.bookmarksReadOnly)) { try await bookmarks.add("a", at: .zero, to: key) }
        default:
            try await bookmarks.add("a", at: .zero, to: key)
            #expect(try await bookmarks.list(of: key).first?.value == "a")
        }
        await desk.end()
    }

    @Test func `a removed lecture keeps the changes that wait, and an erased learner has none`() async throws {
        let desk = try await Desk()
        let (manager, key) = (desk.manager, desk.key)
        try await desk.sandbox.set(fault: "503", on: "/bookmarks")
        try await manager.bookmarks.add("waits", at: .seconds(3), to: key)
        let events = manager.events
        try await manager.downloads.remove(key)
        // Until its files are gone, the learner is still named in its address.
        _ = try await manager.first(in: events) { if case .removed(key) = $0 { true } else { false } }
        #expect(try await manager.bookmarks.waiting().map(\.key) == [key])
        try await desk.sandbox.set(fault: "", on: "/bookmarks")
        #expect(try await manager.reports.send().delivered == 1)
        #expect(try await manager.bookmarks.waiting().isEmpty)
        #expect(try await desk.sandbox.bookmarkChanges() == 1)
        let receipt = try await manager.reports.eraseLearner("kim")
        #expect(receipt.problems.isEmpty, "\(receipt)")
        await desk.end()
    }
}
