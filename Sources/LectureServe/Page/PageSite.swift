import LectureHTTP
import LectureKit
import LectureModel

/// The page of a store: HTML that works without a script, and a script that keeps it up to date.
package final class PageSite: SitePart {
    private let manager: LectureManager
    private let access: SiteAccess
    private let live: PageLive
    private let renewals: SiteRenewals
    private let seconds = Guarded(0)

    /// Creates the part.
    ///
    /// - Parameters:
    ///   - manager: the store.
    ///   - access: for signing in.
    ///   - watch: says what changes.
    ///   - renewals: what buttons begin.
    init(_ manager: LectureManager, _ access: SiteAccess, _ watch: StoreWatch, _ renewals: SiteRenewals) {
        (self.manager, self.access, self.renewals, live) = (manager, access, renewals, PageLive(watch))
    }

    /// Continues the renewals that were asked of a former server.
    package func start() async { await renewals.continueFormer() }

    /// Renewals stop; the next server continues them.
    package func stop() async { await renewals.stop() }

    /// A second has gone by.
    package func tick() {
        let isDue = seconds.withLock { seconds in
            seconds += 1
            return seconds % Self.retrySeconds == 0
        }
        if isDue { Task { [renewals] in await renewals.continueFormer() } }
    }

    /// How often renewals are tried again that the store was in the way of, in seconds.
    private static let retrySeconds = 60

    /// Finds what answers a path.
    package func routes(_ path: [String]) -> [String: SiteRoute]? {
        switch path.count {
        case 1: single(path[0])
        case 2 where path[0] == "lectures":
            page { context, manager in
                guard let key = Self.key(path[1]) else { return nil }
                return try await LecturePage(context: context, manager: manager, key: key).answer()
            }
        case 2 where path == ["reports", "retry"]: ["POST": change { page, _ in await page.retryReports() }]
        case 2 where path[0] == "licences":
            CalendarDay(path[1]).map { day in
                page { try await LicencesPage(context: $0, manager: $1).answer(day) }
            }
        case 3 where path[0] == "licences" && path[2] == "renew":
            CalendarDay(path[1]).map { day in ["POST": change { actions, _ in await actions.renewDay(day) }] }
        case 3 where path[0] == "lectures": lecture(path[1], path[2])
        default: nil
        }
    }

    private func single(_ name: String) -> [String: SiteRoute]? {
        switch name {
        case "": page { try await OverviewPage(context: $0, manager: $1).answer() }
        case "lectures": page { try await LecturesPage($0, $1).answer() }
        case "licences": page { try await LicencesPage(context: $0, manager: $1).answer() }
        case "reports": page { try await ReportsPage(context: $0, manager: $1).answer() }
        case "style.css": file("text/css; charset=utf-8", PageFiles.style, .nothing)
        case "script.js": file("text/javascript; charset=utf-8", PageFiles.script, .role(.operator))
        case "live": ["GET": SiteRoute(.role(.operator)) { [live] in live.answer($0, $1) }]
        case "sign-in": signing
        case "sign-out":
            [
                "POST": SiteRoute(.nothing) { [access] _, _ in
                    HTTPAnswer(303, [("Location", "/sign-in"), ("Set-Cookie", access.endingCookie)])
                }
            ]
        case "language": ["GET": SiteRoute(.nothing, isPage: true) { request, _ in Self.chooseLanguage(request) }]
        default: nil
        }
    }

    private func lecture(_ text: String, _ name: String) -> [String: SiteRoute]? {
        guard let action = PageActions.Action(rawValue: name), let key = Self.key(text) else { return nil }
        var routes = ["POST": change { await $0.answer(action, key, $1) }]
        if action == .remove {
            let asking = page { try await LecturePage(context: $0, manager: $1, key: key).confirmation() }
            routes["GET"] = asking["GET"]
        }
        return routes
    }

    /// The key of a segment.
    private static func key(_ segment: String) -> ContentKey? {
        LectureSegment.key(segment).flatMap { try? ContentKey($0) }
    }

    private func page(
        _ write: @escaping @Sendable (PageContext, LectureManager) async throws -> HTTPAnswer?
    ) -> [String: SiteRoute] {
        let manager = manager
        return [
            "GET": SiteRoute(.role(.operator), isPage: true) { request, _ in
                let context = PageContext(request, now: SystemTime.clock.now())
                do {
                    return try await write(context, manager) ?? context.page(404, title: context.text(.notFound), [])
                } catch {
                    let text = context.text(.failed, LectureError.known(error).message)
                    return context.page(500, title: context.text(.site), [HTML("p", ["class": "note bad"], HTML(text))])
                }
            }
        ]
    }

    private func change(
        _ carryOut: @escaping @Sendable (PageActions, SiteRequest) async -> HTTPAnswer
    ) -> SiteRoute {
        let actions = PageActions(manager: manager, renewals: renewals)
        return SiteRoute(.role(.operator)) { request, _ in await carryOut(actions, request) }
    }

    private func file(_ type: String, _ text: String, _ need: SiteRoute.Need) -> [String: SiteRoute] {
        [
            "GET": SiteRoute(need) { _, _ in
                HTTPAnswer(
                    200, [("Content-Type", type), ("Cache-Control", "no-cache")], body: .bytes(Array(text.utf8)))
            }
        ]
    }

    // MARK: Signing in

    private var signing: [String: SiteRoute] {
        let access = access
        return [
            "GET": SiteRoute(.nothing, isPage: true) { request, _ in
                Self.signInPage(request, next: request.head.parameter("next"), isWrong: false)
            },
            "POST": SiteRoute(.nothing) { request, _ in
                let (form, context) = (request.form, PageContext(request, now: SystemTime.clock.now()))
                do {
                    let token = String((form["token"] ?? "").drop { $0 == " " }.prefix { $0 != " " })
                    guard let entry = try access.signIn(token: token) else {
                        return Self.signInPage(request, next: form["next"], isWrong: true)
                    }
                    let home = entry.person.role == .operator ? "/" : "/classroom"
                    let next = PageContext.localPath(form["next"]) ?? home
                    return HTTPAnswer(303, [("Location", next), ("Set-Cookie", entry.cookie)])
                } catch {
                    return context.page(500, title: context.text(.signIn), [HTML(LectureError.known(error).message)])
                }
            },
        ]
    }

    private static func signInPage(_ request: SiteRequest, next: String?, isWrong: Bool) -> HTTPAnswer {
        let context = PageContext(request, now: SystemTime.clock.now())
        let wrong =
            isWrong
            ? HTML("p", ["class": "note bad", "id": "wrong", "role": "alert"], context.html(.wrongToken)) : .none
        let form = HTML(
            "form", ["method": "post", "action": "/sign-in", "class": "sign-in"],
            HTML("input", ["type": "hidden", "name": "next", "value": PageContext.localPath(next) ?? ""]),
            HTML("label", ["for": "token"], context.html(.token)),
            HTML(
                "input",
                [
                    "type": "password", "name": "token", "id": "token", "autocomplete": "current-password",
                    "required": "", "aria-describedby": isWrong ? "help wrong" : "help",
                    "aria-invalid": isWrong ? "true" : nil,
                ]),
            HTML("p", ["id": "help", "class": "none"], context.html(.signInHelp)),
            HTML("button", ["class": "main"], context.html(.signIn)))
        return context.page(isWrong ? 403 : 200, title: context.text(.signIn), [wrong, form])
    }

    private static func chooseLanguage(_ request: SiteRequest) -> HTTPAnswer {
        let back = PageContext.localPath(request.head.parameter("back")) ?? "/"
        guard let chosen = request.head.parameter("language").flatMap(PageLanguage.init(rawValue:)) else {
            return HTTPAnswer(303, [("Location", back)])
        }
        let cookie = "\(PageLanguage.cookie)=\(chosen.rawValue); Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax"
        return HTTPAnswer(303, [("Location", back), ("Set-Cookie", cookie)])
    }
}
