import Glibc
import LectureLiveMedia
import LectureTestSupport
import LiveTestSupport
import Testing

extension LiveMediaNetTests {
    /// Servers and networks that do not do what they should.
    struct ConnectionTests {
        @Test func `each way to be turned away has its error, at once and without the key`() async throws {
            let server = try await RTMPServer.start()
            let notRTMP = try RawServer { peer in
                _ = peer.read(64)
                peer.send("HTTP/1.1 400 Bad Request\r\n\r\n")
            }
            let silent = try RawServer { $0.waitForEnd() }
            var configuration = Studio.configuration()
            configuration.writeDeadline = .milliseconds(700)
            let broadcast = try LiveBroadcast(configuration)
            let owner = try LiveBroadcast(Studio.configuration())
            try await owner.connect(to: server.url("busy-secret"))
            let cases: [(String, BroadcastError)] = [
                ("rtmp://127.0.0.1:\(try Places.freePort())/live/secret", .noServer),
                // A name that cannot exist, so that no name server is asked.
                ("rtmp://\(String(repeating: "a", count: 64)).example/live/secret", .noServer),
                ("rtmp://127.0.0.1:\(notRTMP.port)/live/secret", .noServer),
                ("rtmp://127.0.0.1:\(silent.port)/live/secret", .timedOut),
                (server.url("refused-secret"), .refused),
                (server.url("busy-secret"), .busy),
                ("http://127.0.0.1:\(server.port)/live/secret", .invalidValue),
                ("/tmp/secret", .invalidValue),
                ("", .invalidValue),
            ]
            for (url, expected) in cases {
                let start = ContinuousClock.now
                await #expect(throws: expected, "\(url)") { try await broadcast.connect(to: url) }
                #expect(ContinuousClock.now - start < .seconds(5), "\(url)")
                #expect(!"\(expected)".contains("secret") && !"\(expected)".isEmpty)
                if expected != .invalidValue { #expect(broadcast.statistics.lastError == expected, "\(url)") }
                #expect(!broadcast.statistics.isConnected)
            }
            // This one is accepted first: nginx looks at its rules afterwards.
            try await broadcast.connect(to: server.url("secret", application: "closed"))
            #expect(await broadcast.events.firstElement() == .connectionEnded(.refused))
            #expect(broadcast.statistics.lastError == .refused)
            // The key is free once its owner has left.
            await owner.disconnect()
            let dropped = broadcast.statistics.framesDropped
            try await broadcast.connect(to: server.url("busy-secret"))
            try await Studio.send(5, with: broadcast)
            #expect(broadcast.statistics.framesDropped == dropped)
        }

        @Test(arguments: [false, true])
        func `connecting ends as soon as it is not wanted any more`(byClosing: Bool) async throws {
            let silent = try RawServer { $0.waitForEnd() }
            var configuration = Studio.configuration()
            configuration.writeDeadline = .seconds(30)
            let broadcast = try LiveBroadcast(configuration)
            let connecting = Task { try await broadcast.connect(to: "rtmp://127.0.0.1:\(silent.port)/live/secret") }
            try await Conditions.wait(for: "connection") { silent.connections == 1 }
            let start = ContinuousClock.now
            if byClosing { broadcast.close() } else { await broadcast.disconnect() }
            await #expect(throws: BroadcastError.closed) { try await connecting.value }
            #expect(ContinuousClock.now - start < .seconds(5))
            let isReady = !byClosing
            let error = isReady ? BroadcastError.noServer : .closed
            let port = try Places.freePort()
            await #expect(throws: error) { try await broadcast.connect(to: "rtmp://127.0.0.1:\(port)/live/secret") }
        }

        /// With key frames that are in the queue, and with none except those that are requested.
        @Test(arguments: [1.0, 600])
        func `a link that is too slow drops up to key frames, and recovers`(keyFrameInterval: Double) async throws {
            let server = try await RTMPServer.start()
            let link = try SlowLink(to: server.port)
            var configuration = Studio.configuration()
            configuration.videoBitrate = 4_000_000
            configuration.keyFrameInterval = keyFrameInterval
            let broadcast = try LiveBroadcast(configuration)
            try await broadcast.connect(to: link.url("slow"))
            try await Studio.send(20, with: broadcast)
            #expect(broadcast.statistics.framesDropped == 0)
            link.setRate(100_000)
            let throttled = broadcast.statistics.framesEncoded
            // What the kernel buffers is not in the queue; it has to be little, or a broadcast is late for seconds
            // before it is noticed.
            try await Conditions.wait(for: "queue") { broadcast.statistics.queue > .milliseconds(500) }
            let noticed = broadcast.statistics.framesEncoded - throttled
            #expect(noticed < 90, "\(noticed)")
            var (longest, largest) = (Duration.zero, 0)
            try await Conditions.wait(for: "drop") {
                let statistics = broadcast.statistics
                longest = max(longest, statistics.queue)
                largest = max(largest, statistics.queueBytes)
                return statistics.framesDropped >= 60
            }
            // The queue shows it, and it never has much more than its limit: 1.5 seconds, 750 kB.
            #expect(longest > .seconds(1) && longest < .seconds(5), "\(longest)")
            #expect(largest > 100_000 && largest < 1_500_000, "\(largest)")
            link.setRate(nil)
            try await Conditions.wait(for: "short queue") { broadcast.statistics.queue < .milliseconds(200) }
            try await Studio.send(20, with: broadcast)
            await broadcast.disconnect()
            let statistics = broadcast.statistics
            #expect(statistics.framesEncoded == statistics.framesSent + statistics.framesDropped)
            let frames = try FrameCounterReader(try await server.recording(of: "slow")).read().frames
            #expect(frames.count == statistics.framesSent)
            // What is missing is missing before key frames only, so every picture could be decoded.
            let gaps = zip(frames, frames.dropFirst()).filter { ($1.counter ?? 0) != ($0.counter ?? 0) + 1 }
            #expect(!gaps.isEmpty && gaps.allSatisfy { $1.isKeyFrame }, "\(gaps)")
            #expect(frames.compactMap(\.counter).count == frames.count)
            #expect(frames.compactMap(\.counter).isRising)
            let missing = gaps.reduce(0) { $0 + ($1.1.counter ?? 0) - ($1.0.counter ?? 0) - 1 }
            #expect(missing == statistics.framesDropped)
        }

        @Test func `a frozen link ends at the deadline, and the source goes on`() async throws {
            let server = try await RTMPServer.start()
            let link = try SlowLink(to: server.port)
            var configuration = Studio.configuration()
            configuration.videoBitrate = 4_000_000
            configuration.writeDeadline = .seconds(1)
            let broadcast = try LiveBroadcast(configuration)
            try await broadcast.connect(to: link.url("frozen"))
            try await Studio.send(10, with: broadcast)
            link.setRate(0)
            #expect(await broadcast.events.firstElement() == .connectionEnded(.timedOut))
            let statistics = broadcast.statistics
            #expect(statistics.lastError == .timedOut && !statistics.isConnected)
            #expect(statistics.framesEncoded == statistics.framesSent + statistics.framesDropped)
            try await Conditions.wait(for: "pictures") { broadcast.statistics.framesMade > statistics.framesMade + 5 }
            try await broadcast.connect(to: server.url("after"))
            try await Studio.send(10, with: broadcast)
            await broadcast.disconnect()
            let after = try FrameCounterReader(try await server.recording(of: "after")).read()
            #expect(after.counters.isConsecutive && after.frames.first?.isKeyFrame == true)
            #expect(after.counters.count >= 10)
        }

        @Test func `a disconnect does not wait for a frozen link`() async throws {
            let server = try await RTMPServer.start()
            let link = try SlowLink(to: server.port)
            var configuration = Studio.configuration()
            configuration.videoBitrate = 4_000_000
            let broadcast = try LiveBroadcast(configuration)
            try await broadcast.connect(to: link.url("left"))
            link.setRate(0)
            try await Conditions.wait(for: "queue") { broadcast.statistics.queue > .milliseconds(500) }
            let start = ContinuousClock.now
            await broadcast.disconnect(within: .milliseconds(300))
            #expect(ContinuousClock.now - start < .seconds(4))
            let statistics = broadcast.statistics
            #expect(statistics.framesDropped > 0 && !statistics.isConnected)
            #expect(statistics.framesEncoded == statistics.framesSent + statistics.framesDropped)
        }

        @Test func `a server that dies is noticed, and its successor gets the broadcast`() async throws {
            let server = try await RTMPServer.start()
            let broadcast = try LiveBroadcast(Studio.configuration())
            try await broadcast.connect(to: server.url("lost"))
            // A server that ends in the first second counts as one that refuses.
            try await Studio.send(45, with: broadcast)
            await server.kill()
            #expect(await broadcast.events.firstElement() == .connectionEnded(.connectionLost))
            await #expect(throws: BroadcastError.noServer) { try await broadcast.connect(to: server.url("lost")) }
            let successor = try await RTMPServer.start()
            try await broadcast.connect(to: successor.url("lost"))
            try await Studio.send(10, with: broadcast)
            broadcast.close()
            #expect(try FrameCounterReader(try await successor.recording(of: "lost")).read().counters.isConsecutive)
        }

        @Test func `a broadcast that is given up while connected ends by itself`() async throws {
            let server = try await RTMPServer.start()
            var broadcast: LiveBroadcast? = try LiveBroadcast(Studio.configuration())
            let events = try #require(broadcast?.events)
            try await broadcast?.connect(to: server.url("forgotten"))
            if let broadcast { try await Studio.send(5, with: broadcast) }
            broadcast = nil
            #expect(await events.firstElement() == nil)
            #expect(try FrameCounterReader(try await server.recording(of: "forgotten")).read().counters.count >= 5)
        }
    }
}
