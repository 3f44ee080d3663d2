import LectureKit
import Testing

/// Every type in a signature of the library can be named with `import LectureKit` alone. That this file compiles is
/// the test; the checks at run time only show that the types are the expected ones.
@Suite struct SurfaceTests {
    /// A program that names the types it gets.
    private struct Names {
        var key: ContentKey
        var request: DownloadRequest
        var content: Content
        var state: ItemState
        var reason: StopReason?
        var error: LectureError
        var code: LectureError.Code
        var time: Timestamp
        var progress: DownloadProgress
        var event: LectureEvent
        var outcome: EnqueueOutcome
        var check: SourceCheck
        var targetState: TargetState
        var renewal: RenewalReport
        var sending: ReportSendResult
        var exchange: ReportExchange
        var type: ContentType
        var details: ContentDetails?
        var permission: PlayPermission?
    }

    @Test func `a program that imports only the library creates and compares the types of its signatures`() throws {
        let key = try ContentKey("week-1")
        var request = DownloadRequest(url: "https://lectures.example/week-1.mp4")
        request.key = key
        #expect(request.key == key && key.text == "week-1")
        #expect(LectureError(.notLoaded) == LectureError(.notLoaded, detail: "week-1"))
        #expect(Timestamp(milliseconds: 1) < Timestamp(milliseconds: 2))
        #expect(Timestamp(milliseconds: 1) + .seconds(1) == Timestamp(milliseconds: 1001))
        #expect(ItemState.completed.name == "completed" && SourceCheck.list != .head)
        #expect(MemoryLayout<Names>.size > 0)
    }

    /// A player of another package: it compiles only while these calls throw nothing but `LectureError`.
    private func play(_ stream: LectureStream) async throws(LectureError) -> Range<Duration>? {
        let permission = try await stream.permission()
        try await stream.checkPermission(patience: .seconds(5))
        try await stream.registerPlay()
        await stream.unregisterPlay()
        return permission?.section
    }

    /// It compiles only while these calls throw nothing but `LectureError`.
    @Test func `the code of an error can be used without a cast`() {
        func code(_ work: () throws(LectureError) -> Void) -> LectureError.Code? {
            do throws(LectureError) { try work() } catch { return error.code }
            return nil
        }
        let missing = "/nonexistent/lectures"
        #expect(code { () throws(LectureError) in _ = try ContentKey("") } == .parameter)
        #expect(code { () throws(LectureError) in _ = try CourseList(path: "list.pdf") } == .courseList)
        #expect(code { () throws(LectureError) in _ = try KollusLink("kollus://unknown") } == .urlInvalid)
        #expect(code { () throws(LectureError) in _ = try DownloadRequest.requests(link: "no link") } == .urlInvalid)
        #expect(code { () throws(LectureError) in _ = try StoreTools.facts(of: missing) } == .openStore)
        #expect(code { () throws(LectureError) in _ = try StoreTools.check(missing) } != nil)
        #expect(code { () throws(LectureError) in _ = try StoreTools.keptMedia(in: missing) } == nil)
        #expect(
            code { () throws(LectureError) in
                _ = try LectureManager(LectureConfiguration(storeDirectory: "/proc/lectures"))
            } != nil)
    }
}
