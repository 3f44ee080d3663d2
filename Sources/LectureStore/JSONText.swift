import FoundationEssentials
import LectureFormats
import LectureModel

/// Small values stored as JSON text: a lecture's request headers and mirrors.
enum JSONText {
    /// Writes names and values, sorted, so that equal headers are equal texts.
    static func encode(_ headers: [String: String]) throws -> String {
        headers.isEmpty ? "{}" : try text(of: headers)
    }

    /// Writes a list.
    static func encode(_ list: [String]) throws -> String { list.isEmpty ? "[]" : try text(of: list) }

    /// Reads names and values.
    static func headers(_ text: String) throws -> [String: String] { text == "{}" ? [:] : try value(of: text) }

    /// Reads a list.
    static func list(_ text: String) throws -> [String] { text == "[]" ? [] : try value(of: text) }

    private static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            throw LectureError(.json)
        }
    }

    private static func value<Value: Decodable>(of text: String) throws -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
        } catch {
            throw LectureError(.storeDamaged, cause: "a stored JSON text cannot be read")
        }
    }
}
