import Foundation

extension Scenario {
    /// The scenario as JSON, which ``init(contentsOf:)`` reads.
    ///
    /// - Throws: an error of the encoder.
    package var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    /// Reads a scenario.
    ///
    /// - Parameter path: a file with JSON.
    /// - Throws: an error of the file or of the decoder.
    package init(contentsOf path: String) throws {
        self = try JSONDecoder().decode(Scenario.self, from: try Data(contentsOf: URL(filePath: path)))
    }
}
