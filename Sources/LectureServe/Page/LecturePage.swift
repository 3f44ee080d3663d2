import LectureFormats
import LectureKit
import LectureModel

/// The page of one lecture.
struct LecturePage: Sendable {
    let context: PageContext
    let manager: LectureManager
    let key: ContentKey

    /// Writes the page; nil when there is no such lecture.
    func answer() async throws -> PageContext.HTMLAnswer? {
        guard let details = try await manager.contents.details(of: key) else { return nil }
        let lecture = details.content
        let why = try await manager.contents.why(key)
        let outline = try await manager.contents.outline(of: key)
        let questions = details.licence == nil ? [] : try await manager.licences.attempts(of: key)
        let classroom = HTML(
            "a", ["href": "/classroom/lectures/\(LectureSegment.text(key.text))", "class": "action"],
            context.html(.classroom))
        let remove = HTML(
            "a", ["href": "\(PageContext.path(of: key))/remove", "class": "action bad"], context.html(.remove))
        let renew =
            details.licence == nil
            ? HTML.none : context.button("\(PageContext.path(of: key))/renew", .renew)
        let bar = [.loading, .downloading, .verifying, .queued, .stopped].contains(lecture.state)
        let active = await manager.downloads.active.first { $0.key == lecture.key }
        return context.page(
            title: lecture.title, place: .lectures,
            [
                HTML(
                    "div", ["data-part": "summary", "id": "summary"],
                    HTML("p", [:], context.state(of: lecture)),
                    bar ? context.progress(ProgressFigures(lecture, active), title: lecture.title) : .none,
                    HTML(
                        "div", ["class": "buttons"], lecture.isPlayable ? classroom : .none,
                        context.buttons(for: lecture, all: true), renew,
                        lecture.state == .removing ? .none : remove)),
                reasons(why),
                HTML("div", ["class": "columns"], facts(details, outline), licence(details.licence, questions)),
                attempts(why.attempts),
                HTML("p", [:], context.link("/lectures", context.html(.back))),
            ])
    }

    private func reasons(_ why: Diagnosis) -> HTML {
        var facts: [(PageText, HTML)] = []
        if !why.why.isEmpty { facts.append((.why, context.sentence(why.why))) }
        if !why.next.isEmpty { facts.append((.whatNext, context.sentence(why.next))) }
        if !why.remedy.isEmpty { facts.append((.remedy, context.sentence(why.remedy))) }
        let notes = why.notes.map { HTML("li", [:], context.sentence($0)) }
        return context.part(
            "why", .why, HTML("p", [:], context.sentence(why.what)), facts.isEmpty ? .none : context.facts(facts),
            notes.isEmpty ? .none : HTML("ul", [:], notes))
    }

    private func facts(_ details: ContentDetails, _ outline: ContentOutline) -> HTML {
        let (lecture, format) = (details.content, context.format)
        var facts: [(PageText, HTML)] = [
            (.key, HTML("code", [:], HTML(lecture.key.text))),
            (.type, context.html(lecture.type.pageText)),
            (.size, HTML(lecture.totalBytes.map(format.size) ?? context.text(.unknown))),
            (.priority, HTML("\(lecture.priority)")),
            (.added, format.moment(lecture.added)),
        ]
        let optional: [(PageText, String)] = [
            (.course, lecture.course), (.teacher, lecture.teacher), (.folder, lecture.folder),
            (.source, Self.origin(lecture.sourceURL)),
        ]
        facts += optional.filter { !$0.1.isEmpty }.map { ($0.0, HTML($0.1)) }
        if let length = lecture.duration { facts.append((.length, HTML(format.duration(length)))) }
        if details.resumePoint > .zero { facts.append((.resumePoint, HTML(format.duration(details.resumePoint)))) }
        if let completed = lecture.completed { facts.append((.completedAt, format.moment(completed))) }
        if let digest = lecture.sha256 {
            facts.append((.digest, HTML("code", [:], HTML(Hexadecimal.text(digest)))))
        }
        let version: PageText =
            lecture.isOutdated ? .versionOld : lecture.isPlayable ? .versionCurrent : .versionNone
        facts.append((.versions, context.html(version)))
        let subtitles = outline.subtitles.map { "\($0.name) (\($0.language))" }.joined(separator: ", ")
        facts.append((.subtitles, subtitles.isEmpty ? context.html(.noSubtitles) : HTML(subtitles)))
        return context.part("details", .details, context.facts(facts))
    }

    /// Scheme, host and port: the rest of a URL may have secrets.
    private static func origin(_ url: String) -> String { (try? Origin(url: url))?.text ?? "" }

    private func licence(_ licence: LicenceStatus?, _ questions: [LicenceQuestion]) -> HTML {
        guard let licence else {
            return context.part("licence", .licence, HTML("p", ["class": "none"], context.html(.licenceNone)))
        }
        let state =
            licence.isPlayable
            ? HTML("span", ["class": "state completed"], context.html(.licencePlayable))
            : HTML("span", ["class": "state failed"], context.html(.licenceRefused))
        var facts: [(PageText, HTML)] = [
            (.licenceEnds, licence.deadline.map { context.format.moment($0) } ?? context.html(.licenceNoEnd))
        ]
        if let left = licence.countLeft { facts.append((.playsLeft, HTML(context.format.number(left)))) }
        if let left = licence.playTimeLeft { facts.append((.playTimeLeft, HTML(context.format.duration(left)))) }
        if !licence.server.isEmpty { facts.append((.server, HTML(licence.server))) }
        if let error = licence.error { facts.append((.lastFailure, context.sentence(error.message))) }
        let reasons = licence.reasons.map { HTML("li", [:], context.html($0.pageText)) }
        return context.part(
            "licence", .licence, HTML("p", [:], state), reasons.isEmpty ? .none : HTML("ul", [:], reasons),
            context.facts(facts), self.questions(questions))
    }

    /// What was asked of the licence server, and what it has answered.
    private func questions(_ questions: [LicenceQuestion]) -> HTML {
        let rows = questions.prefix(10).map { question in
            [
                context.format.moment(question.at), HTML(question.status.map(String.init) ?? "–"),
                context.sentence("\(question.question): \(question.outcome)"),
                question.error.map { context.sentence($0.message) } ?? HTML("–"),
            ]
        }
        return rows.isEmpty ? .none : context.table([.time, .answer, .decision, .lastFailure], Array(rows))
    }

    private func attempts(_ attempts: [Attempt]) -> HTML {
        guard !attempts.isEmpty else {
            return context.part("attempts", .attempts, HTML("p", ["class": "none"], context.html(.noAttempts)))
        }
        let rows = attempts.prefix(30).map { attempt in
            let status = attempt.status.map(String.init) ?? (attempt.curlCode == 0 ? "–" : "curl \(attempt.curlCode)")
            return [
                context.format.moment(attempt.at), HTML(attempt.origin), HTML(status),
                HTML(context.format.size(attempt.bytes)), HTML(context.format.duration(attempt.duration)),
                context.sentence(
                    attempt.detail.isEmpty ? attempt.decision : "\(attempt.decision): \(attempt.detail)"),
            ]
        }
        return context.part(
            "attempts", .attempts, context.table([.time, .server, .answer, .received, .took, .decision], Array(rows)))
    }

    /// Asks before a lecture is removed.
    func confirmation() async throws -> PageContext.HTMLAnswer? {
        guard let lecture = try await manager.contents.find(key) else { return nil }
        let path = PageContext.path(of: key)
        return context.page(
            title: context.text(.removeTitle), place: .lectures,
            [
                HTML("p", ["class": "name"], HTML(lecture.title)), HTML("p", [:], context.html(.removeHelp)),
                HTML(
                    "div", ["class": "buttons"],
                    context.button("\(path)/remove", .remove, style: "bad", fields: [("confirmed", "yes")]),
                    HTML("a", ["href": path, "class": "action"], context.html(.keep))),
            ])
    }
}
