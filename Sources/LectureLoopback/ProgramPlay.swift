import LectureKit
import LectureModel
import LectureServedMedia

/// A play that is served for one program.
final class ProgramPlay: Sendable {
    let served: ServedPlay
    let events: AsyncStream<LoopbackEvent>
    private let report: AsyncStream<LoopbackEvent>.Continuation
    /// The program that has the play.
    private let program: Guarded<PeerProgram?>

    /// Creates a play of media that was opened.
    ///
    /// - Parameters:
    ///   - media: the media.
    ///   - whole: all of it; nil for an adaptive lecture.
    ///   - idleLimit: how long it may be left unread.
    ///   - program: the only one that it is for; nil for the first one that reads it.
    init(_ media: ServedMedia, whole: ServedPart?, idleLimit: Duration?, program: PeerProgram? = nil) {
        let (events, report) = AsyncStream.makeStream(
            of: LoopbackEvent.self, bufferingPolicy: .bufferingNewest(64))
        (self.events, self.report, self.program) = (events, report, Guarded(program))
        served = ServedPlay(media, whole: whole, idleLimit: idleLimit) { event in
            switch event {
            case .started: report.yield(.started)
            case .failure(let error): report.yield(.failure(error))
            case .over: report.finish()
            }
        }
    }

    /// The process that has the play.
    var process: Int32? { program.withLock { $0?.process } }

    /// Admits an answer.
    ///
    /// - Parameters:
    ///   - answer: the answer, which is to begin then.
    ///   - program: who asks.
    /// - Returns: nil, or why not.
    func admit(_ answer: MediaAnswer, _ program: PeerProgram) -> LoopbackRefusal? {
        let refusal = served.admit(
            answer,
            isTaken: { self.program.withLock { $0.map { !$0.isSame(as: program) && $0.isRunning } ?? false } },
            take: { self.program.withLock { $0 = program } })
        return switch refusal {
        case .over: .unknownPlay
        case .taken: .otherProgram
        case .tooMany: .tooMany
        case nil: nil
        }
    }

    /// Reports a refusal to the application.
    func refused(_ refusal: LoopbackRefusal) { report.yield(.refused(refusal)) }

    /// Waits for the end.
    func ending() async -> LoopbackEnding {
        switch await served.ending() {
        case .closed: .closed
        case .failed(let error): .failed(error)
        }
    }
}

extension ServedMedia {
    /// Asks the licence, or the server of a stream. Nothing is counted.
    static func open(
        _ media: LoopbackMedia, _ manager: LectureManager, patience: Duration
    ) async throws -> Self {
        switch media {
        case .lecture(let key): try await lecture(key, manager, patience: patience)
        case .stream(let url): .stream(try await manager.streams.open(url))
        }
    }
}
