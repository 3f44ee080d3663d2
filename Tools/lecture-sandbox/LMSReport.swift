import CZlib
import SandboxSecurity

/// The formats of reports.
enum LMSForm: Sendable {
    /// Fields of a form or of a query, possibly with the whole report in one of them.
    case kollus
    /// A batch of events as one JSON object.
    case json
    /// An array of xAPI statements.
    case xapi
}

/// One report, as parsed by an LMS.
struct LMSReport: Sendable {
    /// The id of the event or the statement; else the request's key, and the report's position in it.
    let id: String
    let user: String
    let session: String
    /// Increases within a session; nil when the report has none.
    let sequence: Int64?
    /// Of the report, to distinguish two with the same id.
    let digest: LMSDigest
    /// The statement, for requests that read it back.
    var text: String?
}

/// Sixteen bytes of a SHA-256.
struct LMSDigest: Hashable, Sendable {
    private let first: UInt64
    private let second: UInt64

    /// The digest of several texts, concatenated.
    init(_ parts: [UInt8]...) {
        var hasher = SHA256Hasher()
        for part in parts { unsafe part.withUnsafeBytes { unsafe hasher.update($0) } }
        let bytes = hasher.finish()
        first = bytes[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
        second = bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Reads the reports of a request; as strict as a server can be.
struct LMSReader {
    let request: Request
    let form: LMSForm
    /// `Idempotency-Key`.
    let key: String?

    /// The largest body, unpacked.
    static let limit = 64 << 20

    /// The reports in their order, at least one.
    ///
    /// - Throws: ``Problem`` that describes the error.
    func reports() throws -> [LMSReport] {
        let body = try Self.unpacked(request)
        let reports =
            switch form {
            case .kollus: try kollus(body)
            case .json: try events(body)
            case .xapi: try statements(body)
            }
        guard !reports.isEmpty else { throw Problem.input("no report") }
        var seen: Set<String> = []
        for report in reports where !seen.insert(report.id).inserted { throw Problem.input("duplicate id") }
        return reports
    }

    private static func unpacked(_ request: Request) throws -> [UInt8] {
        guard let encoding = request.fields["content-encoding"] else { return request.body }
        guard encoding == "gzip" else { throw Problem.input("another Content-Encoding") }
        // gzip ends with the length (RFC 1952 section 2.3.1).
        let length = request.body.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length <= limit else { throw Problem.input("too large") }
        var made = -1
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: length + 1) { target, count in
            guard let base = target.baseAddress else { return }
            unsafe request.body.withUnsafeBufferPointer { input in
                guard let start = input.baseAddress else { return }
                made = unsafe czlib_gunzip(start, input.count, base, length + 1)
            }
            count = max(made, 0)
        }
        guard made == length else { throw Problem.input("not gzip") }
        return bytes
    }

    // MARK: json

    private func events(_ body: [UInt8]) throws -> [LMSReport] {
        guard type.hasPrefix("application/json") else { throw Problem.input("expected application/json") }
        let batch = try StrictJSON.value(of: body)
        guard let id = batch["batch_id"]?.string, let events = batch["events"]?.elements else {
            throw Problem.input("batch_id and events are missing")
        }
        guard key == id else { throw Problem.input("Idempotency-Key is not the batch_id") }
        return try events.map { event in
            guard let id = event["event_id"]?.string, !id.isEmpty, let user = event["user"]?.string,
                let session = event["session"]?.string, let sequence = event["seq"]?.integer,
                event["time_ms"]?.integer != nil, event["report"]?.members != nil
            else { throw Problem.input("an event has event_id, user, session, seq, time_ms and report") }
            return LMSReport(
                id: id, user: user, session: session, sequence: sequence, digest: LMSDigest(Array(event.text.utf8)))
        }
    }

    // MARK: xapi

    private func statements(_ body: [UInt8]) throws -> [LMSReport] {
        guard type.hasPrefix("application/json") else { throw Problem.input("expected application/json") }
        guard request.fields["x-experience-api-version"]?.hasPrefix("1.0") == true else {
            throw Problem.input("expected X-Experience-API-Version 1.0.x")
        }
        let value = try StrictJSON.value(of: body)
        return try (value.elements ?? [value]).map { statement in
            guard let id = statement["id"]?.string, id.utf8.count == 36, let actor = statement["actor"],
                statement["verb"]?["id"]?.string?.contains("://") == true,
                statement["object"]?["id"]?.string?.contains("://") == true,
                let time = statement["timestamp"]?.string
            else { throw Problem.input("a statement has id, actor, verb, object and timestamp") }
            let text = statement.text
            return LMSReport(
                id: id, user: actor["account"]?["name"]?.string ?? actor["mbox"]?.string ?? "",
                session: statement["context"]?["registration"]?.string ?? "",
                sequence: Int64(String(time.filter(\.isWholeNumber))), digest: LMSDigest(Array(text.utf8)), text: text)
        }
    }

    // MARK: kollus

    /// Every field with JSON is read, whatever its name, because each channel names it differently.
    private func kollus(_ body: [UInt8]) throws -> [LMSReport] {
        let fields: [(name: String, value: [UInt8])]
        if request.method == "POST" {
            guard type.hasPrefix("application/x-www-form-urlencoded") else { throw Problem.input("expected a form") }
            fields = try Text.form(body)
        } else {
            let query = request.target.raw.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
            fields = try Text.form(Array(query.utf8)).filter { $0.name != "redirected" }
        }
        guard !fields.isEmpty else { throw Problem.input("no field") }
        let documents = fields.compactMap { field -> [JSON]? in
            guard let first = field.value.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
                return nil
            }
            guard let value = try? StrictJSON.value(of: field.value) else { return nil }
            return value.elements ?? [value]
        }
        let plain = Dictionary(fields.map { ($0.name, String(decoding: $0.value, as: UTF8.self)) }) { first, _ in first
        }
        let whole = LMSDigest(fields.reduce(into: []) { $0 += Array("\($1.name)=".utf8) + $1.value })
        let reports = documents.first { !$0.isEmpty && $0.allSatisfy { $0.members != nil } } ?? [.object([])]
        let name = key ?? plain["event_id"] ?? "\(whole)"
        return reports.enumerated().map { index, report in
            let (user, content) = (report["user_info"], report["content_info"])
            let started = content?["start_at"]?.integer ?? report["START_AT"]?.integer
            return LMSReport(
                id: reports.count == 1 ? name : "\(name)#\(index + 1)",
                user: plain["user"] ?? plain["client_user_id"] ?? user?["client_user_id"]?.string ?? "",
                session: plain["session"] ?? plain["start_at"] ?? started.map { String($0) } ?? "",
                sequence: (plain["seq"] ?? plain["play_time"]).flatMap { Int64($0) } ?? content?["runtime"]?.integer,
                digest: reports.count == 1 ? whole : LMSDigest(Array(report.text.utf8)))
        }
    }

    private var type: String { request.fields["content-type"]?.lowercased() ?? "" }
}
