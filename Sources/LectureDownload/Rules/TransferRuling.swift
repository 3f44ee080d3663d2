package import LectureFormats
package import LectureModel

/// What follows from the end of a resource's transfer. ``EndedTransfer/ruling`` decides it from values alone; the
/// engine applies it.
package enum TransferRuling: Sendable, Equatable {
    /// Nothing but what follows anyway; the word says why.
    case proceed(Decision)
    /// The item is stopped for lack of space.
    case stopForSpace(LectureError.Code)
    /// The failure may be temporary.
    case tryAgain(LectureError)
    /// This URL cannot deliver the object; another may.
    case rejectURL(LectureError)
    /// The object has changed: the received bytes are discarded.
    case discard(LectureError)
    /// The answer was refused. If only its ranges are wrong, the whole is requested.
    case refuse(LectureError.Code)
    /// The URL is no longer valid, but the bytes are.
    case renew(status: Int)
    /// The server leads to another URL.
    case follow(String)
    /// The server asks to wait.
    case wait(RetryAfter?, status: Int)
    /// A link that was taken for media is a gateway's; this is its answer.
    case readDescriptor([UInt8])
    /// The object is empty, as it should be.
    case finishEmpty
}

/// A transfer of a resource that has ended, as values: all that decides what follows from it.
package struct EndedTransfer: Sendable {
    /// How it ended.
    package var report: TransferReport
    /// The server's name, for errors.
    package var host: String
    /// The first requested byte.
    package var start: UInt64 = 0
    /// How many bytes were requested; nil for an open range.
    package var count: UInt64?
    /// Whether the request had a condition.
    package var sentIfRange = false
    /// Whether the transfer made progress.
    package var hasGained = false
    /// Whether nothing was known of the object before.
    package var isAsking = false
    /// Whether an empty object is refused that is not known to be empty.
    package var refusesEmpty = true
    /// Whether another server described the object, and can still be used.
    package var isOtherMirror = false
    /// Whether an expected digest decides in the end.
    package var digestIsKnown = false
    /// The expected length.
    package var expectedBytes: UInt64?
    /// Whether media may start with any bytes, and be empty.
    package var acceptsAny = false

    /// Describes a transfer; the other values start with those of a first transfer without expectations.
    ///
    /// - Parameters:
    ///   - report: how it ended.
    ///   - host: the server's name.
    package init(_ report: TransferReport, host: String) { (self.report, self.host) = (report, host) }

    /// What follows.
    package var ruling: TransferRuling {
        switch report.verdict {
        case nil: belowHTTP
        case .body, .noRanges: bodyEnded
        case .descriptor: descriptor
        case .empty: empty
        case .changed, .rangeBeyondEnd: changed
        case .redirect(let target): .follow(target)
        case .wait(let wait, let status): .wait(wait, status: status)
        case .renewLease(let status): .renew(status: status)
        case .retry(let code): .tryAgain(error(code))
        case .refuse(let code): .refuse(code)
        }
    }

    private func error(_ code: LectureError.Code) -> LectureError { LectureError(code, detail: host) }

    private var belowHTTP: TransferRuling {
        guard case .failed(let curl, let detail) = report.outcome.end else { return .proceed(.cancelled) }
        let error = LectureError.belowHTTP(curl, detail, host: host)
        return error.isFinalForURL ? .rejectURL(error) : .tryAgain(error)
    }

    private var bodyEnded: TransferRuling {
        switch report.cause {
        case .border: .proceed(.split)
        case .disk: .proceed(.disk)
        case .refusedHead: wrongPlace
        case .tooLong: .rejectURL(LectureError(.bodyTooLong))
        case .tooLarge: .rejectURL(LectureError(.tooLarge))
        case .firstBytes(let refusal): .rejectURL(refused(refusal))
        case .noSpace(let code): .stopForSpace(code)
        case .none: bodyEndedByItself
        }
    }

    private func refused(_ refusal: FirstBytes.Refusal) -> LectureError {
        LectureError(refusal.code, detail: host, cause: refusal.cause)
    }

    private var bodyEndedByItself: TransferRuling {
        switch report.outcome.end {
        case .complete:
            let isShort = !report.reachedEnd && count.map { report.position < start + $0 } ?? true
            if !isShort { return .proceed(.done) }
            if hasGained { return .proceed(.short) }
            if case .body(let plan) = report.verdict, let count = plan.count, report.position >= plan.first + count {
                // A complete answer with too few bytes.
                return .refuse(.rangeMismatch)
            }
            return .tryAgain(error(.bodyCut))
        case .cancelled, .stopped: return .proceed(.cancelled)
        case .failed: return belowHTTP
        }
    }

    /// A body that does not start where requested was refused.
    private var wrongPlace: TransferRuling {
        // The whole was sent while other transfers run: from now on one connection takes it from the first byte.
        guard case .body = report.verdict else { return .proceed(.cancelled) }
        // The validator has changed under a known digest; the next request leaves the condition out.
        return sentIfRange ? .proceed(.validator) : .tryAgain(error(.rangeMismatch))
    }

    private var descriptor: TransferRuling {
        guard report.outcome.end == .complete, let document = report.document else {
            return .tryAgain(LectureError(.descriptorUnreadable))
        }
        return .readDescriptor(document)
    }

    private var empty: TransferRuling {
        guard isAsking, expectedBytes ?? 0 == 0 else { return .rejectURL(LectureError(.lengthChanged)) }
        let isExpected = expectedBytes == 0 || digestIsKnown || acceptsAny
        if refusesEmpty, !isExpected, let refusal = FirstBytes.refusal([], mediaType: nil) {
            return .rejectURL(refused(refusal))
        }
        return .finishEmpty
    }

    private var changed: TransferRuling {
        if isOtherMirror { return .rejectURL(error(.mirrorDisagrees)) }
        if case .rangeBeyondEnd = report.verdict { return .discard(LectureError(.lengthChanged)) }
        return isAsking ? .rejectURL(LectureError(.lengthChanged)) : .discard(LectureError(.versionUnstable))
    }
}
