package import LectureEngine
package import LectureModel

/// The licences of a store: their ``LicenceMachine`` in the loop of the store, and what has to be decided at once, such
/// as whether a lecture may be played now.
///
/// Confined to one executor, the one on which the store's writer lives. Other threads send a ``LicenceEvent`` through
/// the ``inbox``. What is decided at once is one transaction of its own, durable when the call returns; a play and the
/// like also wait for the anchor of their row.
///
/// docs/licences.md describes what is stored when.
package final class LicenceEngine {
    /// Everything outside the rules.
    package struct Ports {
        /// The store's writer.
        package var store: any StoreWriter
        /// The lectures that the licences are for.
        package var contents: any LicensedContents
        /// Carries out HTTP exchanges.
        package var transport: any Transport
        /// Checks the tokens of answers.
        package var verifier: any AnswerVerifier
        /// Stores the newest row of the time ledger outside the store.
        package var anchors: any AnchorKeeper
        /// Both clocks.
        package var clock: any LectureClock
        /// Randomness for the first anchor, which must not be guessable.
        package var random: any RandomSource
        /// Runs blocking work on another thread, soon and in order.
        package var offload: @Sendable (@escaping @Sendable () -> Void) -> Void

        /// Collects the ports.
        package init(
            store: any StoreWriter, contents: any LicensedContents, transport: any Transport,
            verifier: any AnswerVerifier, anchors: any AnchorKeeper, clock: any LectureClock,
            random: any RandomSource, offload: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
        ) {
            (self.store, self.contents, self.transport) = (store, contents, transport)
            (self.verifier, self.anchors, self.clock) = (verifier, anchors, clock)
            (self.random, self.offload) = (random, offload)
        }
    }

    let ports: Ports
    let environment: LicenceEnvironment
    private let loop: Loop
    private let runner: Runner<LicenceMachine>
    private let exchanges: ExchangePerformer
    private let permitLifetime: Duration
    /// Plays that a server has permitted, and until when.
    private var permits: [ContentKey: BootInstant] = [:]
    /// Whether a transaction outside the steps has changed licences, so that it must end with a row of the chain.
    private var hasChanges = false
    /// Takes events from any thread.
    package var inbox: Inbox<LicenceEvent> { runner.inbox }

    /// Creates an engine. Nothing happens before ``start()``, except ``open(accepting:)``.
    ///
    /// - Parameters:
    ///   - ports: everything outside the rules.
    ///   - settings: the initial settings.
    ///   - owner: the row of this program's run.
    ///   - inbox: takes events from any thread.
    ///   - loop: runs the steps.
    package init(
        ports: Ports, settings: LicenceSettings, owner: OwnerID, inbox: Inbox<LicenceEvent>, in loop: Loop
    ) {
        (self.ports, self.loop, permitLifetime) = (ports, loop, settings.permitLifetime)
        environment = LicenceEnvironment(ports, settings)
        // After the downloads, which record where licences come from.
        runner = Runner(
            LicenceMachine(settings, owner: owner), environment: environment, inbox: inbox, rank: 1)
        exchanges = ExchangePerformer(ports.transport, clock: ports.clock) { inbox.post(.answered($0, $1)) }
    }

    /// Adds the machine to the loop; its first step is due at once.
    package func start() { loop.add(runner) }

    // MARK: Requests

    /// Asks whether a lecture may be downloaded (kind 1). The answer is one notice ``LicenceNotice/granted(_:)``.
    package func grant(_ content: ContentID, key: ContentKey) { inbox.post(.grant(content, key)) }

    /// Asks whether a lecture may be played now (kind 3). The answer is one notice ``LicenceNotice/checked(_:_:)``.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - time: how long a person waits for it.
    package func check(_ key: ContentKey, within time: Duration) {
        inbox.post(.check(key, deadline: ports.clock.boot() + time))
    }

    /// Renews a selection of licences, or continues an unfinished run of the same selection.
    ///
    /// - Parameters:
    ///   - selection: which licences.
    ///   - kind: whether new bounds are requested, or new grants for untrusted licences.
    package func renew(_ selection: RenewalSelection, _ kind: RenewalKind = .renewal) {
        inbox.post(.renew(selection, kind))
    }

    /// A lecture was removed from the disk; reports it when a server has ordered that.
    package func contentRemoved(_ key: ContentKey) { inbox.post(.removed(key)) }

    /// Changes settings.
    package func configure(_ change: LicenceSettingsChange) { inbox.post(.change(change)) }

    /// Looks up pending callbacks in the next step, whenever the next one would be due.
    package func checkPendingCallbacks() { inbox.post(.callbacksAdded) }

    /// Ends all work: requests are cancelled, claims released. The notice ``LicenceNotice/stopped`` follows.
    package func stop() { runner.stop() }

    /// Whether any request is running or waiting.
    package var isBusy: Bool { !inbox.isEmpty || runner.machine.isBusy }

    /// Whether the last step could not be committed, and is repeated.
    package var isFailing: Bool { runner.isFailing }

    /// Whether several steps have failed in a row, so that no caller should wait for the next one.
    package var isFailingRepeatedly: Bool { runner.isFailingRepeatedly }

    // MARK: Steps

    /// Takes what the last step of the loop led to, once: its effects are to be performed before the next step, each
    /// by ``perform(_:)``, in their order.
    package func take() -> CommittedStep<LicenceEffect, LicenceNotice> {
        let step = runner.take()
        for case .checked(let key, .permitted) in step.notices { permits[key] = ports.clock.boot() + permitLifetime }
        return step
    }

    /// Performs an effect of a committed step. Never blocks.
    package func perform(_ effect: LicenceEffect) {
        switch effect {
        case .exchange(let effect): exchanges.perform(effect)
        case .followRemovals: ports.contents.followRemovals()
        case .keepAnchor(let anchor):
            ports.offload { [anchors = ports.anchors, id = environment.id, inbox] in
                do throws(LectureError) {
                    try anchors.keep(anchor, of: id)
                    inbox.post(.anchored(nil))
                } catch {
                    inbox.post(.anchored(error))
                }
            }
        }
    }

    // MARK: Decided at once

    /// Looks at the licences without changing any, on one snapshot.
    ///
    /// - Returns: what `body` returns.
    func looking<Result>(_ body: (LicenceTransaction) throws -> Result) throws -> Result {
        try ports.store.read { try body(try begin($0)) }
    }

    private func begin(_ transaction: any StoreTransaction) throws -> LicenceTransaction {
        try LicenceStore(environment, transaction).begin(ports.clock)
    }

    /// Runs `body` in a transaction of its own, which ends with a row of the chain if one is due.
    ///
    /// - Returns: the matching anchor, when a row was appended.
    func writing(_ body: (inout LicenceTransaction) throws -> Void) throws -> LedgerAnchor? {
        try ports.store.transaction { rows in
            var transaction = try begin(rows)
            try body(&transaction)
            return try transaction.end(ports.random.next)
        }
    }

    /// Stores an anchor, and waits for it: without it, an older store could be put back after a kill.
    func keepNow(_ anchor: LedgerAnchor?) throws {
        if let anchor { try ports.anchors.keep(anchor, of: environment.id) }
    }

    /// Stores an anchor soon, after the next step.
    ///
    /// - Parameter anchor: of a row that is committed; nil for none.
    package func keepSoon(_ anchor: LedgerAnchor?) {
        if let anchor { inbox.post(.rowAppended(anchor)) }
    }

    // MARK: Changed by others

    /// A transaction that is still open has changed licences. A step's own transaction then ends with a row of the
    /// chain; another one ends with ``appendChanges(_:)``.
    func changed() {
        if loop.isInStep { runner.pass(.licencesChanged) } else { hasChanges = true }
    }

    /// A transaction that is still open has added a pending callback.
    func addedCallback() {
        if loop.isInStep { runner.pass(.callbacksAdded) } else { inbox.post(.callbacksAdded) }
    }

    /// Ends a transaction outside the steps: appends a row to the chain if licences were changed in it.
    ///
    /// - Parameter transaction: the rows.
    /// - Returns: the matching anchor, for ``keepSoon(_:)`` after the commit; nil without a change.
    /// - Throws: ``LectureError``: a store's or a disk's code.
    package func appendChanges(_ transaction: any StoreTransaction) throws -> LedgerAnchor? {
        defer { hasChanges = false }
        return hasChanges ? try begin(transaction).append(ports.random.next) : nil
    }

    /// Such a transaction was rolled back.
    package func dropChanges() { hasChanges = false }

    // MARK: Permits

    /// Whether a server has just permitted a play.
    func isPermitted(_ key: ContentKey, at now: BootInstant) -> Bool { permits[key].map { $0 > now } ?? false }

    /// A play was taken: the permit was for this one.
    func usePermit(_ key: ContentKey) { permits[key] = nil }
}
