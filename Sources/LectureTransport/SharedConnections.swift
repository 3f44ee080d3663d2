import LectureFormats

/// How requests that may share connections (HTTP/2) are spread over them.
///
/// One connection is enough for few streams. Many small files from a far server need several: a new connection may send
/// ten packets before the first acknowledgement (RFC 6928) and doubles its window with each way there and back, so that
/// four have four times as much on the way. They are opened beside each other, not when the one before is full.
struct SharedConnections {
    /// How many streams one connection carries. libcurl opens another one for the next.
    static let streams = 25

    private var running: [Origin: Int] = [:]

    /// A request starts.
    ///
    /// - Parameter origin: the server's.
    /// - Returns: whether it opens a connection where none is free. Otherwise it waits for one that is being opened.
    mutating func start(_ origin: Origin) -> Bool {
        defer { running[origin, default: 0] += 1 }
        return running[origin, default: 0].isMultiple(of: Self.streams)
    }

    /// A request that was started has ended.
    ///
    /// - Parameter origin: the server's.
    mutating func end(_ origin: Origin) {
        guard let count = running[origin] else { return }
        running[origin] = count > 1 ? count - 1 : nil
    }
}
