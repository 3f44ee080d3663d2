import Foundation
import LectureCrypto
import LectureFormats
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureServe

/// Long lists, empty stores and languages, as a person without a script meets them.
struct PageWalkNetTests {
    /// A store without a network, and its server.
    private struct Desk {
        let directory: TemporaryDirectory
        let manager: LectureManager
        let server: LectureServer

        init(_ change: (inout LectureConfiguration) -> Void = { _ in }) async throws {
            directory = try TemporaryDirectory()
            var configuration = LectureConfiguration(storeDirectory: directory.file("store"))
            configuration.deviceDirectory = directory.file("device")
            configuration.reserveBytes = 1 << 20
            configuration.maxAttempts = 1
            change(&configuration)
            manager = try LectureManager(configuration)
            server = try await LectureServer.start(manager, try PageRig.options(directory))
        }

        /// Adds lectures that wait.
        func add(_ count: Int, course: String = "") async throws {
            let port = try Places.freePort()
            for number in 1...count {
                var request = DownloadRequest(url: "http://127.0.0.1:\(port)/\(number).mp4")
                let digits = String(repeating: "0", count: 3 - "\(number)".count) + "\(number)"
                request.key = try ContentKey("k\(digits)")
                (request.title, request.course) = ("Lecture \(digits)", course)
                let key = try await manager.downloads.enqueue(request)
                try await manager.downloads.pause(key)
            }
        }

        func text(_ path: String, _ words: String...) async throws -> String {
            let all = ["-q", "-s", "-S", "--max-time", "60", "-H", "Authorization: Bearer \(PageRig.token)"] + words
            return try await ChildProcess.run("/usr/bin/curl", all + ["\(server.url)\(path)"]).text
        }

        func end() async {
            await server.stop()
            await manager.close()
        }
    }

    /// The keys of the lectures that a list shows, in their order.
    private static func keys(_ text: String) -> [String] {
        text.components(separatedBy: "<a href=\"/lectures/k").dropFirst().map { "k\($0.prefix(3))" }
    }

    /// Where a link of the pages leads.
    private static func link(_ relation: String, _ text: String) -> String? {
        guard let end = text.range(of: "\" rel=\"\(relation)\"") else { return nil }
        let start = text[..<end.lowerBound].range(of: "href=\"", options: .backwards)
        return start.map { text[$0.upperBound..<end.lowerBound].replacingOccurrences(of: "&amp;", with: "&") }
    }

    @Test(arguments: ["/lectures", "/lectures?sort=title", "/lectures?state=stopped&course=Waves"])
    func `a long list is walked to its end and back, and nothing is shown twice`(path: String) async throws {
        let desk = try await Desk()
        try await desk.add(120, course: "Waves")
        var page: String? = path
        var seen: [[String]] = []
        var last = path
        while let address = page, seen.count < 9 {
            let text = try await desk.text(address)
            seen.append(Self.keys(text))
            last = address
            page = Self.link("next", text)
            #expect(Self.link("prev", text) == nil || seen.count > 1)
        }
        #expect(seen.map(\.count) == [50, 50, 20])
        let all = (1...120).map { number in "k" + String(repeating: "0", count: 3 - "\(number)".count) + "\(number)" }
        #expect(seen.flatMap(\.self) == all)
        var back: [[String]] = []
        page = last
        while let address = page, back.count < 9 {
            let text = try await desk.text(address)
            back.insert(Self.keys(text), at: 0)
            page = Self.link("prev", text)
        }
        #expect(back == seen)
        await desk.end()
    }

    @Test func `a place in a list outlives the lecture that it is beside leaving the filter`() async throws {
        let desk = try await Desk()
        try await desk.add(60)
        let next = try #require(Self.link("next", try await desk.text("/lectures?state=stopped")))
        #expect(next == "/lectures?state=stopped&after=k050")
        try await desk.manager.downloads.cancel(try ContentKey("k050"))
        try await desk.manager.downloads.remove(try ContentKey("k049"))
        #expect(Self.keys(try await desk.text(next)).first == "k051")
        // The key of a lecture that is gone leads to the first page.
        try await desk.manager.downloads.remove(try ContentKey("k050"))
        _ = try await desk.manager.downloads.waitUntilIdle(deadline: .seconds(30))
        #expect(Self.keys(try await desk.text(next)).first == "k001")
        await desk.end()
    }

    private static let languages = ["en", "ko", "ja"]

    @Test(arguments: [
        ("/", ["Overview", "개요", "概要"]), ("/lectures", ["No lecture matches.", "일치하는 강의가 없습니다.", "該当する講義はありません。"]),
        ("/licences", ["No licence ends in the next 60 days.", "만료되는 라이선스가 없습니다", "期限を迎えるライセンスはありません"]),
        ("/reports", ["No report was stored yet.", "저장된 보고가 아직 없습니다.", "レポートはまだありません。"]),
        ("/lectures/none", ["There is no such lecture.", "해당 강의가 없습니다.", "該当する講義がありません。"]),
        ("/sign-in", ["Enter the token", "토큰을 입력하세요", "トークンを入力してください"]),
    ])
    func `an empty store is explained in each language`(path: String, sentences: [String]) async throws {
        let desk = try await Desk()
        for (language, sentence) in zip(Self.languages, sentences) {
            let text = try await desk.text(path, "-H", "Accept-Language: \(language)")
            #expect(text.contains("<html lang=\"\(language)\">"), "\(path) \(language)")
            #expect(text.contains(sentence), "\(path) \(language)")
            for (other, foreign) in zip(Self.languages, sentences) where other != language {
                #expect(!text.contains(foreign), "\(path) \(language) has \(other)")
            }
        }
        await desk.end()
    }

    @Test func `the overview says how much space there is`() async throws {
        let desk = try await Desk { $0.quotaBytes = 5_000_000_000 }
        let text = try await desk.text("/")
        for piece in ["Quota", "5.0\u{A0}GB", "Kept free", "1.0\u{A0}MB", "Free on the disk"] {
            #expect(text.contains(piece), "\(piece)")
        }
        #expect(!text.contains("Space is short"))
        await desk.end()
        let short = try await Desk { $0.reserveBytes = 1 << 60 }
        let warned = try await short.text("/")
        #expect(warned.contains("Space is short: downloads stop until there is more.") && warned.contains("No limit"))
        await short.end()
    }

    @Test func `reports are counted by state, and refused ones can be sent again`() async throws {
        let desk = try await Desk()
        let port = try Places.freePort()
        for number in 1...3 {
            var report = LearningReport(values: "{\"n\":\(number)}", user: "kim", session: "\(number)")
            report.target = ReportTarget(url: "http://127.0.0.1:\(port)/lms?secret=1", format: .json)
            try await desk.manager.reports.add(report)
        }
        let text = try await desk.text("/reports")
        #expect(text.contains("http://127.0.0.1:\(port)/lms") && !text.contains("secret=1"))
        #expect(text.contains("<dt>Waiting</dt><dd>3</dd>") || text.contains(">3<"))
        await desk.end()
    }

    @Test func `a key with any characters has a page, and its buttons lead to it`() async throws {
        let desk = try await Desk()
        let keys = ["a/b", "a b", "~x", "..", "한글", "a?b#c", "a%2Fb", "a+b", "\"quoted\""]
        let port = try Places.freePort()
        for key in keys {
            var request = DownloadRequest(url: "http://127.0.0.1:\(port)/x.mp4")
            request.key = try ContentKey(key)
            request.title = "title of \(key)"
            try await desk.manager.downloads.pause(try await desk.manager.downloads.enqueue(request))
        }
        let list = try await desk.text("/lectures")
        for key in keys {
            let place = "/lectures/\(LectureSegment.text(key))"
            #expect(list.contains("<a href=\"\(place)\">"), "\(key)")
            let page = try await desk.text(place, "--path-as-is")
            #expect(page.contains("<h1>\(HTML("title of \(key)").markup)</h1>"), "\(key)")
            #expect(page.contains("action=\"\(place)/resume\"") && page.contains("href=\"\(place)/remove\""), "\(key)")
            let raised = try await desk.text("\(place)/up", "-X", "POST", "-w", "%{http_code}", "--path-as-is")
            #expect(raised.hasSuffix("303"), "\(key)")
            #expect(try await desk.manager.contents.find(try ContentKey(key))?.priority == 10, "\(key)")
        }
        await desk.end()
    }
}
