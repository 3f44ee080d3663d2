import Foundation
import LectureCommand
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `docs/configuration.md` names every setting that the reader knows, and no other.
@Suite struct ConfigurationPageTests {
    private let page: String
    private let scratch: ScratchDirectory

    init() throws {
        page = try String(contentsOfFile: "\(Places.repository())/docs/configuration.md", encoding: .utf8)
        scratch = try ScratchDirectory()
    }

    /// The first columns of all tables.
    private var documented: [String] {
        page.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| `"), let end = line.dropFirst(3).firstIndex(of: "`") else { return nil }
            return String(line.dropFirst(3)[..<end])
        }
    }

    @Test func `the page has a row for every setting, and every row is a setting`() {
        let sections = Set(ConfigurationKeys.sections.map(\.name).filter { !$0.contains(".") && !$0.isEmpty })
        // One section is an array, and so a setting as well.
        let keys = ConfigurationKeys.all.filter { !sections.contains($0) || $0 == "webhooks" }
        #expect(Set(documented) == Set(keys))
        #expect(documented.count == keys.count, "no row is there twice")
        for section in sections { #expect(page.contains("\n## `\(section)`\n")) }
    }

    /// An array is only valid for the array settings, so a setting that is read is refused, and one that is only
    /// in the list would be ignored.
    @Test(arguments: ConfigurationKeys.all)
    func `every setting in the list is read`(key: String) throws {
        let parts = key.split(separator: ".").map(String.init)
        let wrong = ["drm.keys", "lms.targets"].contains(key) ? "1" : "[1]"
        var text = "{\"\(parts[parts.count - 1])\":\(wrong)}"
        if parts.count == 3 { text = "{\"\(parts[1])\":[\(text)]}" }
        if parts.count == 2, parts[0] == "webhooks" { text = "[\(text)]" }
        if parts.count > 1 { text = "{\"\(parts[0])\":\(text)}" }
        let path = try scratch.write("config.json", text)
        #expect(throws: LectureError(.configuration), "\(text)") {
            let command = try ArgumentParser.parse(["status", "--config", path], environment: [:])
            _ = try Configuration.load(command, environment: ["HOME": "/h"])
        }
    }

    /// The example in a setting's row, as JSON.
    private func example(_ key: String) throws -> String {
        let row = try #require(page.split(separator: "\n").first { $0.hasPrefix("| `\(key)` | ") })
        let cell = row.components(separatedBy: " | ")[3]
        #expect(cell.hasPrefix("`") && cell.hasSuffix("`"), "\(cell)")
        return String(cell.dropFirst().dropLast())
    }

    /// What must be there with a setting.
    private static let companions = [
        "lms.format": #""url":"https://h""#, "lms.method": #""url":"https://h","format":"kollus""#,
        "lms.parameters": #""url":"https://h","format":"kollus""#,
    ]

    @Test(arguments: ConfigurationKeys.all.filter { $0.contains(".") })
    func `every setting's example can be used`(key: String) throws {
        let secrets = [
            "academy.key", "servers.json", "netrc", "client.key", "own.key", "lms-token", "webhook.secret", "hq.token",
        ]
        for name in secrets {
            _ = try scratch.write(name, "x")
        }
        let parts = key.split(separator: ".").map(String.init)
        let name = parts[parts.count - 1]
        var members = [Self.companions[key]].compactMap(\.self)
        if parts.count == 3 {
            if parts[0] == "drm", !name.hasSuffix("_file") { members.append(#""secret_file":"academy.key""#) }
            if parts[0] == "lms", name != "url" { members.append(#""url":"https://h""#) }
        }
        if parts[0] == "webhooks" {
            if name != "url" { members.append(#""url":"https://h""#) }
            if name != "secret_file" { members.append(#""secret_file":"webhook.secret""#) }
        }
        members.append("\"\(name)\":\(try example(key))")
        var text = "{\(members.joined(separator: ","))}"
        if parts.count == 3 { text = "{\"\(parts[1])\":[\(text)]}" }
        if parts[0] == "webhooks" { text = "[\(text)]" }
        let path = try scratch.write("config.json", "{\"\(parts[0])\":\(text)}")
        let (empty, environment) = (try scratch.write("empty.json", "{}"), ["HOME": "/h"])
        func settings(_ file: String) throws -> ConfigurationFile {
            let settings = try ConfigurationFile.read(file)
            #expect(settings.warnings.isEmpty, "\(text): \(settings.warnings)")
            let command = try ArgumentParser.parse(["status", "--config", file], environment: environment)
            _ = try Configuration.load(command, environment: environment)
            return settings
        }
        #expect("\(try settings(path))" != "\(try settings(empty))", "\(text) changes nothing")
    }

    @Test func `the manual page has every setting with its type, its default and its example`() throws {
        let tool = URL(filePath: "\(Places.repository())/Tools/make-configuration-page")
        let manual = try BuiltProgram.run(tool, [])
        #expect(manual.status == 0, "\(manual.diagnosticsText)")
        let items = manual.outputText.components(separatedBy: "\n.It ")
        for key in ConfigurationKeys.all where key.contains(".") {
            let item = try #require(items.first { $0.hasPrefix("\\fB\(key)\\fP\n") }, "\(key)")
            for word in ["\nType: ", "\nDefault: ", "\nExample: "] {
                #expect(item.contains(word), "\(key)\(word)")
            }
        }
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/mandoc") else { return }
        let file = try scratch.write("lecturectl.conf.5", manual.outputText)
        let lint = try BuiltProgram.run(URL(filePath: "/usr/bin/mandoc"), ["-T", "lint", "-W", "style", file])
        let lines = lint.outputText.split(separator: "\n").filter { !$0.contains("referenced manual not found") }
        #expect(lines.isEmpty, "\(lines.joined(separator: "\n"))")
    }

    @Test func `the options and variables that the page names exist`() throws {
        let options = CommandTable.leaves.flatMap(\.spec.options) + CommandTable.globalOptions
        let known = Set(options.map { "--\($0.long)" })
        let variables = Set(options.compactMap(\.environment))
        let elsewhere: Set = ["LECTURE_DEVICE", "LECTURE_GROUP", "LECTURE_LMS_URL", "LECTURE_LMS_FORMAT"]
        for word in page.split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }) {
            if word.hasPrefix("--"), word.contains(where: \.isLetter) {
                #expect(known.contains(String(word)), "\(word)")
            }
            if word.hasPrefix("LECTURE_") {
                #expect(variables.union(elsewhere).contains(String(word)), "\(word)")
            }
        }
    }
}
