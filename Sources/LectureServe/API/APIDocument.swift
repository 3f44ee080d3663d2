import LectureFormats
import LectureHTTP
import LectureModel

/// The document of the API (OpenAPI 3.1), written from its operations and from the schemas of `--json`.
enum APIDocument {
    /// The operation that answers with it.
    ///
    /// - Parameter answer: the document.
    /// - Returns: the operation, which is in the document, too.
    static func operation(_ answer: @escaping @Sendable () -> HTTPAnswer) -> APIOperation {
        APIOperation(
            method: "GET", path: "openapi.json", name: "showDocument", summary: "This document.", result: .document
        ) { _ in answer() }
    }

    /// Writes the document.
    ///
    /// - Parameters:
    ///   - operations: all others.
    ///   - version: of the program.
    /// - Returns: the answer.
    static func answer(_ operations: [APIOperation], version: String) -> HTTPAnswer {
        let all = [operation { HTTPAnswer(200) }] + operations
        return .json(200) { json in
            json.member("openapi", "3.1.0")
            json.object("info") { json in
                json.member("title", "lecturectl serve")
                json.member("version", version)
                json.member(
                    "description",
                    "The store of lectures. Objects are those that lecturectl prints with --json: members are added to "
                        + "them, none is changed. Every operation needs the role operator. A request that reads "
                        + "changes nothing; PUT and DELETE have the same effect however often they are sent; what a "
                        + "second POST does is said with the operation.")
            }
            json.object("paths") { json in
                var paths: [String] = []
                for operation in all where !paths.contains(operation.path) { paths.append(operation.path) }
                for path in paths {
                    json.object("/api/v1/\(path)") { json in
                        for operation in all where operation.path == path { write(operation, &json) }
                    }
                }
            }
            json.object("components") { json in
                json.object("securitySchemes", schemes)
                json.object("schemas", schemas)
            }
            json.array("security") { json in
                for name in ["bearer", "basic", "session"] {
                    json.object { json in json.array(name) { _ in } }
                }
            }
        }
    }

    private static func schemes(_ json: inout JSONWriter) {
        for (name, help) in [
            ("bearer", "A token of lecturectl access add."), ("basic", "The name of the access file and the token."),
        ] {
            json.object(name) { json in
                json.member("type", "http")
                json.member("scheme", name)
                json.member("description", help)
            }
        }
        json.object("session") { json in
            json.member("type", "apiKey")
            json.member("in", "cookie")
            json.member("name", SiteAccess.cookie)
            json.member(
                "description",
                "The session of a browser. What changes something needs the form's token in the field X-Form-Token.")
        }
    }

    // MARK: Schemas

    /// The schemas of `--json`, as Tools/make-api-schemas has collected them from docs/json.
    static let records: [JSONMember] = (try? JSONScanner.scan(PackageResources.schemas_json))?.members ?? []

    private static func schemas(_ json: inout JSONWriter) {
        for record in records { json.member(record.name, json: record.value) }
        json.object("Day") { json in
            members(["day", "count"], &json) { json in
                json.object("day") { json in
                    json.member("type", "string")
                    json.member("pattern", "^-?[0-9]{4,}-[0-9]{2}-[0-9]{2}$")
                    json.member("description", "A day in UTC.")
                }
                number("count", "How many licences end on it.", minimum: 0, &json)
            }
        }
        json.object("Problem") { json in
            members(["type", "title", "status", "detail", "event", "name", "message"], &json) { json in
                json.object("type") { json in json.member("const", "about:blank") }
                text("title", "The status in words.", &json)
                number("status", "The status.", minimum: 400, &json)
                text("detail", "What happened, about what.", &json)
                json.object("event") { json in json.member("const", "error") }
                json.object("code") { json in
                    json.member("type", "integer")
                    json.member("maximum", -1)
                    json.member(
                        "description",
                        "The frozen number of the error; absent for what the server refuses before it asks the store.")
                }
                json.object("name") { json in
                    json.member("type", "string")
                    json.member("pattern", "^[a-z0-9_]+$")
                    json.member("description", "The frozen name of the error.")
                }
                text("message", "What happened and what to do, for people.", &json)
                text("remedy", "What to do; absent where there is nothing to do.", &json)
            }
        }
    }

    private static func members(
        _ required: [String], _ json: inout JSONWriter, _ write: (inout JSONWriter) -> Void
    ) {
        json.member("type", "object")
        json.array("required") { json in for name in required { json.element(name) } }
        json.object("properties", write)
    }

    private static func text(_ name: String, _ help: String, _ json: inout JSONWriter) {
        json.object(name) { json in
            json.member("type", "string")
            json.member("minLength", 1)
            json.member("description", help)
        }
    }

    private static func number(_ name: String, _ help: String, minimum: Int, _ json: inout JSONWriter) {
        json.object(name) { json in
            json.member("type", "integer")
            json.member("minimum", minimum)
            json.member("description", help)
        }
    }

    // MARK: Operations

    /// What every operation may answer with, and what that means.
    private static let meanings = [
        400: "A parameter, the body or the path cannot be used; the name says which.",
        401: "There is no token, or a wrong one.", 403: "The role does not permit it, or the form's token is missing.",
        404: "There is no such lecture, or no such licence.",
        405: "The path has no such method; Allow has those that it has.",
        409: "Its state does not permit it: the name says which.",
        413: "The body is too long: 64 KiB, and 1 MiB where none is taken.", 415: "The body is no application/json.",
        421: "Host does not name this server.", 429: "The address has sent many wrong tokens; Retry-After says when.",
        500: "The store or the program has failed.",
        503: "The store is busy, full, read-only or being closed; Retry-After says when to try again.",
    ]

    private static let usual = [400, 401, 403, 405, 413, 421, 429, 500, 503]

    private static func write(_ operation: APIOperation, _ json: inout JSONWriter) {
        json.object(operation.method.lowercased()) { json in
            json.member("operationId", operation.name)
            json.member("summary", operation.summary)
            json.member("description", operation.details.isEmpty ? nil : operation.details)
            json.array("parameters") { json in
                for parameter in operation.place { write(parameter, in: "path", &json) }
                for parameter in operation.query { write(parameter, in: "query", &json) }
                if case .events = operation.result { eventID(&json) }
            }
            if !operation.body.isEmpty { body(operation.body, &json) }
            json.object("responses") { json in
                json.object("\(operation.success)") { json in
                    json.member("description", "Done.")
                    success(operation.result, &json)
                }
                for status in Set(operation.errors + usual).sorted() {
                    json.object("\(status)") { json in
                        json.member("description", meanings[status] ?? "An error.")
                        content(APIProblem.type, &json) { json in reference("Problem", &json) }
                    }
                }
            }
        }
    }

    private static func success(_ result: APIResult, _ json: inout JSONWriter) {
        switch result {
        case .record(let name):
            content("application/json", &json) { json in reference(name, &json) }
        case .list(let name, let record, let places):
            content("application/json", &json) { json in
                members([name], &json) { json in
                    json.object(name) { json in
                        json.member("type", "array")
                        json.object("items") { json in reference(record, &json) }
                    }
                    for place in places { described(place, &json) }
                }
            }
        case .events:
            content("text/event-stream", &json, event)
        case .document:
            content("application/json", &json) { json in json.member("type", "object") }
        }
    }

    /// One event of the stream: before OpenAPI 3.2 that is what the schema of a stream describes.
    private static func event(_ json: inout JSONWriter) {
        json.member("type", "object")
        json.object("properties") { json in
            for name in ["event", "id"] { json.object(name) { json in json.member("type", "string") } }
            json.object("data") { json in
                json.member("type", "string")
                json.member("contentMediaType", "application/json")
                json.object("contentSchema") { json in
                    json.array("anyOf") { json in
                        for record in records where record.name.hasPrefix("event-") || record.name == "record-status" {
                            json.object { json in reference(record.name, &json) }
                        }
                    }
                }
            }
        }
    }

    private static func reference(_ name: String, _ json: inout JSONWriter) {
        json.member("$ref", "#/components/schemas/\(name)")
    }

    private static func content(
        _ type: String, _ json: inout JSONWriter, _ schema: (inout JSONWriter) -> Void
    ) {
        json.object("content") { json in
            json.object(type) { json in json.object("schema", schema) }
        }
    }

    private static func body(_ members: [APIParameter], _ json: inout JSONWriter) {
        json.object("requestBody") { json in
            json.member("required", true)
            content("application/json", &json) { json in
                json.member("type", "object")
                json.member("additionalProperties", false)
                json.array("required") { json in
                    for member in members where member.isRequired { json.element(member.name) }
                }
                json.object("properties") { json in for member in members { described(member, &json) } }
            }
        }
    }

    /// A member of an object.
    private static func described(_ parameter: APIParameter, _ json: inout JSONWriter) {
        json.object(parameter.name) { json in
            parameter.schema(&json)
            json.member("description", parameter.help)
        }
    }

    private static func write(_ parameter: APIParameter, in place: String, _ json: inout JSONWriter) {
        json.object { json in
            json.member("name", parameter.name)
            json.member("in", place)
            json.member("required", parameter.isRequired)
            json.member("description", parameter.help)
            json.object("schema") { json in parameter.schema(&json) }
        }
    }

    private static func eventID(_ json: inout JSONWriter) {
        json.object { json in
            json.member("name", "Last-Event-ID")
            json.member("in", "header")
            json.member("required", false)
            json.member("description", "The id of the last event that the client has.")
            json.object("schema") { json in json.member("type", "string") }
        }
    }
}
