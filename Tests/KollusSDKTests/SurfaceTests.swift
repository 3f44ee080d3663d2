import Foundation
import KollusSDK
import LectureTestSupport
import Testing

/// The module's public interface, as the compiler sees it, checked against two lists: everything as it was recorded,
/// and the iOS SDK's interface, written by hand.
@Suite(.timeLimit(.minutes(3)))
struct SurfaceTests {
    private static let directory = Places.repository() + "/Tests/KollusSDKTests/Golden"

    @Test
    func `the public interface is the recorded one`() async throws {
        let surface = try await Surface.read()
        let text = surface.lines.joined(separator: "\n") + "\n"
        let file = URL(filePath: "\(Self.directory)/public-interface.txt")
        if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] == "1" { try Data(text.utf8).write(to: file) }
        let recorded = Set(
            String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n").map(String.init))
        let now = Set(surface.lines)
        #expect(recorded.subtracting(now).sorted() == [], "gone")
        #expect(now.subtracting(recorded).sorted() == [], "new: record it with RECORD_GOLDEN=1")
        #expect(recorded.count > 200)
    }

    @Test
    func `nothing of the iOS SDK is missing or of another type`() async throws {
        let surface = try await Surface.read()
        let known = Set(surface.sdkLines + Self.rawValues)
        let list = try String(contentsOfFile: "\(Self.directory)/sdk-surface.txt", encoding: .utf8)
            .split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
        #expect(list.count > 120)
        for line in list where !known.contains(line) {
            let name = line.prefix { !"(:=".contains($0) }
            Issue.record("missing: \(line); there is: \(known.filter { $0.hasPrefix(name) }.sorted())")
        }
        // The other direction: an enumeration has no case that the SDK does not have.
        #expect(Set(Self.rawValues).subtracting(list) == [])
    }

    /// Raw values are no part of a symbol graph.
    private static var rawValues: [String] {
        func values<Enumeration: CaseIterable & RawRepresentable<Int>>(_ type: Enumeration.Type) -> [String] {
            type.allCases.map { "\(type).\($0) = \($0.rawValue)" }
        }
        return values(KollusPlayerType.self) + values(KollusContentType.self) + values(KollusPlayerContentMode.self)
            + values(KollusPlayerRepeatMode.self) + values(KollusBookmarkKind.self)
    }
}

/// The output of `swift symbolgraph-extract` for the built module.
private struct Surface {
    private struct Graph: Decodable {
        struct Symbol: Decodable {
            struct Fragment: Decodable { let spelling: String }
            struct Identifier: Decodable { let precise: String }
            let identifier: Identifier
            let pathComponents: [String]
            let declarationFragments: [Fragment]
        }
        struct Relationship: Decodable {
            let kind: String
            let source: String
            let target: String
            let targetFallback: String?
        }
        let symbols: [Symbol]
        let relationships: [Relationship]
    }

    /// Every public declaration, `Owner | declaration`, sorted.
    let lines: [String]
    /// The same without what an application's source does not see, and `Class : Superclass`.
    let sdkLines: [String]

    static func read() async throws -> Surface {
        let output = try TemporaryDirectory()
        let ending = try await ChildProcess.run(
            Places.command("swift"),
            [
                "symbolgraph-extract", "-module-name", "KollusSDK", "-target", try await BuiltModules.target(),
                "-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir", output.path,
            ] + BuiltModules.searchPaths())
        try #require(ending.status == 0, "\(ending.errorText)")
        let names = try FileManager.default.contentsOfDirectory(atPath: output.path).filter { $0.contains("KollusSDK") }
        let graphs = try names.map { name in
            try JSONDecoder().decode(Graph.self, from: Data(contentsOf: URL(filePath: output.file(name))))
        }
        return Surface(graphs)
    }

    private init(_ graphs: [Graph]) {
        let symbols = graphs.flatMap(\.symbols)
        var names: [String: String] = [:]
        for symbol in symbols { names[symbol.identifier.precise] = symbol.pathComponents.joined(separator: ".") }
        // A protocol's extension has the same declarations as the protocol: a default is not counted again.
        let relationships = graphs.flatMap(\.relationships)
        let requirements = Set(relationships.filter { $0.kind.hasSuffix("equirementOf") }.map(\.source))
        let protocols = Set(relationships.filter { $0.kind.hasSuffix("equirementOf") }.map(\.target))
        let members = relationships.filter { protocols.contains($0.target) && !requirements.contains($0.source) }
        let defaults = Set(members.map(\.source))
        func line(_ symbol: Graph.Symbol, _ declaration: (String) -> String) -> String {
            let owner = symbol.pathComponents.dropLast().joined(separator: ".")
            let isDefault = defaults.contains(symbol.identifier.precise)
            let text =
                declaration(symbol.declarationFragments.map(\.spelling).joined()) + (isDefault ? " (default)" : "")
            return owner.isEmpty ? text : "\(owner) | \(text)"
        }
        let parents = relationships.filter { ["inheritsFrom", "conformsTo"].contains($0.kind) }
            .compactMap { relationship -> String? in
                guard let source = names[relationship.source] else { return nil }
                let target = names[relationship.target] ?? relationship.targetFallback ?? relationship.target
                return "\(source) : \(target.split(separator: ".").last ?? "")"
            }
        lines = Set(symbols.map { line($0) { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") } })
            .union(parents).sorted()
        sdkLines = symbols.map { line($0, Self.plain) } + parents
    }

    /// A declaration without modifiers, `any`, and the inner names of parameters.
    private static func plain(_ declaration: String) -> String {
        var text = declaration.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for word in [
            "@MainActor ", "@discardableResult ", "class func", "override ", "convenience ", "required ", "weak ",
            "any ",
        ] {
            text = text.replacingOccurrences(of: word, with: word == "class func" ? "func" : "")
        }
        let delegates = ["DRM", "LMS", "Bookmark", ""].map { "KollusPlayer\($0)Delegate" }
        for type in ["Error", "KollusStorageDelegate", "UtilDelegate"] + delegates {
            for mark in "?!" { text = text.replacingOccurrences(of: "(\(type))\(mark)", with: "\(type)\(mark)") }
        }
        // `let` is a property that cannot be set; a symbol graph has `{ get }` only for computed ones.
        if text.hasPrefix("let ") { text = "var " + text.dropFirst(4) + " { get }" }
        if text.hasPrefix("var "), !text.hasSuffix("}") { text += " { get set }" }
        text = text.replacing(/([(,] ?)(\w+) \w+:/) { "\($0.1)\($0.2):" }
        return text
    }
}
