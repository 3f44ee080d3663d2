import Glibc
import LectureCrypto
import LectureFiles
import LectureFormats
import LectureKit
import LectureModel
import LectureServe
import LectureStore

/// Measures pages of the server over a connection that stays open: `lecture-benchmarks page DIRECTORY [COUNT]`.
enum PageBenchmark {
    private static let token = "benchmark-token"

    /// Fills a store, serves it, and loads pages.
    ///
    /// - Parameters:
    ///   - directory: of the store and the server's files; it must exist.
    ///   - count: the number of lectures.
    /// - Throws: `LectureError`.
    static func run(_ directory: String, count: Int) async throws {
        let store = "\(directory)/store"
        if !StoreTools.exists(store) {
            let index = try SQLiteDownloadIndex(
                opening: StoreLocation(directory: store), now: Timestamp(milliseconds: 1))
            try StoreBenchmark.fill(index, count: count)
        }
        let digest = try OpenSSLDigests(proofKey: Array(repeating: 1, count: 32)).sha256(of: Array(token.utf8))
        let line = Array("operator benchmark sha256:\(Hexadecimal.text(digest))\n".utf8)
        try unsafe line.withUnsafeBytes { bytes in
            if unsafe access("\(directory)/access", F_OK) != 0 {
                try unsafe SecretFile.create(bytes, at: "\(directory)/access")
            }
        }
        let manager = try LectureManager(LectureConfiguration(storeDirectory: store))
        var options = ServeOptions(accessFile: "\(directory)/access", keyFile: "\(directory)/key")
        options.port = 0
        let server = try await LectureServer.start(manager, options)
        let client = try PageClient(port: server.port, token: token)
        let middle = "lecture-\(count / 2)"
        let pages = [
            "/lectures", "/lectures?sort=title", "/lectures?sort=size&state=queued", "/lectures?after=\(middle)",
            "/lectures?sort=title&before=\(middle)", "/lectures?search=\(count - 7)", "/lectures?search=nowhere", "/",
        ]
        for page in pages {
            var samples: [Double] = []
            for _ in 0..<50 {
                let begin = StoreBenchmark.nanoseconds()
                guard try client.load(page) > 2000 else { throw LectureError(.bug, cause: page) }
                samples.append(Double(StoreBenchmark.nanoseconds() - begin) / 1e6)
            }
            samples.sort()
            StoreBenchmark.report("page \(page)", median: samples[25], worst: samples[49], note: "\(count) lectures")
        }
        await server.stop()
        await manager.close()
    }
}

/// A connection to the server that stays open.
private final class PageClient {
    private let descriptor: Int32
    private let head: String

    init(port: UInt16, token: String) throws {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        descriptor = made
        head = "Host: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\n\r\n"
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe connect(made, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw LectureError(.bug, cause: "connect: errno \(errno)") }
    }

    deinit { close(descriptor) }

    /// Loads a page whole.
    ///
    /// - Parameter path: with its query.
    /// - Returns: how many bytes it has; 0 when the answer is no page.
    /// - Throws: `LectureError` when the request cannot be sent.
    func load(_ path: String) throws -> Int {
        let request = Array("GET \(path) HTTP/1.1\r\n\(head)".utf8)
        guard unsafe send(descriptor, request, request.count, 0) == request.count else { throw LectureError(.bug) }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return 0 }
            received += buffer[..<count]
            // The head has only ASCII, and ends with an empty line.
            let ending = Array("\r\n\r\n".utf8)
            let end = received.indices.prefix(4000).first { received[$0...].starts(with: ending) }
            guard let end else { continue }
            let lines = received[..<end].split(whereSeparator: { $0 == 13 || $0 == 10 }).map {
                String(decoding: $0, as: UTF8.self).lowercased()
            }
            guard lines.first?.hasPrefix("http/1.1 200 ") == true else { return 0 }
            let field = lines.first { $0.hasPrefix("content-length: ") }
            let length = field.flatMap { Int($0.dropFirst(16)) } ?? 0
            if received.count >= end + 4 + length { return length }
        }
    }
}
