import LectureKit
import LectureModel

/// A play that is served under its token: for one program, and until it ends.
final class ServedPlay: Sendable {
    private struct State {
        var answers: [ObjectIdentifier: MediaAnswer] = [:]
        /// The program that has the play.
        var program: PeerProgram?
        /// The play is being counted, or was.
        var counting: Task<Void, any Error>?
        var end: Task<LoopbackEnding, Never>?
        var waiting: [CheckedContinuation<LoopbackEnding, Never>] = []
        /// Why it is over, or is about to be.
        var reason: LoopbackEnding?
        var ending: LoopbackEnding?
        var used: ContinuousClock.Instant
    }

    /// How many answers to its program may be under way: players read an index beside the media.
    static let mostAnswers = 8
    /// The same of an adaptive lecture: several tracks, each with the segment after the one that is played.
    static let mostAdaptiveAnswers = 24

    let token: String
    let media: ServedMedia
    /// The media; nil for an adaptive lecture, which has playlists and files.
    let whole: ServedPart?
    let events: AsyncStream<LoopbackEvent>
    private let report: AsyncStream<LoopbackEvent>.Continuation
    private let idleLimit: Duration?
    private let state: Guarded<State>

    /// Creates a play of media that was opened.
    ///
    /// - Parameters:
    ///   - media: the media.
    ///   - whole: all of it; nil for an adaptive lecture.
    ///   - idleLimit: how long it may be left unread.
    ///   - program: the only one that it is for; nil for the first one that reads it.
    init(_ media: ServedMedia, whole: ServedPart?, idleLimit: Duration?, program: PeerProgram? = nil) {
        (self.media, self.whole, self.idleLimit) = (media, whole, idleLimit)
        token = PlayToken.make()
        (events, report) = AsyncStream.makeStream(of: LoopbackEvent.self, bufferingPolicy: .bufferingNewest(64))
        state = Guarded(State(program: program, used: .now))
    }

    /// Its path: that of the media, or of the playlist to begin with.
    var path: String { media.playlistNames.first.map { "\(token)/\($0)" } ?? token }

    /// Whether nothing is served any more.
    var isOver: Bool { state.withLock { $0.end != nil } }

    /// Admits an answer.
    ///
    /// - Parameters:
    ///   - answer: the answer, which is to begin then.
    ///   - program: who asks.
    /// - Returns: nil, or why not.
    func admit(_ answer: MediaAnswer, _ program: PeerProgram) -> LoopbackRefusal? {
        state.withLock { state in
            guard state.end == nil else { return .unknownPlay }
            if let first = state.program, !first.isSame(as: program), first.isRunning { return .otherProgram }
            let most = whole == nil ? Self.mostAdaptiveAnswers : Self.mostAnswers
            guard state.answers.count < most else { return .tooMany }
            state.program = program
            state.answers[ObjectIdentifier(answer)] = answer
            return nil
        }
    }

    /// Why no more bytes are sent; nil while they are, and after a play that was closed.
    var failure: LectureError? { if case .failed(let error) = state.withLock(\.reason) { error } else { nil } }

    /// The process that has the play.
    var process: Int32? { state.withLock { $0.program?.process } }

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
                report.yield(.started)
            }
            state.counting = counting
            return counting
        }
        try await counting.value
    }

    /// Reports a refusal to the application.
    func refused(_ refusal: LoopbackRefusal) { report.yield(.refused(refusal)) }

    /// Ends the play when its licence has ended, or nothing has been read for too long. About once a second.
    func check() async {
        let isIdle = state.withLock { state in
            guard let idleLimit, state.answers.isEmpty else { return false }
            return state.used.duration(to: .now) > idleLimit
        }
        if isIdle { return await end(.closed) }
        do {
            if let error = try await media.refusal() { await end(.failed(error)) }
        } catch {
            report.yield(.failure(LectureError.known(error)))
        }
    }

    /// Ends the play, and waits for that. Only the first ending counts.
    ///
    /// - Parameter ending: why.
    func end(_ ending: LoopbackEnding) async {
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

    private func close(_ ending: LoopbackEnding) async -> LoopbackEnding {
        // A play that is being counted is over after that.
        _ = try? await state.withLock(\.counting)?.value
        do { try await media.end() } catch { report.yield(.failure(LectureError.known(error))) }
        report.finish()
        let waiting = state.withLock { state in
            state.ending = ending
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume(returning: ending) }
        return ending
    }

    /// Waits for the end.
    func ending() async -> LoopbackEnding {
        await withCheckedContinuation { continuation in
            let ending = state.withLock { state in
                if state.ending == nil { state.waiting.append(continuation) }
                return state.ending
            }
            if let ending { continuation.resume(returning: ending) }
        }
    }
}
