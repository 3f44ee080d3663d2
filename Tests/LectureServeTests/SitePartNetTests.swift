import Foundation
import LectureCrypto
import LectureHTTP
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureServe

/// What parts get of a request: paths and queries as they were meant, and the server's seconds.
struct SitePartNetTests {
    /// Answers with what it has got, byte for byte.
    private final class MirrorPart: SitePart {
        let ticks = Guarded(0)
        let ticked: AsyncStream<Void>
        private let report: AsyncStream<Void>.Continuation

        init() { (ticked, report) = AsyncStream.makeStream(of: Void.self) }

        func routes(_ path: [String]) -> [String: SiteRoute]? {
            guard path.first == "mirror" else { return nil }
            let route = SiteRoute(.nothing) { request, _ in
                let query = request.head.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
                return .text(200, "\(request.path.joined(separator: "|"))?\(query)")
            }
            return ["GET": route, "POST": route]
        }

        func tick() {
            ticks.withLock { $0 += 1 }
            report.yield()
        }
    }

    private static func serve(
        _ part: MirrorPart, _ body: (_ get: (String) async throws -> Answer) async throws -> Void
    ) async throws {
        let server = try HTTPServer(HTTPServerOptions())
        let key = try SecretBytes(copying: Array(repeating: 7, count: 32))
        let access = try SiteAccess(AccessList(), key: key, isSecure: false) { Timestamp(milliseconds: 0) }
        try server.serve(by: SiteHandler(SiteRules(port: server.port), access, [part]))
        do {
            try await body { path in
                let url = "http://127.0.0.1:\(server.port)\(path)"
                let words = ["-q", "-s", "-S", "-i", "--path-as-is", "--globoff", "--max-time", "30", url]
                let ending = try await ChildProcess.run("/usr/bin/curl", words)
                return Answer(ending.output, errors: ending.errorText)
            }
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    @Test func `paths and queries are decoded once`() async throws {
        let rows = [
            ("/mirror", "mirror?"), ("/mirror/", "mirror|?"), ("/mirror/a%20b", "mirror|a b?"),
            ("/mirror/%41%4a", "mirror|AJ?"), ("/mirror/%EA%B0%95", "mirror|강?"), ("/mirror/%2541", "mirror|%41?"),
            ("/mirror/a+b", "mirror|a+b?"), ("/mirror/100%", "mirror|100%?"), ("/mirror/%4", "mirror|%4?"),
            ("/mirror/%zz", "mirror|%zz?"), ("/mirror/a%2Fb", "mirror|a|b?"), ("/mirror/%00", "mirror|%00?"),
            ("/mirror/a%00b", "mirror|a%00b?"), ("/mirror?a=1", "mirror?a=1"),
            ("/mirror?a=1&b=2&a=3", "mirror?a=1&b=2&a=3"),
            ("/mirror?a=%26%3D", "mirror?a=&="), ("/mirror?a=b%00c", "mirror?a=b%00c"), ("/mirror?a", "mirror?a="),
            ("/mirror?a=b+c", "mirror?a=b c"), ("/mirror?a=%2B", "mirror?a=+"), ("/mirror?%61=%62", "mirror?a=b"),
            ("/mirror?a=%E3%81%82", "mirror?a=あ"), ("/mirror?a=50%", "mirror?a=50%"),
        ]
        try await Self.serve(MirrorPart()) { get in
            for (path, text) in rows {
                let answer = try await get(path)
                #expect(answer.status == 200 && answer.text == text, "\(path): \(answer.text)")
            }
        }
    }

    @Test func `segments that lead elsewhere are refused, however they are written`() async throws {
        let rows = [
            ("/mirror/..", 400), ("/mirror/%2e%2e", 400), ("/mirror/%2E%2e/x", 400), ("/mirror/.", 400),
            ("/mirror/a%5Cb", 400), ("/mirror/a%0Ab", 400), ("/mirror/%7f", 400), ("/mirror/%01", 400),
            ("/%2e%2e/mirror", 400), ("/mirror/" + String(repeating: "a", count: 1025), 400),
            ("/mirror" + String(repeating: "/a", count: 16), 400),
            ("/mirror" + String(repeating: "/a", count: 15), 200),
            ("/mirror/" + String(repeating: "a", count: 1024), 200), ("/%00mirror", 404), ("/mirror%00", 404),
            ("/Mirror", 404), ("//mirror", 404),
        ]
        try await Self.serve(MirrorPart()) { get in
            for (path, status) in rows {
                let answer = try await get(path)
                #expect(answer.status == status, "\(path.prefix(40)): \(answer.status)")
                if status == 400 { #expect(answer.name == "path") }
                if status == 404 { #expect(answer.name == "unknown_path") }
            }
        }
    }

    @Test func `parts get the server's seconds`() async throws {
        let part = MirrorPart()
        try await Self.serve(part) { _ in
            var count = 0
            for await _ in part.ticked {
                count += 1
                if count == 2 { break }
            }
            #expect(part.ticks.withLock(\.self) >= 2)
        }
    }
}
