import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel
import LectureRecords

/// The operations about lectures.
struct LectureOperations: Sendable {
    let manager: LectureManager
    let actions: LectureActions

    /// In the order of the document.
    var all: [APIOperation] { [list, request, one, remove, why, attempts, licence, priority] + changes }

    // MARK: Reading

    private var list: APIOperation {
        let key = APIParameter.Kind.key
        return APIOperation(
            method: "GET", path: "lectures", name: "listLectures", summary: "The lectures of the store.",
            details: "A page begins after the lecture of `after`, or ends before that of `before`: the members `next` "
                + "and `previous` of an answer. 404 when that lecture was removed meanwhile.",
            query: [
                APIParameter(name: "search", kind: .text(1...512), help: "A part of the title."),
                APIParameter(name: "course", kind: .text(1...512), help: "Only this course."),
                APIParameter(name: "folder", kind: .text(1...512), help: "Only this folder."),
                APIParameter(name: "state", kind: .words(ItemState.allCases.map(\.name)), help: "Only this state."),
                APIParameter(name: "type", kind: .words(ContentType.allCases.map(\.name)), help: "Only this type."),
                APIParameter(
                    name: "sort", kind: .words(ContentSort.allCases.map(\.rawValue)),
                    help: "The order. Without it: added; for a search: title, which an index has."),
                APIOperation.limit,
                APIParameter(name: "after", kind: key, help: "The page begins after this lecture."),
                APIParameter(name: "before", kind: key, help: "The page ends before this lecture; after counts first."),
            ],
            result: .list(
                "lectures", of: "record-content",
                places: [
                    APIParameter(name: "next", kind: key, help: "For after; absent on the last page."),
                    APIParameter(name: "previous", kind: key, help: "For before; absent on the first page."),
                ]),
            errors: [404]
        ) { [manager] call in
            var filter = ContentFilter()
            (filter.search, filter.course, filter.folder) = (call["search"], call["course"], call["folder"])
            if let state = call["state"].flatMap(ItemState.init(name:)) { filter.states = [state] }
            filter.type = call["type"].flatMap { name in ContentType.allCases.first { $0.name == name } }
            let sort = call["sort"].flatMap(ContentSort.init(rawValue:)) ?? (filter.search == nil ? .added : .title)
            let (after, before) = (try call.key("after"), try call.key("before"))
            let place = after.map { .after($0) } ?? before.map { .before($0) } ?? LectureRun.Place.start
            let limit = call.integer("limit") ?? APIOperation.usual
            guard let run = try await LectureRun.read(filter, sort: sort, place, limit: limit, manager) else {
                throw LectureError(.unknownContent, detail: (after ?? before)?.text ?? "")
            }
            let licences = try await manager.licences.statuses(of: run.shown)
            let pins = try await manager.contents.pinned()
            let lines = run.shown.map { JSONLine.content($0, licence: licences[$0.key], pinned: pins[$0.key]) }
            return .list(
                "lectures", lines,
                [
                    "next": run.hasAfter ? run.shown.last?.key.text : nil,
                    "previous": run.hasBefore ? run.shown.first?.key.text : nil,
                ])
        }
    }

    private var one: APIOperation {
        APIOperation(
            method: "GET", path: "lectures/{key}", name: "showLecture", summary: "One lecture.",
            result: .record("record-content"), errors: [404]
        ) { call in try await answer(try call.lecture()) }
    }

    private var why: APIOperation {
        APIOperation(
            method: "GET", path: "lectures/{key}/why", name: "explainLecture",
            summary: "Why a lecture is in its state, what happens next, and what can be done.",
            result: .record("record-why"), errors: [404]
        ) { [manager] call in
            let key = try call.lecture()
            let diagnosis = try await manager.contents.why(key)
            return .record(JSONLine.why(diagnosis, licence: try await manager.licences.status(of: key)))
        }
    }

    private var attempts: APIOperation {
        APIOperation(
            method: "GET", path: "lectures/{key}/attempts", name: "listAttempts",
            summary: "What was tried to download a lecture, the latest 100, latest first.",
            result: .list("attempts", of: "record-attempt", places: []), errors: [404]
        ) { [manager] call in
            let diagnosis = try await manager.contents.why(try call.lecture())
            return .list("attempts", diagnosis.attempts.map { JSONLine.attempt($0, key: diagnosis.content.key) })
        }
    }

    private var licence: APIOperation {
        APIOperation(
            method: "GET", path: "lectures/{key}/licence", name: "showLicence", summary: "The licence of a lecture.",
            details: "404 with the name licence_missing when it needs none, or has none.",
            result: .record("record-licence"), errors: [404]
        ) { [manager] call in
            let lecture = try await actions.lecture(try call.lecture())
            guard let licence = try await manager.licences.status(of: lecture.key) else {
                throw LectureError(.licenceMissing, detail: lecture.key.text)
            }
            return .record(JSONLine.licence(licence, title: lecture.title))
        }
    }

    // MARK: Changing

    private var request: APIOperation {
        APIOperation(
            method: "POST", path: "lectures", name: "requestLecture", summary: "Downloads a lecture.",
            details:
                "As a line of a course list. The same request again is answered with the same lecture; of one that "
                + "is complete it is checked whether it is still what is requested.",
            body: [
                APIParameter(name: "url", kind: .address, help: "Where it is.", isRequired: true),
                APIParameter(
                    name: "key", kind: .text(1...255), help: "Its key; else one is made from the address."),
                APIParameter(name: "title", kind: .text(1...512), help: "Its title."),
                APIParameter(name: "course", kind: .text(1...512), help: "Its course."),
                APIParameter(name: "teacher", kind: .text(1...512), help: "Who teaches it."),
                APIParameter(name: "sha256", kind: .digest, help: "The SHA-256 of the whole file, in hexadecimal."),
                APIParameter(name: "priority", kind: .integer(-100...100), help: "-100 (last) to 100 (first)."),
            ], success: 202, result: .record("record-content"), errors: [409, 415]
        ) { [manager] call in
            let line = JSONWriter.object { json in
                for name in ["url", "key", "title", "course", "teacher", "sha256"] { json.member(name, call[name]) }
                json.member("priority", call.integer("priority"))
            }
            var list = CourseList(firstByte: UInt8(ascii: "{"))
            for item in list.read(Array(line.utf8)) + list.finish() {
                switch item {
                case .lecture(let request, fileName: _):
                    return try await answer(try await manager.downloads.enqueue(request), status: 202)
                case .issue(let error): throw LectureError(.parameter, detail: "body", cause: error.cause)
                case .warning: continue
                }
            }
            throw LectureError(.parameter, detail: "body", cause: "it names no lecture")
        }
    }

    private var remove: APIOperation {
        APIOperation(
            method: "DELETE", path: "lectures/{key}", name: "removeLecture",
            summary: "Deletes a lecture with its files.",
            details:
                "The event removed says when the files are gone. Once it is, a second request is answered with 404, "
                + "and changes nothing.",
            success: 202, result: .record("record-content"), errors: [404]
        ) { [manager] call in
            var lecture = try await actions.lecture(try call.lecture())
            try await manager.downloads.remove(lecture.key)
            lecture.state = .removing
            lecture.stopReason = nil
            return .record(JSONLine.content(lecture), status: 202)
        }
    }

    private var priority: APIOperation {
        APIOperation(
            method: "PUT", path: "lectures/{key}/priority", name: "setPriority",
            summary: "Sets the priority of a lecture.", details: "A second request changes nothing.",
            body: [
                APIParameter(
                    name: "priority", kind: .integer(-100...100), help: "-100 (last) to 100 (first).", isRequired: true)
            ], result: .record("record-content"), errors: [404, 415]
        ) { [manager] call in
            let key = try call.lecture()
            try await manager.downloads.setPriority(call.integer("priority") ?? 0, of: key)
            return try await answer(key)
        }
    }

    private var changes: [APIOperation] {
        [
            change("pause", "Pauses a lecture, and keeps its bytes.") { actions, lecture in
                try await actions.manager.downloads.pause(lecture.key)
            },
            change("resume", "Continues a lecture that was paused, has stopped or has failed.") { actions, lecture in
                try await actions.resume(lecture.key)
            },
            change("cancel", "Cancels a lecture, and keeps its bytes.") { actions, lecture in
                try await actions.manager.downloads.cancel(lecture.key)
            },
            change("retry", "Tries a lecture again that failed or stopped; 409 for any other.") {
                actions, lecture in
                guard [.failed, .stopped].contains(lecture.state) else {
                    throw LectureError(lecture.state == .completed ? .alreadyDownloaded : .alreadyDownloading)
                }
                try await actions.resume(lecture.key)
            },
            change("renew", "Begins to renew the licence of a lecture; 404 without one.", success: 202) {
                actions, lecture in
                guard try await actions.manager.licences.status(of: lecture.key) != nil else {
                    throw LectureError(.licenceMissing, detail: lecture.key.text)
                }
                try await actions.renew(lecture.key)
            },
        ]
    }

    private func change(
        _ name: String, _ summary: String, success: Int = 200,
        _ act: @escaping @Sendable (LectureActions, Content) async throws -> Void
    ) -> APIOperation {
        let details =
            name == "renew"
            ? "The events renewed and error say how it went. A second request asks the licence server once more."
            : "409 for a lecture that is complete. A second request changes nothing."
        return APIOperation(
            method: "POST", path: "lectures/{key}/\(name)", name: "\(name)Lecture", summary: summary, details: details,
            success: success, result: .record("record-content"), errors: name == "renew" ? [404] : [404, 409]
        ) { call in
            let lecture = try await actions.lecture(try call.lecture())
            try await act(actions, lecture)
            return try await answer(lecture.key, status: success)
        }
    }

    /// A lecture as it is now.
    private func answer(_ key: ContentKey, status: Int = 200) async throws -> HTTPAnswer {
        let lecture = try await actions.lecture(key)
        let licence = try await manager.licences.status(of: lecture.key)
        let use = try await manager.contents.uses(of: [lecture.key])[lecture.key]
        return .record(JSONLine.content(lecture, licence: licence, pinned: use?.pinned), status: status)
    }
}
