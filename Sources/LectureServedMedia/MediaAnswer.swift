package import LectureHTTP
import LectureKit
package import LectureModel

/// A request that is answered with media: its bytes on their way from the play to the server's thread. What it is
/// answered with is known at once, or looked up before its first bytes are read: see ``Outcome``.
///
/// They are read in windows. Those of a kept lecture are its chunks, since a chunk is checked as a whole. Where play
/// time is charged by the bytes that are read, and for what is still being downloaded, each is twice as long as the one
/// before, from 64 KiB to 1 MiB. Two at most wait to be sent. Without one the connection is suspended, so that the
/// thread waits for none.
package final class MediaAnswer: HTTPBodySource {
    private struct State {
        /// Bytes that were read and not sent; none before it is known what it is answered with.
        var ahead = ReadAhead(0..<0, most: 1)
        /// What it is answered with; nil while that is looked up.
        var outcome: Outcome?
        /// Finds out what it is answered with.
        var opening: Task<Void, Never>?
        /// Whether its first bytes, or why there are none, were passed to the server.
        var isAnswered = false
        var failure: LectureError?
    }

    /// What a request is answered with.
    package enum Outcome: Sendable, Hashable {
        /// These bytes, or their head only.
        case bytes(ServedPart, Range<Int64>, isPart: Bool)
        /// The range begins after the last of so many bytes.
        case unsatisfiable(byteCount: Int64)
        /// The lecture has no such playlist or file, or not yet.
        case missing
    }

    private static let shortest: Int64 = 1 << 16
    private static let longest: Int64 = 1 << 20
    private static let mostWindows = 2

    /// The play.
    package let play: ServedPlay
    /// The playlist or file of an adaptive lecture; nil for the media.
    private let name: String?
    private let exchange: HTTPExchange
    private let isHead: Bool
    private let send: @Sendable (MediaAnswer) -> Void
    private let state: Guarded<State>

    /// Creates an answer, which does nothing yet.
    ///
    /// - Parameters:
    ///   - play: the play.
    ///   - name: the playlist or file of an adaptive lecture; nil for the media.
    ///   - exchange: the request.
    ///   - send: answers it, once it is known how: see ``outcome`` and ``failure``. Called at most once.
    package init(
        _ play: ServedPlay, _ name: String?, on exchange: HTTPExchange,
        send: @escaping @Sendable (MediaAnswer) -> Void
    ) {
        (self.play, self.name, self.exchange, self.send) = (play, name, exchange, send)
        isHead = exchange.head.method == "HEAD"
        state = Guarded(State())
        if let whole = play.whole { settle(on: whole) }
    }

    /// What it is answered with; nil while that is looked up.
    package var outcome: Outcome? { state.withLock(\.outcome) }

    /// Whether bytes of the media are sent, and not only a head. False while that is looked up for a head.
    package var hasBytes: Bool {
        switch outcome {
        case .bytes(_, let range, _): !isHead && !range.isEmpty
        case .unsatisfiable, .missing: false
        case nil: !isHead
        }
    }

    private func settle(on part: ServedPart?) {
        let outcome: Outcome
        if let part {
            switch WantedBytes(exchange.head, byteCount: part.byteCount) {
            case .whole: outcome = .bytes(part, 0..<part.byteCount, isPart: false)
            case .part(let range): outcome = .bytes(part, range, isPart: true)
            case .unsatisfiable: outcome = .unsatisfiable(byteCount: part.byteCount)
            }
        } else {
            outcome = .missing
        }
        state.withLock { state in
            state.outcome = outcome
            guard case .bytes(_, let range, _) = outcome, state.failure == nil else { return }
            state.ahead = ReadAhead(range, most: Self.mostWindows)
        }
    }

    /// Why it cannot be answered; nil when there are bytes.
    package var failure: LectureError? { state.withLock(\.failure) }

    /// The head of the answer and its body, where there is media; nil for another outcome.
    package var head: HTTPAnswer? {
        guard case .bytes(let part, let range, let isPart) = outcome else { return nil }
        var fields = [("Content-Type", part.mediaType), ("Accept-Ranges", "bytes")]
        if isPart {
            let last = range.upperBound - 1
            fields.append(("Content-Range", "bytes \(range.lowerBound)-\(last)/\(part.byteCount)"))
        }
        let count = Int64(range.count)
        var answer = HTTPAnswer(
            isPart ? 206 : 200, fields,
            body: hasBytes ? .source(self, byteCount: count) : .head(byteCount: count))
        answer.isPatient = true
        return answer
    }

    /// Counts the play and reads the first bytes, and answers then.
    ///
    /// - Returns: false when the play has ended meanwhile; then nothing is read.
    package func begin() -> Bool {
        state.withLock { state in
            guard state.failure == nil else { return false }
            state.opening = Task { await open() }
            return true
        }
    }

    private func open() async {
        do {
            if outcome == nil { settle(on: try await play.media.part(name ?? "")) }
            guard case .bytes(let part, let range, _) = outcome, hasBytes else { return answer() }
            try await play.begin(part, at: range.lowerBound)
            state.withLock { request(&$0) }
        } catch {
            await play.end(.failed(LectureError.known(error)))
            fail(LectureError.known(error))
        }
    }

    /// Answers, unless that was done.
    private func answer() {
        let isFirst = state.withLock { state in
            defer { state.isAnswered = true }
            return !state.isAnswered
        }
        if isFirst { send(self) }
    }

    /// Copies the next bytes. On the server's thread.
    ///
    /// - Parameter buffer: where they go.
    /// - Returns: what it did.
    package func fill(_ buffer: UnsafeMutableRawBufferPointer) -> HTTPFill {
        state.withLock { state in
            guard state.failure == nil else { return .failed }
            let filled = unsafe state.ahead.fill(buffer)
            request(&state)
            return filled
        }
    }

    /// Reads the next window, if there is one and it may be in memory.
    private func request(_ state: inout State) {
        guard case .bytes(let part, let range, _) = state.outcome, state.failure == nil else { return }
        let media = play.media
        func border(_ place: Int64) -> Int64 {
            let chunk = media.chunkEnd(of: part, at: place)
            if let chunk, !media.isCharged { return chunk }
            return min(chunk ?? .max, place + min(Self.longest, place - range.lowerBound + Self.shortest))
        }
        state.ahead.advance(to: border, { window in Task { await read(part, window) } })
    }

    private func read(_ part: ServedPart, _ window: Range<Int64>) async {
        let bytes = Guarded<[UInt8]>([])
        do {
            try await play.media.read(part, range: window) { piece in
                bytes.withLock { bytes in
                    if bytes.isEmpty {
                        bytes = piece
                    } else {
                        bytes.reserveCapacity(window.count)
                        bytes += piece
                    }
                }
            }
            let read = bytes.withLock(\.self)
            guard read.count == window.count else { throw LectureError(.damaged, detail: play.media.key.text) }
            received(read)
        } catch is CancellationError {
            fail(LectureError(.cancelled))
        } catch {
            await play.end(.failed(LectureError.known(error)))
            fail(LectureError.known(error))
        }
    }

    private func received(_ bytes: [UInt8]) {
        state.withLock { state in
            state.ahead.received(bytes[...])
            request(&state)
        }
        answer()
        exchange.resume()
    }

    /// Ends the answer: no further byte is sent.
    ///
    /// - Parameter error: why.
    package func fail(_ error: LectureError) {
        let isSending: Bool? = state.withLock { state in
            guard state.failure == nil else { return nil }
            state.failure = error
            state.ahead.stop()
            state.opening?.cancel()
            return state.isAnswered
        }
        switch isSending {
        // What the system has not sent yet is little: the server's sockets have small buffers.
        case true?: exchange.disconnect()
        case false?: answer()
        case nil: break
        }
    }

    /// The server has ended the request.
    package func over() {
        state.withLock { state in
            if state.failure == nil { state.failure = LectureError(.cancelled) }
            state.ahead.stop()
            state.opening?.cancel()
        }
        play.leave(self)
    }
}
