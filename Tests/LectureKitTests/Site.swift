import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// A directory to serve, and a directory for a store, both new and deleted with the test.
final class Site: Sendable {
    let directory: TemporaryDirectory
    let root: String
    var store: String { "\(directory.path)/store" }

    init() throws {
        directory = try TemporaryDirectory()
        root = "\(directory.path)/site"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    }

    /// Makes a file of random bytes that starts like a film.
    @discardableResult
    func file(_ name: String, bytes count: Int) throws -> Data {
        let source = try FileHandle(forReadingFrom: URL(filePath: "/dev/urandom"))
        let random = try source.read(upToCount: count) ?? Data()
        let bytes = Data(MediaBeginning.replacing([UInt8](random)))
        try bytes.write(to: URL(filePath: "\(root)/\(name)"))
        return bytes
    }

    /// Opens a manager on the store.
    func manager(_ change: (inout LectureConfiguration) -> Void = { _ in }) throws -> LectureManager {
        var configuration = LectureConfiguration(storeDirectory: store)
        configuration.reserveBytes = 1 << 20
        change(&configuration)
        return try LectureManager(configuration)
    }

    /// The files below the store's media directory, relative to it.
    func mediaFiles() throws -> [String] {
        let media = "\(store)/media"
        guard let walk = FileManager.default.enumerator(atPath: media) else { return [] }
        return walk.compactMap { $0 as? String }.filter { name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(media)/\(name)")
            return attributes?[.type] as? FileAttributeType == .typeRegular
        }.sorted()
    }
}

/// The bytes of a digest, from its 64 digits.
func bytes(hex: String) -> [UInt8] {
    stride(from: 0, to: hex.utf8.count, by: 2).compactMap { index in
        let start = hex.index(hex.startIndex, offsetBy: index)
        return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16)
    }
}

extension LectureManager {
    /// Fetches one URL to its end and returns the lecture.
    func fetch(_ url: String, _ change: (inout DownloadRequest) -> Void = { _ in }) async throws -> Content {
        var request = DownloadRequest(url: url)
        change(&request)
        let key = try await downloads.enqueue(request)
        #expect(try await downloads.waitUntilIdle(deadline: .seconds(60)), "it did not become idle")
        return try #require(try await contents.find(key))
    }

    /// The bytes of a complete lecture, read from its file.
    func bytes(_ key: ContentKey) async throws -> Data {
        try Data(contentsOf: URL(filePath: try await contents.path(of: key)))
    }

    /// Waits for the first event that passes.
    nonisolated func first(
        in events: AsyncStream<LectureEvent>, where passes: @Sendable (LectureEvent) -> Bool
    ) async throws -> LectureEvent {
        for await event in events where passes(event) { return event }
        throw LectureError(.closing)
    }
}
