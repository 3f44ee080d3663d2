import CMicroHTTPDTypes
import Glibc

/// Called with the head alone, with each part of the body, when the request is whole, and again after the connection
/// was resumed.
func requestArrived(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
    _ uploadCount: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context = unsafe context, let connection = unsafe connection, let path = unsafe path,
        let method = unsafe method, let uploadCount = unsafe uploadCount, let slot = unsafe slot
    else { return cmhdt_result(false) }
    let core = unsafe Unmanaged<HTTPServerCore>.fromOpaque(context).takeUnretainedValue()
    guard let held = unsafe slot.pointee else {
        let head = unsafe HTTPRequestHead(
            method: String(cString: method), path: String(cString: path),
            fields: fields(of: connection, cmhdt_header_kind(), core.library),
            query: fields(of: connection, cmhdt_query_kind(), core.library))
        let exchange = unsafe HTTPExchange(head, connection, core.library)
        guard core.began(exchange) else { return cmhdt_result(false) }
        unsafe slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
        guard let limit = core.options.bodyLimit, let length = head.value("content-length"),
            Int(length).map({ $0 > limit }) ?? true
        else { return cmhdt_result(true) }
        return core.refuse(exchange)
    }
    let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(held).takeUnretainedValue()
    if unsafe uploadCount.pointee > 0 {
        unsafe exchange.receive(
            UnsafeRawBufferPointer(start: upload, count: uploadCount.pointee), limit: core.options.bodyLimit)
        unsafe uploadCount.pointee = 0
        return cmhdt_result(true)
    }
    return unsafe core.proceed(exchange, on: connection)
}

/// A request has ended, successfully or not.
func requestCompleted(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _: MHD_RequestTerminationCode
) {
    guard let context = unsafe context, let slot = unsafe slot, let held = unsafe slot.pointee else { return }
    unsafe slot.pointee = nil
    let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(held).takeRetainedValue()
    let core = unsafe Unmanaged<HTTPServerCore>.fromOpaque(context).takeUnretainedValue()
    unsafe core.ended(exchange, on: connection)
}

/// A connection was opened, or is about to be closed.
func connectionChanged(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_ConnectionNotificationCode
) {
    guard let context = unsafe context, let connection = unsafe connection else { return }
    let core = unsafe Unmanaged<HTTPServerCore>.fromOpaque(context).takeUnretainedValue()
    unsafe core.changed(connection, isOpened: cmhdt_is_opened(code))
}

/// Collects fields.
private final class Fields {
    var all: [HTTPField] = []
}

private func fieldFound(
    _ context: UnsafeMutableRawPointer?, _: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ value: UnsafePointer<CChar>?
) -> MHD_Result {
    guard let context = unsafe context, let name = unsafe name else { return cmhdt_result(false) }
    let text = unsafe value.map { unsafe String(cString: $0) } ?? ""
    let fields = unsafe Unmanaged<Fields>.fromOpaque(context).takeUnretainedValue()
    unsafe fields.all.append(HTTPField(name: String(cString: name), value: text))
    return cmhdt_result(true)
}

private func fields(
    of connection: OpaquePointer, _ kind: MHD_ValueKind, _ library: MicroHTTPLibrary
) -> [HTTPField] {
    let fields = Fields()
    _ = unsafe library.fields(connection, kind, fieldFound, Unmanaged.passUnretained(fields).toOpaque())
    return fields.all
}
