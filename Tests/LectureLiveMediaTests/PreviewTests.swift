import Foundation
import LectureLiveMedia
import LectureModel
import LectureTestSupport
import LiveTestSupport
import Testing

/// What a broadcaster sees of its own broadcast.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct PreviewNetTests {
    private static let size = 320 * 180 * 3 / 2

    private func broadcast(_ source: BroadcastSource = .testPicture) throws -> LiveBroadcast {
        var configuration = BroadcastConfiguration(source: source)
        (configuration.width, configuration.height, configuration.framesPerSecond) = (320, 180, 15)
        (configuration.videoBitrate, configuration.speed) = (400_000, .ultrafast)
        return try LiveBroadcast(configuration)
    }

    /// Reads pictures on a thread of its own, in pieces as a player asks for them.
    private func read(
        _ preview: BroadcastPreview, pictures: Int, piece: Int = 50_000
    ) async -> [[UInt8]] {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var (found, bytes) = ([[UInt8]](), [UInt8]())
                var buffer = [UInt8](repeating: 0, count: piece)
                while found.count < pictures {
                    let count = unsafe buffer.withUnsafeMutableBytes { unsafe preview.read(into: $0) }
                    if count == 0 { break }
                    bytes += buffer.prefix(count)
                    if bytes.count >= Self.size {
                        found.append(Array(bytes.prefix(Self.size)))
                        bytes.removeFirst(Self.size)
                    }
                }
                continuation.resume(returning: found)
            }
        }
    }

    /// The numbers in raw pictures.
    private func counters(_ pictures: [[UInt8]]) throws -> [Int] { try frames(pictures).compactMap(\.counter) }

    private func frames(_ pictures: [[UInt8]]) throws -> [FrameCounterReader.Frame] {
        let directory = try TemporaryDirectory.inMemory()
        var data = Data("YUV4MPEG2 W320 H180 F15:1 Ip A1:1 C420mpeg2\n".utf8)
        for picture in pictures { data += Data("FRAME\n".utf8) + Data(picture) }
        try data.write(to: URL(filePath: directory.file("pictures.y4m")))
        return try FrameCounterReader(directory.file("pictures.y4m")).read().frames
    }

    @Test func `every picture is seen without a connection, in its order and with its effects`() async throws {
        let broadcast = try broadcast()
        let preview = try BroadcastPreview(width: 320, height: 180)
        broadcast.show(in: preview)
        let seen = try counters(await read(preview, pictures: 10))
        #expect(seen.count == 10 && zip(seen, seen.dropFirst()).allSatisfy { $0 < $1 }, "\(seen)")
        broadcast.setMirrored(true)
        // One may have been made before.
        let mirrored = try frames(await read(preview, pictures: 4))
        #expect(mirrored.last.map { $0.isMirrored && $0.counter != nil } == true)
        broadcast.muteVideo(true)
        let black = try frames(await read(preview, pictures: 4))
        #expect(black.last.map { $0.columns.allSatisfy { $0 < 24 } } == true)
        #expect(broadcast.statistics.framesEncoded == 0)
        broadcast.close()
    }

    @Test func `a preview that is not read delays nothing, and shows the newest picture afterwards`() async throws {
        let server = try await RTMPServer.start()
        let broadcast = try broadcast()
        let preview = try BroadcastPreview(width: 320, height: 180)
        broadcast.show(in: preview)
        try await broadcast.connect(to: server.url("unread"))
        try await Conditions.wait(for: "pictures") { broadcast.statistics.framesSent >= 30 }
        let made = broadcast.statistics.framesMade
        let seen = try counters(await read(preview, pictures: 2))
        // Not the first one that was made: what was not read is left out.
        #expect(seen.count == 2 && seen[0] >= made - 2, "\(seen) of \(made)")
        await broadcast.disconnect()
        let statistics = broadcast.statistics
        #expect(statistics.framesSent + statistics.framesDropped == statistics.framesEncoded)
        broadcast.close()
        let sent = try FrameCounterReader(try await server.recording(of: "unread")).read().counters
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $0 + 1 == $1 }, "\(sent)")
    }

    @Test func `a preview goes over to another broadcast, and ends when it is closed`() async throws {
        let preview = try BroadcastPreview(width: 320, height: 180)
        for source in [BroadcastSource.testPicture, .black] {
            let broadcast = try broadcast(source)
            broadcast.show(in: preview)
            let pictures = try frames(await read(preview, pictures: 5))
            #expect((pictures.last?.counter != nil) == (source == .testPicture))
            broadcast.show(in: nil)
            broadcast.close()
        }
        async let rest = read(preview, pictures: 100)
        preview.close()
        // At most what was left of the broadcast before.
        #expect(await rest.count <= 1)
        #expect(await read(preview, pictures: 1).isEmpty)
        let late = try broadcast()
        late.show(in: preview)
        #expect(await read(preview, pictures: 1).isEmpty)
        late.close()
    }

    @Test func `another size is not shown, and one that is none is refused`() async throws {
        for (width, height) in [(0, 100), (-2, 100), (100, 0), (1 << 20, 1 << 20)] {
            #expect(throws: BroadcastError.invalidValue) { try BroadcastPreview(width: width, height: height) }
        }
        let broadcast = try broadcast()
        let preview = try BroadcastPreview(width: 640, height: 360)
        broadcast.show(in: preview)
        let made = broadcast.statistics.framesMade
        try await Conditions.wait(for: "pictures") { broadcast.statistics.framesMade > made + 3 }
        async let none = read(preview, pictures: 1)
        preview.close()
        #expect(await none.isEmpty)
        broadcast.close()
    }
}
