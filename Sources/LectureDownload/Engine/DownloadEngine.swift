package import LectureEngine
package import LectureModel

/// Fetches what a run of a program wants: its ``DownloadMachine`` in the loop of the store, and the performer of its
/// effects.
///
/// Confined to one executor, the one on which the store's writer lives. Other threads send an ``EngineEvent`` through
/// the ``inbox``. A step of the ``loop`` handles all waiting events and then reconciles target states with work;
/// effects (transfers, disk) and notices follow only after its commit (``take()``), so that notices are never
/// ahead of the disk. Under load events gather while a commit runs, which groups commits. There is no `await`, no clock
/// and no randomness of its own: a simulation that provides the ports replays a run from its seed.
package final class DownloadEngine {
    /// Everything outside the rules.
    package struct Ports {
        /// Carries out HTTP exchanges.
        package var transport: any Transport
        /// The disk.
        package var files: any PartFiles
        /// Makes proofs and digests.
        package var digests: any DigestMaker
        /// Reads the manifests of adaptive lectures.
        package var xml: any XMLReading
        /// Decrypts the ends of their encrypted segments.
        package var blocks: any BlockDecrypting
        /// The local time of the timetable.
        package var clock: any LectureClock
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
            transport: any Transport, files: any PartFiles, digests: any DigestMaker, xml: any XMLReading,
            blocks: any BlockDecrypting, clock: any LectureClock, offload: any WorkOffload,
            resolver: any URLResolver, licensing: any DownloadLicensing, seals: any ContentSealing
        ) {
            self.transport = transport
            self.files = files
            self.digests = digests
            self.xml = xml
            self.blocks = blocks
            self.clock = clock
            self.offload = offload
            self.resolver = resolver
            self.licensing = licensing
            self.seals = seals
        }
    }

    let ports: Ports
    private let loop: Loop
    private let runner: Runner<DownloadMachine>
    /// The settings for what starts from the next step on.
    package private(set) var settings: DownloadSettings
    /// Takes events from any thread.
    package var inbox: Inbox<EngineEvent> { runner.inbox }

    /// Creates an engine. Nothing happens before ``start()``.
    ///
    /// - Parameters:
    ///   - ports: everything outside the rules.
    ///   - settings: the initial settings.
    ///   - owner: the row of this program's run, under which it leases items.
    ///   - run: which items are wanted.
    ///   - inbox: takes events from any thread.
    ///   - loop: runs the steps.
    package init(
        ports: Ports, settings: DownloadSettings, owner: OwnerID, run: RunID, inbox: Inbox<EngineEvent>, in loop: Loop
    ) {
        (self.ports, self.loop, self.settings) = (ports, loop, settings)
        runner = Runner(
            DownloadMachine(settings, owner: owner, run: run),
            environment: DownloadEnvironment(ports) { inbox.post($0) }, inbox: inbox, rank: 0)
    }

    /// Adds the machine to the loop; its first step is due at once.
    package func start() { loop.add(runner) }

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
    package func stop() { runner.stop() }

    // MARK: Steps

    /// Takes what the last step of the loop led to, once: its effects are to be performed before the next step, each
    /// by ``perform(_:)``, in their order.
    package func take() -> CommittedStep<DownloadEffect, EngineNotice> { runner.take() }

    // MARK: What is in work

    /// Counts of this engine's life.
    package var statistics: EngineStatistics { runner.machine.shared.statistics }

    /// Whether an item is in work here.
    ///
    /// - Parameter content: the item.
    /// - Returns: false for an item that waits or that another process works on.
    package func isWorking(on content: ContentID) -> Bool { runner.machine.shared.items[content] != nil }

    /// How many items are in work, and how many files are being removed, published or checked against the rows.
    package var activeCount: Int { runner.machine.activeCount }

    /// How many HTTP exchanges are under way.
    package var exchangeCount: Int { runner.machine.shared.transfers.pacer.runningCount }

    /// The items in work, for a status display.
    package var progressOfActive: [DownloadProgress] { runner.machine.progressOfActive }

    /// Whether commits have failed repeatedly, so that no caller should wait for one. Commits are still retried.
    package var isFailing: Bool { runner.isFailingRepeatedly }

    /// Whether a commit failed and is about to be repeated, or its items, which are still leased, to be requeued.
    package var isRecovering: Bool { runner.isFailing || runner.machine.needsAdoption }
}
