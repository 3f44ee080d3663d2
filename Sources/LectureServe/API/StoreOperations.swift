import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel
import LectureRecords

extension APIOperation {
    /// How many a page has without `limit`.
    static let usual = 50

    /// The size of a page.
    static let limit = APIParameter(
        name: "limit", kind: .integer(1...200), help: "How many there may be on a page; without it \(usual).")
    /// Where a page begins, and where the next one does.
    static func places(_ kind: APIParameter.Kind) -> (after: APIParameter, next: APIParameter) {
        (
            APIParameter(name: "after", kind: kind, help: "Where the page begins: next of the page before it."),
            APIParameter(name: "next", kind: kind, help: "For after; absent on the last page.")
        )
    }
}

/// The operations about the store as a whole.
struct StoreOperations: Sendable {
    let manager: LectureManager
    let events: APIEvents
    let version: String

    /// In the order of the document.
    var all: [APIOperation] {
        [
            APIOperation(
                method: "GET", path: "version", name: "showVersion", summary: "The version of the program.",
                result: .record("record-version")
            ) { [version] _ in .record(JSONLine.version(version, of: "lecturectl")) },
            APIOperation(
                method: "GET", path: "status", name: "showStatus",
                summary: "The store at a glance: lectures by state, disk, licences that are due, reports, processes.",
                result: .record("record-status")
            ) { [manager] _ in .record(JSONLine.status(try await manager.overview())) },
            stream,
        ]
    }

    private var stream: APIOperation {
        APIOperation(
            method: "GET", path: "events", name: "readEvents", summary: "What happens, as server-sent events.",
            details: """
                `data` is a line of `--json`, and `event` its name. At most once a second come the events of this \
                process since the last time; of `progress` only the latest for each lecture. What other processes \
                do is seen by the record `status`, which comes when the counts by state are others than three seconds \
                ago, and soon after the first client is connected. \
                Every event but `progress` has an `id`. A client that comes back with it as `Last-Event-ID` gets those \
                that it has missed; where they are no longer kept, or the server was started again, it gets `gap` \
                first: it then reads again what it shows. A client that does not read is ended.
                """,
            query: [
                APIParameter(
                    name: "seconds", kind: .integer(1...3600),
                    help: "The stream ends after so many seconds, for programs that read an answer as a whole.")
            ], result: .events
        ) { [events] call in events.answer(call) }
    }
}

/// The operations about licences and learning reports.
struct LicenceOperations: Sendable {
    let manager: LectureManager
    let actions: LectureActions

    /// In the order of the document.
    var all: [APIOperation] { [licences, days, renewDay, reports, summary, retry] }

    private var licences: APIOperation {
        let places = APIOperation.places(.licencePlace)
        return APIOperation(
            method: "GET", path: "licences", name: "listLicences", summary: "The licences, as they are judged now.",
            details: "In the order of their keys; with within the soonest end first.",
            query: [
                APIParameter(
                    name: "within", kind: .integer(0...31_622_400),
                    help: "Only those that end or have to be checked within so many seconds, or already had to."),
                APIOperation.limit, places.after,
            ], result: .list("licences", of: "record-licence", places: [places.next])
        ) { [manager] call in
            let page = try await manager.licences.list(
                expiringWithin: call.integer("within").map { .seconds($0) },
                from: call["after"].flatMap { LicencePage.Place(text: $0) },
                limit: call.integer("limit") ?? APIOperation.usual)
            let lines = page.rows.map { JSONLine.licence($0.licence, title: $0.title) }
            return .list("licences", lines, ["next": page.next?.text])
        }
    }

    private var days: APIOperation {
        APIOperation(
            method: "GET", path: "licences/days", name: "listLicenceDays",
            summary: "On which days of the next 60 licences end or have to be checked, in UTC.",
            details: "Also days that are over.", result: .list("days", of: "Day", places: [])
        ) { [manager] _ in
            let days = try await LicenceCalendar.days(
                within: .seconds(LicencesPage.days * 86_400), in: manager.licences)
            return .list("days", days.map { Self.day(MomentText.parts($0.start).day, $0.count) })
        }
    }

    private var renewDay: APIOperation {
        APIOperation(
            method: "POST", path: "licences/days/{day}/renew", name: "renewLicenceDay",
            summary: "Begins to renew the licences that end on a day.",
            details: "count is how many there are, 0 for a day without any. A second request asks their servers once "
                + "more.",
            success: 202, result: .record("Day")
        ) { [actions] call in
            let day = call["day"] ?? ""
            guard let part = CalendarDay(day) else { throw LectureError(.parameter, detail: "day") }
            let count = try await actions.renew(endingOn: part)
            return .record(Self.day(day, count), status: 202)
        }
    }

    private static func day(_ day: String, _ count: Int) -> String {
        JSONLine.line { json in
            json.member("day", day)
            json.member("count", count)
        }
    }

    private var reports: APIOperation {
        let places = APIOperation.places(.reportPlace)
        return APIOperation(
            method: "GET", path: "reports", name: "listReports",
            summary: "The learning reports, in the order in which they were stored.",
            query: [
                APIParameter(name: "state", kind: .words(ReportState.allCases.map(\.name)), help: "Only this state."),
                APIParameter(name: "course", kind: .text(1...512), help: "Only this course."),
                APIParameter(name: "user", kind: .text(1...512), help: "Only this learner."),
                APIOperation.limit, places.after,
            ], result: .list("reports", of: "record-lms", places: [places.next])
        ) { [manager] call in
            var query = ReportQuery()
            if let state = call["state"].flatMap({ ReportState(name: $0) }) { query.states = [state] }
            (query.course, query.user) = (call["course"], call["user"])
            let page = try await manager.reports.list(
                query, from: call["after"].flatMap { ReportPage.Place(text: $0) },
                limit: call.integer("limit") ?? APIOperation.usual)
            return .list("reports", page.rows.map(JSONLine.report), ["next": page.next?.text])
        }
    }

    private var summary: APIOperation {
        APIOperation(
            method: "GET", path: "reports/summary", name: "summariseReports",
            summary: "How many reports there are in which state, and their targets.",
            result: .record("record-lms_summary")
        ) { [manager] _ in .record(JSONLine.reportSummary(try await manager.reports.summary())) }
    }

    private var retry: APIOperation {
        APIOperation(
            method: "POST", path: "reports/retry", name: "retryReports", summary: "Sends refused reports again.",
            details: "count is how many wait again; a second request finds those that were refused meanwhile.",
            result: .record("event-revived")
        ) { [actions] _ in .record(JSONLine.revived(try await actions.retryReports())) }
    }
}
