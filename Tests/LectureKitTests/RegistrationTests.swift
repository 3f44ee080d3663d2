import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Requests that are registered together.
@Suite(.timeLimit(.minutes(1))) struct RegistrationTests {
    /// Few sources, so that many requests are for a lecture that the store has or that the same call adds.
    private static func request(_ dice: inout SeededGenerator) -> DownloadRequest {
        let number = Int.random(in: 0..<40, using: &dice)
        var request = DownloadRequest(url: "http://127.0.0.1:1/\(number).mp4")
        switch Int.random(in: 0..<12, using: &dice) {
        case 0: request.url = "ftp://127.0.0.1:1/\(number).mp4"
        case 1: request.url += "?sig=\(UInt8.random(in: 0...9, using: &dice))"
        case 2: request.url = "http://127.0.0.1:1/s?key=\(number)&jwt=a.b.c"
        case 3: request.key = ContentKey(stored: "key \(number % 7)")
        case 4: request.priority = 101
        case 5: request.headers = ["Range": "bytes=0-"]
        case 6: request.priority = number % 3
        case 7: request.title = "Title \(number)"
        default: break
        }
        return request
    }

    @Test(arguments: 1...12)
    func `many at once are registered as one after the other`(seed: UInt64) async throws {
        var dice = SeededGenerator(seed: seed)
        let requests = (0..<300).map { _ in Self.request(&dice) }
        let groups = [[], [1], [40, 41], [299], [150, 151, 200]].randomElement(using: &dice) ?? []

        let single = try Site()
        let alone = try single.manager { $0.timetable = "else=off" }
        var expected: [Result<Enqueued, LectureError>] = []
        for request in requests {
            expected += try await alone.downloads.enqueue([request], origin: .courseList("A"))
        }

        let site = try Site()
        let manager = try site.manager { $0.timetable = "else=off" }
        var results: [Result<Enqueued, LectureError>] = []
        var start = 0
        for end in groups + [requests.count] {
            results += try await manager.downloads.enqueue(Array(requests[start..<end]), origin: .courseList("A"))
            start = end
        }
        #expect(results.map(Self.text) == expected.map(Self.text))
        let (ours, theirs) = (try await Self.lectures(manager), try await Self.lectures(alone))
        #expect(ours == theirs && !ours.isEmpty)
        #expect(try await manager.downloads.fetched(in: .queued).count == ours.count)
        for manager in [manager, alone] {
            #expect(try await manager.downloads.finishCourseList("A") >= 0)
            #expect(try await manager.downloads.lecturesGone(from: ["A"]).lectures.isEmpty)
            await manager.close()
        }
    }

    private static func text(_ result: Result<Enqueued, LectureError>) -> String {
        switch result {
        case .success(let enqueued): "\(enqueued.key.text) \(enqueued.outcome)"
        case .failure(let error): "\(error.code.name) \(error.detail) \(error.cause)"
        }
    }

    private static func lectures(_ manager: LectureManager) async throws -> [String] {
        try await manager.contents.list().map { lecture in
            "\(lecture.key.text) \(lecture.sourceURL) \(lecture.title) \(lecture.priority) \(lecture.position)"
        }
    }
}
