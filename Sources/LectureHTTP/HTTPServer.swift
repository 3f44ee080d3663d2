import CMicroHTTPDTypes
import Dispatch
import Glibc
package import LectureModel

/// Answers requests.
package protocol HTTPHandler: AnyObject, Sendable {
    /// Answers a request that is whole, now or later. On the server's thread; never blocking.
    ///
    /// - Parameter exchange: the request; it waits until it is answered.
    func handle(_ exchange: HTTPExchange)

    /// What a request is answered with whose body is too long. On the server's thread; never blocking.
    ///
    /// - Parameter head: its head.
    /// - Returns: an answer with 413; nil for the usual one.
    func tooLong(_ head: HTTPRequestHead) -> HTTPAnswer?

    /// Called about once a second, as long as the server runs. Never blocking.
    func tick()
}

extension HTTPHandler {
    /// The usual one.
    package func tooLong(_ head: HTTPRequestHead) -> HTTPAnswer? { nil }
    /// Nothing.
    package func tick() {}
}

/// Where a server listens, and its limits.
package struct HTTPServerOptions: Sendable, Hashable {
    /// An IPv4 address of this machine.
    package var address = "127.0.0.1"
    /// The port; 0 for any free one.
    package var port: UInt16 = 0
    /// How many connections may be open; further ones wait until one is closed. With ``requestSeconds`` few wait: where
    /// connections become scarce, one on which no request has come for longest is closed for each new one, of the
    /// address that has most of them.
    package var mostConnections: UInt32 = 64
    /// After how many seconds without traffic a connection is closed.
    package var idleSeconds: UInt32 = 30
    /// How many seconds a request may take to come, from the first byte of the connection or the end of the request
    /// before it; nil for no limit but ``idleSeconds``.
    package var requestSeconds: Int64?
    /// How long a body may be; a longer one is answered with 413. Nil to drop bodies unread.
    package var bodyLimit: Int?
    /// What the server proves itself with, for TLS 1.2 and 1.3; nil for HTTP without TLS.
    package var tls: TLSIdentity?

    /// A certificate and its key, as in their files.
    package struct TLSIdentity: Sendable, Hashable {
        /// The certificate in PEM, followed by those that lead to its root.
        package let certificate: [UInt8]
        /// Its private key in PEM.
        package let key: [UInt8]

        /// Creates a value.
        ///
        /// - Parameters:
        ///   - certificate: the certificate in PEM, followed by those that lead to its root.
        ///   - key: its private key in PEM.
        package init(certificate: [UInt8], key: [UInt8]) { (self.certificate, self.key) = (certificate, key) }
    }

    /// Creates the default options.
    package init() {}
}

/// A server for HTTP/1.1 (RFC 9112) by libmicrohttpd, which is opened with the first one. One thread serves all
/// connections; a handler that needs time answers later, from any thread.
///
/// ```
/// listening ──serve──▶ serving ──stop──▶ stopped
///     └───────────────stop─────────────────▲
/// ```
package final class HTTPServer: Sendable {
    /// The port that it listens on.
    package var port: UInt16 { core.port }
    private let core: HTTPServerCore

    /// Takes a port. Connections wait until ``serve(by:)``, so that the handler can be made from the port.
    ///
    /// - Parameter options: where it listens, and its limits.
    /// - Throws: `LectureError`: `loopbackMissing` without libmicrohttpd, `loopbackFailed` when the port is in use.
    package init(_ options: HTTPServerOptions = HTTPServerOptions()) throws(LectureError) {
        core = try HTTPServerCore(options, MicroHTTPLibrary.shared.get())
    }

    /// Serves; called once.
    ///
    /// - Parameter handler: answers; kept until the server has stopped.
    /// - Throws: `LectureError` with `loopbackFailed`, also when the certificate and the key cannot be used.
    package func serve(by handler: any HTTPHandler) throws(LectureError) { try core.serve(by: handler) }

    deinit {
        Task { [core] in await core.stop() }
    }

    /// Ends every answer, and closes the port.
    package func stop() async { await core.stop() }
}

/// The socket of a server, its connections, and libmicrohttpd's thread.
final class HTTPServerCore: Sendable {
    /// A connection that is open.
    private struct Link {
        let socket: Int32
        /// The client's; nil when it is not known.
        let address: UInt32?
        /// Whether it was ended, and is about to be closed.
        var isEnded = false
        /// When its next request must be there; nil while one is answered.
        var due: ContinuousClock.Instant?
    }

    @safe private struct State {
        /// The socket, until the library has it.
        var socket: Int32?
        var handler: (any HTTPHandler)?
        var daemon: OpaquePointer?
        /// By the address of what the library knows them as.
        var links: [UInt: Link] = [:]
        var exchanges: [ObjectIdentifier: HTTPExchange] = [:]
        var stopping: Task<Void, Never>?
    }

    let port: UInt16
    let library: MicroHTTPLibrary
    let options: HTTPServerOptions
    private let state: Guarded<State>

    init(_ options: HTTPServerOptions, _ library: MicroHTTPLibrary) throws(LectureError) {
        (self.options, self.library) = (options, library)
        let listener = try HTTPListener(options)
        port = listener.port
        var initial = State()
        initial.socket = listener.socket
        state = Guarded(initial)
    }

    func serve(by handler: any HTTPHandler) throws(LectureError) {
        // Retained until the daemon has stopped.
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        var calls = unsafe cmhdt_callbacks(
            context: context, handler: requestArrived, completed: requestCompleted, connection: connectionChanged)
        // Before the library's thread can call.
        let socket = state.withLock { state in
            state.handler = handler
            defer { state.socket = nil }
            return state.socket
        }
        guard let socket,
            let daemon = unsafe start(socket, &calls)
        else {
            unsafe Unmanaged<HTTPServerCore>.fromOpaque(context).release()
            if let socket { close(socket) }
            let cause = options.tls == nil ? "" : "; the certificate and the key must be PEM, and belong together"
            throw LectureError(.loopbackFailed, cause: "libmicrohttpd cannot start\(cause)")
        }
        state.withLock { unsafe $0.daemon = daemon }
        beat()
    }

    /// Starts the library's thread. It reads the certificate and the key before this returns, and keeps neither text.
    private func start(_ socket: Int32, _ calls: inout cmhdt_callbacks) -> OpaquePointer? {
        guard let tls = options.tls else {
            return unsafe cmhdt_start(
                library.start, socket, options.mostConnections, options.idleSeconds, &calls, nil)
        }
        return unsafe (tls.certificate + [0]).withUnsafeBufferPointer { certificate in
            unsafe (tls.key + [0]).withUnsafeBufferPointer { key in
                // Sound: text in C is bytes, and both arrays end with NUL.
                guard let certificate = unsafe UnsafeRawPointer(certificate.baseAddress),
                    let key = unsafe UnsafeRawPointer(key.baseAddress)
                else { return nil }
                var identity = unsafe cmhdt_identity(
                    certificate: certificate.assumingMemoryBound(to: CChar.self),
                    key: key.assumingMemoryBound(to: CChar.self))
                return unsafe cmhdt_start(
                    library.start, socket, options.mostConnections, options.idleSeconds, &calls, &identity)
            }
        }
    }

    // MARK: Requests

    /// Takes a new request; false when the server stops.
    func began(_ exchange: HTTPExchange) -> Bool {
        state.withLock { state in
            guard state.stopping == nil else { return false }
            state.exchanges[ObjectIdentifier(exchange)] = exchange
            return true
        }
    }

    /// A request is whole, or its connection was resumed.
    func proceed(_ exchange: HTTPExchange, on connection: OpaquePointer) -> MHD_Result {
        exchange.proceed { exchange, isTooLong in
            let handler = state.withLock { state in
                unsafe state.links[Self.key(connection)]?.due = nil
                return state.handler
            }
            if isTooLong { exchange.refuseLength(handler) } else { handler?.handle(exchange) }
        }
    }

    /// Answers a request whose body is not read.
    func refuse(_ exchange: HTTPExchange) -> MHD_Result {
        exchange.refuseLength(state.withLock(\.handler))
        return exchange.proceed { _, _ in }
    }

    /// A request is over.
    func ended(_ exchange: HTTPExchange, on connection: OpaquePointer?) {
        exchange.finish()
        let due = due
        state.withLock { state in
            state.exchanges[ObjectIdentifier(exchange)] = nil
            if let connection = unsafe connection { unsafe state.links[Self.key(connection)]?.due = due }
        }
        if let connection = unsafe connection {
            unsafe cmhdt_set_timeout(library.setConnectionOption, connection, options.idleSeconds)
        }
    }

    /// A connection was opened, or is about to be closed.
    func changed(_ connection: OpaquePointer, isOpened: Bool) {
        let socket = unsafe isOpened ? cmhdt_socket(library.connectionInfo, connection) : -1
        let address = isOpened ? HTTPExchange.peer(of: socket)?.address : nil
        let link = isOpened ? Link(socket: socket, address: address, due: due) : nil
        state.withLock { state in
            unsafe state.links[Self.key(connection)] = link
            if isOpened { freeConnection(&state) }
        }
    }

    /// Ends a connection that waits for a request where few are left, so that the next client need not wait for one.
    private func freeConnection(_ state: inout State) {
        let most = Int(options.mostConnections)
        guard options.requestSeconds != nil, state.links.count > most - max(1, most / 16) else { return }
        let idle = state.links.filter { !$0.value.isEnded && $0.value.due != nil }
        let addresses = Dictionary(grouping: idle.values) { $0.address }.mapValues(\.count)
        // Who has most of them loses first: a client that opens many keeps no other one away.
        let place = idle.max { one, other in
            let (first, second) = (addresses[one.value.address] ?? 0, addresses[other.value.address] ?? 0)
            return first == second ? (one.value.due ?? .now) > (other.value.due ?? .now) : first < second
        }
        guard let place else { return }
        state.links[place.key]?.isEnded = true
        shutdown(place.value.socket, Int32(SHUT_RDWR))
    }

    private static func key(_ connection: OpaquePointer) -> UInt { UInt(bitPattern: connection) }

    private var due: ContinuousClock.Instant? { options.requestSeconds.map { .now + .seconds($0) } }

    // MARK: Time

    /// Looks at all connections once a second, as long as the server runs.
    private func beat() {
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "lecture.http.heartbeat"))
        timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
        // `nonisolated(unsafe)`: cancelling is safe from any thread, and the handler is the only place that does.
        nonisolated(unsafe) let source = timer
        timer.setEventHandler { [weak self] in
            guard let self, tick() else { return unsafe source.cancel() }
        }
        timer.activate()
    }

    /// - Returns: false once the server has stopped.
    private func tick() -> Bool {
        let now = ContinuousClock.now
        let found: ([HTTPExchange], (any HTTPHandler)?)? = state.withLock { state in
            guard state.stopping == nil else { return nil }
            // The library closes a socket after it has reported that: until then the number is this connection's.
            for link in state.links.values {
                if let due = link.due, due < now { shutdown(link.socket, Int32(SHUT_RDWR)) }
            }
            return (Array(state.exchanges.values), state.handler)
        }
        guard let (exchanges, handler) = found else { return false }
        for exchange in exchanges { exchange.tick() }
        handler?.tick()
        return true
    }

    // MARK: The end

    func stop() async {
        let stopping = state.withLock { state in
            if let stopping = state.stopping { return stopping }
            let stopping = Task { await finish() }
            state.stopping = stopping
            return stopping
        }
        await stopping.value
    }

    private func finish() async {
        // No connection stays suspended, and none will be.
        for exchange in state.withLock({ Array($0.exchanges.values) }) { exchange.disconnect() }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                let (daemon, socket) = unsafe state.withLock { state in
                    defer { unsafe (state.daemon, state.socket) = (nil, nil) }
                    return unsafe (state.daemon, state.socket)
                }
                if let socket { close(socket) }
                if let daemon = unsafe daemon {
                    unsafe library.stop(daemon)
                    unsafe Unmanaged.passUnretained(self).release()
                }
                // It may keep what keeps the server.
                state.withLock { $0.handler = nil }
                continuation.resume()
            }
        }
    }
}
