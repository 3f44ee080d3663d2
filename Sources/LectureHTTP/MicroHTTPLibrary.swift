import CMicroHTTPDTypes
import Glibc
import LectureModel

/// libmicrohttpd, opened with the first server: nothing links it, and a machine without it can do everything else.
@safe struct MicroHTTPLibrary: Sendable {
    let start: cmhdt_variadic
    let stop: cmhdt_stop_daemon
    let suspend: cmhdt_suspend_connection
    let resume: cmhdt_resume_connection
    let fields: cmhdt_get_connection_values
    let connectionInfo: cmhdt_variadic
    let setConnectionOption: cmhdt_variadic
    let makeStreamed: cmhdt_create_response_from_callback
    let makeFixed: cmhdt_create_response_from_buffer
    let addField: cmhdt_add_response_header
    let queue: cmhdt_queue_response
    let destroy: cmhdt_destroy_response

    /// The name of every libmicrohttpd with this interface.
    static let name = "libmicrohttpd.so.12"

    /// The library of this process. It stays open: its functions may be in use.
    static let shared = Result { () throws(LectureError) in try MicroHTTPLibrary(name) }

    /// Opens a library.
    ///
    /// - Parameter name: as `dlopen` takes it.
    /// - Throws: `LectureError` with `loopbackMissing`; its cause names the file or the function.
    init(_ name: String) throws(LectureError) {
        guard let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else { throw Self.failure }
        let functions = unsafe Functions(handle)
        start = try functions.find("MHD_start_daemon", cmhdt_variadic.self)
        unsafe stop = try unsafe functions.find("MHD_stop_daemon", cmhdt_stop_daemon.self)
        unsafe suspend = try unsafe functions.find("MHD_suspend_connection", cmhdt_suspend_connection.self)
        unsafe resume = try unsafe functions.find("MHD_resume_connection", cmhdt_resume_connection.self)
        unsafe fields = try unsafe functions.find("MHD_get_connection_values", cmhdt_get_connection_values.self)
        connectionInfo = try functions.find("MHD_get_connection_info", cmhdt_variadic.self)
        setConnectionOption = try functions.find("MHD_set_connection_option", cmhdt_variadic.self)
        unsafe makeStreamed = try unsafe functions.find(
            "MHD_create_response_from_callback", cmhdt_create_response_from_callback.self)
        unsafe makeFixed = try unsafe functions.find(
            "MHD_create_response_from_buffer", cmhdt_create_response_from_buffer.self)
        unsafe addField = try unsafe functions.find("MHD_add_response_header", cmhdt_add_response_header.self)
        unsafe queue = try unsafe functions.find("MHD_queue_response", cmhdt_queue_response.self)
        unsafe destroy = try unsafe functions.find("MHD_destroy_response", cmhdt_destroy_response.self)
    }

    /// The loader's message about its last failure; it names the file.
    private static var failure: LectureError {
        let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "libmicrohttpd cannot be loaded"
        return LectureError(.loopbackMissing, cause: reason)
    }

    /// The functions of an open library, by name.
    @safe private struct Functions {
        private let handle: UnsafeMutableRawPointer

        init(_ handle: UnsafeMutableRawPointer) { unsafe self.handle = unsafe handle }

        func find<Function>(_ name: String, _ type: Function.Type) throws(LectureError) -> Function {
            guard let symbol = unsafe dlsym(handle, name) else { throw MicroHTTPLibrary.failure }
            // Sound: a function pointer has the size of any pointer, and the declaration gives its type.
            return unsafe unsafeBitCast(symbol, to: type)
        }
    }
}
