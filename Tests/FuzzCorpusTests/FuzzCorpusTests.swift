import Foundation
import LectureFuzzing
import LectureTestSupport
import Testing

/// The fuzz targets without libFuzzer: every known input, and seeded mutations of them. See docs/fuzzing.md.
struct FuzzCorpusTests {
    private static let names = FuzzTarget.all.map(\.name)
    private static let place = "\(Places.repository())/Tests/Fuzzing"

    private static func corpus(_ name: String) throws -> [(file: String, bytes: [UInt8])] {
        let directory = "\(place)/corpus/\(name)"
        return try FileManager.default.contentsOfDirectory(atPath: directory).sorted().map { file in
            (file, [UInt8](try Data(contentsOf: URL(filePath: "\(directory)/\(file)"))))
        }
    }

    @Test func `Every target has inputs and a dictionary, and every directory a target`() throws {
        let directories = try FileManager.default.contentsOfDirectory(atPath: "\(Self.place)/corpus").sorted()
        #expect(directories == Self.names)
        let dictionaries = try FileManager.default.contentsOfDirectory(atPath: "\(Self.place)/dictionaries").sorted()
        #expect(dictionaries == Self.names.map { "\($0).dict" }.sorted())
        for name in Self.names { #expect(try !Self.corpus(name).isEmpty, "\(name)") }
    }

    @Test(arguments: names)
    func `The properties hold for every known input`(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        for (file, bytes) in try Self.corpus(name) {
            #expect(throws: Never.self, "\(name)/\(file)") { try target.run(bytes) }
        }
    }

    @Test(arguments: names)
    func `The properties hold for seeded mutations of the known inputs`(name: String) async throws {
        let target = try #require(FuzzTarget.named(name))
        let dictionary = try String(contentsOfFile: "\(Self.place)/dictionaries/\(name).dict", encoding: .utf8)
        let mutator = FuzzMutator(
            corpus: try Self.corpus(name).map(\.bytes), dictionary: dictionary, longest: target.longest)
        var generator = SeededGenerator(seed: 20_261_120)
        for number in 0..<5_000 / target.cost {
            let input = mutator.next(&generator)
            do {
                try target.run(input)
            } catch {
                Issue.record("\(name), input \(number), \(Data(input).base64EncodedString()): \(error)")
                return
            }
            // Lets other tests run on this thread.
            if number.isMultiple(of: 100) { await Task.yield() }
        }
    }
}
