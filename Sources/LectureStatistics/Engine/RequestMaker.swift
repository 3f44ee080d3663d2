import LectureFormats
import LectureModel

/// Makes the exact body of a request from its reports. The same reports under the same id always give the same bytes,
/// as long as their times are not corrected.
///
/// | format | request |
/// | --- | --- |
/// | `json` | POST `{"batch_id","events":[{"event_id","user","session","seq","time_ms","note","report"}]}` |
/// | `xapi` | POST of an array of statements to the URL with `/statements` after its path |
/// | `kollus` | the channel's method and parameters, macros filled in, as a form or a query |
///
/// A `kollus` request with several reports carries their documents as an array in `{JSON_DATA}`; every other macro is
/// that of the last report, the newest and most complete. Without parameters the values are sent as `json_data`.
package struct RequestMaker {
    let address: ReportRecord.Target
    let statement: XAPIStatement

    /// Makes a request, not encoded.
    ///
    /// - Parameters:
    ///   - id: its `Idempotency-Key`.
    ///   - rows: the rows of the reports.
    ///   - records: the reports, at least one, in the same order.
    /// - Returns: the request.
    func frozen(_ id: String, _ rows: [OutboxID], _ records: [ReportRecord]) -> FrozenRequest {
        switch address.format {
        case .json:
            return FrozenRequest(id: id, reports: rows, mediaType: Self.json, body: batch(id, records))
        case .xapi:
            return FrozenRequest(id: id, reports: rows, mediaType: Self.json, body: statements(records))
        case .kollus:
            let form = FormText.encode(parameters(records))
            if FieldText.equal(address.method, "GET") {
                return FrozenRequest(id: id, reports: rows, method: "GET", query: "?" + form, mediaType: "", body: [])
            }
            return FrozenRequest(
                id: id, reports: rows, mediaType: "application/x-www-form-urlencoded", body: Array(form.utf8))
        }
    }

    /// About how many bytes a report needs besides its stored values. A body that is too large is made again with fewer
    /// reports.
    var envelope: Int {
        switch address.format {
        case .json: 160
        case .xapi: 1200
        case .kollus: 32
        }
    }

    private static let json = "application/json"

    private func batch(_ id: String, _ records: [ReportRecord]) -> [UInt8] {
        var writer = JSONWriter(reserving: 512 * records.count)
        writer.object { writer in
            writer.member("batch_id", id)
            writer.array("events") { writer in
                for record in records {
                    writer.object { writer in
                        writer.member("event_id", record.id)
                        writer.member("user", record.user)
                        writer.member("session", record.session)
                        writer.member("seq", record.sequence)
                        writer.member("time_ms", record.time.milliseconds)
                        writer.member("note", record.note)
                        writer.member("report", json: record.values)
                    }
                }
            }
        }
        return writer.bytes
    }

    private func statements(_ records: [ReportRecord]) -> [UInt8] {
        var writer = JSONWriter(reserving: 1536 * records.count)
        writer.array { writer in for record in records { statement.write(record, to: &writer) } }
        return writer.bytes
    }

    private func parameters(_ records: [ReportRecord]) -> [ReportParameter] {
        guard let last = records.last else { return [] }
        func array(_ texts: [String]) -> String? { texts.count > 1 ? "[\(texts.joined(separator: ","))]" : nil }
        guard !address.parameters.isEmpty else {
            return [ReportParameter("json_data", array(records.map(\.values.text)) ?? last.values.text)]
        }
        let documents = records.count > 1 ? records.map { MacroFiller($0).fill("{JSON_DATA}").value } : []
        let templates = address.parameters.map { ReportParameter($0.name, $0.template) }
        return MacroFiller(last, document: array(documents)).fill(templates).value
    }

    // MARK: URLs

    /// The URL of a target's requests, without the query of a `GET`.
    static func url(of address: ReportRecord.Target) -> String {
        guard address.format == .xapi else { return address.url }
        let end = address.url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        var path = address.url[..<(end ?? address.url.endIndex)]
        let rest = end.map { address.url[$0...] } ?? ""
        while path.utf8.last == UInt8(ascii: "/") { path = path.dropLast() }
        let isWhole = path.utf8.suffix(11).elementsEqual("/statements".utf8)
        return path + (isWhole ? "" : "/statements") + rest
    }

    /// A URL with the query of a `GET`. If a redirect repeats the query, it is not added twice.
    package static func url(_ url: String, query: String) -> String {
        guard !query.isEmpty else { return url }
        let base = url.utf8.firstIndex(of: UInt8(ascii: "#")).map { url[..<$0] } ?? url[...]
        if base.utf8.suffix(query.utf8.count - 1).elementsEqual(query.utf8.dropFirst()) { return String(base) }
        let joiner = base.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        return base + joiner + query.dropFirst()
    }
}
