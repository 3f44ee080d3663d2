import CCurl
import Glibc
import LectureModel

/// libcurl, opened with the first request or the first URL that is read.
///
/// The library brings thirty others. Linked, they would take half of the time in which each process starts, and most
/// commands ask no server.
@safe struct CurlLibrary: Sendable {
    let globalInit: ccurl_global_init
    let easy: CurlEasyFunctions
    let multi: CurlMultiFunctions
    let url: CurlURLFunctions

    /// The name that every libcurl 7 and 8 has had since 2006; a library of another interface has another number.
    static let name = "libcurl.so.4"

    /// The library of this process. It stays open: its functions may be in use.
    static let shared = Result { () throws(LectureError) in try CurlLibrary(name) }

    /// The library of this process; nil when there is none.
    static var available: CurlLibrary? { try? shared.get() }

    /// Why there is no library, with the name of the file; nil when there is one.
    static var whyMissing: String? {
        if case .failure(let error) = shared { error.cause } else { nil }
    }

    /// libcurl's constant text of a result.
    static func text(_ result: CURLcode) -> String {
        guard let library = available else { return "libcurl cannot be started" }
        return unsafe library.easy.errorText(result).map { unsafe String(cString: $0) } ?? ""
    }

    /// Opens a library.
    ///
    /// - Parameter name: as `dlopen` takes it.
    /// - Throws: ``LectureError`` with `transfer(2)`, `CURLE_FAILED_INIT`; its cause names the file or the function.
    init(_ name: String) throws(LectureError) {
        guard let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else { throw Self.failure }
        let functions = unsafe Functions(handle)
        globalInit = try functions.find("curl_global_init", ccurl_global_init.self)
        easy = try CurlEasyFunctions(functions)
        multi = try CurlMultiFunctions(functions)
        url = try CurlURLFunctions(functions)
    }

    /// The loader's message about its last failure; it names the file.
    private static var failure: LectureError {
        let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "libcurl cannot be loaded"
        return LectureError(.transfer(Int(CURLE_FAILED_INIT.rawValue)), cause: reason)
    }

    /// The functions of an open library, by name.
    @safe struct Functions {
        private let handle: UnsafeMutableRawPointer

        init(_ handle: UnsafeMutableRawPointer) { unsafe self.handle = unsafe handle }

        /// Looks a function up.
        ///
        /// - Parameters:
        ///   - name: its name.
        ///   - type: its type, which the shim takes from the declaration of that name.
        /// - Returns: the function, as long as the process runs.
        /// - Throws: ``LectureError`` as ``CurlLibrary/init(_:)``.
        func find<Function>(_ name: String, _ type: Function.Type) throws(LectureError) -> Function {
            guard let symbol = unsafe dlsym(handle, name) else { throw CurlLibrary.failure }
            // Sound: a function pointer has the size of any pointer, and the declaration gives its type.
            return unsafe unsafeBitCast(symbol, to: type)
        }
    }
}

/// The functions about one exchange.
@safe struct CurlEasyFunctions: Sendable {
    let make: ccurl_easy_init
    let cleanup: ccurl_easy_cleanup
    let reset: ccurl_easy_reset
    let pause: ccurl_easy_pause
    let setOption: ccurl_variadic
    let getInfo: ccurl_variadic
    let errorText: ccurl_easy_strerror
    let append: ccurl_slist_append
    let freeList: ccurl_slist_free_all

    init(_ library: CurlLibrary.Functions) throws(LectureError) {
        unsafe make = try unsafe library.find("curl_easy_init", ccurl_easy_init.self)
        unsafe cleanup = try unsafe library.find("curl_easy_cleanup", ccurl_easy_cleanup.self)
        unsafe reset = try unsafe library.find("curl_easy_reset", ccurl_easy_reset.self)
        unsafe pause = try unsafe library.find("curl_easy_pause", ccurl_easy_pause.self)
        setOption = try library.find("curl_easy_setopt", ccurl_variadic.self)
        getInfo = try library.find("curl_easy_getinfo", ccurl_variadic.self)
        unsafe errorText = try unsafe library.find("curl_easy_strerror", ccurl_easy_strerror.self)
        unsafe append = try unsafe library.find("curl_slist_append", ccurl_slist_append.self)
        unsafe freeList = try unsafe library.find("curl_slist_free_all", ccurl_slist_free_all.self)
    }
}

/// The functions about all connections.
@safe struct CurlMultiFunctions: Sendable {
    let make: ccurl_multi_init
    let cleanup: ccurl_multi_cleanup
    let add: ccurl_multi_add_handle
    let remove: ccurl_multi_remove_handle
    let act: ccurl_multi_socket_action
    let timeout: ccurl_multi_timeout
    let readInfo: ccurl_multi_info_read
    let setOption: ccurl_variadic

    init(_ library: CurlLibrary.Functions) throws(LectureError) {
        unsafe make = try unsafe library.find("curl_multi_init", ccurl_multi_init.self)
        unsafe cleanup = try unsafe library.find("curl_multi_cleanup", ccurl_multi_cleanup.self)
        unsafe add = try unsafe library.find("curl_multi_add_handle", ccurl_multi_add_handle.self)
        unsafe remove = try unsafe library.find("curl_multi_remove_handle", ccurl_multi_remove_handle.self)
        unsafe act = try unsafe library.find("curl_multi_socket_action", ccurl_multi_socket_action.self)
        unsafe timeout = try unsafe library.find("curl_multi_timeout", ccurl_multi_timeout.self)
        unsafe readInfo = try unsafe library.find("curl_multi_info_read", ccurl_multi_info_read.self)
        setOption = try library.find("curl_multi_setopt", ccurl_variadic.self)
    }
}

/// The functions about URLs.
@safe struct CurlURLFunctions: Sendable {
    let make: ccurl_url
    let cleanup: ccurl_url_cleanup
    let set: ccurl_url_set
    let get: ccurl_url_get
    let errorText: ccurl_url_strerror
    let free: ccurl_free

    init(_ library: CurlLibrary.Functions) throws(LectureError) {
        unsafe make = try unsafe library.find("curl_url", ccurl_url.self)
        unsafe cleanup = try unsafe library.find("curl_url_cleanup", ccurl_url_cleanup.self)
        unsafe set = try unsafe library.find("curl_url_set", ccurl_url_set.self)
        unsafe get = try unsafe library.find("curl_url_get", ccurl_url_get.self)
        unsafe errorText = try unsafe library.find("curl_url_strerror", ccurl_url_strerror.self)
        unsafe free = try unsafe library.find("curl_free", ccurl_free.self)
    }
}
