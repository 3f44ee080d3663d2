package import LectureFormats

/// A row of the outbox as exported and imported: what was reported, when, to whom, and with what result.
package struct ReportRecord: Hashable, Sendable {
    /// Where a report goes.
    package struct Target: Hashable, Sendable {
        /// One parameter of a channel.
        package struct Parameter: Hashable, Sendable {
            /// The name on the wire.
            package var name: String
            /// The text with its macros, not yet filled in.
            package var template: String

            /// Creates a parameter.
            package init(name: String, template: String) {
                self.name = name
                self.template = template
            }
        }

        /// The address.
        package var url: String
        /// The method, for example `POST`.
        package var method: String
        /// What is sent there.
        package var format: ReportFormat
        /// The channel's parameters in their order; names are unique.
        package var parameters: [Parameter]

        /// Creates a target.
        package init(url: String, method: String = "POST", format: ReportFormat, parameters: [Parameter] = []) {
            self.url = url
            self.method = method
            self.format = format
            self.parameters = parameters
        }
    }

    /// The identity of the row, a UUID unless a script chose another text.
    package var id: String
    /// The media content key.
    package var content: String
    /// The course the lecture belongs to.
    package var course: String?
    /// The learner; may be empty.
    package var user: String
    /// The session, usually `client_user_id` and `start_at`.
    package var session: String
    /// The position in the session. The order within a session never depends on a clock.
    package var sequence: Int64
    /// The wall clock's time.
    package var wall: Timestamp
    /// The boot clock's time.
    package var boot: BootInstant?
    /// The boot that `boot` counts from.
    package var bootID: String?
    /// The time that was computed once the server's time was known.
    package var corrected: Timestamp?
    /// The values of the macros.
    package var values: JSONValue
    /// Where it goes.
    package var target: Target?
    /// Its delivery state.
    package var state: ReportState
    /// How many times it was sent.
    package var attempts: Int64
    /// Why it is in this state.
    package var reason: String?
    /// A script's note.
    package var note: String?

    /// Creates a row; other values are absent.
    package init(
        id: String, content: String, user: String, session: String, sequence: Int64, wall: Timestamp,
        values: JSONValue = .object([]), state: ReportState = .pending, attempts: Int64 = 0
    ) {
        self.id = id
        self.content = content
        self.user = user
        self.session = session
        self.sequence = sequence
        self.wall = wall
        self.values = values
        self.state = state
        self.attempts = attempts
    }

    /// When it happened, as well as is known: the corrected time, else the wall clock's.
    package var time: Timestamp { corrected ?? wall }
}

// MARK: JSON

extension ReportRecord {
    /// Writes the row as an object; absent members are left out.
    ///
    /// - Parameter writer: at the position of a value.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("record", "report")
            writer.member("id", id)
            writer.member("content", content)
            writer.member("course", course)
            writer.member("user", user)
            writer.member("session", session)
            writer.member("seq", sequence)
            writer.member("wall_ms", wall.milliseconds)
            writer.member("boot_ns", boot?.nanoseconds)
            writer.member("boot_id", bootID)
            writer.member("corrected_ms", corrected?.milliseconds)
            writer.member("state", state.name)
            writer.member("attempts", attempts)
            writer.member("reason", reason)
            writer.member("note", note)
            if let target { writer.member("target", json: target.json) }
            writer.member("values", json: values)
        }
    }

    /// Reads an object back.
    ///
    /// - Parameter json: the output of ``write(to:)``; unknown members are ignored.
    /// - Throws: `LectureError(.json)` that names the member.
    package init(json: JSONValue) throws(LectureError) {
        let reader = try MemberReader(json)
        self.init(
            id: try Self.due(try reader.string("id"), "id"),
            content: try Self.due(try reader.string("content"), "content"),
            user: try Self.due(try reader.string("user"), "user"),
            session: try Self.due(try reader.string("session"), "session"),
            sequence: try Self.due(try reader.int64("seq"), "seq"),
            wall: Timestamp(milliseconds: try Self.due(try reader.int64("wall_ms"), "wall_ms")))
        values = try Self.due(json["values"], "values")
        state = try Self.state(try Self.due(try reader.string("state"), "state"))
        attempts = try Self.due(try reader.int64("attempts"), "attempts")
        course = try reader.string("course")
        boot = try reader.int64("boot_ns").map { BootInstant(nanoseconds: $0) }
        bootID = try reader.string("boot_id")
        corrected = try reader.int64("corrected_ms").map { Timestamp(milliseconds: $0) }
        reason = try reader.string("reason")
        note = try reader.string("note")
        if let value = json["target"], !value.isNull { target = try Target(json: value) }
        try check()
    }

    /// Checks the rules for every imported row, whatever its format.
    package func check() throws(LectureError) {
        if id.isEmpty { throw LectureError(.json, detail: "member 'id' is empty") }
        if attempts < 0 { throw LectureError(.json, detail: "member 'attempts' is below 0") }
    }

    /// Reads the name of a state.
    package static func state(_ name: String) throws(LectureError) -> ReportState {
        guard let state = ReportState(name: name) else {
            throw LectureError(.json, detail: "member 'state' is not a state")
        }
        return state
    }

    /// A required member.
    package static func due<Value>(_ value: Value?, _ name: String) throws(LectureError) -> Value {
        guard let value else { throw LectureError(.json, detail: "member '\(name)' is missing") }
        return value
    }
}

extension ReportRecord.Target {
    /// The macro of a list of changed bookmarks.
    package static let bookmarks = "BOOKMARKS"

    /// Whether it is a bookmark server: each of its requests is for one learner and one lecture.
    package var takesBookmarks: Bool { parameters.contains { $0.template == "{\(Self.bookmarks)}" } }

    /// The target as an object.
    package var json: JSONValue {
        .object([
            JSONMember("url", .string(url)), JSONMember("method", .string(method)),
            JSONMember("format", .string(format.rawValue)), JSONMember("parameters", parametersJSON),
        ])
    }

    /// The parameters as an object, in order.
    package var parametersJSON: JSONValue { .object(parameters.map { JSONMember($0.name, .string($0.template)) }) }

    /// Reads a target back.
    package init(json: JSONValue) throws(LectureError) {
        let reader = try MemberReader(json)
        self.init(
            url: try ReportRecord.due(try reader.string("url"), "url"),
            method: try ReportRecord.due(try reader.string("method"), "method"),
            format: try Self.format(try ReportRecord.due(try reader.string("format"), "format")),
            parameters: try Self.parameters(try reader.object("parameters") ?? []))
    }

    /// Reads the name of a format.
    package static func format(_ name: String) throws(LectureError) -> ReportFormat {
        guard let format = ReportFormat(rawValue: name) else {
            throw LectureError(.json, detail: "member 'format' is not a format")
        }
        return format
    }

    /// Reads parameters.
    package static func parameters(_ members: [JSONMember]) throws(LectureError) -> [Parameter] {
        var parameters: [Parameter] = []
        for member in members {
            guard let template = member.value.string else {
                throw LectureError(.json, detail: "member 'parameters' is not an object of strings")
            }
            parameters.append(Parameter(name: member.name, template: template))
        }
        return parameters
    }
}

extension MemberReader {
    /// Any 64-bit integer.
    fileprivate func int64(_ name: String) throws(LectureError) -> Int64? {
        guard let member = value[name], !member.isNull else { return nil }
        guard let integer = member.integer else {
            throw LectureError(.json, detail: "member '\(name)' is not an integer")
        }
        return integer
    }
}
