import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel

/// The pages of the classroom: plain HTML, which is complete without style and without script.
struct ClassroomPage: Sendable {
    let context: PageContext

    /// A page that says why something is not possible.
    ///
    /// - Parameters:
    ///   - refusal: why.
    ///   - back: the segment of the lecture, to which a link leads; nil without one.
    /// - Returns: the answer.
    func refusal(_ refusal: ClassroomRefusal, back: String? = nil) -> HTTPAnswer {
        let (sentence, language) = refusal.sentence(in: context.language)
        let text = refusal.code.map { context.text(.withCode, sentence, "\($0)") } ?? sentence
        let lang = language == context.language ? nil : language.rawValue
        let place = back.flatMap(LectureSegment.key).map { "/classroom/lectures/\(LectureSegment.text($0))" }
        let link = place.map { HTML("p", [:], context.link($0, context.html(.backToLecture))) } ?? .none
        return context.classroom(
            refusal.status, title: context.text(.notPossible), back: place ?? "/classroom",
            [HTML("p", ["class": "note bad", "role": "alert", "lang": lang], HTML(text)), link])
    }

    /// A position as a person reads it: `1:02:03`.
    ///
    /// - Parameter seconds: from the start.
    /// - Returns: the text.
    static func clock(_ seconds: Int64) -> String {
        let seconds = max(0, seconds)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        return hours > 0 ? "\(hours):\(two(minutes)):\(two(seconds % 60))" : "\(minutes):\(two(seconds % 60))"
    }

    // MARK: The list

    /// The list of lectures.
    ///
    /// - Parameters:
    ///   - run: those of the page.
    ///   - licences: of these, by key.
    ///   - query: what the list is limited to.
    /// - Returns: the answer.
    func list(_ run: LectureRun, _ licences: [ContentKey: LicenceStatus], _ query: ClassroomQuery) -> HTTPAnswer {
        let items = run.shown.map { item($0, licences[$0.key]) }
        let list =
            items.isEmpty
            ? HTML("p", ["class": "none"], context.html(.classroomEmpty))
            : HTML("ul", ["class": "lectures plain"], items)
        let part = HTML("div", ["id": "list"], list, context.pages(run) { query.address($0) })
        return context.classroom(title: context.text(.classroomList), back: context.address, [form(query), part])
    }

    private func form(_ query: ClassroomQuery) -> HTML {
        func field(_ name: String, _ label: PageText, _ value: String?) -> HTML {
            HTML(
                "label", ["for": name], HTML("span", [:], context.html(label)),
                HTML("input", ["id": name, "name": name, "value": value ?? ""]))
        }
        return HTML(
            "form", ["action": "/classroom", "method": "get", "role": "search", "class": "filter"],
            field("search", .search, query.filter.search), field("course", .course, query.filter.course),
            HTML(
                "p", ["class": "buttons"], HTML("button", ["class": "main"], context.html(.apply)),
                context.link("/classroom", context.html(.reset))))
    }

    private func item(_ lecture: Content, _ licence: LicenceStatus?) -> HTML {
        var facts: [HTML] = []
        if !lecture.course.isEmpty {
            let query = FormFields.text([("course", lecture.course)])
            facts.append(context.link("/classroom?\(query)", HTML(lecture.course)))
        }
        if !lecture.teacher.isEmpty { facts.append(HTML(lecture.teacher)) }
        if let duration = lecture.duration { facts.append(HTML(Self.clock(duration.milliseconds / 1000))) }
        if let reason = licence?.endingReason {
            facts.append(HTML("span", ["class": "state failed"], context.html(reason.pageText)))
        }
        let parts = facts.enumerated().flatMap { $0 == 0 ? [$1] : [HTML(" · "), $1] }
        return HTML(
            "li", [:],
            context.link(
                "/classroom/lectures/\(LectureSegment.text(lecture.key.text))", HTML(Self.title(lecture)),
                style: "name"),
            parts.isEmpty ? .none : HTML([HTML(" "), HTML("small", [:], parts)]))
    }

    private static func title(_ lecture: Content) -> String {
        lecture.title.isEmpty ? lecture.key.text : lecture.title
    }

    // MARK: One lecture

    /// What a watch page shows.
    struct Watched {
        var details: ContentDetails
        var outline: ContentOutline
        var subtitles: WatchedSubtitles
        /// The media of a play that was opened without script; nil before.
        var media: String?
        /// Where it begins, in seconds.
        var at: Int64
        var formToken: String
    }

    /// The page of one lecture.
    ///
    /// - Parameter watched: what it shows.
    /// - Returns: the answer.
    func watch(_ watched: Watched) -> HTTPAnswer {
        let content = watched.details.content
        let (place, title) = ("/classroom/lectures/\(LectureSegment.text(content.key.text))", Self.title(content))
        let notice = HTML(
            "p", ["id": "notice", "role": "status", "data-code": context.text(.withCode, "{0}", "{1}")])
        let start =
            watched.at > 0
            ? context.html(.playFrom, Self.clock(watched.at)) : context.html(.play)
        let form = HTML(
            "form", ["class": "play", "action": "\(place)/plays", "method": "post"],
            HTML("input", ["type": "hidden", "name": "form_token", "value": watched.formToken]),
            HTML("input", ["type": "hidden", "name": "at", "value": "\(watched.at)"]),
            HTML("button", ["class": "main"], start))
        var parts = [video(watched, place, title), notice, form]
        if watched.at > 0 {
            let link = HTML("a", ["href": "\(place)?at=0", "data-at": "0"], context.html(.fromStart))
            parts.append(HTML("p", [:], link))
        }
        for refused in watched.subtitles.refused {
            let name = refused.name.isEmpty ? context.text(.subtitles) : refused.name
            parts.append(HTML("p", [:], HTML("small", [:], HTML("\(name): "), context.html(refused.reason.pageText))))
        }
        if !watched.details.synopsis.isEmpty { parts.append(HTML("p", [:], HTML(watched.details.synopsis))) }
        for chapters in watched.outline.chapters {
            parts.append(marks(.chapters, chapters.items, place, language: chapters.language))
        }
        parts.append(marks(.bookmarks, watched.outline.bookmarks, place, language: ""))
        return context.classroom(title: title, hasScript: true, back: context.address, parts)
    }

    private func video(_ watched: Watched, _ place: String, _ title: String) -> HTML {
        let tracks = watched.subtitles.tracks.enumerated().map { index, track in
            let name = track.language.isEmpty ? context.text(.subtitles) : track.language
            return HTML(
                "track",
                [
                    "kind": "subtitles", "src": "\(place)/subtitles/\(track.path)",
                    "srclang": track.language.isEmpty ? "und" : track.language,
                    "label": track.name.isEmpty ? name : track.name, "default": index == 0 ? "" : nil,
                ])
        }
        let source = watched.media.map { media in
            watched.at > 0 && !media.hasSuffix(".m3u8") ? "\(media)#t=\(watched.at)" : media
        }
        return HTML(
            "video",
            [
                "controls": "", "preload": "none", "width": "960",
                "poster": watched.details.snapshotPath == nil ? nil : "\(place)/poster", "src": source,
                "autoplay": source == nil ? nil : "", "aria-label": title,
                "data-duration": watched.details.content.duration.map { "\(Double($0.milliseconds) / 1000)" },
            ], tracks)
    }

    private func marks(
        _ heading: PageText, _ marks: [ContentOutline.Mark], _ place: String, language: String
    ) -> HTML {
        guard !marks.isEmpty else { return .none }
        let items = marks.map { mark in
            let seconds = Int64(clamping: Int(min(max(0, mark.position), ViewingReport.longest)))
            let link = HTML(
                "a", ["href": "\(place)?at=\(seconds)", "data-at": "\(seconds)"],
                HTML("\(Self.clock(seconds)) \(mark.value)"))
            return HTML("li", [:], link)
        }
        return HTML([
            HTML("h2", [:], context.html(heading)), HTML("ol", ["lang": language.isEmpty ? nil : language], items),
        ])
    }
}

/// What the query of the list says. What cannot be used is left out.
struct ClassroomQuery: Sendable {
    /// Complete lectures, of a course or with a part of their title.
    let filter: ContentFilter
    /// The last lecture of the page before.
    let after: ContentKey?
    /// The first lecture of the page after.
    let before: ContentKey?

    /// Reads the query of a request.
    ///
    /// - Parameter head: of the request.
    init(_ head: HTTPRequestHead) {
        func value(_ name: String) -> String? {
            head.parameter(name).flatMap { $0.isEmpty || $0.utf8.count > 512 ? nil : $0 }
        }
        var filter = ContentFilter()
        (filter.states, filter.course, filter.search) = ([.completed], value("course"), value("search"))
        self.filter = filter
        after = value("after").flatMap { try? ContentKey($0) }
        before = value("before").flatMap { try? ContentKey($0) }
    }

    /// The address of a page with the same filter.
    ///
    /// - Parameter place: a name of the query and the key of a lecture; nil for the first page.
    /// - Returns: the address.
    func address(_ place: (name: String, key: ContentKey)?) -> String {
        var fields: [(String, String)] = []
        if let search = filter.search { fields.append(("search", search)) }
        if let course = filter.course { fields.append(("course", course)) }
        if let place { fields.append((place.name, place.key.text)) }
        return fields.isEmpty ? "/classroom" : "/classroom?\(FormFields.text(fields))"
    }
}
