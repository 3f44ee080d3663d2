import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Lists as the page reads them: searched in titles, and turned both ways from a lecture.
struct ListSearchTests {
    /// A store whose downloads never begin: its lectures wait.
    private struct Shelf {
        let directory: TemporaryDirectory
        let manager: LectureManager

        init(_ lectures: [(key: String, title: String, course: String, priority: Int)]) async throws {
            directory = try TemporaryDirectory()
            var configuration = LectureConfiguration(storeDirectory: directory.file("store"))
            configuration.deviceDirectory = directory.file("device")
            configuration.maxAttempts = 1
            manager = try LectureManager(configuration)
            let port = try Places.freePort()
            for lecture in lectures {
                var request = DownloadRequest(url: "http://127.0.0.1:\(port)/\(lecture.key).mp4")
                request.key = try ContentKey(lecture.key)
                (request.title, request.course, request.priority) = (lecture.title, lecture.course, lecture.priority)
                _ = try await manager.downloads.enqueue(request)
                try await manager.downloads.pause(try ContentKey(lecture.key))
            }
        }

        func found(_ search: String, course: String? = nil) async throws -> [String] {
            var filter = ContentFilter()
            (filter.search, filter.course) = (search, course)
            return try await manager.contents.list(filter, sort: .title).map(\.key.text)
        }

        func beside(
            _ key: String, before isBefore: Bool, sort: ContentSort = .title, limit: Int = 2, course: String? = nil
        ) async throws -> [String]? {
            var filter = ContentFilter()
            filter.course = course
            return try await ListNeighbours.list(
                filter, sort: sort, beside: try ContentKey(key), isBefore: isBefore, limit: limit,
                in: manager.contents
            )?.map(\.key.text)
        }
    }

    private static let lectures = [
        (key: "a", title: "Linear algebra 1: vectors", course: "Algebra", priority: 0),
        (key: "b", title: "linear ALGEBRA 2: 100% of matrices", course: "Algebra", priority: 10),
        (key: "c", title: "선형대수학 3강: 고유값", course: "수학", priority: 5),
        (key: "d", title: "線形代数 第4回 行列式", course: "数学", priority: -5),
        (key: "e", title: "under_score and back\\slash", course: "Algebra", priority: 0),
        (key: "f", title: "It's a \"quoted\" title", course: "", priority: 0),
        (key: "g", title: "Ångström and Éclair", course: "", priority: 0),
        (key: "h", title: "undertscore", course: "", priority: 0),
    ]

    @Test(arguments: [
        ("algebra", ["a", "b"]), ("ALGEBRA", ["a", "b"]), ("linear", ["a", "b"]), ("Linear algebra 1", ["a"]),
        ("고유값", ["c"]), ("선형", ["c"]), ("行列", ["d"]), ("第4回", ["d"]), ("%", ["b"]), ("100%", ["b"]), ("_", ["e"]),
        ("r_s", ["e"]), ("\\", ["e"]), ("'", ["f"]), ("\"", ["f"]), ("Ångström", ["g"]), ("Éclair", ["g"]),
        ("nothing", []), (" ", ["a", "b", "c", "d", "e", "f", "g"]), ("'; DROP TABLE content; --", []), ("*", []),
        ("?", []), ("vectors", ["a"]), ("e", ["a", "b", "e", "f", "h"]),
    ])
    func `a search finds a part of a title, and no character has another meaning`(
        search: String, keys: [String]
    ) async throws {
        let shelf = try await Shelf(Self.lectures)
        #expect(Set(try await shelf.found(search)) == Set(keys))
        await shelf.manager.close()
    }

    @Test func `a search is limited by the other filters, and counted`() async throws {
        let shelf = try await Shelf(Self.lectures)
        #expect(try await shelf.found("e", course: "Algebra") == ["a", "b", "e"])
        #expect(try await shelf.found("고유값", course: "Algebra").isEmpty)
        var filter = ContentFilter()
        filter.search = "algebra"
        #expect(try await shelf.manager.contents.count(filter) == 2)
        filter.states = [.completed]
        #expect(try await shelf.manager.contents.count(filter) == 0)
        await shelf.manager.close()
    }

    @Test func `pages follow a lecture and lead back to it`() async throws {
        let same = (1...7).map {
            (key: "k\($0)", title: "same title", course: $0 % 2 == 0 ? "even" : "odd", priority: 0)
        }
        let shelf = try await Shelf(same)
        let rows: [(String, Bool, [String]?)] = [
            ("k1", false, ["k2", "k3"]), ("k3", false, ["k4", "k5"]), ("k6", false, ["k7"]), ("k7", false, []),
            ("k1", true, []), ("k2", true, ["k1"]), ("k5", true, ["k3", "k4"]), ("k7", true, ["k5", "k6"]),
            ("missing", false, nil), ("missing", true, nil),
        ]
        for sort in [ContentSort.added, .title] {
            for (key, isBefore, keys) in rows {
                let found = try await shelf.beside(key, before: isBefore, sort: sort)
                #expect(found == keys, "\(sort.rawValue) \(key) \(isBefore)")
            }
        }
        #expect(try await shelf.beside("k1", before: false, limit: 10, course: "even") == ["k2", "k4", "k6"])
        #expect(try await shelf.beside("k6", before: true, limit: 10, course: "odd") == ["k1", "k3", "k5"])
        await shelf.manager.close()
    }

    @Test(arguments: ContentSort.allCases)
    func `every order is the same in pages as in one list`(sort: ContentSort) async throws {
        let shelf = try await Shelf(Self.lectures)
        let all = try await shelf.manager.contents.list(sort: sort).map(\.key.text)
        #expect(all.count == Self.lectures.count)
        var forwards = [all[0]]
        while let last = forwards.last, let next = try await shelf.beside(last, before: false, sort: sort),
            !next.isEmpty
        {
            forwards += next
        }
        #expect(forwards == all)
        var backwards = [all[all.count - 1]]
        while let page = try await shelf.beside(backwards[0], before: true, sort: sort), !page.isEmpty {
            backwards = page + backwards
        }
        #expect(backwards == all)
        await shelf.manager.close()
    }
}
