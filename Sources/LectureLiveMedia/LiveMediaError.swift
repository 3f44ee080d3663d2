internal import CLectureMedia

/// Why packaging, joining or reading has failed. No text contains an address.
public enum LiveMediaError: Error, Sendable, Hashable, CaseIterable {
    /// No RTMP server answers at the address.
    case noServer
    /// The server does not give the stream to this reader, or there is none.
    case refused
    /// Nothing has come until the deadline.
    case timedOut
    /// The connection broke.
    case connectionLost
    /// The input is no media with a picture, or cannot be read.
    case unreadable
    /// The output cannot be written.
    case unwritable
    /// The inputs have different formats, so that they cannot be joined without encoding.
    case differentFormats
    /// An argument makes no sense: nothing to join, an address of another kind.
    case invalidValue
    /// There is no memory, or no thread.
    case noResources

    init(_ code: clm_code) {
        self =
            switch code {
            case .CLM_NO_SERVER: .noServer
            case .CLM_REFUSED, .CLM_BUSY: .refused
            case .CLM_TIMED_OUT: .timedOut
            case .CLM_LOST, .CLM_STOPPED: .connectionLost
            case .CLM_UNREADABLE, .CLM_NO_SOURCE, .CLM_NO_MICROPHONE, .CLM_SOURCE_ENDED, .CLM_NO_ENCODER:
                .unreadable
            case .CLM_UNWRITABLE: .unwritable
            case .CLM_MISMATCH: .differentFormats
            case .CLM_BAD_VALUE, .CLM_BAD_STATE: .invalidValue
            case .CLM_OK, .CLM_NO_RESOURCES: .noResources
            }
    }
}

extension LiveMediaError: CustomStringConvertible {
    /// A sentence for people.
    public var description: String {
        switch self {
        case .noServer: "No RTMP server answers at the address of the stream."
        case .refused: "The server does not give the stream, or has none of this name."
        case .timedOut: "Nothing has come from the stream until the deadline."
        case .connectionLost: "The connection to the stream broke."
        case .unreadable: "The input is no media with a picture, or cannot be read."
        case .unwritable: "The media cannot be written."
        case .differentFormats: "The inputs have different formats and cannot be joined."
        case .invalidValue: "There is nothing to join, or the address is of another kind."
        case .noResources: "The system has no memory or thread for the media."
        }
    }
}
