package import Foundation
import LectureTestSupport

/// The part of JSON Schema (2020-12) that docs/json uses. An unknown keyword is a fault, so that no rule of a schema
/// is silently ignored. Members that a schema does not name are a fault as well: the schemas are complete.
package struct JSONSchema {
    /// Where the schemas are.
    package static let directory = URL(filePath: Places.repository()).appending(path: "docs/json")
    private let root: [String: Any]

    /// Reads the schema of this name.
    package init(named name: String) throws {
        let data = try Data(contentsOf: Self.directory.appending(path: "\(name).schema.json"))
        root = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }

    /// A schema that was read before, without references.
    package init(root: [String: Any]) { self.root = root }

    /// The values that a property may have; `nil` where the schema does not restrict it.
    package func enumeration(_ property: String) -> [String]? {
        let properties = root["properties"] as? [String: Any]
        return (properties?[property] as? [String: Any])?["enum"] as? [String]
    }

    /// The schema of a line, by its `event` or `record`.
    package init(describing line: String) throws {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        let event = (object?["event"] as? String).map { "event-\($0)" }
        let record = (object?["record"] as? String).map { "record-\($0)" }
        try self.init(named: event ?? record ?? "none")
    }

    /// The rules that a document breaks, each as its place and the keyword; with fragments also of a text or a number.
    package func faults(in data: Data, fragments: Bool = false) throws -> [String] {
        var faults: [String] = []
        check(
            try JSONSerialization.jsonObject(with: data, options: fragments ? .fragmentsAllowed : []), root, "", &faults
        )
        return faults
    }

    private func check(_ value: Any, _ schema: [String: Any], _ path: String, _ faults: inout [String]) {
        for (keyword, rule) in schema where !holds(keyword, rule, value, schema, path, &faults) {
            faults.append("\(path) \(keyword)")
        }
    }

    private func holds(
        _ keyword: String, _ rule: Any, _ value: Any, _ schema: [String: Any], _ path: String, _ faults: inout [String]
    ) -> Bool {
        let text = value as? String
        let number = (value as? NSNumber)?.doubleValue
        switch keyword {
        case "$schema", "title", "description": return true
        case "type": return hasType(value, rule as? String ?? "")
        case "const": return text == rule as? String
        case "enum": return (rule as? [String])?.contains(text ?? "\u{0}") ?? false
        case "minimum": return number.map { $0 >= (rule as? NSNumber)?.doubleValue ?? .infinity } ?? false
        case "maximum": return number.map { $0 <= (rule as? NSNumber)?.doubleValue ?? -.infinity } ?? false
        case "minLength": return (text?.unicodeScalars.count ?? -1) >= rule as? Int ?? .max
        case "maxLength": return text.map { $0.unicodeScalars.count <= rule as? Int ?? -1 } ?? false
        case "pattern": return text?.range(of: rule as? String ?? "$^", options: .regularExpression) != nil
        case "required":
            return (rule as? [String] ?? []).allSatisfy { (value as? [String: Any])?[$0] != nil }
        case "items":
            for (index, element) in (value as? [Any] ?? []).enumerated() {
                check(element, rule as? [String: Any] ?? [:], "\(path)/\(index)", &faults)
            }
            return true
        case "properties":
            let properties = rule as? [String: [String: Any]] ?? [:]
            for (name, member) in value as? [String: Any] ?? [:] {
                guard let schema = properties[name] else {
                    faults.append("\(path)/\(name) unknown")
                    continue
                }
                check(member, schema, "\(path)/\(name)", &faults)
            }
            return true
        default: return false
        }
    }

    private func hasType(_ value: Any, _ type: String) -> Bool {
        switch type {
        case "object": value is [String: Any]
        case "array": value is [Any]
        case "string": value is String
        case "boolean": value is Bool
        case "number": value is NSNumber
        case "integer": (value as? NSNumber).map { $0.doubleValue.rounded() == $0.doubleValue } ?? false
        default: false
        }
    }
}
