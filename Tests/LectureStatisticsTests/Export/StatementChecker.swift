import LectureFormats
import LectureModel
import LectureStatistics

/// The rules of a statement: those of xAPI 1.0.3 and the templates of the video profile, and no others.
struct StatementChecker {
    private static let extensions = "https://w3id.org/xapi/video/extensions/"

    /// The names of the extensions that the profile's templates require in the result of each verb.
    private static let resultExtensions: [VideoVerb: [String]] = [
        .initialized: [],
        .played: ["time"],
        .paused: ["time", "progress", "played-segments"],
        .seeked: ["time-from", "time-to"],
        .completed: ["time", "progress", "played-segments"],
        .terminated: ["time", "progress", "played-segments"],
    ]

    private let statement: JSONValue
    private var faults: [String] = []

    private init(_ statement: JSONValue) { self.statement = statement }

    /// The names of the rules that a statement breaks.
    static func faults(of statement: JSONValue) throws -> [String] {
        let verb = VideoVerb.allCases.first { $0.iri == statement["verb"]?["id"]?.string }
        guard let verb else { return ["verb"] }
        var checker = Self(statement)
        try checker.checkStatement(verb)
        try checker.checkParties()
        try checker.checkContext()
        try checker.checkResult(verb)
        return checker.faults
    }

    private mutating func rule(_ name: String, _ holds: Bool) { if !holds { faults.append(name) } }

    private func names(_ value: JSONValue?) -> [String] { value?.members?.map(\.name) ?? [] }

    private func fits(_ value: JSONValue?, _ pattern: String) throws -> Bool {
        try value?.string?.wholeMatch(of: Regex(pattern)) != nil
    }

    private func isUUID(_ value: JSONValue?, version: Int) throws -> Bool {
        try fits(value, "[0-9a-f]{8}-[0-9a-f]{4}-\(version)[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    }

    private mutating func checkStatement(_ verb: VideoVerb) throws {
        let result = verb == .initialized ? [] : ["result"]
        let members = ["id", "actor", "verb", "object"] + result + ["context", "timestamp", "version"]
        rule("members", names(statement) == members)
        rule("id", try fits(statement["id"], "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"))
        let date = #"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"#
        let clock = #"([01]\d|2[0-3])(:[0-5]\d){2}\.\d{3}"#
        rule("timestamp", try fits(statement["timestamp"], "\(date)T\(clock)Z"))
        rule("version", statement["version"] == .string("1.0.0"))
        rule("verb", names(statement["verb"]) == ["id", "display"])
        rule("display", statement["verb"]?["display"] == .object([JSONMember("en", .string(verb.rawValue))]))
    }

    private mutating func checkParties() throws {
        let iri = "https?://[!-~]+"
        let actor = statement["actor"]
        rule("actor", names(actor) == ["objectType", "account"] && actor?["objectType"] == .string("Agent"))
        rule("account", names(actor?["account"]) == ["homePage", "name"])
        rule("homePage", try fits(actor?["account"]?["homePage"], iri))
        rule("name", actor?["account"]?["name"]?.string?.isEmpty == false)
        let object = statement["object"]
        rule("object", names(object) == ["objectType", "id", "definition"])
        rule("object type", object?["objectType"] == .string("Activity"))
        rule("activity", try fits(object?["id"], iri))
        let type = JSONValue.string("https://w3id.org/xapi/video/activity-type/video")
        rule("definition", object?["definition"] == .object([JSONMember("type", type)]))
    }

    private mutating func checkContext() throws {
        let context = statement["context"]
        rule("context", names(context) == ["registration", "contextActivities", "extensions"])
        rule("registration", try isUUID(context?["registration"], version: 5))
        let category = JSONValue.array([.object([JSONMember("id", .string("https://w3id.org/xapi/video"))])])
        rule("category", context?["contextActivities"] == .object([JSONMember("category", category)]))
        let found = context?["extensions"]
        rule("context extensions", names(found) == ["session-id", "length"].map { Self.extensions + $0 })
        rule("session-id", try isUUID(found?[Self.extensions + "session-id"], version: 4))
        rule("length", found?[Self.extensions + "length"]?.double.map { $0 >= 0 } == true)
    }

    private mutating func checkResult(_ verb: VideoVerb) throws {
        let wanted = Self.resultExtensions[verb] ?? []
        let result = statement["result"]
        let isCompleted = verb == .completed
        let members = (isCompleted ? ["completion", "duration"] : []) + ["extensions"]
        rule("result", names(result) == (verb == .initialized ? [] : members))
        rule("completion", (result?["completion"] == .bool(true)) == isCompleted)
        rule("duration", try fits(result?["duration"], #"PT\d+(\.\d+)?S"#) == isCompleted)
        let found = result?["extensions"]
        rule("result extensions", names(found) == wanted.map { Self.extensions + $0 })
        for name in wanted where name != "played-segments" {
            let number = found?[Self.extensions + name]?.double ?? -1
            rule(name, number >= 0 && (name != "progress" || number <= 1))
        }
        if wanted.contains("played-segments") {
            let segment = #"\d+(\.\d+)?\[\.\]\d+(\.\d+)?"#
            let segments = #"(\#(segment)(\[,\]\#(segment))*)?"#
            rule("played-segments", try fits(found?[Self.extensions + "played-segments"], segments))
        }
    }
}
