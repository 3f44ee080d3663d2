/// What an engine asks of the transport after a commit.
///
/// Effects are values: an engine decides in a transaction and queues effects, which are performed after its commit, so
/// that nothing outside the store happens that the store does not know of. Values can be compared and printed, so a
/// test checks what an engine decided without a network or a disk.
///
/// Order: the effects of a step are performed one after the other, in the order in which they were queued, and before
/// any effect of a later step. Those of a failed commit are dropped.
package enum TransferEffect: Sendable, Equatable {
    /// Starts an exchange. An exchange that is also cancelled is started first.
    case start(TransferRequest)
    /// Ends exchanges, in this order; unknown and ended ones are ignored.
    case cancel([TransferID])
    /// Limits the bytes a second of all exchanges together; nil for no limit.
    case limitRate(Int?)
}

extension TransferEffect: CustomStringConvertible {
    /// A few words, without URLs.
    package var description: String {
        switch self {
        case .start(let request):
            "start \(request.id.value)" + (request.range.map { " \($0.headerValue)" } ?? "")
        case .cancel(let ids): "cancel " + ids.map { "\($0.value)" }.joined(separator: " ")
        case .limitRate(let bound): bound.map { "limit the rate to \($0)" } ?? "do not limit the rate"
        }
    }
}

extension Transport {
    /// Performs one effect.
    ///
    /// - Parameter effect: what an engine decided in a transaction that is committed.
    package func perform(_ effect: TransferEffect) {
        switch effect {
        case .start(let request): start(request)
        case .cancel(let ids): for id in ids { cancel(id) }
        case .limitRate(let bound): limitRate(bound)
        }
    }
}

/// What an engine asks of a part file after a commit. The cases have the names of ``PartFile``'s methods.
package enum PartCommand: Sendable, Equatable {
    /// Creates or opens the file.
    case open(PartFilePlan)
    /// Syncs what is written, and reports the chunks that became durable.
    case flush
    /// Drops a half-written chunk of a transfer that ended.
    case abandon(TransferID)
    /// Computes the digest of the whole.
    case digest(total: UInt64)
    /// Gives the file its final name.
    case finalize(total: UInt64)
    /// Closes the file. It is the last command of a part file that has an effect.
    case close(deleting: Bool)
}

extension PartCommand: CustomStringConvertible {
    /// A few words.
    package var description: String {
        switch self {
        case .open(let plan): "open \(plan.path)" + (plan.resumes ? " again" : "")
        case .flush: "flush"
        case .abandon(let stream): "abandon \(stream.value)"
        case .digest(let total): "digest \(total)"
        case .finalize(let total): "finalize \(total)"
        case .close(let isDeleting): isDeleting ? "close and delete" : "close"
        }
    }
}

extension PartFile {
    /// Performs one command.
    ///
    /// - Parameter command: what an engine decided in a transaction that is committed.
    package func perform(_ command: PartCommand) {
        switch command {
        case .open(let plan): open(plan)
        case .flush: flush()
        case .abandon(let stream): abandon(stream)
        case .digest(let total): digest(total: total)
        case .finalize(let total): finalize(total: total)
        case .close(let isDeleting): close(deleting: isDeleting)
        }
    }
}

/// The result of a step whose transaction is over: what is to be done, and what is to be reported.
package struct CommittedStep<Effect: Sendable, Notice: Sendable>: Sendable {
    /// What is to be performed, in this order and before the next step.
    package var effects: [Effect]
    /// What became true.
    package var notices: [Notice]
    /// When the next step is due at the latest; nil when only an event can change something.
    package var next: BootInstant?

    /// Collects the result.
    ///
    /// - Parameters:
    ///   - effects: what is to be performed.
    ///   - notices: what became true.
    ///   - next: when the next step is due at the latest.
    package init(effects: [Effect] = [], notices: [Notice] = [], next: BootInstant? = nil) {
        (self.effects, self.notices, self.next) = (effects, notices, next)
    }
}

// MARK: Comparing

extension TransferRequest: Equatable {
    /// Sinks are compared by identity.
    package static func == (left: Self, right: Self) -> Bool {
        left.id == right.id && left.url == right.url && left.headers == right.headers && left.range == right.range
            && left.ifRange == right.ifRange && left.allowsHTTP2 == right.allowsHTTP2
            && left.stallTimeout == right.stallTimeout && left.rateLimit == right.rateLimit
            && left.body == right.body && left.totalTimeout == right.totalTimeout && left.sink === right.sink
    }
}

extension SealPlan: Equatable {
    /// Ciphers are not compared: a lecture has one.
    package static func == (left: Self, right: Self) -> Bool {
        left.isClean == right.isClean && left.committed == right.committed
    }
}
