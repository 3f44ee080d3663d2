package import LectureEngine
package import LectureModel

/// The licences of a store: its ``LicenceMachine`` in a loop, and what has to be decided at once, such as whether a
/// lecture may be played now.
///
/// Confined to one executor, the one on which the store's writer lives. Other threads send a ``LicenceEvent`` through
/// the ``inbox``. What is decided at once is one transaction of its own, durable when the call returns; a play and the
/// like also wait for the anchor of their row.
///
/// docs/licences.md describes what is stored when.
package final class LicenceEngine {
    /// Everything outside the rules.
    package struct Ports {
        /// The stored licences.
        package var ledger: any LicenceLedger
        /// The lectures that the licences are for.
        package var contents: any LicensedContents
        /// Carries out HTTP exchanges.
        package var transport: any Transport
        /// The numbers of exchanges on that transport.
        package var numbers = TransferNumbers()
        /// Checks the tokens of answers.
        package var verifier: any AnswerVerifier
        /// Stores the newest row of the time ledger outside the store.
        package var anchors: any AnchorKeeper
        /// Both clocks.
        package var clock: any LectureClock
        /// Randomness: jitter, and session keys, which must not be guessable.
        package var random: any RandomSource
        /// Runs blocking work on another thread, soon and in order.
        package var offload: @Sendable (@escaping @Sendable () -> Void) -> Void

        /// Collects the ports.
        package init(
            ledger: any LicenceLedger, contents: any LicensedContents, transport: any Transport,
            verifier: any AnswerVerifier, anchors: any AnchorKeeper, clock: any LectureClock,
            random: any RandomSource, offload: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
        ) {
            (self.ledger, self.contents, self.transport) = (ledger, contents, transport)
            (self.verifier, self.anchors, self.clock) = (verifier, anchors, clock)
            (self.random, self.offload) = (random, offload)
        }
    }

    let ports: Ports
    let store: LicenceStore
    private let loop: Loop<LicenceMachine>
    private let exchanges: ExchangePerformer
    private let permitLifetime: Duration
    /// Plays that a server has permitted, and until when.
    private var permits: [ContentKey: BootInstant] = [:]
    /// Takes events from any thread.
    package var inbox: Inbox<LicenceEvent> { loop.inbox }
    var ledger: any LicenceLedger { ports.ledger }

    /// Creates an engine. Nothing happens before the first ``step()``, except ``open()``.
    ///
    /// - Parameters:
    ///   - ports: everything outside the rules.
    ///   - settings: the initial settings.
    ///   - owner: the row of this program's run.
    ///   - inbox: takes events from any thread.
    package init(ports: Ports, settings: LicenceSettings, owner: OwnerID, inbox: Inbox<LicenceEvent>) {
        (self.ports, permitLifetime) = (ports, settings.permitLifetime)
        let ledger = ports.ledger
        store = LicenceStore(ports, settings)
        loop = Loop(
            LicenceMachine(settings, owner: owner),
            ports: Loop.Ports(
                store: store, clock: ports.clock, random: ports.random, numbers: ports.numbers,
                transaction: { try ledger.transaction($0) }), inbox: inbox)
        exchanges = ExchangePerformer(ports.transport, clock: ports.clock) { inbox.post(.answered($0, $1)) }
    }

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
    package func stop() { loop.stop() }

    /// Whether any request is running or waiting.
    package var isBusy: Bool { !inbox.isEmpty || loop.machine.isBusy }

    /// Whether the last step could not be committed, and is repeated.
    package var isFailing: Bool { loop.isFailing }

    // MARK: Steps

    /// Handles waiting events, decides what to request next, commits, and then performs the effects.
    ///
    /// - Returns: what became true, and when the next step is due at the latest; nil when only an event can change
    ///   something.
    package func step() -> (notices: [LicenceNotice], next: BootInstant?) {
        let step = commit()
        for effect in step.effects { perform(effect) }
        return (step.notices, step.next)
    }

    /// ``step()`` without the effects, which are returned.
    package func commit() -> CommittedStep<LicenceEffect, LicenceNotice> {
        let step = loop.commit()
        for case .checked(let key, .permitted) in step.notices { permits[key] = ports.clock.boot() + permitLifetime }
        return step
    }

    /// Performs an effect of a committed step. Never blocks.
    package func perform(_ effect: LicenceEffect) {
        switch effect {
        case .exchange(let effect): exchanges.perform(effect)
        case .keepAnchor(let anchor):
            ports.offload { [anchors = ports.anchors, id = store.id, inbox] in
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

    /// Looks at the licences without changing any.
    func look() throws -> LicenceTransaction { try store.begin(ports.clock) }

    /// Runs `body` in a transaction of its own, which ends with a row of the chain if one is due.
    ///
    /// - Returns: the matching anchor, when a row was appended.
    func writing(_ body: (inout LicenceTransaction) throws -> Void) throws -> LedgerAnchor? {
        try ledger.transaction {
            var transaction = try store.begin(ports.clock)
            try body(&transaction)
            return try transaction.end(ports.random.next)
        }
    }

    /// Stores an anchor, and waits for it: without it, an older store could be put back after a kill.
    func keepNow(_ anchor: LedgerAnchor?) throws {
        if let anchor { try ports.anchors.keep(anchor, of: store.id) }
    }

    /// Stores an anchor soon, after the next step.
    func keepSoon(_ anchor: LedgerAnchor?) {
        if let anchor { inbox.post(.rowAppended(anchor)) }
    }

    /// Whether a server has just permitted a play.
    func isPermitted(_ key: ContentKey, at now: BootInstant) -> Bool { permits[key].map { $0 > now } ?? false }

    /// A play was taken: the permit was for this one.
    func usePermit(_ key: ContentKey) { permits[key] = nil }
}
