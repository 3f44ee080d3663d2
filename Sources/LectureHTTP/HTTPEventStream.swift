import LectureModel

/// An answer that stays open: an event stream (WHATWG HTML, section 9.2) that any thread feeds.
///
/// What the client has not read yet is buffered up to a limit. A client that lets it fill is ended, so that memory
/// stays bounded; it reconnects and says what it has. A comment goes out when nothing else has for a while, so that
/// both ends notice a connection that is gone.
package final class HTTPEventStream: HTTPBodySource {
    private struct State {
        var buffer: [UInt8] = []
        /// How many bytes of the buffer were sent.
        var sent = 0
        var exchange: HTTPExchange?
        var quietSeconds = 0
        var isEnding = false
        var isOver = false
    }

    private let limit: Int
    private let commentSeconds: Int
    private let drained: @Sendable () -> Void
    private let ended: @Sendable () -> Void
    private let state = Guarded(State())

    /// Creates a stream, which is answered with ``start(on:_:)``.
    ///
    /// - Parameters:
    ///   - limit: how many bytes wait at most.
    ///   - commentSeconds: after how many seconds of silence a comment is sent.
    ///   - drained: called on the server's thread when everything was sent; never blocking.
    ///   - ended: called once, when the stream is over.
    package init(
        limit: Int = 256 << 10, commentSeconds: Int = 15, drained: @escaping @Sendable () -> Void = {},
        ended: @escaping @Sendable () -> Void
    ) {
        (self.limit, self.commentSeconds, self.drained, self.ended) = (limit, commentSeconds, drained, ended)
    }

    /// Answers a request with the stream.
    ///
    /// - Parameters:
    ///   - exchange: the request.
    ///   - fields: further fields of the answer.
    package func start(on exchange: HTTPExchange, _ fields: [(String, String)] = []) {
        state.withLock { $0.exchange = exchange }
        let all = [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")] + fields
        exchange.answer(HTTPAnswer(200, all, body: .source(self, byteCount: nil)))
    }

    /// Sends bytes.
    ///
    /// - Parameter bytes: whole events or comments.
    /// - Returns: false when the stream is over, or is ended because its client does not read.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        let (exchange, isTaken) = state.withLock { state in
            guard !state.isOver, !state.isEnding else { return (HTTPExchange?.none, false) }
            state.quietSeconds = 0
            guard state.buffer.count - state.sent + bytes.count <= limit else {
                state.isOver = true
                state.buffer = []
                return (state.exchange, false)
            }
            state.buffer += bytes
            return (state.exchange, true)
        }
        if isTaken { exchange?.resume() } else { exchange?.disconnect() }
        return isTaken
    }

    /// Ends the stream after what was sent.
    package func end() {
        let exchange = state.withLock { state in
            state.isEnding = true
            return state.exchange
        }
        exchange?.resume()
    }

    /// How many bytes wait.
    package var waiting: Int { state.withLock { $0.buffer.count - $0.sent } }

    /// Copies what waits.
    package func fill(_ buffer: UnsafeMutableRawBufferPointer) -> HTTPFill {
        let (result, isDrained) = state.withLock { state -> (HTTPFill, Bool) in
            if state.isOver { return (.failed, false) }
            let count = min(buffer.count, state.buffer.count - state.sent)
            guard count > 0 else { return (state.isEnding ? .end : .wait, false) }
            unsafe state.buffer[state.sent..<state.sent + count].withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
            state.sent += count
            let isDrained = state.sent == state.buffer.count
            if isDrained || state.sent >= limit {
                state.buffer.removeFirst(state.sent)
                state.sent = 0
            }
            return (.bytes(count), isDrained)
        }
        if isDrained { drained() }
        return result
    }

    /// The client is gone.
    package func over() {
        state.withLock { state in
            (state.isOver, state.buffer, state.sent, state.exchange) = (true, [], 0, nil)
        }
        ended()
    }

    /// Sends a comment after a silence.
    package func tick() {
        let isDue = state.withLock { state in
            state.quietSeconds += 1
            return state.quietSeconds >= commentSeconds && state.buffer.count == state.sent
        }
        if isDue { send(Array(":\n\n".utf8)) }
    }
}
