import Glibc
import Testing

@testable import LectureTransport

/// Which sockets are ready, on real ones.
struct SocketWatchTests {
    /// Two connected sockets.
    private final class Pair {
        let ends: (near: Int32, far: Int32)

        init() {
            var ends: [Int32] = [-1, -1]
            _ = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
            self.ends = (ends[0], ends[1])
        }

        deinit {
            close(ends.near)
            close(ends.far)
        }

        func send() {
            var byte: UInt8 = 1
            _ = unsafe write(ends.far, &byte, 1)
        }
    }

    @Test func `a socket is ready for what libcurl waits for`() throws {
        let (watch, pair) = (try SocketWatch(), Pair())
        let near = pair.ends.near
        #expect(watch.ready() == [])
        watch.watch(near, for: [.reading])
        #expect(watch.ready() == [])
        pair.send()
        // Until it is read.
        for _ in 0..<2 { #expect(watch.ready() == [.init(socket: near, readiness: [.reading])]) }
        watch.watch(near, for: [.reading, .writing])
        #expect(watch.ready() == [.init(socket: near, readiness: [.reading, .writing])])
        watch.watch(near, for: [.writing])
        #expect(watch.ready() == [.init(socket: near, readiness: [.writing])])
        watch.watch(near, for: [])
        #expect(watch.ready() == [])
    }

    @Test func `the end of a connection is found by reading`() throws {
        let (watch, pair) = (try SocketWatch(), Pair())
        watch.watch(pair.ends.near, for: [.writing])
        shutdown(pair.ends.far, Int32(SHUT_RDWR))
        #expect(watch.ready().map { $0.readiness.contains(.reading) } == [true])
    }

    @Test func `a number is watched again after its socket was closed`() throws {
        let (watch, old, new) = (try SocketWatch(), Pair(), Pair())
        let number = old.ends.near
        watch.watch(number, for: [.reading])
        // Closes the old socket, and gives its number to the new one.
        #expect(dup2(new.ends.near, number) == number)
        new.send()
        #expect(watch.ready() == [])
        watch.watch(number, for: [.reading])
        #expect(watch.ready() == [.init(socket: number, readiness: [.reading])])
    }

    @Test func `more sockets than are returned at once get their turn`() throws {
        let watch = try SocketWatch()
        let pairs = (0..<150).map { _ in Pair() }
        for pair in pairs { watch.watch(pair.ends.near, for: [.reading]) }
        for pair in pairs { pair.send() }
        var left = Set(pairs.map(\.ends.near))
        var calls = 0
        while !left.isEmpty, calls < pairs.count {
            let ready = watch.ready()
            #expect(!ready.isEmpty && ready.count <= 64)
            for socket in ready {
                let isNew = left.remove(socket.socket) != nil
                #expect(isNew && socket.readiness == [.reading])
                var byte: UInt8 = 0
                let count = unsafe read(socket.socket, &byte, 1)
                #expect(count == 1)
            }
            calls += 1
        }
        #expect(left.isEmpty && calls == 3)
        #expect(watch.ready() == [])
    }
}
