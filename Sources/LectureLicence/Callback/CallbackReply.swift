package import LectureEngine
import LectureFormats
package import LectureModel

/// Why an exchange failed as a whole.
package struct CallbackFault: Hashable, Sendable {
    /// The error to report.
    package var error: LectureError
    /// What it says about the origin.
    package var outcome: OriginPacer.Outcome
    /// Whether a retry is useless.
    package var isFinal = false
    /// Whether one of the items may be the cause, so that requesting each alone can help.
    package var mayBeOfOneItem = false
    /// How long the server asks to wait; nil when it does not.
    package var wait: Duration?

    /// A fault.
    package init(_ error: LectureError, _ outcome: OriginPacer.Outcome) {
        (self.error, self.outcome) = (error, outcome)
    }
}

/// What an answer says about one of the requested items.
package enum CallbackItemAnswer: Hashable, Sendable {
    /// An answer.
    case answer(CallbackAnswer)
    /// The answer is invalid.
    case unreadable(LectureError)
    /// There is no answer.
    case missing
}

/// A verified answer, item by item.
package struct CallbackReading: Sendable {
    /// What it says about each item, in the order of the questions.
    package var items: [CallbackItemAnswer]
    /// The token, for the store.
    package var token: String
    /// Its payload, whether it was verified, and when it was issued.
    package var answer: VerifiedAnswer
}

extension CallbackReading {
    /// The largest body that is read: 1 MiB.
    package static let bodyLimit = 1 << 20
}

extension ExchangeReply {
    /// Reads the token of the body. Only HTTP 200 carries an answer; the verifier refuses text before or after the
    /// token.
    ///
    /// - Returns: the token.
    /// - Throws: ``CallbackFault``.
    package func token() throws(CallbackFault) -> String {
        if case .failed(let curl, let detail) = outcome.end {
            // 28: timeout.
            throw CallbackFault(
                LectureError(.callbackTransfer(curl), cause: detail), curl == 28 ? .timedOut : .failed)
        }
        if outcome.end == .cancelled { throw CallbackFault(LectureError(.cancelled), .neutral) }
        guard let head else { throw CallbackFault(LectureError(.callbackTransfer(52)), .failed) }
        guard head.status == 200 else { throw refusal(head) }
        guard !isLong, outcome.end == .complete else {
            throw CallbackFault(
                LectureError(.answerUndecodable, cause: "more than \(CallbackReading.bodyLimit) bytes"), .unusable)
        }
        let text = body.drop { Self.isSpace($0) }
        let token = text.prefix((text.lastIndex { !Self.isSpace($0) } ?? text.startIndex - 1) + 1 - text.startIndex)
        guard !token.isEmpty else { throw CallbackFault(LectureError(.answerEmpty), .unusable) }
        guard let string = String(validating: token, as: UTF8.self) else {
            throw CallbackFault(LectureError(.answerUndecodable, cause: "the body is not UTF-8"), .unusable)
        }
        return string
    }

    /// A status that carries no answer.
    private func refusal(_ head: ResponseHead) -> CallbackFault {
        let isStatus = (300...599).contains(head.status)
        let code: LectureError.Code = isStatus ? .callbackStatus(head.status) : .answerEmpty
        var fault = CallbackFault(LectureError(code), .unusable)
        switch head.status {
        case 429, 503:
            fault.outcome = .overloaded
            fault.wait = RetryAfter(head)?.delay
        case 408, 425: fault.outcome = .timedOut
        case 300..<500: (fault.isFinal, fault.mayBeOfOneItem) = (true, true)
        default: fault.mayBeOfOneItem = true
        }
        return fault
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}

extension CallbackFault: Error {}
