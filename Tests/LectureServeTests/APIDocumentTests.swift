import Foundation
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureServe

/// The document, the routing table and the schemas of docs/json, against each other.
@Suite(.timeLimit(.minutes(4))) struct APIDocumentTests {
    @Test func `the document has every operation that is routed, and no other one`() async throws {
        try await APIRig.with { rig in
            let watch = StoreWatch(rig.manager)
            let part = APIPart(rig.manager, watch, SiteRenewals(rig.manager), version: "1.2.3")
            let routed = part.operations.map { "\($0.method) /api/v1/\($0.path)" }.sorted()
            #expect(rig.document.operations.map { "\($0.method) \($0.path)" }.sorted() == routed)
            #expect(Set(part.operations.map(\.name)).count == part.operations.count)
            for operation in part.operations {
                let path = operation.path.replacing("{key}", with: "one").replacing("{day}", with: "2001-01-01")
                let segments = ["api", "v1"] + path.split(separator: "/").map(String.init)
                #expect(part.routes(segments)?[operation.method] != nil, "\(operation.path)")
                #expect(operation.summary.hasSuffix("."), "\(operation.name)")
                // What a second request does is said with every operation that may do more.
                if operation.method == "POST" { #expect(!operation.details.isEmpty, "\(operation.name)") }
                let given = try #require(rig.document.operation(operation.method, "/api/v1/\(path)"))
                let parameters = given["parameters"] as? [[String: Any]] ?? []
                let names = Set(
                    parameters.filter { $0["in"] as? String == "query" }.compactMap { $0["name"] as? String })
                #expect(names == Set(operation.query.map(\.name)), "\(operation.name)")
                #expect((given["requestBody"] != nil) == !operation.body.isEmpty)
                let statuses = Set((given["responses"] as? [String: Any] ?? [:]).keys)
                #expect(statuses.isSuperset(of: ["\(operation.success)", "400", "401", "403", "405", "500", "503"]))
                #expect(statuses.contains("404") == operation.errors.contains(404))
            }
            #expect(part.routes(["api", "v2", "status"]) == nil && part.routes(["lectures"]) == nil)
        }
    }

    @Test func `the schemas are those of docs/json`() async throws {
        try await APIRig.with { rig in
            #expect(APIDocument.records.count == 26)
            for record in APIDocument.records {
                let file = JSONSchema.directory.appending(path: "\(record.name).schema.json")
                var wanted = try #require(
                    try JSONSerialization.jsonObject(with: try Data(contentsOf: file)) as? NSDictionary
                        as? [String: Any])
                wanted["$schema"] = nil
                let given = try #require(rig.document.schema(record.name))
                #expect(
                    NSDictionary(dictionary: given) == NSDictionary(dictionary: wanted), "run Tools/make-api-schemas")
            }
        }
    }

    @Test func `every reference of the document leads somewhere`() async throws {
        try await APIRig.with { rig in
            let text = try await rig.raw("/api/v1/openapi.json").text
            let parts = text.components(separatedBy: #""$ref":"#).dropFirst()
            #expect(parts.count > 50)
            for part in parts {
                let reference = part.dropFirst().prefix { $0 != "\"" }
                #expect(reference.hasPrefix("#/components/schemas/"))
                let name = String(reference.dropFirst("#/components/schemas/".count))
                #expect(rig.document.schema(name) != nil, "\(reference)")
            }
            #expect(!text.contains("operator-token"))
        }
    }

    /// What a kind of value may be, and what not.
    struct Values: Sendable, CustomTestStringConvertible {
        let kind: APIParameter.Kind
        let good: [String]
        let bad: [String]
        /// Also wrong, though the schema permits them: it knows no days of a month, and `$` of this checker permits a
        /// line end, which that of JavaScript does not.
        var worse: [String] = []

        var testDescription: String { "\(kind)" }
    }

    private static let long = String(repeating: "x", count: 512)
    private static let digest = String(repeating: "aF", count: 32)

    static let values: [Values] = [
        Values(
            kind: .text(1...3), good: ["a", "abc", "강의실", "a b", "%00"], bad: ["", "abcd", "\u{7F}", "a\u{1}"],
            worse: ["a\n", "\u{85}"]),
        Values(kind: .words(["x", "y z"]), good: ["x", "y z"], bad: ["X", "", "y"]),
        Values(kind: .key, good: ["a", "a/b", "\u{85}", long], bad: ["", "a\u{1}", "\u{7F}"]),
        Values(kind: .segment, good: ["a", "~YQ", "a b", "강"], bad: ["", "a\u{1}"]),
        Values(
            kind: .address, good: ["http://h", "https://h:1/a?b=c#d"],
            bad: ["", "HTTP://h", "ftp://h", "http://h/ ", "http://강", "//h", "http:/h", "javascript:alert(1)"]),
        Values(kind: .digest, good: [digest], bad: ["", "aF", "g\(digest.dropFirst())", "\(digest)a"]),
        Values(
            kind: .day, good: ["2024-02-29", "1970-01-01"],
            bad: ["", "2024-2-29", "2024/02/29", "24-02-29", "2024-02-29 "], worse: ["2023-02-29", "2024-13-01"]),
        Values(
            kind: .reportPlace, good: ["0", "12", "999999999999999999"],
            bad: ["", "-1", "x", "1 ", "9999999999999999999", "１"]),
        Values(
            kind: .licencePlace, good: ["_k", "12_k", "-12_a_b", "0_강"],
            bad: ["", "k", "12_", "x_k", "_", "12345678901234567_k", "1_\u{1}", "1.5_k"]),
    ]

    @Test(arguments: values)
    func `values are taken only as the document describes them`(values: Values) throws {
        let parameter = APIParameter(name: "n", kind: values.kind, help: "")
        var schema = try Self.schema(parameter)
        // Formats are for people here.
        schema["format"] = nil
        for text in values.good {
            let faults = try Self.faults(schema, text)
            #expect(parameter.accepts(text) && faults.isEmpty, "\(text): \(faults)")
        }
        for text in values.bad {
            let faults = try Self.faults(schema, text)
            #expect(!parameter.accepts(text) && !faults.isEmpty, "\(text)")
        }
        for text in values.worse { #expect(!parameter.accepts(text), "\(text)") }
    }

    @Test func `numbers of a query are taken only as they are written`() throws {
        let parameter = APIParameter(name: "n", kind: .integer(1...200), help: "")
        for text in ["1", "42", "200"] { #expect(parameter.accepts(text), "\(text)") }
        for text in ["0", "201", "+1", "01", "1 ", "", "x", "１", "1.0", "0x1", "99999999999999999999"] {
            #expect(!parameter.accepts(text), "\(text)")
        }
        let schema = try Self.schema(parameter)
        #expect(schema["type"] as? String == "integer" && schema["minimum"] as? Int == 1)
        #expect(schema["maximum"] as? Int == 200 && schema["pattern"] == nil)
    }

    private static func schema(_ parameter: APIParameter) throws -> [String: Any] {
        let text = JSONText.of { parameter.schema(&$0) }
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private static func faults(_ schema: [String: Any], _ text: String) throws -> [String] {
        let data = try JSONSerialization.data(withJSONObject: text, options: .fragmentsAllowed)
        return try JSONSchema(root: schema).faults(in: data, fragments: true)
    }

    @Test func `numbers of a body are whole numbers, however they are written`() throws {
        let parameter = APIParameter(name: "n", kind: .integer(-100...100), help: "")
        let rows: [(String, String?)] = [
            ("1", "1"), ("-1", "-1"), ("7.0", "7"), ("1e1", "10"), ("1.5", nil), ("1e300", nil), ("\"1\"", nil),
            ("true", nil), ("null", nil), ("[1]", nil), ("-0", "0"), ("9223372036854775807", "9223372036854775807"),
        ]
        for (json, text) in rows {
            let body = "{\"n\":\(json)}"
            let value = try #require(try JSONText.member(body))
            #expect(parameter.text(value) == text, "\(json)")
        }
    }
}
