import CMicroHTTPD
import Glibc

// Callbacks of libmicrohttpd. They are named functions: a closure made in `main` would belong to the main actor and
// crash when another thread calls it. The context of a daemon is an unretained `Port`, which outlives it; the
// context of a request is a retained `Exchange`, released in `requestCompleted`.

/// The state of one port.
final class Port: Sendable {
    let site: Site
    let scheme: String
    private let connections: Locked<Int>

    init(site: Site, scheme: String, connections: Locked<Int>) {
        self.site = site
        self.scheme = scheme
        self.connections = connections
    }

    /// The number of a new connection, from 1, over both ports.
    func nextConnectionNumber() -> Int {
        connections.withLock { count in
            count += 1
            return count
        }
    }
}

/// One request while it is received.
///
/// Belongs to the thread of its connection.
final class Exchange {
    private let bodyLimit: Int
    let target: Target
    var sawHead = false
    var logNumber: Int?
    private(set) var body: [UInt8] = []
    private(set) var isBodyTooLong = false

    init(target: Target) {
        self.target = target
        bodyLimit = LMSReceiver.form(target.path) == nil ? 1 << 20 : LMSReceiver.bodyLimit
    }

    func append(_ bytes: UnsafeRawBufferPointer) {
        guard body.count + bytes.count <= bodyLimit else {
            isBodyTooLong = true
            return
        }
        unsafe body.append(contentsOf: bytes)
    }
}

/// The request line was received: keeps the target as the client wrote it.
func requestBegan(
    _: UnsafeMutableRawPointer?, _ uri: UnsafePointer<CChar>, _: OpaquePointer
) -> UnsafeMutableRawPointer? {
    let exchange = Exchange(target: Target(unsafe String(cString: uri)))
    return unsafe Unmanaged.passRetained(exchange).toOpaque()
}

/// A connection opened or closed: numbers it.
///
/// The number itself is stored in place of a pointer.
func connectionChanged(
    _ context: UnsafeMutableRawPointer?, _: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ change: MHD_ConnectionNotificationCode
) {
    guard let context = unsafe context, let slot = unsafe slot, cmhd_started(change) else { return }
    let port = unsafe Unmanaged<Port>.fromOpaque(context).takeUnretainedValue()
    unsafe slot.pointee = UnsafeMutableRawPointer(bitPattern: port.nextConnectionNumber())
}

/// A request has ended, successfully or not.
func requestCompleted(
    _ context: UnsafeMutableRawPointer?, _: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _: MHD_RequestTerminationCode
) {
    guard let context = unsafe context, let slot = unsafe slot, let held = unsafe slot.pointee else { return }
    unsafe slot.pointee = nil
    let port = unsafe Unmanaged<Port>.fromOpaque(context).takeUnretainedValue()
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(held).takeRetainedValue()
    if let number = exchange.logNumber { port.site.log.update(number) { $0.isDone = true } }
}

/// Called with the head alone, then with each piece of the body, then once more to be answered.
func requestArrived(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
    _ uploadCount: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context = unsafe context, let connection = unsafe connection, let method = unsafe method,
        let uploadCount = unsafe uploadCount, let held = unsafe slot?.pointee
    else { return cmhd_result(false) }
    let port = unsafe Unmanaged<Port>.fromOpaque(context).takeUnretainedValue()
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(held).takeUnretainedValue()
    if !exchange.sawHead {
        // Answering at this point would close the connection.
        exchange.sawHead = true
        return cmhd_result(true)
    }
    if unsafe uploadCount.pointee > 0 {
        unsafe exchange.append(UnsafeRawBufferPointer(start: upload, count: uploadCount.pointee))
        unsafe uploadCount.pointee = 0
        return cmhd_result(true)
    }
    let request = unsafe Request(
        method: String(cString: method), target: exchange.target, fields: headerFields(of: connection),
        body: exchange.body, scheme: port.scheme)
    return unsafe answer(request, exchange, on: connection, port)
}

private func answer(
    _ request: Request, _ exchange: Exchange, on connection: OpaquePointer, _ port: Port
) -> MHD_Result {
    let site = port.site
    let connectionNumber = unsafe Int(bitPattern: cmhd_socket_context(connection))
    // Reading the control pages would only fill the log with itself.
    let isLogged = !request.target.path.hasPrefix("/_")
    let number = isLogged ? site.log.begin(request, connection: connectionNumber) : 0
    if isLogged { exchange.logNumber = number }
    let reply =
        exchange.isBodyTooLong ? Reply.text(413, "too long\n") : site.reply(to: request, logNumber: number)
    let socket = unsafe cmhd_socket(connection)
    if reply.delayMilliseconds > 0 {
        guard case .elapsed = site.pacing.wait(milliseconds: Int32(clamping: reply.delayMilliseconds), socket: socket)
        else { return cmhd_result(false) }
    }
    if case .unanswered = reply.ending { return cmhd_result(false) }
    let delivery = Delivery(reply: reply, pacing: site.pacing, socket: socket, log: site.log, logNumber: number)
    return unsafe queue(reply, delivery, on: connection)
}

/// Passes the answer to the library, which calls back for the body.
private func queue(_ reply: Reply, _ delivery: Delivery, on connection: OpaquePointer) -> MHD_Result {
    let size = reply.announcedLength.map { UInt64($0) } ?? cmhd_size_unknown()
    let held = unsafe Unmanaged.passRetained(delivery).toOpaque()
    guard let response = unsafe MHD_create_response_from_callback(size, 1 << 18, readBody, held, bodyDelivered) else {
        unsafe bodyDelivered(held)
        return cmhd_result(false)
    }
    defer { unsafe MHD_destroy_response(response) }
    for (name, value) in reply.fields { _ = unsafe MHD_add_response_header(response, name, value) }
    return unsafe MHD_queue_response(connection, UInt32(reply.status), response)
}

/// The library requests bytes of a body.
private func readBody(
    _ context: UnsafeMutableRawPointer?, _ offset: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int
) -> Int {
    guard let context = unsafe context else { return cmhd_reader_failed() }
    let delivery = unsafe Unmanaged<Delivery>.fromOpaque(context).takeUnretainedValue()
    return unsafe delivery.next(at: Int(offset), into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity))
}

/// The library no longer needs a body.
private func bodyDelivered(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<Delivery>.fromOpaque(context).release()
}

/// Header fields as they are collected.
private final class FieldCollector {
    var values: [String: String] = [:]
}

/// The header fields of a request.
private func headerFields(of connection: OpaquePointer) -> [String: String] {
    let collector = FieldCollector()
    let context = unsafe Unmanaged.passUnretained(collector).toOpaque()
    _ = unsafe MHD_get_connection_values(connection, cmhd_header_kind(), collectField, context)
    return collector.values
}

/// The library found one header field.
private func collectField(
    _ context: UnsafeMutableRawPointer?, _: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ value: UnsafePointer<CChar>?
) -> MHD_Result {
    guard let context = unsafe context, let name = unsafe name, let value = unsafe value else {
        return cmhd_result(true)
    }
    let collector = unsafe Unmanaged<FieldCollector>.fromOpaque(context).takeUnretainedValue()
    let key = unsafe String(cString: name).lowercased()
    let text = unsafe String(cString: value)
    collector.values[key] = collector.values[key].map { "\($0), \(text)" } ?? text
    return cmhd_result(true)
}
