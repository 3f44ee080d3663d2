import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel

/// What the buttons of the page do.
struct PageActions: Sendable {
    let manager: LectureManager

    /// The names of the buttons of a lecture, as in their paths.
    enum Action: String, Sendable, CaseIterable {
        case pause, resume, retry, cancel, renew, up, down, remove
    }

    /// Carries out an action, and leads back.
    ///
    /// - Parameters:
    ///   - action: which.
    ///   - key: the lecture.
    ///   - request: the form.
    /// - Returns: 303 to the page with the form, with a code of what was done; for a removal to the list.
    func answer(_ action: Action, _ key: ContentKey, _ request: SiteRequest) async -> HTTPAnswer {
        let form = request.form
        if action == .remove, form["confirmed"] != "yes" {
            return HTTPAnswer(303, [("Location", "\(PageContext.path(of: key))/remove")])
        }
        let back = action == .remove ? "/lectures" : PageContext.localPath(form["back"]) ?? PageContext.path(of: key)
        do {
            return Self.redirect(back, try await carryOut(action, key))
        } catch {
            return Self.redirect(back, .failed, LectureError.known(error))
        }
    }

    private func carryOut(_ action: Action, _ key: ContentKey) async throws -> PageNote {
        guard let lecture = try await manager.contents.find(key) else {
            throw LectureError(.unknownContent, detail: key.text)
        }
        switch action {
        case .pause:
            try await manager.downloads.pause(key)
            return .paused
        case .resume, .retry:
            // A process that has it in its queue continues; where there is none, this one does.
            if try await manager.contents.why(key).processes.isEmpty {
                try await manager.downloads.start(key)
            } else {
                try await manager.downloads.resume(key)
            }
            return .resumed
        case .cancel:
            try await manager.downloads.cancel(key)
            return .cancelled
        case .renew:
            renew([key])
            return .renewing
        case .up, .down:
            let priority = lecture.priority + (action == .up ? 10 : -10)
            try await manager.downloads.setPriority(min(100, max(-100, priority)), of: key)
            return .priority
        case .remove:
            try await manager.downloads.remove(key)
            return .removed
        }
    }

    /// Renews the licences that end on a day.
    ///
    /// - Parameters:
    ///   - day: the day in UTC, as in the path.
    ///   - request: the form.
    /// - Returns: 303 to the calendar.
    func renewDay(_ day: String, _ request: SiteRequest) async -> HTTPAnswer {
        do {
            let within = Duration.seconds(LicencesPage.days * 86_400)
            let page = try await manager.licences.list(expiringWithin: within, limit: 1000)
            let keys = LicencesPage.byDay(page.rows).first { $0.day == day }?.rows.map(\.licence.key) ?? []
            if !keys.isEmpty { renew(keys) }
            return Self.redirect("/licences", .renewing)
        } catch {
            return Self.redirect("/licences", .failed, LectureError.known(error))
        }
    }

    /// Begins to renew. Servers may take minutes; the store says how it went, and the page shows it.
    private func renew(_ keys: [ContentKey]) {
        let manager = manager
        Task { _ = try? await manager.licences.renew(.keys(keys)) }
    }

    /// Sends refused reports again.
    func retryReports(_ request: SiteRequest) async -> HTTPAnswer {
        do {
            var query = ReportQuery()
            query.states = [.dead]
            try await manager.reports.retry(matching: query)
            return Self.redirect("/reports", .retried)
        } catch {
            return Self.redirect("/reports", .failed, LectureError.known(error))
        }
    }

    /// Leads to a page, which shows what was done.
    static func redirect(_ path: String, _ note: PageNote, _ error: LectureError? = nil) -> HTTPAnswer {
        var fields = [("note", note.rawValue)]
        if let error { fields.append(("code", "\(error.code.number)")) }
        let joint = path.contains("?") ? "&" : "?"
        return HTTPAnswer(303, [("Location", "\(path)\(joint)\(FormFields.text(fields))")])
    }
}
