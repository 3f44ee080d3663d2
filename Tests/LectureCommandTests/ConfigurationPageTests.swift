import Foundation
import LectureCommand
import LectureKit
import LectureModel
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
        let keys = ConfigurationKeys.all.filter { !sections.contains($0) }
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
        if parts.count > 1 { text = "{\"\(parts[0])\":\(text)}" }
        let path = try scratch.write("config.json", text)
        #expect(throws: LectureError(.configuration), "\(text)") {
            let command = try ArgumentParser.parse(["status", "--config", path], environment: [:])
            _ = try Configuration.load(command, environment: ["HOME": "/h"])
        }
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
