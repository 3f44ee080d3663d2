import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel

/// What the buttons of the page do.
struct PageActions: Sendable {
    let manager: LectureManager
    let renewals: SiteRenewals

    private var actions: LectureActions { LectureActions(manager: manager, renewals: renewals) }

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
        let lecture = try await actions.lecture(key)
        switch action {
        case .pause:
            try await manager.downloads.pause(key)
            return .paused
        case .resume, .retry:
            try await actions.resume(key)
            return .resumed
        case .cancel:
            try await manager.downloads.cancel(key)
            return .cancelled
        case .renew:
            // Servers may take minutes; the store says how it went, and the page shows it.
            try await actions.renew(key)
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
    /// - Parameter day: the day.
    /// - Returns: 303 to the calendar.
    func renewDay(_ day: CalendarDay) async -> HTTPAnswer {
        do {
            let count = try await actions.renew(endingOn: day)
            return Self.redirect("/licences", count == 0 ? .noneToRenew : .renewing)
        } catch {
            return Self.redirect("/licences", .failed, LectureError.known(error))
        }
    }

    /// Sends refused reports again.
    func retryReports() async -> HTTPAnswer {
        do {
            _ = try await actions.retryReports()
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
