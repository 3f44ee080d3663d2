package import LectureFormats

/// How soon a step follows an event while many exchanges are under way.
///
/// A step is a transaction, with a sync of its own. Where servers are far, their answers come one by one, and each
/// would get a step; some milliseconds later there are several to handle in one. Where events come faster than steps
/// can handle them, several have gathered already, and no step waits.
package struct StepPace: Hashable, Sendable {
    /// The least time between the beginnings of two steps with few events.
    package static let interval = Duration.milliseconds(8)
    /// Steps with more events than this do not wait.
    package static let few = 6.0
    /// With fewer exchanges no step waits: they may be the parts of one task, each of which waits for the one before.
    package static let manyExchanges = 4

    private var latest: BootInstant?
    /// The events of a step that had any, a mean of the last ones.
    private var events = Self.few

    /// No step was run.
    package init() {}

    /// A step begins.
    ///
    /// - Parameters:
    ///   - boot: the boot clock.
    ///   - count: how many events it handles.
    package mutating func began(at boot: BootInstant, events count: Int) {
        latest = boot
        if count > 0 { events += (Double(count) - events) / 8 }
    }

    /// How long a step that an event asks for waits.
    ///
    /// - Parameters:
    ///   - boot: the boot clock.
    ///   - exchanges: how many are under way.
    /// - Returns: zero when it is run at once.
    package func wait(at boot: BootInstant, exchanges: Int) -> Duration {
        guard let latest, exchanges >= Self.manyExchanges, events < Self.few else { return .zero }
        return max(.zero, latest + Self.interval - boot)
    }
}
