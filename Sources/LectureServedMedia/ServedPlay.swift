import LectureKit
package import LectureModel

/// Why a play is over.
package enum ServedEnding: Sendable, Hashable {
    /// It was closed, its server was stopped, or nothing was read for too long.
    case closed
    /// It could not go on: the licence has ended, or the media cannot be read.
    case failed(LectureError)
}

/// Something that happened in a play.
package enum ServedEvent: Sendable, Hashable {
    /// The first byte is sent, and the play is counted.
    case started
    /// Something could not be stored or looked up. The play continues and tries again.
    case failure(LectureError)
    /// The play is over; nothing follows.
    case over
}

/// Why an answer is not admitted to a play.
package enum ServedRefusal: Sendable, Hashable {
    /// The play is over.
    case over
    /// Another reader has it.
    case taken
    /// Too much of it is read at once.
    case tooMany
}

/// A play that is served under its token, until it ends.
package final class ServedPlay: Sendable {
    private struct State {
        var answers: [ObjectIdentifier: MediaAnswer] = [:]
        /// The play is being counted, or was.
        var counting: Task<Void, any Error>?
        var end: Task<ServedEnding, Never>?
        var waiting: [CheckedContinuation<ServedEnding, Never>] = []
        /// Why it is over, or is about to be.
        var reason: ServedEnding?
        var ending: ServedEnding?
        var used: ContinuousClock.Instant
    }

    /// How many answers to its player may be under way: players read an index beside the media.
    package static let mostAnswers = 8
    /// The same of an adaptive lecture: several tracks, each with the segment after the one that is played.
    package static let mostAdaptiveAnswers = 24

    /// The secret part of its URL.
    package let token: String
    /// What it reads.
    package let media: ServedMedia
    /// The media; nil for an adaptive lecture, which has playlists and files.
    package let whole: ServedPart?
    private let report: @Sendable (ServedEvent) -> Void
    private let idleLimit: Duration?
    private let state: Guarded<State>

    /// Creates a play of media that was opened.
    ///
    /// - Parameters:
    ///   - media: the media.
    ///   - whole: all of it; nil for an adaptive lecture.
    ///   - idleLimit: how long it may be left unread; nil for ever.
    ///   - report: called with what happens, on any thread; never blocking.
    package init(
        _ media: ServedMedia, whole: ServedPart?, idleLimit: Duration?,
        report: @escaping @Sendable (ServedEvent) -> Void
    ) {
        (self.media, self.whole, self.idleLimit, self.report) = (media, whole, idleLimit, report)
        token = PlayToken.make()
        state = Guarded(State(used: .now))
    }

    /// Its path: that of the media, or of the playlist to begin with.
    package var path: String { media.playlistNames.first.map { "\(token)/\($0)" } ?? token }

    /// Whether nothing is served any more.
    package var isOver: Bool { state.withLock { $0.end != nil } }

    /// When its last answer was over, or it was opened; nil while it is read.
    package var leftAt: ContinuousClock.Instant? { state.withLock { $0.answers.isEmpty ? $0.used : nil } }

    /// Admits an answer.
    ///
    /// - Parameters:
    ///   - answer: the answer, which is to begin then.
    ///   - isTaken: whether another reader has the play. Called inside the lock of the play.
    ///   - take: called there once nothing is against it.
    /// - Returns: nil, or why not.
    package func admit(
        _ answer: MediaAnswer, isTaken: () -> Bool = { false }, take: () -> Void = {}
    ) -> ServedRefusal? {
        state.withLock { state in
            guard state.end == nil else { return .over }
            if isTaken() { return .taken }
            let most = whole == nil ? Self.mostAdaptiveAnswers : Self.mostAnswers
            guard state.answers.count < most else { return .tooMany }
            take()
            state.answers[ObjectIdentifier(answer)] = answer
            return nil
        }
    }

    /// Why no more bytes are sent; nil while they are, and after a play that was closed.
    package var failure: LectureError? { if case .failed(let error) = state.withLock(\.reason) { error } else { nil } }

    /// An answer is over.
    func leave(_ answer: MediaAnswer) {
        state.withLock { state in
            state.answers[ObjectIdentifier(answer)] = nil
            state.used = .now
        }
    }

    /// Counts the play with its first answer, once it is known that there are bytes.
    ///
    /// - Parameters:
    ///   - part: what is read.
    ///   - place: the first byte that is wanted.
    /// - Throws: what reads and counting throw; then the play has not begun.
    func begin(_ part: ServedPart, at place: Int64) async throws {
        guard part.isCounted else { return }
        let counting = state.withLock { state in
            if let counting = state.counting { return counting }
            let counting = Task { [media, report] in
                try await media.read(part, range: place..<place + 1) { _ in }
                try await media.start()
                report(.started)
            }
            state.counting = counting
            return counting
        }
        try await counting.value
    }

    /// Ends the play when its licence has ended, or nothing has been read for too long. About once a second.
    package func check() async {
        let isIdle = state.withLock { state in
            guard let idleLimit, state.answers.isEmpty else { return false }
            return state.used.duration(to: .now) > idleLimit
        }
        if isIdle { return await end(.closed) }
        do {
            if let error = try await media.refusal() { await end(.failed(error)) }
        } catch {
            report(.failure(LectureError.known(error)))
        }
    }

    /// Ends the play, and waits for that. Only the first ending counts.
    ///
    /// - Parameter ending: why.
    package func end(_ ending: ServedEnding) async {
        let (end, answers) = state.withLock { state in
            if let end = state.end { return (end, [MediaAnswer]()) }
            let end = Task { await close(ending) }
            (state.end, state.reason) = (end, ending)
            return (end, Array(state.answers.values))
        }
        let error: LectureError
        switch ending {
        case .closed: error = LectureError(.closing, detail: media.key.text)
        case .failed(let reason): error = reason
        }
        for answer in answers { answer.fail(error) }
        _ = await end.value
    }

    private func close(_ ending: ServedEnding) async -> ServedEnding {
        // A play that is being counted is over after that.
        _ = try? await state.withLock(\.counting)?.value
        do { try await media.end() } catch { report(.failure(LectureError.known(error))) }
        report(.over)
        let waiting = state.withLock { state in
            state.ending = ending
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume(returning: ending) }
        return ending
    }

    /// Waits for the end.
    ///
    /// - Returns: why it ended.
    package func ending() async -> ServedEnding {
        await withCheckedContinuation { continuation in
            let ending = state.withLock { state in
                if state.ending == nil { state.waiting.append(continuation) }
                return state.ending
            }
            if let ending { continuation.resume(returning: ending) }
        }
    }
}
