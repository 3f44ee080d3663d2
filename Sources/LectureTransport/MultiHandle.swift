import CCurl
import LectureModel

/// libcurl's global state, initialised once and on first use: it costs half a millisecond that `lecturectl list` need
/// not pay.
private let globalState: CURLcode =
    CurlLibrary.available?.globalInit(Int(CURL_GLOBAL_DEFAULT)) ?? CURLE_FAILED_INIT

/// The multi handle of libcurl: all connections of a transport. Confined to the transport's thread.
@safe final class MultiHandle {
    /// An exchange that libcurl has finished.
    struct Finished {
        /// The exchange.
        let exchange: Exchange
        /// libcurl's result.
        let result: CURLcode
    }

    private let curl: CurlMultiFunctions
    private let getInfo: ccurl_variadic
    private let pointer: UnsafeMutableRawPointer
    private let sockets: SocketWatch

    /// Makes the handle; nil when libcurl cannot be used.
    ///
    /// - Parameters:
    ///   - configuration: the limits of connections.
    ///   - sockets: watches its sockets.
    init?(_ configuration: TransportConfiguration, _ sockets: SocketWatch) {
        guard globalState == CURLE_OK, let library = CurlLibrary.available,
            let pointer = unsafe library.multi.make()
        else { return nil }
        (curl, getInfo) = (library.multi, library.easy.getInfo)
        unsafe self.pointer = unsafe pointer
        self.sockets = sockets
        unsafe ccurl_multi_set_watcher(curl.setOption, pointer, socketChanged)
        let context = unsafe Unmanaged.passUnretained(sockets).toOpaque()
        unsafe ccurl_multi_set_pointer(curl.setOption, pointer, CURLMOPT_SOCKETDATA, context)
        set(CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        set(CURLMOPT_MAX_CONCURRENT_STREAMS, 100)
        set(CURLMOPT_MAX_HOST_CONNECTIONS, configuration.maxHostConnections)
        set(CURLMOPT_MAX_TOTAL_CONNECTIONS, configuration.maxTotalConnections)
    }

    // Closes connections, which changes what is watched.
    deinit { _ = unsafe curl.cleanup(pointer) }

    /// Starts an exchange.
    ///
    /// - Returns: whether libcurl took it.
    func add(_ easy: EasyHandle) -> Bool { unsafe curl.add(pointer, easy.pointer) == CURLM_OK }

    /// Ends an exchange, finished or not; no callback comes afterwards.
    func remove(_ easy: EasyHandle) { _ = unsafe curl.remove(pointer, easy.pointer) }

    /// Reads and writes what can be read and written; callbacks are called from here.
    func perform() {
        for ready in sockets.ready() { act(ready.socket, ready.readiness.rawValue) }
        if untilTimer == .zero { act(CURL_SOCKET_TIMEOUT, 0) }
    }

    private func act(_ socket: Int32, _ bits: Int32) {
        var running: Int32 = 0
        _ = unsafe curl.act(pointer, socket, bits, &running)
    }

    /// How long until a timer of libcurl is due, for instance the start of an exchange that was added; nil without one.
    private var untilTimer: Duration? {
        var milliseconds = -1
        _ = unsafe curl.timeout(pointer, &milliseconds)
        return milliseconds < 0 ? nil : .milliseconds(milliseconds)
    }

    /// The next finished exchange; it must be removed before the next call.
    func nextFinished() -> Finished? {
        var left: Int32 = 0
        while let message = unsafe curl.readInfo(pointer, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle else {
                continue
            }
            var context: UnsafeMutableRawPointer?
            unsafe ccurl_get_private(getInfo, easy, &context)
            guard let exchange = unsafe Exchange.at(context) else { continue }
            return unsafe Finished(exchange: exchange, result: message.pointee.data.result)
        }
        return nil
    }

    /// Waits until a socket is ready or a timer of libcurl is due, the bell rings, or the time is over.
    ///
    /// - Parameters:
    ///   - limit: the longest wait.
    ///   - bell: the thread's bell.
    func wait(atMost limit: Duration, for bell: Doorbell) {
        bell.wait(atMost: untilTimer.map { min($0, limit) } ?? limit, orFor: sockets)
    }

    private func set(_ option: CURLMoption, _ value: Int) {
        unsafe ccurl_multi_set_long(curl.setOption, pointer, option, value)
    }
}
