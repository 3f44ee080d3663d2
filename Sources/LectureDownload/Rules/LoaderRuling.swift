package import LectureFormats
package import LectureModel

/// What follows from the end of the transfer that asks a gateway for the descriptor. ``EndedLoader/ruling`` decides it
/// from values alone; the engine applies it.
package enum LoaderRuling: Sendable, Equatable {
    /// Nothing; the word says why.
    case proceed(Decision)
    /// The failure may be temporary.
    case tryAgain(LectureError)
    /// The item fails.
    case fail(LectureError)
    /// The gateway has answered.
    case readDescriptor([UInt8])
    /// The link is the media itself; it is requested again as such.
    case takeAsMedia
    /// The server leads to another URL.
    case follow(String)
    /// The server asks to wait.
    case wait(RetryAfter?, status: Int)
}

/// A gateway's transfer that has ended, as values: all that decides what follows from it.
package struct EndedLoader: Sendable {
    /// How it ended.
    package var report: TransferReport
    /// The server's name, for errors.
    package var host: String
    /// Whether the item is ending, or asks the gateway again already.
    package var isLate: Bool
    /// Whether the lecture was described before, so that its link cannot be the media itself.
    package var isKnown: Bool

    /// Describes a transfer.
    ///
    /// - Parameters:
    ///   - report: how it ended.
    ///   - host: the server's name.
    ///   - isLate: whether the item is ending, or asks the gateway again already.
    ///   - isKnown: whether the lecture was described before.
    package init(_ report: TransferReport, host: String, isLate: Bool = false, isKnown: Bool = false) {
        self.report = report
        self.host = host
        self.isLate = isLate
        self.isKnown = isKnown
    }

    /// What follows.
    package var ruling: LoaderRuling {
        if isLate { return .proceed(.ended) }
        switch report.verdict {
        case nil: return belowHTTP
        case .descriptor:
            guard report.outcome.end == .complete, let document = report.document else {
                return .tryAgain(error(.descriptorUnreadable))
            }
            return .readDescriptor(document)
        case .body, .noRanges: return isKnown ? .fail(error(.descriptorUnreadable)) : .takeAsMedia
        case .redirect(let target): return .follow(target)
        case .wait(let wait, let status): return .wait(wait, status: status)
        case .retry(let code): return .tryAgain(error(code))
        case .renewLease(let status): return .fail(refusal(.status(status)))
        case .refuse(let code): return .fail(refusal(code))
        case .empty, .changed, .rangeBeyondEnd: return .fail(error(.descriptorEmpty))
        }
    }

    private func error(_ code: LectureError.Code) -> LectureError { LectureError(code, detail: host) }

    private var belowHTTP: LoaderRuling {
        guard case .failed(let curl, let detail) = report.outcome.end else { return .proceed(.cancelled) }
        let error = LectureError.belowHTTP(curl, detail, host: host)
        return error.isFinalForURL ? .fail(error) : .tryAgain(error)
    }

    /// The gateway's own reason, if the body was received and names one.
    private func refusal(_ code: LectureError.Code) -> LectureError {
        GatewayRefusal.error(code, body: report.outcome.end == .complete ? report.document : nil, host: host)
    }
}
