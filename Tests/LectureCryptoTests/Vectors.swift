import Foundation
import LectureFormats
import LectureModel
import LectureTestSupport

/// Published test vectors, read from outside the repository: they belong to other projects and are not copied in.
enum Vectors {
    /// The directory with `wycheproof` and `rfc7520` in it: the path in `LECTUREKIT_VECTORS`, or `../shared/vectors`
    /// beside the checkout; nil when there is none, as in a user's clone.
    static let directory: String? = {
        let named = ProcessInfo.processInfo.environment["LECTUREKIT_VECTORS"]
        let candidates = [named, Places.repository() + "/../shared/vectors"].compactMap(\.self)
        return candidates.first { FileManager.default.fileExists(atPath: "\($0)/wycheproof") }
    }()

    /// For `.enabled(if:)`.
    static var areThere: Bool { directory != nil }

    /// Reads a file.
    static func read(_ path: String) throws -> JSONValue {
        let data = try Data(contentsOf: URL(filePath: "\(directory ?? "")/\(path)"))
        return try JSONScanner.value(of: Array(data), limits: JSONScanner.Limits(depth: 32, items: 10_000_000))
    }

    /// The names of the files in a folder.
    static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(directory ?? "")/\(folder)").sorted()
    }
}

/// One test of a file of Project Wycheproof, with its group.
struct WycheproofCase {
    let group: JSONValue
    let test: JSONValue

    /// Its number in the file.
    var number: Int64 { test["tcId"]?.integer ?? -1 }
    /// What is due: `valid`, `invalid` or `acceptable`.
    var result: String { test["result"]?.string ?? "" }
    /// What it is about.
    var comment: String { test["comment"]?.string ?? "" }

    /// Bytes that are written in hexadecimal digits.
    func bytes(_ name: String) -> [UInt8] { test[name]?.string.flatMap { Hexadecimal.bytes($0) } ?? [] }

    /// A member's text.
    func text(_ name: String) -> String { test[name]?.string ?? "" }
}

/// The result of a suite.
struct Tally: Equatable, CustomStringConvertible {
    /// Tests with the expected result.
    var passed = 0
    /// Tests of features that are omitted on purpose.
    var inapplicable = 0
    /// Tests with another result: their numbers.
    var differing: Set<Int64> = []

    var description: String { "passed \(passed), inapplicable \(inapplicable), differing \(differing.sorted())" }

    /// Runs all tests of a suite.
    ///
    /// - Parameters:
    ///   - suite: the name of the file.
    ///   - accepts: whether the code accepts the test's input, nil when the test does not apply. Tests that may go
    ///     either way have passed.
    /// - Returns: the counts.
    /// - Throws: what reading the file or the closure throws.
    static func of(_ suite: String, _ accepts: (WycheproofCase) throws -> Bool?) throws -> Tally {
        let file = try Vectors.read("wycheproof/\(suite).json")
        var tally = Tally()
        for group in file["testGroups"]?.elements ?? [] {
            for test in group["tests"]?.elements ?? [] {
                let vector = WycheproofCase(group: group, test: test)
                guard let accepted = try accepts(vector) else {
                    tally.inapplicable += 1
                    continue
                }
                if vector.result == "acceptable" || accepted == (vector.result == "valid") {
                    tally.passed += 1
                } else {
                    tally.differing.insert(vector.number)
                }
            }
        }
        let total = Int(file["numberOfTests"]?.integer ?? -1)
        let seen = tally.passed + tally.inapplicable + tally.differing.count
        if ProcessInfo.processInfo.environment["LECTUREKIT_TALLIES"] != nil { print("\(suite): \(tally)") }
        return seen == total ? tally : Tally(differing: [Int64(seen - total)])
    }
}
