import LectureFormats
import LectureHTTP
import LectureModel

/// Judges every request, and passes it to the part of the site that has its path.
///
/// ```
/// head ──▶ host, path ──▶ route, method ──▶ who asks ──▶ role, form token ──▶ the part answers
///            421, 400        404, 405          │               401, 403
///                                              └── unknown, a page: to the sign-in page
/// ```
final class SiteHandler: HTTPHandler {
    private let rules: SiteRules
    private let access: SiteAccess
    private let parts: [any SitePart]

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - rules: which requests are answered at all.
    ///   - access: who a client is.
    ///   - parts: the parts; the first one that has a path answers it.
    init(_ rules: SiteRules, _ access: SiteAccess, _ parts: [any SitePart]) {
        (self.rules, self.access, self.parts) = (rules, access, parts)
    }

    /// Answers a request. On the server's thread: what takes time runs in a task.
    func handle(_ exchange: HTTPExchange) {
        do throws(SiteRefusal) {
            try rules.checkHost(exchange.head)
            let path = try rules.path(exchange.head)
            let method = exchange.head.method == "HEAD" ? "GET" : exchange.head.method
            guard let routes = parts.lazy.compactMap({ $0.routes(path) }).first else { throw .unknownPath }
            guard let route = routes[method] else {
                return refuse(.method, [("Allow", Self.methods(routes))], on: exchange)
            }
            let isForeign = rules.isFromOtherSite(exchange.head)
            if isForeign, method != "GET" || !route.isPage || !rules.isNavigation(exchange.head) {
                throw .foreignOrigin
            }
            Task { await answer(exchange, by: route, method: method, path) }
        } catch {
            refuse(error, on: exchange)
        }
    }

    /// A body is too long.
    func tooLong(_ head: HTTPRequestHead) -> HTTPAnswer? {
        guard head.isForAPI else { return nil }
        var answer = APIProblem.tooLong.answer()
        answer.addSiteFields()
        return answer
    }

    /// A second has gone by.
    func tick() { for part in parts { part.tick() } }

    private static func methods(_ routes: [String: SiteRoute]) -> String {
        (routes.keys.sorted() + (routes["GET"] == nil ? [] : ["HEAD"])).joined(separator: ", ")
    }

    private func answer(
        _ exchange: HTTPExchange, by route: SiteRoute, method: String, _ path: [String]
    ) async {
        do {
            let proof = try access.proof(exchange.head)
            if proof == nil, exchange.head.value("authorization") != nil, isOneTooMany(exchange) { return }
            var head = exchange.head
            head.method = method
            let request = SiteRequest(
                head: head, path: path, body: exchange.body, peer: exchange.peer, person: proof?.person,
                formToken: proof?.formToken)
            if case .role(let role) = route.need {
                guard let proof else { return askForProof(route, exchange) }
                guard proof.person.role.includes(role) else { throw SiteRefusal.notPermitted }
                if method != "GET", let token = proof.formToken {
                    let sent = request.head.value("x-form-token") ?? request.form["form_token"] ?? ""
                    guard SiteAccess.isSame(sent, token) else { throw SiteRefusal.formToken }
                }
            }
            guard let answer = await route.answer(request, exchange) else { return }
            let isWrong = method == "POST" && path == ["sign-in"] && (400..<500).contains(answer.status)
            if isWrong, isOneTooMany(exchange) { return }
            send(answer, on: exchange)
        } catch let refusal as SiteRefusal {
            refuse(refusal, on: exchange)
        } catch {
            let error = LectureError.known(error)
            send(exchange.head.isForAPI ? APIProblem(error).answer() : .failure(error), on: exchange)
        }
    }

    private func refuse(_ refusal: SiteRefusal, _ fields: [(String, String)] = [], on exchange: HTTPExchange) {
        send(exchange.head.isForAPI ? APIProblem(refusal).answer(fields) : refusal.answer(fields), on: exchange)
    }

    /// Counts a wrong token, and refuses it where there have been many: a right one is always taken, since many people
    /// may have one address.
    private func isOneTooMany(_ exchange: HTTPExchange) -> Bool {
        guard let seconds = access.countWrongToken(from: rules.address(of: exchange.head, exchange.peer)) else {
            return false
        }
        refuse(.wrongTokens, [("Retry-After", "\(seconds)")], on: exchange)
        return true
    }

    /// The client has to sign in first.
    private func askForProof(_ route: SiteRoute, _ exchange: HTTPExchange) {
        guard route.isPage, exchange.head.method == "GET", exchange.head.value("authorization") == nil else {
            return refuse(.notSignedIn, Self.challenges(exchange.head), on: exchange)
        }
        let next = FormFields.text([("next", exchange.head.address())])
        send(HTTPAnswer(303, [("Location", "/sign-in?\(next)")]), on: exchange)
    }

    /// How to prove who one is. Players send the name and the token of their URL only once they are asked for them
    /// (`Basic`); a browser would ask for a password instead, and gets a session by the sign-in page.
    private static func challenges(_ head: HTTPRequestHead) -> [(String, String)] {
        let bearer = ("WWW-Authenticate", "Bearer realm=\"LectureKit\"")
        guard head.value("sec-fetch-mode") == nil else { return [bearer] }
        return [bearer, ("WWW-Authenticate", "Basic realm=\"LectureKit\", charset=\"UTF-8\"")]
    }

    /// Sends an answer with the fields that all of them have.
    private func send(_ answer: HTTPAnswer, on exchange: HTTPExchange) {
        var answer = answer
        answer.addSiteFields()
        if exchange.head.method == "HEAD", case .bytes(let bytes) = answer.body {
            answer.body = .head(byteCount: Int64(bytes.count))
        }
        exchange.answer(answer)
    }

    /// Only this site's own style, script, pictures and media; in no frame; nothing stored by caches.
    static let fields = [
        ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("X-Frame-Options", "DENY"),
        (
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; media-src 'self'; "
                + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
    ]
}

extension HTTPEventStream {
    /// Answers a request of the site with the stream.
    func startOnSite(_ exchange: HTTPExchange) {
        start(on: exchange, SiteHandler.fields.filter { $0.0 != "Cache-Control" })
    }

    /// The answer to a request for the head of a stream, which has none that could end; nil for another request.
    static func headOnly(_ exchange: HTTPExchange) -> HTTPAnswer? {
        exchange.head.method == "HEAD" ? HTTPAnswer(200, [("Content-Type", "text/event-stream")]) : nil
    }
}

extension HTTPAnswer {
    /// Adds the fields that every answer of the site has, where it has none of its own.
    mutating func addSiteFields() {
        for (name, value) in SiteHandler.fields where !fields.contains(where: { $0.name == name }) {
            fields.append(HTTPField(name: name, value: value))
        }
    }

    /// An answer that says what went wrong, in the words of `--json`.
    ///
    /// - Parameter error: the error.
    /// - Returns: 404 for what is not there, 400 for a parameter, 403 for a licence that does not permit it, 409 for a
    ///   state in which it is not possible, 503 for what may be tried again, else 500.
    static func failure(_ error: LectureError) -> Self {
        json(status(of: error.code)) { json in
            json.member("event", "error")
            json.member("code", error.code.number)
            json.member("name", error.code.name)
            json.member("message", error.message)
        }
    }

    /// Whether the same may be possible later.
    ///
    /// - Parameter error: what was in the way.
    /// - Returns: true for what is answered with 503.
    static func isPassing(_ error: LectureError) -> Bool { status(of: error.code) == 503 }

    /// The status for an error of the store.
    ///
    /// - Parameter code: what happened.
    /// - Returns: see ``failure(_:)``.
    static func status(of code: LectureError.Code) -> Int {
        switch code {
        case .unknownContent, .unknownCourse, .licenceMissing: 404
        case .parameter, .urlScheme, .urlInvalid, .headerInvalid, .headerReserved, .courseLine, .nameRefused: 400
        case .alreadyDownloaded, .alreadyDownloading, .notComplete, .notLoaded, .notRemovable, .notDownloadable,
            .removalWaits, .reportsUnderWay, .sourceUnknown:
            409
        case .closing, .cancelled, .storeBusy, .leaseLost, .storeReadOnly, .storageFull, .quota: 503
        default: 500
        }
    }
}
