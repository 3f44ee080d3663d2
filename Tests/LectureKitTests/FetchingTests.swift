import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Fetching from nginx, an origin that others wrote.
@Suite(.timeLimit(.minutes(2)))
struct FetchingNetTests {
    @Test
    func `a file is fetched, proven and found under its path`() async throws {
        let site = try Site()
        let bytes = try site.file("lecture.mp4", bytes: 5 << 20)
        let nginx = try await NginxOrigin.start(serving: site.root)
        let manager: LectureManager
        do { manager = try LectureManager(LectureConfiguration(storeDirectory: site.store)) } catch let error as LectureError { print("OPEN", error.message); throw error }
        let key: ContentKey
        do { key = try await manager.download(DownloadRequest(url: "\(nginx.http)/lecture.mp4")) } catch let error as LectureError { print(error.message, error.cause); throw error }
        #expect(await manager.untilRest(deadline: .seconds(60)))
        print("downloaded")
        let content = try #require(await manager.content(key))
        #expect(content.state == .completed, "\(content.error?.message ?? "")")
        let path = try await manager.path(key)
        #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
        await manager.close()
        await nginx.stop()
    }
}
