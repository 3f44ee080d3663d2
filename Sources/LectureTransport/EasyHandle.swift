import CCurl
import LectureModel

/// One easy handle of libcurl with the memory that must live as long as its options. Confined to the transport's
/// thread.
@safe final class EasyHandle {
    /// The handle, for calls that take it; valid as long as this object.
    let pointer: UnsafeMutableRawPointer
    /// The first option libcurl refused since the last ``reset()``. An exchange must not start then: the refused option
    /// may be one that protects it.
    private(set) var refusal = CURLE_OK
    /// Whether libcurl may let the exchange share a connection with others.
    private var mayShare = false
    private let curl: CurlEasyFunctions
    private let errorText: UnsafeMutablePointer<CChar>
    private var headers: UnsafeMutablePointer<curl_slist>?

    /// Makes a handle; nil when memory is short or there is no libcurl.
    init?() {
        guard let curl = CurlLibrary.available?.easy, let pointer = unsafe curl.make() else { return nil }
        self.curl = curl
        unsafe self.pointer = unsafe pointer
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        unsafe curl.cleanup(pointer)
        unsafe curl.freeList(headers)
        unsafe errorText.deallocate()
    }

    /// Whether another exchange may use the handle.
    ///
    /// libcurl 7.88 leaves an ended exchange its read buffer while others still use its connection (`multi_done`
    /// returns early), and then refuses to change the buffer's size with `CURLE_BAD_FUNCTION_ARGUMENT`. There is no way
    /// to detect that, so a handle that shared a connection, or ended before that was known, is not used again.
    var isReusable: Bool { !mayShare || number(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_1_1) }

    /// Closes the connection with the exchange, once no other exchange uses it.
    func forbidReuse() { set(CURLOPT_FORBID_REUSE, 1) }

    /// Lets the exchange share a connection over HTTP/2 where the server offers that.
    func allowSharing() {
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        // Prefer waiting for a connection that can be shared to opening another.
        set(CURLOPT_PIPEWAIT, 1)
        mayShare = true
    }

    /// Clears all options. Connections, the DNS cache and TLS sessions are kept.
    func reset() {
        unsafe curl.reset(pointer)
        unsafe curl.freeList(headers)
        unsafe headers = nil
        refusal = CURLE_OK
        mayShare = false
    }

    /// Sets an option that takes a number.
    func set(_ option: CURLoption, _ value: Int) {
        check(unsafe ccurl_set_long(curl.setOption, pointer, option, value))
    }

    /// Sets an option that takes a text; nil unsets it.
    func set(_ option: CURLoption, _ value: String?) {
        check(unsafe ccurl_set_string(curl.setOption, pointer, option, value))
    }

    /// Sets an option that takes a block of memory; libcurl copies it.
    func set(_ option: CURLoption, copying bytes: [UInt8]) {
        var bytes = bytes
        let code = unsafe bytes.withUnsafeMutableBytes { buffer in
            var blob = unsafe curl_blob(
                data: buffer.baseAddress, len: buffer.count, flags: UInt32(CURL_BLOB_COPY))
            return unsafe ccurl_set_blob(curl.setOption, pointer, option, &blob)
        }
        check(code)
    }

    /// Sets the lines of the request's header.
    ///
    /// - Parameter lines: `Name: value` each.
    func setHeaders(_ lines: [String]) {
        for line in lines {
            guard let longer = unsafe curl.append(headers, line) else { return check(CURLE_OUT_OF_MEMORY) }
            unsafe headers = unsafe longer
        }
        check(unsafe ccurl_set_pointer(curl.setOption, pointer, CURLOPT_HTTPHEADER, headers))
    }

    /// Delivers callbacks to an exchange, which must live until the handle is reset or has left the multi handle.
    func deliver(to exchange: Exchange) {
        unsafe errorText.pointee = 0
        check(unsafe ccurl_set_pointer(curl.setOption, pointer, CURLOPT_ERRORBUFFER, errorText))
        let context = unsafe Unmanaged.passUnretained(exchange).toOpaque()
        let options = [
            CURLOPT_PRIVATE, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_PREREQDATA, CURLOPT_DEBUGDATA,
            CURLOPT_READDATA,
        ]
        for option in options {
            check(unsafe ccurl_set_pointer(curl.setOption, pointer, option, context))
        }
        check(unsafe ccurl_set_receiver(curl.setOption, pointer, CURLOPT_WRITEFUNCTION, bodyArrived))
        check(unsafe ccurl_set_receiver(curl.setOption, pointer, CURLOPT_HEADERFUNCTION, headerArrived))
        check(unsafe ccurl_set_prerequest(curl.setOption, pointer, connectionReady))
        check(unsafe ccurl_set_tracer(curl.setOption, pointer, traced))
    }

    /// Makes the exchange a POST whose body libcurl fetches from its ``Exchange``. It is not passed as memory: libcurl
    /// would resend such a body by itself when a reused connection breaks after the request was sent, and whether the
    /// server processed the first one is unknown. A body that comes from a callback and cannot be rewound is sent once
    /// (`Curl_retry_request` of libcurl 7.88).
    ///
    /// - Parameter bytes: the length of the body.
    func sendBody(bytes: Int) {
        set(CURLOPT_POST, 1)
        check(unsafe ccurl_set_offset(curl.setOption, pointer, CURLOPT_POSTFIELDSIZE_LARGE, bytes))
        check(unsafe ccurl_set_supplier(curl.setOption, pointer, bodyWanted))
    }

    /// Resumes reading after a callback has asked for a pause.
    func resumeReading() { _ = unsafe curl.pause(pointer, CURLPAUSE_RECV_CONT) }

    /// A number libcurl knows about the exchange; 0 when it does not.
    func number(_ info: CURLINFO) -> Int {
        var value = 0
        unsafe ccurl_get_long(curl.getInfo, pointer, info, &value)
        return value
    }

    /// How long TCP needed to connect, which is a round trip; nil when the exchange uses a connection that was there.
    var distance: Duration? {
        guard number(CURLINFO_NUM_CONNECTS) > 0 else { return nil }
        var (connected, resolved) = (0, 0)
        guard unsafe ccurl_get_offset(curl.getInfo, pointer, CURLINFO_CONNECT_TIME_T, &connected) == CURLE_OK,
            unsafe ccurl_get_offset(curl.getInfo, pointer, CURLINFO_NAMELOOKUP_TIME_T, &resolved) == CURLE_OK,
            connected > resolved
        else { return nil }
        return .microseconds(connected - resolved)
    }

    /// A text libcurl knows; nil when it does not.
    func text(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        guard unsafe ccurl_get_string(curl.getInfo, pointer, info, &value) == CURLE_OK, let value = unsafe value else {
            return nil
        }
        return unsafe String(cString: value)
    }

    /// libcurl's message about the failure; empty when it has none.
    var errorMessage: String { unsafe String(cString: errorText) }

    private func check(_ code: CURLcode) {
        if refusal == CURLE_OK { refusal = code }
    }
}
