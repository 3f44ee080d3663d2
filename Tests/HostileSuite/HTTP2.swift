import Foundation
import LectureModel

/// How a listener speaks HTTP/2 (RFC 9113).
package struct HTTP2Manner: Sendable {
    /// TLS below it.
    package var security = Security()
    /// The protocols offered by ALPN, the best first.
    package var offers = ["h2", "http/1.1"]
    /// Whether HTTP/1.1 is spoken although HTTP/2 was negotiated.
    package var speaksHTTP1 = false
    /// The first SETTINGS: identifiers and values (RFC 9113 section 6.5.2).
    package var settings: [(identifier: UInt16, value: UInt32)] = [(3, 100)]
    /// Whether DATA is sent whatever the client's window is.
    package var ignoresWindows = false
    /// On how many connections, from the first on, the client's WINDOW_UPDATE frames are ignored.
    package var deafConnections = 0
    /// Runs after the first SETTINGS; false when the connection is not served afterwards.
    package var opening: (@Sendable (HTTP2) -> Bool)?

    /// An honest one.
    package init() {}

    /// Honest except for some changes.
    ///
    /// - Parameter change: makes them.
    package init(_ change: (inout HTTP2Manner) -> Void) { change(&self) }
}

/// A frame of HTTP/2, well formed or not.
package struct HTTP2Frame: Sendable {
    /// The types of RFC 9113 section 6.
    package enum Kind: UInt8, Sendable {
        /// A body's bytes, fields, a priority, the end of a stream, settings, a promise, a ping, the end of a
        /// connection, more window, more fields.
        case data, headers, priority, reset, settings, promise, ping, goAway, window, continuation
    }

    /// The type; not always one of ``Kind``.
    package var type: UInt8
    /// The flags.
    package var flags: UInt8 = 0
    /// The stream; 0 for the connection.
    package var stream: Int
    /// Its payload.
    package var payload: [UInt8] = []

    /// A frame.
    ///
    /// - Parameters:
    ///   - kind: the type.
    ///   - stream: the stream; 0 for the connection.
    ///   - flags: END_STREAM or ACK is 1, END_HEADERS 4, PADDED 8, PRIORITY 32.
    ///   - payload: its bytes.
    package init(_ kind: Kind, on stream: Int, flags: UInt8 = 0, _ payload: [UInt8] = []) {
        self.init(type: kind.rawValue, on: stream, flags: flags, payload)
    }

    /// A frame of any type.
    ///
    /// - Parameters:
    ///   - type: the type.
    ///   - stream: the stream; 0 for the connection.
    ///   - flags: as defined by the type.
    ///   - payload: its bytes.
    package init(type: UInt8, on stream: Int, flags: UInt8 = 0, _ payload: [UInt8] = []) {
        (self.type, self.stream, self.flags, self.payload) = (type, stream, flags, payload)
    }

    /// Its encoding on the wire (RFC 9113 section 4.1).
    package var bytes: [UInt8] { HTTP2.big(payload.count, 3) + [type, flags] + HTTP2.big(stream, 4) + payload }
}

/// HTTP/2 as an unscrupulous server speaks it. The connection's thread reads, and each stream has a thread.
///
/// `@unchecked Sendable`: `state` is only touched while `condition` is locked; everything else is constant.
package final class HTTP2: @unchecked Sendable {
    private struct State {
        var window = 65_535
        var initialWindow = 65_535
        /// The windows of open streams.
        var windows: [Int: Int] = [:]
        /// Threads of streams.
        var threads = 0
        var isOver = false
    }

    /// The connection's number at its listener, from 1.
    package var ordinal: Int { wire.ordinal }
    let wire: TLSWire
    let journal: Journal
    private let manner: HTTP2Manner
    private let edge: Int
    private let connection: Int
    private let play: @Sendable (Asked, Int) -> Reply
    private let condition = NSCondition()
    private let sending = NSLock()
    private var state = State()

    init(
        _ wire: TLSWire, _ manner: HTTP2Manner, _ journal: Journal, edge: Int, connection: Int,
        _ play: @escaping @Sendable (Asked, Int) -> Reply
    ) {
        (self.wire, self.manner, self.journal) = (wire, manner, journal)
        (self.edge, self.connection, self.play) = (edge, connection, play)
    }

    static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    static func number(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    /// Serves a connection to its end.
    func serve() {
        if read(24) == Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) {
            let settings = manner.settings.flatMap { Self.big(Int($0.identifier), 2) + Self.big(Int($0.value), 4) }
            send(HTTP2Frame(.settings, on: 0, settings))
            let isServed = manner.opening?(self) ?? true
            var inflater = HeaderInflater()
            while let frame = readFrame(), !isServed || handle(frame, &inflater) {}
        }
        condition.withLock {
            state.isOver = true
            condition.broadcast()
        }
        wire.hangUp()
        // Their descriptor must not be closed, and perhaps reused, while they send.
        condition.withLock { while state.threads > 0 { condition.wait() } }
        wire.cut()
    }

    /// Sends a frame.
    ///
    /// - Parameter frame: well formed or not.
    /// - Returns: false when the client is gone.
    @discardableResult package func send(_ frame: HTTP2Frame) -> Bool { send(frame.bytes) }

    /// Sends bytes that need not be a frame.
    ///
    /// - Parameter bytes: what to send.
    /// - Returns: false when the client is gone.
    @discardableResult package func send(_ bytes: [UInt8]) -> Bool { sending.withLock { wire.send(bytes[...]) } }

    /// Sends GOAWAY.
    ///
    /// - Parameters:
    ///   - last: the last stream that was or might be processed.
    ///   - code: the error (RFC 9113 section 7).
    package func goAway(last: Int, _ code: Int = 0) {
        send(HTTP2Frame(.goAway, on: 0, Self.big(last, 4) + Self.big(code, 4)))
    }

    /// Ends sending; input is read until the client has left.
    ///
    /// - Parameter inGoodOrder: whether `close_notify` comes before FIN.
    package func endSending(inGoodOrder: Bool) { sending.withLock { wire.endSending(inGoodOrder: inGoodOrder) } }

    /// Waits until the connection is over, the stream is, or the time has passed.
    func pause(_ milliseconds: Int, on stream: Int) -> Bool {
        let end = Date(timeIntervalSinceNow: Double(milliseconds) / 1000)
        return condition.withLock {
            while !state.isOver, state.windows[stream] != nil { if !condition.wait(until: end) { return true } }
            return false
        }
    }

    /// Waits for window (RFC 9113 section 5.2).
    ///
    /// - Parameters:
    ///   - wanted: bytes.
    ///   - stream: the stream.
    /// - Returns: how many bytes may be sent; 0 when the client no longer accepts any.
    package func reserve(_ wanted: Int, on stream: Int) -> Int {
        // The smallest limit that every client must accept.
        let most = min(wanted, 16_384)
        return condition.withLock {
            while !state.isOver, let window = state.windows[stream] {
                let allowed = manner.ignoresWindows ? most : min(most, state.window, window)
                if allowed > 0 {
                    state.window -= allowed
                    state.windows[stream] = window - allowed
                    return allowed
                }
                condition.wait()
            }
            return 0
        }
    }

    // MARK: What the client sends

    private func read(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = wire.read(count - bytes.count)
            if more.isEmpty { return [] }
            bytes += more
        }
        return bytes
    }

    private func readFrame() -> HTTP2Frame? {
        let head = read(9)
        guard head.count == 9 else { return nil }
        let count = Self.number(head[..<3])
        guard count <= 1 << 16 else { return nil }
        let payload = read(count)
        guard payload.count == count else { return nil }
        return HTTP2Frame(type: head[3], on: Self.number(head[5...]) & 0x7FFF_FFFF, flags: head[4], payload)
    }

    private func handle(_ frame: HTTP2Frame, _ inflater: inout HeaderInflater) -> Bool {
        switch HTTP2Frame.Kind(rawValue: frame.type) {
        case .settings where frame.flags & 1 == 0:
            take(settings: frame.payload)
            send(HTTP2Frame(.settings, on: 0, flags: 1))
        case .ping where frame.flags & 1 == 0: send(HTTP2Frame(.ping, on: 0, flags: 1, frame.payload))
        case .window where ordinal > manner.deafConnections: widen(frame.stream, by: Self.number(frame.payload))
        case .reset: close(frame.stream)
        case .headers: return request(frame, &inflater)
        default: break
        }
        return true
    }

    private func take(settings: [UInt8]) {
        for start in stride(from: 0, to: settings.count - 5, by: 6)
        where Self.number(settings[start..<start + 2]) == 4 {
            let value = Self.number(settings[start + 2..<start + 6])
            condition.withLock {
                let change = value - state.initialWindow
                state.initialWindow = value
                for stream in state.windows.keys { state.windows[stream, default: 0] += change }
                condition.broadcast()
            }
        }
    }

    private func widen(_ stream: Int, by count: Int) {
        condition.withLock {
            if stream == 0 { state.window += count } else { state.windows[stream]? += count }
            condition.broadcast()
        }
    }

    private func close(_ stream: Int) {
        condition.withLock {
            state.windows[stream] = nil
            condition.broadcast()
        }
    }

    private func request(_ frame: HTTP2Frame, _ inflater: inout HeaderInflater) -> Bool {
        var block = frame.payload[...]
        if frame.flags & 8 != 0 { block = block.dropFirst().dropLast(Int(frame.payload.first ?? 0)) }
        if frame.flags & 32 != 0 { block = block.dropFirst(5) }
        var isWhole = frame.flags & 4 != 0
        while !isWhole {
            guard let more = readFrame(), more.type == HTTP2Frame.Kind.continuation.rawValue else { return false }
            block += more.payload
            isWhole = more.flags & 4 != 0
        }
        guard let fields = inflater.inflate(Array(block)) else { return false }
        let value = { name in fields.first { $0.name == name }?.value ?? "" }
        let asked = Asked(
            method: value(":method"), target: value(":path"), fields: fields.filter { !$0.name.hasPrefix(":") },
            version: "HTTP/2")
        let number = journal.record(asked, edge: edge, connection: connection)
        let stream = HTTP2Stream(link: self, id: frame.stream, number: number, isHead: asked.method == "HEAD")
        condition.withLock {
            state.windows[frame.stream] = state.initialWindow
            state.threads += 1
        }
        Thread.detachNewThread { [self] in
            stream.follow(play(asked, number))
            condition.withLock {
                state.threads -= 1
                condition.broadcast()
            }
        }
        return true
    }
}

/// One exchange over HTTP/2, on a thread of its own.
package struct HTTP2Stream: Sendable {
    /// The connection.
    package let link: HTTP2
    /// The stream's number.
    package let id: Int
    let number: Int
    let isHead: Bool

    func follow(_ reply: Reply) {
        switch reply {
        case .answer(let answer): give(answer)
        case .frames(_, let script): script(self)
        case .raw, .script: reset(2)
        }
        link.journal.change(number) { $0.isOver = true }
    }

    /// Sends a frame on this stream.
    ///
    /// - Parameters:
    ///   - kind: its type.
    ///   - flags: END_STREAM or ACK is 1, END_HEADERS 4, PADDED 8, PRIORITY 32.
    ///   - payload: its bytes.
    package func send(_ kind: HTTP2Frame.Kind, flags: UInt8 = 0, _ payload: [UInt8] = []) {
        link.send(HTTP2Frame(kind, on: id, flags: flags, payload))
    }

    /// Sends fields, in as many frames as needed.
    ///
    /// - Parameters:
    ///   - fields: with the pseudo-fields, unchanged.
    ///   - ends: whether the stream ends here.
    package func headers(_ fields: [(name: String, value: String)], ends: Bool = false) {
        let block = HPACK.block(fields)
        let most = 16_384
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: max(block.count, 1), by: most) {
            let piece = Array(block[start..<min(start + most, block.count)])
            let (isFirst, isLast): (Bool, Bool) = (start == 0, start + most >= block.count)
            let flags: UInt8 = (isLast ? 4 : 0) | (isFirst && ends ? 1 : 0)
            bytes += HTTP2Frame(isFirst ? .headers : .continuation, on: id, flags: flags, piece).bytes
        }
        // In one call: no other frame may come between them.
        link.send(bytes)
    }

    /// Sends the head of an answer.
    ///
    /// - Parameters:
    ///   - answer: whose head.
    ///   - ends: whether no body follows.
    package func begin(_ answer: Answer, ends: Bool = false) {
        link.journal.change(number) { $0.status = answer.status }
        headers(fields(of: answer), ends: ends)
    }

    /// The fields of a response in HTTP/2 form.
    ///
    /// - Parameter answer: whose fields.
    /// - Returns: the pseudo-field first, names in lower case.
    package func fields(of answer: Answer) -> [(name: String, value: String)] {
        var fields = [(name: ":status", value: "\(answer.status)")]
        fields += answer.fields.map { ($0.name.lowercased(), $0.value) }
        if case .length = answer.framing, answer.field("Content-Length") == nil, ![204, 304].contains(answer.status) {
            fields.append(("content-length", "\(answer.body.count)"))
        }
        return fields
    }

    /// Sends a part of an answer's body within the client's window.
    ///
    /// - Parameters:
    ///   - answer: whose body.
    ///   - range: offsets in the body; what is behind its end is left out.
    ///   - ends: whether the stream ends here.
    /// - Returns: false when the client no longer accepts it.
    @discardableResult
    package func send(_ answer: Answer, _ range: Range<Int>, ends: Bool = false) -> Bool {
        let range = range.clamped(to: 0..<answer.body.count)
        var position = range.lowerBound
        while position < range.upperBound {
            let count = link.reserve(range.upperBound - position, on: id)
            if count == 0 { return false }
            let isLast = ends && position + count == range.upperBound
            let piece = Array(answer.body.piece(position..<position + count))
            guard link.send(HTTP2Frame(.data, on: id, flags: isLast ? 1 : 0, piece)) else { return false }
            link.journal.change(number) { $0.bytes += count }
            position += count
        }
        if ends, range.isEmpty { send(.data, flags: 1) }
        return true
    }

    /// Ends the stream with an error.
    ///
    /// - Parameter code: RFC 9113 section 7; 0 NO_ERROR, 1 PROTOCOL_ERROR, 2 INTERNAL_ERROR, 7 REFUSED_STREAM, 8
    ///   CANCEL, 11 ENHANCE_YOUR_CALM, 13 HTTP_1_1_REQUIRED.
    package func reset(_ code: Int) { send(.reset, HTTP2.big(code, 4)) }

    /// Waits.
    ///
    /// - Parameter milliseconds: how long.
    /// - Returns: false when the client left before.
    @discardableResult package func pause(_ milliseconds: Int) -> Bool { link.pause(milliseconds, on: id) }

    /// Sends a response unchanged.
    ///
    /// - Parameter answer: the answer.
    package func give(_ answer: Answer) {
        if answer.delayMilliseconds > 0, !pause(answer.delayMilliseconds) { return }
        for head in answer.interim { headers(Self.fields(ofInterim: head)) }
        let hasBody = !isHead && answer.status != 204 && answer.status != 304
        let isWhole = answer.ending == .whole || answer.ending == .closed
        begin(answer, ends: !hasBody)
        if hasBody {
            let count = answer.bodyBytesToSend
            let step = answer.trickle?.bytes ?? max(count, 1)
            for start in stride(from: 0, to: max(count, 1), by: step) {
                let end = min(start + step, count)
                guard send(answer, start..<end, ends: isWhole && end == count) else { return }
                if let trickle = answer.trickle, end < count, !pause(trickle.milliseconds) { return }
            }
        }
        if !answer.surplus.isEmpty { send(.data, answer.surplus) }
        end(answer.ending)
    }

    private func end(_ ending: Answer.Ending) {
        switch ending {
        case .whole, .stall: break
        case .closed:
            link.goAway(last: id)
            link.endSending(inGoodOrder: true)
        case .cut: link.endSending(inGoodOrder: false)
        case .reset: reset(2)
        case .goAway:
            link.goAway(last: id - 2)
            link.endSending(inGoodOrder: true)
        }
    }

    /// A head of HTTP/1 as fields of HTTP/2.
    private static func fields(ofInterim head: String) -> [(name: String, value: String)] {
        let lines = head.split(separator: "\r\n")
        let status = lines.first?.split(separator: " ").dropFirst().first ?? "100"
        return [(":status", String(status))]
            + lines.dropFirst().compactMap { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2 else { return nil }
                return (parts[0].lowercased(), String(parts[1].drop { $0 == " " }))
            }
    }
}
