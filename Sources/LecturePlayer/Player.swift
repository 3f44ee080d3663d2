public import LectureKit

/// Options of a player.
public struct PlayerOptions: Sendable, Hashable {
    /// Where to begin; nil for where the lecture was left.
    public var start: Duration?
    /// The only part that is played; nil for the whole lecture.
    public var section: Range<Duration>?
    /// The learner in the reports; nil takes the one named by the gateway.
    public var user: String?
    /// Whether reports about what was watched are stored.
    public var reports = true
    /// How often a report is stored while it plays, where the lecture's channels do not say; nil for only at changes.
    public var reportPeriod: Duration?
    /// The language of the subtitles that are shown from the start, BCP 47; nil for none. Those of the lecture's other
    /// languages can be shown with the engine's keys.
    public var subtitleLanguage: String?
    /// The language of the subtitles that are shown beside them, at the top of the picture; nil for none.
    public var secondSubtitleLanguage: String?
    /// How long to wait for a licence server.
    public var patience: Duration = .seconds(10)

    /// Creates the default options.
    public init() {}

    /// The chapters of a lecture in the language of the subtitles, else in the first one that it has.
    func chapters(of outline: ContentOutline) -> [PlayerChapter] {
        let chosen = outline.chapters.first { $0.language == subtitleLanguage } ?? outline.chapters.first
        return (chosen?.items ?? []).map { PlayerChapter(start: .seconds($0.position), title: $0.value) }
    }

    /// The subtitles of a lecture, with those that are shown.
    func chosen(of all: [PlayerSubtitle]) -> [PlayerSubtitle] {
        var all = all
        if let place = subtitleLanguage.flatMap({ Self.place(of: $0, in: all) }) { all[place].isShown = true }
        // The same ones twice are of no use.
        if let place = secondSubtitleLanguage.flatMap({ Self.place(of: $0, in: all) }), !all[place].isShown {
            all[place].isSecond = true
        }
        return all
    }

    private static func place(of language: String, in all: [PlayerSubtitle]) -> Int? {
        all.firstIndex { $0.language == language } ?? all.firstIndex { $0.language.hasPrefix("\(language)-") }
    }
}

/// One session of a player: a kept lecture or a stream, played by a video engine under its licence.
///
/// ```swift
/// let player = Player(manager, .lecture(key), engine: try MpvEngine())
/// player.play()
/// for await event in player.events { show(event) }
/// let ending = await player.ending()
/// ```
///
/// Requests return at once, and their effect is an event. The licence is evaluated before the media is opened, and the
/// play is counted when the first picture is ready: a lecture that cannot be opened changes nothing. What is watched is
/// stored every second or so, and reported at the start, at each pause and jump, at the end, and as often as the
/// lecture's channels want.
public final class Player: Sendable {
    /// What is played.
    public let media: PlayerMedia
    /// What happens; for one reader. It ends with ``PlayerState/stopped(_:)``.
    public let events: AsyncStream<PlayerEvent>
    private let inputs: AsyncStream<PlayerInput>.Continuation
    private let session: Task<PlayerEnding, Never>

    /// Creates a player, which does nothing yet.
    ///
    /// - Parameters:
    ///   - manager: the store's manager; it must not be closed before the player has stopped.
    ///   - media: a complete lecture, or a stream.
    ///   - engine: what decodes and shows it. It belongs to this player.
    ///   - options: how to play.
    public init(
        _ manager: LectureManager, _ media: PlayerMedia, engine: any VideoEngine,
        options: PlayerOptions = PlayerOptions()
    ) {
        let (events, report) = AsyncStream.makeStream(of: PlayerEvent.self)
        let (received, inputs) = AsyncStream.makeStream(of: PlayerInput.self)
        (self.media, self.events, self.inputs) = (media, events, inputs)
        session = Task {
            let run = PlayerRun(manager, media, engine, options, inputs: inputs, report: report)
            return await run.follow(received)
        }
    }

    deinit {
        // What was watched of a dropped player is stored.
        inputs.yield(.stop)
        inputs.finish()
    }

    /// Evaluates the licence and opens the media, without playing it. ``PlayerState/prepared`` follows.
    public func prepare() { inputs.yield(.prepare) }

    /// Plays, or plays on; prepares first where that was not done.
    public func play() { inputs.yield(.play) }

    /// Pauses.
    public func pause() { inputs.yield(.pause) }

    /// Jumps.
    ///
    /// - Parameter position: from the start of the lecture; one outside the section jumps to the section's start.
    public func seek(to position: Duration) { inputs.yield(.seek(position)) }

    /// Changes the speed.
    ///
    /// - Parameter rate: 0.5 to 10; 1 is normal.
    public func setRate(_ rate: Double) { inputs.yield(.rate(rate)) }

    /// Plays a part of the lecture again and again. What is played again counts as played, and not as seen again.
    ///
    /// - Parameter part: from the start of the lecture; nil plays on.
    public func setRepeat(_ part: Range<Duration>?) { inputs.yield(.repeats(part)) }

    /// Skips the intro, where that is permitted: see ``PlayerEvent/intro(isSkippable:)``.
    public func skipIntro() { inputs.yield(.skip) }

    /// Ends the session.
    public func stop() { inputs.yield(.stop) }

    /// Waits for the end of the session. Everything is stored when this returns.
    ///
    /// - Returns: why it ended.
    public func ending() async -> PlayerEnding { await session.value }
}
