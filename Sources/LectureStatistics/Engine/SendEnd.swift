import LectureEngine
import LectureModel

extension ExchangeReply {
    /// libcurl's results after which nothing of the request can have been read: no usable address, no name, no
    /// connection, no TLS, no proxy.
    private static let unsent: Set<Int> = [
        1, 2, 3, 4, 5, 6, 7, 27, 35, 43, 45, 53, 54, 58, 59, 60, 66, 77, 82, 83, 90, 91, 97, 98,
    ]

    /// The end, as the verdict needs it.
    var end: SendEnd {
        switch outcome.end {
        case .complete: .whole
        case .stopped: isLong ? .long : .cut
        case .cancelled: .cut
        case .failed(let curl, _): head == nil && Self.unsent.contains(curl) ? .unsent : .cut
        }
    }

    /// The start of the body as text, or the transport's error.
    var text: String {
        if head == nil, case .failed(_, let detail) = outcome.end { return detail }
        // C readers would cut a text at its first NUL.
        let bytes = body.prefix(1024).map { $0 == 0 ? UInt8(ascii: "?") : $0 }
        var text = String(decoding: bytes, as: UTF8.self)
        while text.utf8.count > 1024 { text.unicodeScalars.removeLast() }
        return text
    }
}
