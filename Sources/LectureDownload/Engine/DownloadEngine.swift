package import LectureEngine
package import LectureModel

/// Fetches what a run of a program wants: its ``DownloadMachine`` in a loop, and the performer of its effects.
///
/// Confined to one executor, the one on which the store's writer lives. Other threads send an ``EngineEvent`` through
/// the ``inbox``. ``step()`` handles all waiting events and then reconciles target states with work, in one
/// transaction; effects (transfers, disk) and notices follow only after its commit, so that notices are never ahead of
/// the disk. Under load events gather while a commit runs, which groups commits. There is no `await`, no clock and no
/// randomness of its own: a simulation that provides the ports replays a run from its seed.
package final class DownloadEngine {
    /// Everything outside the rules.
    package struct Ports {
        /// What is stored: queue, versions, chunks, leases.
        package var index: any DownloadIndex
        /// Carries out HTTP exchanges.
        package var transport: any Transport
        /// The numbers of exchanges on that transport.
        package var numbers = TransferNumbers()
        /// The disk.
        package var files: any PartFiles
        /// Makes proofs and digests.
        package var digests: any DigestMaker
        /// Wall time for what is stored, boot time for waits.
        package var clock: any LectureClock
        /// Randomness for the jitter of a backoff.
        package var random: any RandomSource
        /// Runs blocking work away from the engine.
        package var offload: any WorkOffload
        /// The application's source of new URLs.
        package var resolver: any URLResolver
        /// Which lectures need a licence, and whether it is granted.
        package var licensing: any DownloadLicensing
        /// Decides what is sealed, and provides the ciphers.
        package var seals: any ContentSealing

        /// Collects the ports.
        package init(
            index: any DownloadIndex, transport: any Transport, files: any PartFiles, digests: any DigestMaker,
            clock: any LectureClock, random: any RandomSource, offload: any WorkOffload, resolver: any URLResolver,
            licensing: any DownloadLicensing, seals: any ContentSealing
        ) {
            self.index = index
            self.transport = transport
            self.files = files
            self.digests = digests
            self.clock = clock
            self.random = random
            self.offload = offload
            self.resolver = resolver
            self.licensing = licensing
            self.seals = seals
        }
    }

    let ports: Ports
    private let loop: Loop<DownloadMachine>
    /// The settings for what starts from the next step on.
    package private(set) var settings: DownloadSettings
    /// Takes events from any thread.
    package var inbox: Inbox<EngineEvent> { loop.inbox }

    /// Makes an engine. Nothing happens before the first ``step()``.
    ///
    /// - Parameters:
    ///   - ports: everything outside the rules.
    ///   - settings: the initial settings.
    ///   - owner: the row of this program's run, under which it leases items.
    ///   - run: which items are wanted.
    ///   - inbox: takes events from any thread.
    package init(ports: Ports, settings: DownloadSettings, owner: OwnerID, run: RunID, inbox: Inbox<EngineEvent>) {
        (self.ports, self.settings) = (ports, settings)
        let index = ports.index
        loop = Loop(
            DownloadMachine(settings, owner: owner, run: run),
            ports: Loop.Ports(
                store: DownloadStore(ports) { inbox.post($0) }, clock: ports.clock, random: ports.random,
                numbers: ports.numbers, transaction: { try index.transaction($0) }), inbox: inbox)
    }

    // MARK: Requests

    /// This program changed a target state in the store; the next step applies it.
    package func setNeedsStep() { inbox.post(.targetsChanged) }

    /// Changes the settings; they apply to what starts from now on.
    package func configure(_ settings: DownloadSettings) {
        self.settings = settings
        inbox.post(.configured(settings))
    }

    /// Publishes the finished file of a complete lecture to the user's output paths, after the next step.
    package func publish(_ content: ContentID) { inbox.post(.publish(content)) }

    /// Ends all work cleanly: received bytes are synced and committed, items go back to the queue. When the engine is
    /// idle, the notice ``EngineNotice/stopped`` follows.
    package func stop() { loop.stop() }

    // MARK: Steps

    /// Handles waiting events, reconciles, commits, and then performs the effects.
    ///
    /// - Returns: what became true, and when the next step is due at the latest; nil when only an event can change
    ///   something.
    package func step() -> (notices: [EngineNotice], next: BootInstant?) {
        let step = commit()
        for effect in step.effects { perform(effect) }
        return (step.notices, step.next)
    }

    /// Handles waiting events, reconciles and commits, and performs nothing: the first half of ``step()``. The second
    /// half is ``perform(_:)``, called with each of the effects in their order before the next step.
    package func commit() -> CommittedStep<DownloadEffect, EngineNotice> { loop.commit() }

    // MARK: What is in work

    /// Counts of this engine's life.
    package var statistics: EngineStatistics { loop.machine.shared.statistics }

    /// Whether an item is in work here.
    ///
    /// - Parameter content: the item.
    /// - Returns: false for an item that waits or that another process works on.
    package func isWorking(on content: ContentID) -> Bool { loop.machine.shared.items[content] != nil }

    /// How many items are in work, and how many files are being removed, published or checked against the rows.
    package var activeCount: Int { loop.machine.activeCount }

    /// The items in work, for a status display.
    package var progressOfActive: [DownloadProgress] { loop.machine.progressOfActive }

    /// Whether commits have failed repeatedly, so that no caller should wait for one. Commits are still retried.
    package var isFailing: Bool { loop.isFailingRepeatedly }

    /// Whether a commit failed and is about to be repeated, or its items, which are still leased, to be requeued.
    package var isRecovering: Bool { loop.isFailing || loop.machine.needsAdoption }
}
