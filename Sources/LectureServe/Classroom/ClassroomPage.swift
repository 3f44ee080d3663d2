import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel

/// The pages of the classroom: plain HTML, which is complete without style and without script.
enum ClassroomPage {
    /// Escapes text for HTML, in elements and in attributes.
    ///
    /// - Parameter text: any text.
    /// - Returns: HTML.
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { $0 += HTML.entity($1) ?? String($1) }
    }

    /// A whole page.
    ///
    /// - Parameters:
    ///   - title: as text.
    ///   - body: as HTML.
    ///   - status: the status of the answer.
    ///   - hasScript: whether the script of the watch page belongs to it.
    /// - Returns: the answer.
    static func page(_ title: String, _ body: String, status: Int = 200, hasScript: Bool = false) -> HTTPAnswer {
        let script = hasScript ? "<script src=\"/classroom/watch.js\" defer></script>\n" : ""
        let text = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(escaped(title))</title>
            <link rel="stylesheet" href="/style.css">
            \(script)</head>
            <body>
            <header><nav aria-label="Classroom"><a href="/classroom">Classroom</a></nav></header>
            <main>
            <h1>\(escaped(title))</h1>
            \(body)
            </main>
            </body>
            </html>

            """
        return HTTPAnswer(status, [("Content-Type", "text/html; charset=utf-8")], body: .bytes(Array(text.utf8)))
    }

    /// A page that says why something is not possible.
    ///
    /// - Parameters:
    ///   - refusal: why.
    ///   - back: the segment of the lecture, to which a link leads; nil without one.
    /// - Returns: the answer.
    static func refusal(_ refusal: ClassroomRefusal, back: String? = nil) -> HTTPAnswer {
        let code = refusal.code.map { " (code \($0))" } ?? ""
        var body = "<p role=\"alert\">\(escaped(refusal.sentence))\(code)</p>"
        if let key = back.flatMap(LectureSegment.key) {
            body += "\n<p><a href=\"/classroom/lectures/\(LectureSegment.text(key))\">Back to the lecture</a></p>"
        }
        return page("Not possible", body, status: refusal.status)
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

    /// The list of lectures.
    ///
    /// - Parameters:
    ///   - lectures: those of the page.
    ///   - course: the course that it is limited to; nil for all.
    ///   - previous: the query of the page before; nil for none.
    ///   - next: the query of the page after; nil for none.
    /// - Returns: the answer.
    static func list(_ lectures: [ContentDetails], course: String?, previous: String?, next: String?) -> HTTPAnswer {
        let items = lectures.map { lecture in
            let content = lecture.content
            let place = "/classroom/lectures/\(LectureSegment.text(content.key.text))"
            let title = content.title.isEmpty ? content.key.text : content.title
            var facts: [String] = []
            if !content.course.isEmpty {
                let query = FormFields.text([("course", content.course)])
                facts.append("<a href=\"/classroom?\(escaped(query))\">\(escaped(content.course))</a>")
            }
            if !content.teacher.isEmpty { facts.append(escaped(content.teacher)) }
            if let duration = content.duration { facts.append(clock(duration.milliseconds / 1000)) }
            if let reason = lecture.licence?.endingReason {
                facts.append(escaped(LectureError(reason.code).message))
            }
            let tail = facts.isEmpty ? "" : " <small>\(facts.joined(separator: " · "))</small>"
            return "<li><a href=\"\(place)\">\(escaped(title))</a>\(tail)</li>"
        }
        let search = """
            <form action="/classroom" method="get" role="search">
            <label for="course">Course</label>
            <input id="course" name="course" value="\(escaped(course ?? ""))">
            <button>Show</button>
            </form>
            """
        let list =
            items.isEmpty
            ? "<p>There is no lecture that can be played.</p>"
            : "<ul class=\"lectures\">\n\(items.joined(separator: "\n"))\n</ul>"
        let turns = [("Previous page", previous), ("Next page", next)].compactMap { text, query in
            query.map { "<a href=\"/classroom?\(escaped($0))\">\(text)</a>" }
        }
        let pages = turns.isEmpty ? "" : "\n<nav aria-label=\"Pages\">\(turns.joined(separator: " "))</nav>"
        return page("Classroom", "\(search)\n\(list)\(pages)")
    }

    /// What a watch page shows.
    struct Watched {
        var details: ContentDetails
        var outline: ContentOutline
        /// Names and languages of the subtitles that are WebVTT, with their numbers.
        var subtitles: [(number: Int, subtitle: KeptSubtitle)]
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
    static func watch(_ watched: Watched) -> HTTPAnswer {
        let content = watched.details.content
        let place = "/classroom/lectures/\(LectureSegment.text(content.key.text))"
        let title = content.title.isEmpty ? content.key.text : content.title
        let tracks = watched.subtitles.enumerated().map { index, track in
            let language = track.subtitle.language
            let label = track.subtitle.name.isEmpty ? (language.isEmpty ? "Subtitles" : language) : track.subtitle.name
            return "<track kind=\"subtitles\" src=\"\(place)/subtitles/\(track.number)\" "
                + "srclang=\"\(escaped(language.isEmpty ? "und" : language))\" label=\"\(escaped(label))\""
                + (index == 0 ? " default>" : ">")
        }
        let source = watched.media.map { media in
            let start = watched.at > 0 && !media.hasSuffix(".m3u8") ? "#t=\(watched.at)" : ""
            return " src=\"\(escaped(media))\(start)\" autoplay"
        }
        let poster = watched.details.snapshotPath == nil ? "" : " poster=\"\(place)/poster\""
        let known = content.duration.map { " data-duration=\"\(Double($0.milliseconds) / 1000)\"" } ?? ""
        let start = watched.at > 0 ? "Play from \(clock(watched.at))" : "Play"
        var body = """
            <video controls preload="none" width="960"\(poster)\(source ?? "") aria-label="\(escaped(title))"\(known)>
            \(tracks.joined(separator: "\n"))
            </video>
            <p id="notice" role="status"></p>
            <form class="play" action="\(place)/plays" method="post">
            <input type="hidden" name="form_token" value="\(escaped(watched.formToken))">
            <input type="hidden" name="at" value="\(watched.at)">
            <button>\(start)</button>
            </form>
            """
        if watched.at > 0 { body += "\n<p><a href=\"\(place)?at=0\" data-at=\"0\">From the beginning</a></p>" }
        if !watched.details.synopsis.isEmpty { body += "\n<p>\(escaped(watched.details.synopsis))</p>" }
        for chapters in watched.outline.chapters {
            body += marks("Chapters", chapters.items, place, language: chapters.language)
        }
        body += marks("Bookmarks", watched.outline.bookmarks, place, language: "")
        return page(title, body, hasScript: true)
    }

    private static func marks(
        _ heading: String, _ marks: [ContentOutline.Mark], _ place: String, language: String
    ) -> String {
        guard !marks.isEmpty else { return "" }
        let tag = language.isEmpty ? "" : " lang=\"\(escaped(language))\""
        let items = marks.map { mark in
            let seconds = Int64(clamping: Int(min(max(0, mark.position), ViewingReport.longest)))
            return "<li><a href=\"\(place)?at=\(seconds)\" data-at=\"\(seconds)\">\(clock(seconds)) "
                + "\(escaped(mark.value))</a></li>"
        }
        return "\n<h2>\(heading)</h2>\n<ol\(tag)>\n\(items.joined(separator: "\n"))\n</ol>"
    }
}
