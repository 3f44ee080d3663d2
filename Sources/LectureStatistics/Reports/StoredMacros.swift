import LectureFormats
import LectureModel

/// The macros of a stored report, from its values: the document of `{JSON_DATA}` as the player made it, or an object
/// with macros as members.
///
/// | macro | first found of |
/// | --- | --- |
/// | any | a member with the macro's own name |
/// | those of the table of ``MacroFiller`` | the matching field of the document; else empty, and 0 for blocks |
/// | `{CLIENT_USER_ID}` `{MEDIA_CONTENT_KEY}` | the document's; the report's own learner and lecture |
/// | `{JSON_DATA}` | the document; made from the macros if only those are stored; else the values as they are |
/// | any other | the value of the user with that name; nil, so that it stays as it is |
///
/// The document is the values themselves or their member `JSON_DATA`. Texts are used as they are, all other values as
/// JSON.
struct StoredMacros: MacroValues {
    private let record: ReportRecord
    private let values: JSONValue
    private let content: JSONValue?
    private let document: JSONValue
    private let whole: String?

    init(_ record: ReportRecord, document whole: String?) {
        (self.record, values, self.whole) = (record, record.values, whole)
        let inner = Self.inner(record.values["JSON_DATA"])
        document = inner ?? record.values
        content = document["content_info"]
    }

    /// The member `JSON_DATA` may be an object, or text with one.
    private static func inner(_ value: JSONValue?) -> JSONValue? {
        guard let text = value?.string else { return value?.members == nil ? nil : value }
        do throws(LectureError) {
            let parsed = try JSONScanner.value(of: text)
            return parsed.members == nil ? nil : parsed
        } catch {
            return nil
        }
    }

    func value(of name: String) -> String? {
        if name == "JSON_DATA" { return whole ?? json }
        if let own = values[name] { return Self.text(own) }
        switch name {
        case "CLIENT_USER_ID": return field("user_info", "client_user_id") ?? record.user
        case "DEVICE": return field("user_info", "device") ?? ""
        case "MEDIA_CONTENT_KEY": return field("content_info", "media_content_key") ?? record.content
        case "BLOCK_CNT": return field("block_info", "block_count") ?? "0"
        case "PLAY_BLOCK_JSON": return document["block_info"].map(Self.text) ?? "{}"
        case "USERVALUES": return document["uservalues"].map(Self.text) ?? "{}"
        case "PLAY_STATUS": return ""
        case "TIMEMAP_DATA": return "[]"
        default: break
        }
        if let key = Self.contentFields[name] { return field("content_info", key) ?? "" }
        return block(name) ?? userValue(name)
    }

    private static let contentFields = [
        "START_AT": "start_at", "DURATION": "duration", "PLAY_TIME": "playtime", "REAL_PLAYTIME": "real_playtime",
        "PLAYTIME_PERCENT": "playtime_percent", "RUN_TIME": "runtime", "ENCODING_PROFILE_KEY": "encoding_profile",
    ]

    private func field(_ object: String, _ name: String) -> String? { document[object]?[name].map(Self.text) }

    private func block(_ name: String) -> String? {
        for (prefix, letter) in [("BLOCK_PLAY_", "b"), ("BLOCK_TIME_", "t")] where name.hasPrefix(prefix) {
            guard let number = MacroName.number(name.dropFirst(prefix.count), in: 1...BlockGrid.mostBlocks) else {
                return nil
            }
            return document["block_info"]?["blocks"]?["\(letter)\(number - 1)"].map(Self.text) ?? "0"
        }
        return nil
    }

    private func userValue(_ name: String) -> String? {
        let members = (document["uservalues"] ?? Self.inner(values["USERVALUES"]))?.members ?? []
        return MacroName.userValue(name, names: members.map(\.name)) { name in
            members.first { $0.name.utf8.elementsEqual(name.utf8) }.map { Self.text($0.value) }
        }
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .null: ""
        default: value.text
        }
    }

    // MARK: The document

    private var json: String {
        if let stored = values["JSON_DATA"] { return Self.text(stored) }
        let isDocument = content != nil || document["user_info"] != nil
        let namesMacros = Self.contentFields.keys.contains { values[$0] != nil } || values["CLIENT_USER_ID"] != nil
        return isDocument || !namesMacros ? values.text : made
    }

    /// The document as far as macros provide it, in the form that the player writes.
    private var made: String {
        JSONWriter.object { writer in
            writer.object("user_info") { writer in
                writer.member("client_user_id", value(of: "CLIENT_USER_ID"))
                writer.member("device", value(of: "DEVICE"))
            }
            writer.object("content_info") { writer in
                number("duration", "DURATION", &writer)
                writer.member("encoding_profile", value(of: "ENCODING_PROFILE_KEY"))
                writer.member("media_content_key", value(of: "MEDIA_CONTENT_KEY"))
                number("playtime", "PLAY_TIME", &writer)
                number("real_playtime", "REAL_PLAYTIME", &writer)
                number("playtime_percent", "PLAYTIME_PERCENT", &writer)
                number("start_at", "START_AT", &writer)
                number("runtime", "RUN_TIME", &writer)
            }
            writer.member("block_info", json: blockInfo)
            writer.member("uservalues", json: Self.inner(values["USERVALUES"]) ?? .object([]))
        }
    }

    /// Writes a number as a number, even if it was stored as text.
    private func number(_ name: String, _ macro: String, _ writer: inout JSONWriter) {
        guard let stored = values[macro] else { return }
        writer.member(name, json: stored.string.flatMap { Int64($0) }.map { .integer($0) } ?? stored)
    }

    private var blockInfo: JSONValue {
        if let stored = Self.inner(values["PLAY_BLOCK_JSON"]) { return stored }
        var blocks: [JSONMember] = []
        for (letter, prefix) in [("b", "BLOCK_PLAY_"), ("t", "BLOCK_TIME_")] {
            for number in 1...BlockGrid.mostBlocks {
                guard let stored = values["\(prefix)\(number)"] else { break }
                let value = stored.string.flatMap { Int64($0) }.map { JSONValue.integer($0) } ?? stored
                blocks.append(JSONMember("\(letter)\(number - 1)", value))
            }
        }
        let count = values["BLOCK_CNT"].flatMap { $0.integer ?? $0.string.flatMap { Int64($0) } }
        let known = Int64(blocks.count { $0.name.utf8.first == UInt8(ascii: "b") })
        return .object([
            JSONMember("block_count", .integer(count ?? known)), JSONMember("blocks", .object(blocks)),
            JSONMember("sessions", .array([])),
        ])
    }
}
