package import LectureModel

/// What came of one exchange with a DRM callback.
package struct CallbackReply: Sendable {
    /// The header; nil when none came.
    package var head: ResponseHead?
    /// The body as far as it was taken.
    package var body: [UInt8]
    /// Whether the body is larger than any answer may be.
    package var isTooLarge: Bool
    /// How it ended.
    package var outcome: TransferOutcome

    /// What came.
    package init(head: ResponseHead?, body: [UInt8], isTooLarge: Bool, outcome: TransferOutcome) {
        (self.head, self.body, self.isTooLarge, self.outcome) = (head, body, isTooLarge, outcome)
    }
}

/// Why an exchange brought no answer to anything.
package struct CallbackFault: Hashable, Sendable {
    /// What is told.
    package var error: LectureError
    /// What it says about the origin.
    package var outcome: CallbackPace.Outcome
    /// Whether asking again can help.
    package var isFinal = false
    /// Whether it can be the fault of one of the items, so that asking for each alone can help.
    package var mayBeOfOneItem = false
    /// How long the server asks to wait; nil when it asks for nothing.
    package var wait: Duration?

    /// A fault.
    package init(_ error: LectureError, _ outcome: CallbackPace.Outcome) {
        (self.error, self.outcome) = (error, outcome)
    }
}

/// What an answer says about one of the items that were asked for.
package enum CallbackItemAnswer: Hashable, Sendable {
    /// An answer.
    case answer(CallbackAnswer)
    /// Something was answered that cannot be.
    case unreadable(LectureError)
    /// Nothing was answered.
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

extension CallbackReply {
    /// The largest body that is read: 1 MiB.
    package static let bodyLimit = 1 << 20

    /// Reads the token of the body. Only HTTP 200 carries an answer; text before or behind the token is refused by its
    /// verifier.
    ///
    /// - Returns: the token.
    /// - Throws: ``CallbackFault``.
    package func token() throws(CallbackFault) -> String {
        if case .failed(let curl, let detail) = outcome.end {
            // 28: the time is over.
            throw CallbackFault(
                LectureError(.callbackTransfer(curl), cause: detail), curl == 28 ? .timedOut : .failed)
        }
        if outcome.end == .cancelled { throw CallbackFault(LectureError(.cancelled), .cancelled) }
        guard let head else { throw CallbackFault(LectureError(.callbackTransfer(52)), .failed) }
        guard head.status == 200 else { throw refusal(head) }
        guard !isTooLarge, outcome.end == .complete else {
            throw CallbackFault(LectureError(.answerUndecodable, cause: "more than \(Self.bodyLimit) bytes"), .failed)
        }
        let text = body.drop { Self.isSpace($0) }
        let token = text.prefix((text.lastIndex { !Self.isSpace($0) } ?? text.startIndex - 1) + 1 - text.startIndex)
        guard !token.isEmpty else { throw CallbackFault(LectureError(.answerEmpty), .failed) }
        guard let string = String(validating: token, as: UTF8.self) else {
            throw CallbackFault(LectureError(.answerUndecodable, cause: "the body is not UTF-8"), .failed)
        }
        return string
    }

    /// A status that carries no answer.
    private func refusal(_ head: ResponseHead) -> CallbackFault {
        let isStatus = (300...599).contains(head.status)
        let code: LectureError.Code = isStatus ? .callbackStatus(head.status) : .answerEmpty
        var fault = CallbackFault(LectureError(code), .failed)
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

extension CallbackReading {
    /// Reads what a payload says about each question. Answers are matched by key and kind; two answers for one item are
    /// none that can be believed.
    ///
    /// - Parameters:
    ///   - payload: of the token.
    ///   - kind: what was asked.
    ///   - keys: the contents that were asked about.
    /// - Returns: an answer for each key.
    /// - Throws: ``LectureError`` with ``LectureError/Code/answerUnreadable``.
    package static func items(
        in payload: JSONValue, kind: CallbackAnswer.Kind, keys: [String]
    ) throws(LectureError) -> [CallbackItemAnswer] {
        guard let data = payload["data"], data.elements != nil || data.members != nil else {
            throw LectureError(.answerUnreadable, cause: "member 'data' is missing or no array")
        }
        let elements = data.elements ?? [data]
        var found: [[UInt8]: CallbackItemAnswer] = [:]
        for element in elements {
            // What is asked for alone, and answered by one element that names no content, is answered by that.
            let isOnly = keys.count == 1 && elements.count == 1
            let name = element["media_content_key"]?.string ?? (isOnly ? keys[0] : nil)
            guard let name, let answer = item(element, kind) else { continue }
            // By bytes: to `String` two spellings of a letter are one.
            let known = found.updateValue(answer, forKey: Array(name.utf8))
            if known != nil {
                found[Array(name.utf8)] = .unreadable(
                    LectureError(.answerInvalid, cause: "two answers for one content"))
            }
        }
        return keys.map { found[Array($0.utf8)] ?? .missing }
    }

    /// One element; nil when it answers another kind.
    private static func item(_ element: JSONValue, _ kind: CallbackAnswer.Kind) -> CallbackItemAnswer? {
        do throws(LectureError) {
            let answer = try CallbackAnswer(element)
            return answer.kind == kind ? .answer(answer) : nil
        } catch {
            if let other = element["kind"]?.integer, other != Int64(kind.rawValue), (1...3).contains(other) {
                return nil
            }
            return .unreadable(LectureError(.answerInvalid, cause: error.detail))
        }
    }
}

/// Takes what comes of one exchange and hands it over in one piece. Used by the transport's thread only, except for
/// ``post``, which may be called from anywhere.
final class CallbackSink: TransferSink {
    private struct State {
        var head: ResponseHead?
        var body: [UInt8] = []
        var isTooLarge = false
    }

    private let state = Guarded(State())
    private let post: @Sendable (CallbackReply) -> Void

    init(_ post: @escaping @Sendable (CallbackReply) -> Void) { self.post = post }

    func headReceived(_ head: ResponseHead) -> Bool {
        state.withLock { $0.head = head }
        return true
    }

    func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            // Trimming takes white space away, so a little more than the limit may be a good answer; nobody sends it.
            if state.body.count + bytes.count > CallbackReply.bodyLimit {
                (state.isTooLarge, state.body) = (true, [])
                return false
            }
            unsafe state.body.append(contentsOf: bytes)
            return true
        }
    }

    func transferEnded(_ outcome: TransferOutcome) {
        let state = state.withLock { $0 }
        post(CallbackReply(head: state.head, body: state.body, isTooLarge: state.isTooLarge, outcome: outcome))
    }
}
