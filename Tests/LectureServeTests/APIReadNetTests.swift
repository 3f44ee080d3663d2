import Foundation
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureServe

/// What the API reads, on a real store. Every answer is checked against the document.
@Suite(.timeLimit(.minutes(4))) struct APIReadNetTests {
    @Test func `the store, its version and its lectures are read`() async throws {
        try await APIRig.with { rig in
            #expect(try await rig.ask("GET", "version").json["version"] as? String == "1.2.3")
            let status = try await rig.ask("GET", "status").json["states"] as? [String: Int]
            #expect(status?["completed"] == 3 && status?["failed"] == 1)
            let one = try await rig.ask("GET", "lectures/one")
            #expect(one.json["title"] as? String == APIRig.hostile && one.json["record"] as? String == "content")
            #expect(one.field("x-content-type-options") == "nosniff" && one.field("cache-control") == "no-store")
            let why = try await rig.ask("GET", "lectures/three/why")
            #expect(why.json["record"] as? String == "why" && (why.json["remedy"] as? String)?.isEmpty == false)
            let attempts = try await rig.list("lectures/three/attempts", "attempts")
            #expect(attempts.first?["status"] as? Int == 404)
            let head = try await rig.raw("/api/v1/lectures", "-I")
            #expect(head.status == 200 && head.body.isEmpty && head.field("content-type") == "application/json")
        }
    }

    @Test func `a key that cannot be a segment is written as its base64url`() async throws {
        try await APIRig.with { rig in
            let segment = "~\(Base64URLText.of("two/2"))"
            for path in [segment, "\(segment)/why", "\(segment)/attempts"] {
                #expect(try await rig.ask("GET", "lectures/\(path)").status == 200, "\(path)")
            }
            #expect(try await rig.ask("GET", "lectures/\(segment)").json["key"] as? String == "two/2")
            for wrong in ["~", "~!", "~_", "two"] {
                let answer = try await rig.ask("GET", "lectures/\(wrong)")
                #expect(answer.status == 404 && answer.name == "unknown_content", "\(wrong)")
            }
        }
    }

    @Test func `lists are filtered, sorted and searched`() async throws {
        try await APIRig.with { rig in
            let all = ["one", "two/2", "three", "bytes-300K-3"]
            let rows: [(String, [String])] = [
                ("", all), ("?sort=added", all), ("?state=failed", ["three"]), ("?state=queued", []),
                ("?course=Physics", ["one", "two/2"]), ("?course=physics", []),
                ("?type=downloading&state=failed", ["three"]), ("?type=sample", []), ("?folder=none", []),
                // A search has the order of titles, unless another one is wanted.
                ("?search=ee", ["three"]),
                ("?search=tw", ["two/2"]), ("?search=THR", ["three"]), ("?search=%25", []), ("?search=_", []),
                ("?search=%3Cimg", ["one"]), ("?search=%EA%B0%95", ["one"]), ("?search=%22%5C%26", ["one"]),
                ("?sort=added&search=T&state=completed&course=Physics", ["one", "two/2"]),
                ("?search=T&state=completed&course=Physics", ["one", "two/2"]), ("?limit=2", ["one", "two/2"]),
                ("?sort=size&limit=1&state=failed", ["three"]),
            ]
            for (query, keys) in rows {
                let found = try await rig.keys(query)
                #expect(found == keys, "\(query)")
            }
        }
    }

    @Test(arguments: ContentSort.allCases)
    func `pages lead forward and back through every order`(sort: ContentSort) async throws {
        try await APIRig.with { rig in
            let all = try await rig.keys("?sort=\(sort.rawValue)")
            #expect(all.count == 4 && Set(all).count == 4)
            for limit in [1, 2, 3, 4] {
                var (forward, query) = ([[String]](), "")
                var last: [String: Any] = [:]
                repeat {
                    last = try await rig.ask("GET", "lectures?sort=\(sort.rawValue)&limit=\(limit)\(query)").json
                    let page = try #require(last["lectures"] as? [[String: Any]]).compactMap { $0["key"] as? String }
                    #expect((last["previous"] as? String) == (forward.isEmpty ? nil : page.first))
                    forward.append(page)
                    query = (last["next"] as? String).map { "&after=\(FormText.of($0))" } ?? ""
                } while !query.isEmpty
                #expect(forward.flatMap(\.self) == all, "\(limit)")
                var back = forward.last ?? []
                while let key = last["previous"] as? String {
                    let query = "lectures?sort=\(sort.rawValue)&limit=\(limit)&before=\(FormText.of(key))"
                    last = try await rig.ask("GET", query).json
                    let page = try #require(last["lectures"] as? [[String: Any]])
                    back = page.compactMap { $0["key"] as? String } + back
                    #expect(last["next"] as? String == page.last?["key"] as? String)
                }
                #expect(back == all, "\(limit)")
            }
            for query in ["after=none", "before=none", "after=none&before=one"] {
                #expect(try await rig.ask("GET", "lectures?\(query)").name == "unknown_content", "\(query)")
            }
        }
    }

    @Test func `licences are read one by one, by page and by day`() async throws {
        try await APIRig.with { rig in
            let one = try await rig.ask("GET", "lectures/bytes-300K-3/licence")
            #expect(one.json["record"] as? String == "licence" && one.json["key"] as? String == "bytes-300K-3")
            let title = try await rig.ask("GET", "lectures/bytes-300K-3").json["title"] as? String
            #expect(one.json["title"] as? String == title && title?.isEmpty == false)
            #expect(try await rig.ask("GET", "lectures/one/licence").name == "licence_missing")
            #expect(try await rig.ask("GET", "lectures/none/licence").name == "unknown_content")
            let rows = [("", 1), ("?within=0", 0), ("?within=60", 0), ("?within=432001&limit=1", 1), ("?limit=1", 1)]
            for (query, count) in rows {
                let found = try await rig.ask("GET", "licences\(query)")
                #expect((found.json["licences"] as? [Any])?.count == count, "\(query)")
                guard let next = found.json["next"] as? String else { continue }
                let joint = query.isEmpty ? "?" : "\(query)&"
                let rest = try await rig.ask("GET", "licences\(joint)after=\(next)").json["licences"] as? [Any]
                #expect(rest?.isEmpty == true, "\(query)")
            }
            let days = try await rig.list("licences/days", "days")
            let end = try #require((one.json["licence"] as? [String: Any])?["expires_ms"] as? Int)
            #expect(days.count == 1 && days[0]["count"] as? Int == 1)
            let day = Date(timeIntervalSince1970: Double(end) / 1000).ISO8601Format().prefix(10)
            #expect(days[0]["day"] as? String == String(day))
        }
    }

    @Test func `reports are read by page, with their counts, and without the secrets of their targets`() async throws {
        try await APIRig.with { rig in
            let whole = try await rig.ask("GET", "reports")
            let all = try #require(whole.json["reports"] as? [[String: Any]]).compactMap { $0["id"] as? String }
            #expect(all.count == 3 && whole.json["next"] == nil && !whole.text.contains("secret"))
            var (found, query) = ([String](), "?limit=2")
            repeat {
                let page = try await rig.ask("GET", "reports\(query)").json
                found += try #require(page["reports"] as? [[String: Any]]).compactMap { $0["id"] as? String }
                query = (page["next"] as? String).map { "?limit=2&after=\($0)" } ?? ""
            } while !query.isEmpty
            #expect(found == all)
            for (query, count) in [("?user=kim", 3), ("?user=lee", 0), ("?state=dead", 0), ("?course=c", 0)] {
                #expect(try await rig.list("reports\(query)", "reports").count == count, "\(query)")
            }
            let summary = try await rig.ask("GET", "reports/summary")
            #expect(summary.json["created"] as? Int == 3 && !summary.text.contains("secret"))
        }
    }

    @Test func `what is read is what --json prints`() async throws {
        try await APIRig.with { rig in
            func printed(_ words: String...) async throws -> [String] {
                let ending = try await ChildProcess.run(
                    BuiltProgram.url.path, words + ["--json", "--store", rig.directory.file("store")],
                    environment: ["HOME": rig.directory.path, "LECTURE_DEVICE_DIR": rig.directory.file("device")],
                    directory: rig.directory.path)
                return ending.text.split(separator: "\n").map(String.init)
            }
            let listed = try await rig.ask("GET", "lectures?course=Physics&sort=title").text
            let lines = try await printed("list", "--course", "Physics", "--sort", "title")
            #expect(lines.count == 2 && listed == "{\"lectures\":[\(lines.joined(separator: ","))]}\n")
            #expect(try await rig.ask("GET", "lectures/one").text == "\(try await printed("show", "one")[0])\n")
            let why = try await printed("why", "three")
            let found = try await rig.ask("GET", "lectures/three/attempts").text
            #expect(found == "{\"attempts\":[\(why.dropFirst().joined(separator: ","))]}\n")
            let reports = try await printed("lms", "list")
            #expect(try await rig.ask("GET", "reports").text == "{\"reports\":[\(reports.joined(separator: ","))]}\n")
        }
    }
}

/// A text as base64url, by other code than the product's.
enum Base64URLText {
    static func of(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=", with: "")
    }
}

/// A text as a value of a query, by other code than the product's.
enum FormText {
    static func of(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
