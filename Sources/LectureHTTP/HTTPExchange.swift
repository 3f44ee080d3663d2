import CMicroHTTPDTypes
import Glibc
import LectureModel

/// A request and its answer, as long as the connection is at it. It is answered once, from any thread.
///
/// ```
/// receiving ──whole──▶ handling ──no answer yet──▶ waiting ──answered──▶ sending ⇄ suspended
///     │                   └──────────answered──────────────────────────────▲          │
///     └──────────── the client goes, or the server stops ──▶ over ◀───────────────────┘
/// ```
///
/// `@unchecked Sendable`: the connection is used inside the lock, and only while the library has it: not once the
/// exchange is over. The library permits to suspend and to resume a connection from any thread.
@safe package final class HTTPExchange: @unchecked Sendable {
    private enum Phase {
        case receiving
        case handling
        case waiting
        case sending
        case suspended
        case over
    }

    private struct State {
        var phase = Phase.receiving
        var body: [UInt8] = []
        var isTooLong = false
        var answer: HTTPAnswer?
        /// It may not wait any more: the server stops.
        var isEnded = false
        /// `resume` was called since the source was asked last.
        var wakes = false
        var overCalls: [@Sendable () -> Void] = []
    }

    /// The head.
    package let head: HTTPRequestHead
    /// Where the client is; nil when that is not known.
    package let peer: HTTPPeer?
    private let connection: OpaquePointer
    private let socket: Int32
    private let library: MicroHTTPLibrary
    private let state = Guarded(State())

    init(_ head: HTTPRequestHead, _ connection: OpaquePointer, _ library: MicroHTTPLibrary) {
        (self.head, self.library) = (head, library)
        unsafe self.connection = unsafe connection
        socket = unsafe cmhdt_socket(library.connectionInfo, connection)
        peer = Self.peer(of: socket)
    }

    /// The body; empty where the server drops bodies. Whole once the handler is called.
    package var body: [UInt8] { state.withLock(\.body) }

    // MARK: For the handler

    /// Answers the request. Only the first answer counts; one that comes after the client has gone is dropped, and its
    /// source is over at once.
    ///
    /// - Parameter answer: the answer.
    package func answer(_ answer: HTTPAnswer) {
        let isTaken = state.withLock { state in
            guard state.answer == nil, state.phase != .over, !state.isEnded else { return false }
            state.answer = answer
            wake(&state)
            return true
        }
        if !isTaken, case .source(let source, _) = answer.body { source.over() }
    }

    /// Asks the source of the answer again. Any thread may call it at any time.
    package func resume() {
        state.withLock { state in
            state.wakes = true
            if state.phase == .suspended { wake(&state) }
        }
    }

    /// Closes the connection without the rest of the answer: what the system has not sent is dropped.
    package func disconnect() {
        state.withLock { state in
            guard state.phase != .over else { return }
            state.isEnded = true
            if state.phase == .sending || state.phase == .receiving { shutdown(socket, Int32(SHUT_RDWR)) }
            wake(&state)
        }
    }

    /// Calls a function when the exchange is over: at once when it is.
    ///
    /// - Parameter call: called once, on the server's thread or on this one.
    package func whenOver(_ call: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if state.phase != .over { state.overCalls.append(call) }
            return state.phase == .over
        }
        if isOver { call() }
    }

    private func wake(_ state: inout State) {
        switch state.phase {
        case .waiting: state.phase = .handling
        case .suspended: state.phase = .sending
        case .receiving, .handling, .sending, .over: return
        }
        unsafe library.resume(connection)
    }

    // MARK: For the server

    /// Takes a part of the body, on the server's thread.
    ///
    /// - Parameters:
    ///   - bytes: the next ones.
    ///   - limit: how many there may be in all; nil to drop them.
    func receive(_ bytes: UnsafeRawBufferPointer, limit: Int?) {
        guard let limit else { return }
        state.withLock { state in
            guard !state.isTooLong, state.body.count + bytes.count <= limit else {
                state.isTooLong = true
                state.body = []
                return
            }
            unsafe state.body.append(contentsOf: bytes)
        }
    }

    /// The request is whole, or the connection was resumed.
    ///
    /// - Parameter handle: called once, when the request is whole; with true when it is too long.
    /// - Returns: what the library wants.
    func proceed(_ handle: (HTTPExchange, Bool) -> Void) -> MHD_Result {
        let (isNew, isTooLong) = state.withLock { state in
            defer { if state.phase == .receiving { state.phase = .handling } }
            return (state.phase == .receiving, state.isTooLong)
        }
        if isNew { handle(self, isTooLong) }
        let (ready, isSuspended) = state.withLock { state -> (HTTPAnswer?, Bool) in
            if let answer = state.answer {
                state.phase = .sending
                return (answer, false)
            }
            guard !state.isEnded else { return (nil, false) }
            state.phase = .waiting
            unsafe library.suspend(connection)
            return (nil, true)
        }
        guard let ready else { return cmhdt_result(isSuspended) }
        return send(ready)
    }

    /// Answers a request whose body is too long.
    ///
    /// - Parameter handler: may have an answer of its own.
    func refuseLength(_ handler: (any HTTPHandler)?) {
        answer(
            handler?.tooLong(head)
                ?? .json(413) { json in
                    json.member("errorCode", "BODY_TOO_LONG")
                    json.member("errorMessage", "The body of the request is too long.")
                })
    }

    private func send(_ answer: HTTPAnswer) -> MHD_Result {
        let made: OpaquePointer?
        switch answer.body {
        case .bytes(var bytes):
            unsafe made = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe library.makeFixed(bytes.count, bytes.baseAddress, cmhdt_copy())
            }
        case .head(let count):
            unsafe made = unsafe library.makeStreamed(UInt64(count), 1 << 16, bytesWanted, nil, bytesReleased)
        case .source(_, let count):
            if answer.isPatient { unsafe cmhdt_set_timeout(library.setConnectionOption, connection, 0) }
            let length = count.map { UInt64($0) } ?? cmhdt_unknown_length()
            let held = unsafe Unmanaged.passRetained(self).toOpaque()
            unsafe made = unsafe library.makeStreamed(length, 1 << 16, bytesWanted, held, bytesReleased)
            if unsafe made == nil { unsafe bytesReleased(held) }
        }
        guard let response = unsafe made else { return cmhdt_result(false) }
        defer { unsafe library.destroy(response) }
        for field in answer.fields { _ = unsafe library.addField(response, field.name, field.value) }
        return unsafe library.queue(connection, UInt32(answer.status), response)
    }

    /// Copies bytes for the library, or suspends the connection.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let source: (any HTTPBodySource)? = state.withLock { state in
                state.wakes = false
                guard !state.isEnded, case .source(let source, _) = state.answer?.body else { return nil }
                return source
            }
            guard let source else { return cmhdt_reader_failed() }
            switch unsafe source.fill(buffer) {
            case .bytes(let count): return count
            case .end: return cmhdt_reader_ended()
            case .failed: return cmhdt_reader_failed()
            case .wait:
                let isSuspended = state.withLock { state in
                    guard !state.wakes, !state.isEnded else { return false }
                    state.phase = .suspended
                    unsafe library.suspend(connection)
                    return true
                }
                if isSuspended { return 0 }
            }
        }
    }

    /// The library has ended the request: the connection is not touched again.
    func finish() {
        let (calls, source) = state.withLock { state in
            state.phase = .over
            defer { state.overCalls = [] }
            guard case .source(let source, _) = state.answer?.body else {
                return (state.overCalls, (any HTTPBodySource)?.none)
            }
            return (state.overCalls, source)
        }
        source?.over()
        for call in calls { call() }
    }

    /// A second has gone by.
    func tick() {
        let source: (any HTTPBodySource)? = state.withLock { state in
            guard state.phase != .over, case .source(let source, _) = state.answer?.body else { return nil }
            return source
        }
        source?.tick()
    }

    /// The other end of a connection.
    static func peer(of socket: Int32) -> HTTPPeer? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isKnown = unsafe withUnsafeMutablePointer(to: &address) { address in
            // Sound: the server listens on an internet address only.
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe getpeername(socket, address, &length) == 0
            }
        }
        guard isKnown else { return nil }
        return HTTPPeer(address: UInt32(bigEndian: address.sin_addr.s_addr), port: UInt16(bigEndian: address.sin_port))
    }
}

/// The library requests bytes of an answer.
private func bytesWanted(
    _ context: UnsafeMutableRawPointer?, _: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int
) -> Int {
    guard let context = unsafe context else { return cmhdt_reader_failed() }
    let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(context).takeUnretainedValue()
    return unsafe exchange.fill(UnsafeMutableRawBufferPointer(start: buffer, count: capacity))
}

/// The library no longer needs an answer.
private func bytesReleased(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<HTTPExchange>.fromOpaque(context).release()
}
