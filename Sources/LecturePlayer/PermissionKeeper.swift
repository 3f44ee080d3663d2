import LectureKit

/// Something that happened to the permission of a play.
enum PermissionNotice: Sendable {
    /// The play is over.
    case ended(LectureError)
    /// A server could not be asked. The play continues, and the server is asked again.
    case failed(LectureError)
}

/// Keeps the permission of a stream while it plays: asks its servers when that is due.
///
/// It has no timer. The session calls it about once a second, and never waits for a server after the play has started:
/// requests run in tasks of their own, which end with the play.
actor PermissionKeeper {
    private let stream: LectureStream
    private let patience: Duration
    private let clock = ContinuousClock()
    private let began: ContinuousClock.Instant
    private var timetable: PermissionTimetable
    private var requests: [PermissionTimetable.Request: Task<Void, Never>] = [:]

    /// Begins with a permission that was just given.
    ///
    /// - Parameters:
    ///   - stream: what it is for.
    ///   - permission: the permission.
    ///   - patience: how long to wait for a server.
    init(_ stream: LectureStream, _ permission: PlayPermission, patience: Duration) {
        (self.stream, self.patience, began) = (stream, patience, clock.now)
        timetable = PermissionTimetable(permission, at: .zero)
    }

    /// Does what is due before the play starts, and waits for it.
    ///
    /// - Parameter notify: gets failures that do not prevent the play.
    /// - Throws: ``LectureError`` when the play may not start.
    func start(_ notify: @Sendable (PermissionNotice) -> Void) async throws(LectureError) {
        for action in timetable.due(at: clock.now - began) {
            switch action {
            case .end(let code): throw LectureError(code, detail: stream.key.text)
            case .ask(let request):
                let error = await ask(request)
                if let error, error.code == .cancelled { throw error }
                if let notice = answered(request, error) {
                    guard case .ended(let error) = notice else {
                        notify(notice)
                        continue
                    }
                    throw error
                }
            }
        }
    }

    /// About a second has passed: sends what is due, and returns at once.
    ///
    /// - Parameter notify: gets what follows, now or later.
    func beat(_ notify: @escaping @Sendable (PermissionNotice) -> Void) {
        for action in timetable.due(at: clock.now - began) {
            switch action {
            case .end(let code): notify(.ended(LectureError(code, detail: stream.key.text)))
            case .ask(let request):
                requests[request] = Task {
                    let error = await ask(request)
                    if Task.isCancelled { return }
                    if let notice = answered(request, error) { notify(notice) }
                }
            }
        }
    }

    /// Ends: what is under way is dropped, and the registration is taken back.
    func end() async {
        for request in requests.values { request.cancel() }
        requests = [:]
        await stream.unregisterPlay()
    }

    private func ask(_ request: PermissionTimetable.Request) async -> LectureError? {
        do throws(LectureError) {
            switch request {
            case .check: try await stream.checkPermission(patience: patience)
            case .register: try await stream.registerPlay(patience: patience)
            }
            return nil
        } catch { return error }
    }

    private func answered(_ request: PermissionTimetable.Request, _ error: LectureError?) -> PermissionNotice? {
        let isOver = timetable.answered(request, error, at: clock.now - began)
        return error.map { isOver ? .ended($0) : .failed($0) }
    }
}
