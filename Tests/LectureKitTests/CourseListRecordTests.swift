import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Course lists through the library, without a server.
@Suite(.timeLimit(.minutes(1))) struct CourseListRecordTests {
    private func requests(_ numbers: some Sequence<Int>) throws -> [DownloadRequest] {
        try numbers.map { number in
            var request = DownloadRequest(url: "http://127.0.0.1:1/\(number).mp4")
            request.key = try ContentKey("k\(number)")
            return request
        }
    }

    @Test func `what is enqueued from a list is in it before the list is finished`() async throws {
        let site = try Site()
        let manager = try site.manager()
        _ = try await manager.downloads.enqueue(try requests(1...3), origin: .courseList("A"))
        _ = try await manager.downloads.enqueue(try requests([3]), origin: .courseList("B"))
        _ = try await manager.downloads.enqueue(try requests([2]), origin: .single)
        #expect(try await manager.downloads.finishCourseList("A") == 0)
        await manager.close()

        let next = try site.manager()
        _ = try await next.downloads.enqueue(try requests([4]), origin: .courseList("A"))
        var reading = PlannedReading()
        reading.named = [try ContentKey("k4"), try ContentKey("k5")]
        let planned = try await next.downloads.lecturesGone(from: ["A"], assuming: reading)
        #expect(try await next.downloads.lecturesGone(from: ["A"]).lectures.isEmpty)
        #expect(try await next.downloads.finishCourseList("A") == 0)
        let gone = try await next.downloads.lecturesGone(from: ["A"])
        #expect(gone.lectures.map(\.key.text) == ["k1"])
        #expect(planned.lectures.map(\.key) == gone.lectures.map(\.key))
        #expect(planned.named == 5 && gone.named == 4)
        #expect(try await next.downloads.lecturesGone(from: ["A"], for: .seconds(60)).lectures.isEmpty)
        // A list that this manager has not read is not finished by it.
        #expect(try await next.downloads.finishCourseList("B") == 0)
        #expect(try await next.downloads.lecturesGone(from: ["B"]).lectures.isEmpty)
        await next.close()
    }

    @Test func `a list without a name is refused, and nothing is registered`() async throws {
        let site = try Site()
        let manager = try site.manager()
        let requests = try requests([1])
        let error = await #expect(throws: LectureError.self) {
            try await manager.downloads.enqueue(requests, origin: .courseList(""))
        }
        #expect(error?.code == .parameter)
        #expect(try await manager.contents.count() == 0)
        await manager.close()
    }
}
