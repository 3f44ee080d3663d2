import CMpv
import Glibc
import LectureKit

/// libmpv, opened with the first player.
///
/// The library brings two hundred others. Linked, they would cost every command 65 ms, and a machine without it could
/// run none.
@safe struct MpvLibrary: Sendable {
    let create: cmpv_create
    let initialize: cmpv_initialize
    let destroy: cmpv_terminate_destroy
    let errorText: cmpv_error_string
    let setOption: cmpv_set_option_string
    let setProperty: cmpv_set_property
    let getProperty: cmpv_get_property
    let observe: cmpv_observe_property
    let command: cmpv_command_async
    let waitEvent: cmpv_wait_event
    let addStream: cmpv_stream_cb_add_ro
    let render: Render

    /// The functions that render into memory.
    @safe struct Render: Sendable {
        let create: cmpv_render_context_create
        let setUpdateCallback: cmpv_render_context_set_update_callback
        let update: cmpv_render_context_update
        let render: cmpv_render_context_render
        let free: cmpv_render_context_free
    }

    /// The name of every libmpv with client API 2.
    static let name = "libmpv.so.2"

    /// The library of this process. It stays open: its functions may be in use.
    static let shared = Result { () throws(LectureError) in try MpvLibrary(name) }

    /// Opens a library.
    ///
    /// - Parameter name: as `dlopen` takes it.
    /// - Throws: `LectureError` with `playerMissing`; its cause names the file or the function.
    init(_ name: String) throws(LectureError) {
        guard let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else { throw Self.failure }
        let functions = unsafe Functions(handle)
        unsafe create = try unsafe functions.find("mpv_create", cmpv_create.self)
        unsafe initialize = try unsafe functions.find("mpv_initialize", cmpv_initialize.self)
        unsafe destroy = try unsafe functions.find("mpv_terminate_destroy", cmpv_terminate_destroy.self)
        unsafe errorText = try unsafe functions.find("mpv_error_string", cmpv_error_string.self)
        unsafe setOption = try unsafe functions.find("mpv_set_option_string", cmpv_set_option_string.self)
        unsafe setProperty = try unsafe functions.find("mpv_set_property", cmpv_set_property.self)
        unsafe getProperty = try unsafe functions.find("mpv_get_property", cmpv_get_property.self)
        unsafe observe = try unsafe functions.find("mpv_observe_property", cmpv_observe_property.self)
        unsafe command = try unsafe functions.find("mpv_command_async", cmpv_command_async.self)
        unsafe waitEvent = try unsafe functions.find("mpv_wait_event", cmpv_wait_event.self)
        unsafe addStream = try unsafe functions.find("mpv_stream_cb_add_ro", cmpv_stream_cb_add_ro.self)
        let prefix = "mpv_render_context_"
        render = unsafe Render(
            create: try functions.find(prefix + "create", cmpv_render_context_create.self),
            setUpdateCallback: try functions.find(
                prefix + "set_update_callback", cmpv_render_context_set_update_callback.self),
            update: try functions.find(prefix + "update", cmpv_render_context_update.self),
            render: try functions.find(prefix + "render", cmpv_render_context_render.self),
            free: try functions.find(prefix + "free", cmpv_render_context_free.self))
    }

    /// The loader's message about its last failure; it names the file.
    private static var failure: LectureError {
        let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "libmpv cannot be loaded"
        return LectureError(.playerMissing, cause: reason)
    }

    /// libmpv's constant text of a result.
    func text(_ result: Int32) -> String { unsafe errorText(result).map { unsafe String(cString: $0) } ?? "" }

    /// The functions of an open library, by name.
    @safe private struct Functions {
        private let handle: UnsafeMutableRawPointer

        init(_ handle: UnsafeMutableRawPointer) { unsafe self.handle = unsafe handle }

        func find<Function>(_ name: String, _ type: Function.Type) throws(LectureError) -> Function {
            guard let symbol = unsafe dlsym(handle, name) else { throw MpvLibrary.failure }
            // Sound: a function pointer has the size of any pointer, and the declaration gives its type.
            return unsafe unsafeBitCast(symbol, to: type)
        }
    }
}
