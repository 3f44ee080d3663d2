import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// Lectures that are added many at a time.
struct NewLecturesTests {
    private static func request(_ number: Int, _ dice: inout SeededGenerator) -> DownloadRequest {
        var request = DownloadRequest(url: "http://127.0.0.1/\(number)/a%20b.mp4")
        request.priority = [0, 0, 0, 5, -5, 100].randomElement(using: &dice) ?? 0
        if Bool.random(using: &dice) { request.title = "제목 \(number) '\0'" }
        if Bool.random(using: &dice) { (request.course, request.teacher) = ("C", "T\(number % 3)") }
        if Bool.random(using: &dice) { request.folder = "a/\(number % 4)" }
        if Bool.random(using: &dice) { request.size = Int64(number) }
        if Bool.random(using: &dice) { request.sha256 = [UInt8](repeating: UInt8(number), count: 32) }
        if Bool.random(using: &dice) { request.headers = ["Authorization": "Bearer \(number)"] }
        if Bool.random(using: &dice) { request.mirrors = ["http://127.0.0.2/\(number)"] }
        if Bool.random(using: &dice) { request.outputPath = "/tmp/\(number).mp4" }
        if Bool.random(using: &dice) { request.key = ContentKey(stored: "key \(number)") }
        return request
    }

    private static func source(_ name: String, isGateway: Bool = false) throws -> RequestSource {
        RequestSource(derivedKey: try ContentKey(name), identity: Array("of \(name)".utf8), isGateway: isGateway)
    }

    /// What the store has, without the headers: they are sealed, each time another way.
    private static func rows(_ store: StoreFixture) throws -> [String] {
        try store.index.connection.query(
            """
            SELECT id, key, priority, position, added_ms, updated_ms, is_gateway, hex(source_identity),
                hex(expected_sha256), expected_bytes, title, course, teacher, folder, source_url, mirrors, selection,
                state, desire, coalesce((SELECT path FROM output WHERE content_id = content.id), '')
            FROM content ORDER BY id
            """
        ) { row in (0..<20).map { row.text(Int32($0)) }.joined(separator: "|") }
    }

    @Test(arguments: [1, 2, 3, 31, 32, 33, 63, 64, 100])
    func `Together they are as if each was added alone`(count: Int) throws {
        var dice = SeededGenerator(seed: UInt64(count))
        let requests = (0..<count).map { Self.request($0, &dice) }
        var expected: [String] = []
        try StoreFixture.with { store in
            for (number, request) in requests.enumerated() {
                _ = try store.index.requests.enqueue(
                    request, source: try Self.source("n\(number)", isGateway: number % 5 == 0), check: .list,
                    now: store.now)
            }
            expected = try Self.rows(store)
        }
        try StoreFixture.with { store in
            var lectures = NewLectures()
            for (number, request) in requests.enumerated() {
                lectures.append(request, try Self.source("n\(number)", isGateway: number % 5 == 0))
            }
            let added = try store.index.requests.add(lectures, now: store.now)
            #expect(try Self.rows(store) == expected)
            #expect(added.count == count)
            for (request, lecture) in zip(requests, added) {
                let item = try store.item(lecture.id)
                #expect(lecture.outcome == .added && lecture.key == item.content.key)
                #expect(lecture.added == item.content && item.headers == request.headers)
            }
            let first = try #require(added.first?.id)
            let last = try #require(added.last?.id)
            #expect(last.value - first.value == Int64(count - 1))
            try store.index.owners.join(store.run, contents: first...last)
            #expect(try store.index.owners.contents(store.run, state: .queued, limit: .max).count == count)
        }
    }

    @Test func `Positions follow those of the store, for each priority`() throws {
        try StoreFixture.with { store in
            let before = try [0, 7].map { priority in
                try store.item(try store.add("old \(priority)") { $0.priority = priority }).content.position
            }
            var lectures = NewLectures()
            for number in 0..<6 {
                var request = DownloadRequest(url: "http://127.0.0.1/\(number)")
                request.priority = number % 2 * 7
                lectures.append(request, try Self.source("n\(number)"))
            }
            let added = try store.index.requests.add(lectures, now: store.now)
            let gap = TargetRows.positionGap
            #expect(
                added.map { $0.added?.position } == [
                    before[0] + gap, before[1] + gap, before[0] + 2 * gap, before[1] + 2 * gap, before[0] + 3 * gap,
                    before[1] + 3 * gap,
                ])
        }
    }

    @Test func `One that cannot be added takes the others with it`() throws {
        try StoreFixture.with { store in
            try store.add("n1")
            var lectures = NewLectures()
            for number in 0..<3 {
                lectures.append(DownloadRequest(url: "http://127.0.0.1/\(number)"), try Self.source("n\(number)"))
            }
            let error = lectureError { _ = try store.index.requests.add(lectures, now: store.now) }
            #expect(error?.code == .storeFailed)
            #expect(try Self.rows(store).count == 1)
            var refused = NewLectures()
            var request = DownloadRequest(url: "http://127.0.0.1/9")
            request.priority = 101
            refused.append(DownloadRequest(url: "http://127.0.0.1/8"), try Self.source("n8"))
            refused.append(request, try Self.source("n9"))
            #expect(lectureError { _ = try store.index.requests.add(refused, now: store.now) }?.code == .parameter)
            #expect(try Self.rows(store).count == 1)
        }
    }

    @Test func `A request that may be for one of them is recognised`() throws {
        var lectures = NewLectures()
        var keyed = DownloadRequest(url: "http://127.0.0.1/a")
        keyed.key = try ContentKey("mine")
        lectures.append(keyed, try Self.source("a"))
        let other = DownloadRequest(url: "http://127.0.0.1/b")
        var same = other
        same.key = try ContentKey("mine")
        var derived = other
        derived.key = try ContentKey("a")
        #expect(!lectures.mayHave(other, try Self.source("b")))
        #expect(lectures.mayHave(same, try Self.source("b")))
        #expect(lectures.mayHave(derived, try Self.source("b")))
        #expect(lectures.mayHave(other, try Self.source("a")))
        let sameBytes = RequestSource(
            derivedKey: try ContentKey("b"), identity: Array("of a".utf8), isGateway: false)
        #expect(lectures.mayHave(other, sameBytes))
        let sameKey = RequestSource(derivedKey: try ContentKey("mine"), identity: Array("of b".utf8), isGateway: false)
        #expect(lectures.mayHave(other, sameKey))
        #expect(!NewLectures().mayHave(keyed, try Self.source("a")))
    }

    @Test func `A set of lectures is a set`() {
        var dice = SeededGenerator(seed: 64)
        for _ in 0..<50 {
            let limit = Int64.random(in: 1...10_000, using: &dice)
            let contents = (0..<200).map { _ in ContentID(Int64.random(in: 1...limit, using: &dice)) }
            var set = ContentSet(contents.prefix(100))
            set.insert(contents.dropFirst(100))
            #expect(set.count == Set(contents).count)
            #expect(set.sorted == Set(contents).sorted())
            #expect(set == ContentSet(contents.reversed()))
        }
        #expect(ContentSet([ContentID(.max), ContentID(1)]).sorted == [ContentID(1), ContentID(.max)])
        let none: ContentSet = []
        #expect(none.count == 0 && none.sorted.isEmpty)
    }

    @Test func `The log and the cache fit the size of the store`() throws {
        let sizes: [(pages: Int64, log: Int64, kibibytes: Int64)] = [
            (1, 1000, 2000), (16_000, 1000, 2000), (40_000, 2500, 2500), (64_000, 4000, 4000),
            (100_000, 4000, 6250), (1_000_000, 4000, 8192),
        ]
        for size in sizes {
            let fit = Connection.fit(pages: size.pages)
            #expect(fit.log == size.log && fit.kibibytes == size.kibibytes, "\(size.pages) pages")
        }
        try StoreFixture.with { store in
            let connection = store.index.connection
            try connection.execute("PRAGMA wal_autocheckpoint = 17")
            try connection.execute("PRAGMA cache_size = 17")
            try store.index.fitToSize()
            #expect(try connection.pragmaNumber("wal_autocheckpoint") == 1000)
            #expect(try connection.pragmaNumber("cache_size") == -2000)
        }
    }
}
