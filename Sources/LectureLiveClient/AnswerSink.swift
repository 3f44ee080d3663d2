import LectureFormats
import LectureLive
import LectureModel

/// Collects the answer of a call.
final class AnswerSink: TransferSink {
    /// What has come.
    struct Answer: Sendable {
        /// Nil when there was none.
        var status: Int?
        var body: [UInt8] = []
        var isTooLarge = false
        var retryAfter: Duration?
        var end = TransferOutcome.End.complete
    }

    /// The whole answer.
    let answer = Waiter<Answer>()
    private let limit: Int
    private let state = Guarded(Answer())

    init(limit: Int) { self.limit = limit }

    func headReceived(_ head: ResponseHead) -> Bool {
        state.withLock { ($0.status, $0.retryAfter) = (head.status, RetryAfter(head)?.delay) }
        return true
    }

    func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            state.isTooLarge = state.body.count + bytes.count > limit
            if !state.isTooLarge { unsafe state.body.append(contentsOf: bytes) }
            return !state.isTooLarge
        }
    }

    func transferEnded(_ outcome: TransferOutcome) {
        answer.answer(
            state.withLock { state in
                state.end = outcome.end
                return state
            })
    }
}

extension AnswerSink.Answer {
    /// What the server has answered.
    ///
    /// - Parameter code: the number of what was tried.
    /// - Returns: nil when there is no body, or one that is no JSON.
    /// - Throws: `LiveFailure` when it has refused, or not answered.
    func json(_ code: LiveFailure.Code) throws(LiveFailure) -> JSONValue? {
        if isTooLarge { throw LiveFailure(code, "the answer of the server is too large") }
        switch end {
        case .complete: break
        case .failed(_, let detail):
            var failure = LiveFailure(code, "the server has not answered: \(detail)")
            failure.isUnavailable = true
            throw failure
        case .stopped, .cancelled: throw LiveFailure(code, "the call was cancelled")
        }
        let value = try? JSONScanner.scan(body, limits: JSONScanner.Limits(items: 100_000))
        if let status, (200...204).contains(status) { return value }
        var failure = Self.refusal(status ?? 0, value, code)
        failure.retryAfter = retryAfter
        throw failure
    }

    /// The failure that an answer means.
    ///
    /// Only the server's word is repeated, not its sentence: that could repeat a part of the request.
    static func refusal(_ status: Int, _ value: JSONValue?, _ code: LiveFailure.Code) -> LiveFailure {
        let word = value?["errorCode"]?.string ?? ""
        let isWord =
            (1...80).contains(word.utf8.count) && word.utf8.allSatisfy { $0 == 0x5F || (0x41...0x5A).contains($0) }
        if status == 401 {
            let text = "the access token is not valid, or no longer: fetch another one"
            return LiveFailure(.unauthorized, text, serverCode: isWord ? word : "")
        }
        var failure = LiveFailure(
            code, "the server has answered \(status)\(isWord ? " (\(word))" : "")", serverCode: isWord ? word : "")
        failure.isUnavailable = status >= 500
        return failure
    }
}
