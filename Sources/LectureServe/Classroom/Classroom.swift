import LectureFiles
import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel
import LectureServedMedia

/// The classroom: lectures of the store, played in browsers and players.
///
/// ```
/// GET  /classroom                              the lectures
/// GET  /classroom/lectures/KEY                 one of them, to watch
/// POST /classroom/lectures/KEY/plays           opens a play
/// GET  /classroom/lectures/KEY/media           opens or continues the play of a program
/// GET  /classroom/lectures/KEY/poster          its picture
/// GET  /classroom/lectures/KEY/subtitles/N     subtitles, as WebVTT; /N/TRACK for further tracks of a file
/// GET  /classroom/plays/TOKEN[/NAME]           media of a play
/// POST /classroom/plays/TOKEN/progress         what was watched
/// POST /classroom/links                        a link to one lecture
/// GET  /classroom/open/KEY/USER/EXPIRY/SIGNATURE
/// ```
final class Classroom: SitePart {
    let manager: LectureManager
    let plays: ClassroomPlays
    let links: LectureLinks

    /// Creates the part.
    ///
    /// - Parameters:
    ///   - manager: the store.
    ///   - access: makes the sessions of links.
    ///   - options: the limits.
    ///   - clock: the clock.
    init(_ manager: LectureManager, _ access: SiteAccess, _ options: ClassroomOptions, _ clock: any LectureClock) {
        self.manager = manager
        plays = ClassroomPlays(manager, options, clock)
        links = LectureLinks(access) { clock.now() }
    }

    /// A second has gone by.
    func tick() { plays.tick() }

    /// Ends all plays.
    func stop() async { await plays.stop() }

    /// Finds what answers a path.
    func routes(_ path: [String]) -> [String: SiteRoute]? {
        guard path.first == "classroom" else { return nil }
        let rest = Array(path.dropFirst())
        switch (rest.first, rest.count) {
        case (nil, _), ("", 1): return ["GET": page { request in try await self.list(request) }]
        case ("watch.js", 1):
            return ["GET": viewer { _, _ in Self.script }]
        case ("links", 1):
            return [
                "POST": SiteRoute(.role(.operator)) { request, _ in
                    await Self.answering(request) { try self.link(request) }
                }
            ]
        case ("open", 5):
            return [
                "GET": SiteRoute(.nothing, isPage: true) { request, _ in
                    await Self.answering(request) {
                        try self.links.open(rest[1], user: rest[2], until: rest[3], rest[4])
                    }
                }
            ]
        case ("lectures", 2...5): return lectureRoutes(rest)
        case ("plays", 2...3): return playRoutes(token: rest[1], name: rest.count == 3 ? rest[2] : nil)
        default: return nil
        }
    }

    private static let script = HTTPAnswer(
        200, [("Content-Type", "text/javascript; charset=utf-8")], body: .bytes(Array(WatchScript.text.utf8)))

    private func lectureRoutes(_ rest: [String]) -> [String: SiteRoute]? {
        let segment = rest[1]
        switch (rest.count > 2 ? rest[2] : "", rest.count) {
        case ("", 2): return ["GET": page { request in try await self.watch(segment, request) }]
        case ("plays", 3):
            return [
                "POST": SiteRoute(.role(.viewer)) { request, _ in
                    await Self.answering(request) { try await self.openPlay(segment, request) }
                }
            ]
        case ("media", 3):
            return [
                "GET": viewer { request, exchange in
                    let (key, person) = try self.permitted(segment, request)
                    let play = try await self.plays.program(key, for: person)
                    guard play.served.whole != nil else { return HTTPAnswer(303, [("Location", play.path)]) }
                    return self.media(play, nil, exchange)
                }
            ]
        case ("poster", 3): return ["GET": viewer { request, _ in try await self.poster(segment, request) }]
        case ("subtitles", 4...5):
            let (number, track) = (Int(rest[3]), rest.count == 5 ? Int(rest[4]) : 0)
            return ["GET": viewer { request, _ in try await self.subtitle(segment, number, track, request) }]
        default: return nil
        }
    }

    private func playRoutes(token: String, name: String?) -> [String: SiteRoute] {
        var routes = [
            "GET": viewer { request, exchange in
                let play = try self.play(token, request)
                guard (play.served.whole == nil) == (name != nil) else { throw ClassroomRefusal.unknownPlay }
                return self.media(play, name, exchange)
            }
        ]
        if name == "progress" {
            routes["POST"] = SiteRoute(.role(.viewer)) { request, _ in
                await Self.answering(request) { try await self.progress(token, request) }
            }
        }
        return routes
    }

    // MARK: Answers

    typealias Body = @Sendable (SiteRequest, HTTPExchange) async throws -> HTTPAnswer?

    private func viewer(_ body: @escaping Body) -> SiteRoute {
        SiteRoute(.role(.viewer)) { request, exchange in
            await Self.answering(request) { try await body(request, exchange) }
        }
    }

    private func page(_ body: @escaping @Sendable (SiteRequest) async throws -> HTTPAnswer) -> SiteRoute {
        SiteRoute(.role(.viewer), isPage: true) { request, _ in
            let page = Self.page(request)
            do { return try await body(request) } catch let refusal as ClassroomRefusal {
                return page.refusal(refusal)
            } catch let refusal as SiteRefusal {
                return refusal.answer()
            } catch {
                return page.refusal(ClassroomRefusal(LectureError.known(error)))
            }
        }
    }

    /// What the pages of a request are written with.
    static func page(_ request: SiteRequest) -> ClassroomPage {
        ClassroomPage(context: PageContext(request, now: SystemTime.clock.now()))
    }

    private static func answering(
        _ request: SiteRequest, _ body: () async throws -> HTTPAnswer?
    ) async -> HTTPAnswer? {
        do {
            return try await body()
        } catch let refusal as ClassroomRefusal {
            return refusal.answer(in: PageLanguage(request.head))
        } catch let refusal as SiteRefusal {
            return refusal.answer()
        } catch {
            return ClassroomRefusal(LectureError.known(error)).answer(in: PageLanguage(request.head))
        }
    }

    /// The lecture of a path, and who asks for it: a person with a link may watch that lecture only, and learns
    /// nothing about others.
    func permitted(_ segment: String, _ request: SiteRequest) throws -> (ContentKey, SitePerson) {
        guard let person = request.person else { throw SiteRefusal.notSignedIn }
        guard let text = LectureSegment.key(segment), person.lecture == nil || person.lecture == text else {
            throw SiteRefusal.notPermitted
        }
        return (try ContentKey(text), person)
    }

    private func play(_ token: String, _ request: SiteRequest) throws -> ClassroomPlay {
        guard let person = request.person else { throw SiteRefusal.notSignedIn }
        return try plays.find(token, of: person)
    }

    /// Sends media of a play; nil, since it is answered when the first bytes are there.
    private func media(_ play: ClassroomPlay, _ name: String?, _ exchange: HTTPExchange) -> HTTPAnswer? {
        let send: @Sendable (MediaAnswer) -> Void = { exchange.answer(Self.answer($0)) }
        let media = MediaAnswer(play.served, name, on: exchange, send: send)
        // The head alone is no play, and neither are no bytes.
        guard media.hasBytes || media.outcome == nil else { return Self.answer(media) }
        if media.hasBytes, let refusal = play.served.admit(media) {
            return (refusal == .tooMany ? ClassroomRefusal.manyReads : .unknownPlay).answer()
        }
        exchange.whenOver { media.over() }
        if !media.begin() { send(media) }
        return nil
    }

    /// What a request of media is answered with, once that is known.
    private static func answer(_ media: MediaAnswer) -> HTTPAnswer {
        var answer: HTTPAnswer
        if let failure = media.failure {
            answer = (failure.code == .closing ? .unknownPlay : ClassroomRefusal(failure)).answer()
        } else if case .unsatisfiable(let count) = media.outcome {
            answer = ClassroomRefusal.range.answer([("Content-Range", "bytes */\(count)")])
        } else {
            answer = media.head ?? ClassroomRefusal.unknownPlay.answer()
        }
        answer.addSiteFields()
        return answer
    }

    /// Opens a play: as JSON for programs and the script, and as the next page for a form.
    private func openPlay(_ segment: String, _ request: SiteRequest) async throws -> HTTPAnswer {
        let (key, person) = try permitted(segment, request)
        let isForm = request.head.value("accept")?.contains("text/html") == true
        do throws(ClassroomRefusal) {
            let play = try await plays.open(key, for: person)
            guard isForm else {
                return HTTPAnswer.json(201) { json in
                    json.member("url", play.path)
                    json.member("progress", "/classroom/plays/\(play.served.token)/progress")
                }
            }
            var query = [("play", play.served.token)]
            if let at = request.form["at"].flatMap(Int.init), at > 0 { query.append(("at", "\(at)")) }
            let place = "/classroom/lectures/\(LectureSegment.text(key.text))?\(FormFields.text(query))"
            return HTTPAnswer(303, [("Location", place)])
        } catch {
            return isForm
                ? Self.page(request).refusal(error, back: segment) : error.answer(in: PageLanguage(request.head))
        }
    }

    private func progress(_ token: String, _ request: SiteRequest) async throws -> HTTPAnswer {
        let play = try play(token, request)
        guard let report = ViewingReport(request.body) else { throw ClassroomRefusal.progress }
        let isNew = try await play.diary.add(report)
        if report.state == .closed { await play.served.end(.closed) }
        return HTTPAnswer.json(200) { json in json.member("added", isNew) }
    }

    private func link(_ request: SiteRequest) throws -> HTTPAnswer {
        let form = request.form
        guard let key = form["key"], let user = form["user"], let until = form["until"].flatMap(Int64.init) else {
            throw ClassroomRefusal(LectureError(.parameter, detail: "key, user, until"))
        }
        let url = try links.make(ContentKey(key), user: user, until: until)
        return HTTPAnswer.json(201) { json in json.member("url", url) }
    }
}

extension ServedMedia {
    /// Whether it is made of playlists and files.
    var isAdaptive: Bool { !playlistNames.isEmpty }
}
