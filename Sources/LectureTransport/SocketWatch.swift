import CCurl
import Glibc
import LectureModel

/// The sockets of libcurl, and which of them are ready: an epoll instance (epoll(7)).
///
/// libcurl names each socket and what it waits for there (`CURLMOPT_SOCKETFUNCTION`), so a turn costs what its ready
/// sockets cost, however many others there are. Confined to the transport's thread.
final class SocketWatch {
    /// What a socket is watched for, or ready for, as `curl_multi_socket_action` takes it.
    struct Readiness: OptionSet {
        let rawValue: Int32

        /// Bytes, the end of the connection or an error.
        static let reading = Readiness(rawValue: CURL_CSELECT_IN)
        /// Space for bytes.
        static let writing = Readiness(rawValue: CURL_CSELECT_OUT)
    }

    /// A socket that is ready.
    struct Ready: Equatable {
        /// The socket.
        let socket: Int32
        /// For what.
        let readiness: Readiness
    }

    /// The descriptor to poll for: it is readable when a socket is ready.
    let descriptor: Int32
    /// At most this many sockets are returned at once; the others are next.
    private static let most = 64

    /// Creates a watch over no socket.
    ///
    /// - Throws: `LectureError(.transfer(2))` when the process has too many open files.
    init() throws(LectureError) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else {
            throw LectureError(.transfer(Int(CURLE_FAILED_INIT.rawValue)), cause: "too many open files")
        }
    }

    deinit { close(descriptor) }

    /// Watches a socket from now on.
    ///
    /// - Parameters:
    ///   - socket: the socket.
    ///   - readiness: for what; nothing ends it.
    func watch(_ socket: Int32, for readiness: Readiness) {
        var events: UInt32 = 0
        if readiness.contains(.reading) { events |= EPOLLIN.rawValue }
        if readiness.contains(.writing) { events |= EPOLLOUT.rawValue }
        var event = unsafe epoll_event(events: events, data: epoll_data_t(fd: socket))
        if events == 0 {
            _ = unsafe epoll_ctl(descriptor, EPOLL_CTL_DEL, socket, &event)
        } else if unsafe epoll_ctl(descriptor, EPOLL_CTL_MOD, socket, &event) != 0, errno == ENOENT {
            // The kernel forgets a socket that was closed, and the next one may have its number.
            _ = unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, socket, &event)
        }
    }

    /// The sockets that are ready now, without waiting.
    func ready() -> [Ready] {
        unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.most) { events in
            let count = unsafe epoll_wait(descriptor, events.baseAddress, Int32(Self.most), 0)
            return (0..<max(0, Int(count))).map { index in
                let event = unsafe events[index]
                return unsafe Ready(socket: event.data.fd, readiness: Self.readiness(by: event.events))
            }
        }
    }

    /// What a socket is ready for. An error or the end of the connection is found by reading, as libcurl's own poll has
    /// it (`Curl_socket_check`).
    ///
    /// - Parameter events: as epoll reports them.
    /// - Returns: nothing for other events.
    private static func readiness(by events: UInt32) -> Readiness {
        var readiness: Readiness = []
        if events & (EPOLLIN.rawValue | EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { readiness.insert(.reading) }
        if events & EPOLLOUT.rawValue != 0 { readiness.insert(.writing) }
        return readiness
    }
}

/// Takes what libcurl waits for at a socket (`CURLMOPT_SOCKETFUNCTION`). Called on the transport's thread inside any
/// call of a multi handle.
///
/// - Parameters:
///   - easy: not used.
///   - socket: the socket.
///   - what: `CURL_POLL_IN`, `CURL_POLL_OUT`, `CURL_POLL_INOUT`, or another for nothing more.
///   - context: the ``SocketWatch``.
///   - own: not used.
/// - Returns: always "go on".
func socketChanged(
    _ easy: UnsafeMutableRawPointer?, _ socket: Int32, _ what: Int32, _ context: UnsafeMutableRawPointer?,
    _ own: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context = unsafe context else { return 0 }
    var readiness: SocketWatch.Readiness = []
    if what == CURL_POLL_IN || what == CURL_POLL_INOUT { readiness.insert(.reading) }
    if what == CURL_POLL_OUT || what == CURL_POLL_INOUT { readiness.insert(.writing) }
    unsafe Unmanaged<SocketWatch>.fromOpaque(context).takeUnretainedValue().watch(socket, for: readiness)
    return 0
}
