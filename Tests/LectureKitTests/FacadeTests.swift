import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// The façades of a manager.
@Suite struct FacadeTests {
    private static let report = LearningReport(values: "{}", user: "kim", session: "0")

    @Test func `The facades of two managers are independent`() async throws {
        let (site, other) = (try Site(), try Site())
        let (manager, second) = (try site.manager(), try other.manager())
        try await manager.reports.add(Self.report)
        #expect(try await manager.reports.summary().counts == [.pending: 1])
        #expect(try await second.reports.summary().counts.isEmpty)
        await manager.close()
        await #expect(throws: LectureError(.closing)) { try await manager.reports.add(Self.report) }
        try await second.reports.add(Self.report)
        await second.close()
    }

    @Test func `A facade works as long as something refers to it`() async throws {
        let site = try Site()
        let reports = try site.manager().reports
        try await reports.add(Self.report)
        #expect(try await reports.list().rows.map(\.user) == ["kim"])
    }

    @available(*, deprecated)
    @Test func `The former names of reports still work`() async throws {
        let site = try Site()
        let manager = try site.manager()
        try await manager.addReport(Self.report)
        _ = try await manager.addReports([Self.report])
        #expect(try await manager.reports().rows.count == 2)
        #expect(try await manager.reportSummary().withoutTarget == 2)
        await manager.close()
    }

    @available(*, deprecated)
    @Test func `The former names of licences still work`() async throws {
        let site = try Site()
        let manager = try site.manager()
        #expect(try await manager.licences().rows.isEmpty)
        #expect(try await manager.licence(ContentKey("algebra")) == nil)
        #expect(try await manager.renewLicences(.all).total == 0)
        #expect(try await manager.pendingCallbacks().isEmpty)
        await manager.close()
    }

    @available(*, deprecated)
    @Test func `The former names of streams still work`() async throws {
        let site = try Site()
        let manager = try site.manager()
        try await manager.setStreamCacheLimit(1 << 20)
        #expect(try await manager.streamCacheLimit() == 1 << 20)
        #expect(try await manager.streamCacheBytes() == 0)
        try await manager.clearStreamCache()
        await #expect(throws: LectureError(.urlScheme)) { try await manager.openStream("ftp://a/b.mp4") }
        await manager.close()
    }

    @available(*, deprecated)
    @Test func `The former names of contents still work`() async throws {
        let site = try Site()
        let manager = try site.manager()
        let key = try ContentKey("algebra")
        #expect(try await manager.contents().isEmpty)
        #expect(try await manager.count() == 0)
        #expect(try await manager.details().isEmpty)
        #expect(try await manager.content(key) == nil)
        #expect(try await manager.keptFiles().isEmpty)
        await #expect(throws: LectureError(.unknownContent)) { try await manager.path(key) }
        await #expect(throws: LectureError(.unknownContent)) { try await manager.verify(key) }
        await #expect(throws: LectureError(.unknownContent)) { try await manager.setResumePoint(key, .zero) }
        await manager.close()
    }

    @available(*, deprecated)
    @Test func `The former names of downloads still work`() async throws {
        let site = try Site()
        let manager = try site.manager()
        let key = try ContentKey("algebra")
        #expect(try await manager.waitUntilIdle())
        #expect(await manager.active.isEmpty)
        #expect(try await manager.plan([DownloadRequest(url: "http://a/b.mp4")]).count == 1)
        await #expect(throws: LectureError(.notLoaded)) { try await manager.download(key) }
        await #expect(throws: LectureError(.unknownContent)) { try await manager.pause(key) }
        await #expect(throws: LectureError(.unknownContent)) { try await manager.setPriority(key, 1) }
        #expect(try await manager.enqueue([DownloadRequest(url: "ftp://a/b.mp4")]).count == 1)
        #expect(try await manager.downloadUnfinished() == 0)
        #expect(try await manager.removeAll() == 0)
        #expect(try await manager.removalsLeft() == 0)
        await manager.close()
    }
}
