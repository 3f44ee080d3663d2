import Foundation
import LectureTestSupport

/// The modules of this test run, for the compiler's own programs.
enum BuiltModules {
    /// Where modules and the headers of C libraries are.
    static func searchPaths() throws -> [String] {
        let products = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path
        let root = Places.repository()
        // The module maps of the built modules: the generated ones, and those of the C libraries.
        return ["-I", "\(products)/Modules"]
            + ["CMemory", "CSystem"].flatMap { name in
                ["-Xcc", "-fmodule-map-file=\(products)/\(name).build/module.modulemap"]
            }
            + ["CSQLite", "CCurl", "COpenSSL", "CArchive", "CXML2", "CMpv", "CMicroHTTPDTypes"].flatMap { name in
                ["-Xcc", "-fmodule-map-file=\(root)/Sources/\(name)/module.modulemap"]
            }
    }

    /// The triple that the compiler builds for.
    static func target() async throws -> String {
        struct Information: Decodable {
            struct Target: Decodable { let triple: String }
            let target: Target
        }
        let ending = try await ChildProcess.run(Places.command("swiftc"), ["-print-target-info"])
        return try JSONDecoder().decode(Information.self, from: ending.output).target.triple
    }

    /// The compiler's diagnostics for a source.
    struct Verdict {
        let isAccepted: Bool
        let text: String
        var warns: Bool { text.contains("warning:") }
    }

    /// Has the compiler check a source against the built modules.
    ///
    /// - Parameters:
    ///   - source: an application's file.
    ///   - mode: 5 or 6.
    ///   - options: more arguments for the compiler.
    /// - Returns: its diagnostics.
    /// - Throws: ``ChildProcess/Failure`` when there is no compiler.
    static func check(_ source: String, mode: Int, _ options: [String] = []) async throws -> Verdict {
        let directory = try TemporaryDirectory()
        let file = try directory.write(source, to: "Application.swift")
        let ending = try await ChildProcess.run(
            Places.command("swiftc"),
            ["-typecheck", "-swift-version", "\(mode)", "-parse-as-library"] + (try searchPaths()) + options + [file])
        return Verdict(isAccepted: ending.status == 0, text: ending.errorText)
    }
}
