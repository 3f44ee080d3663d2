internal import CLectureMedia

/// Decodes media and reads the numbers in its pictures, which ``BroadcastSource/testPicture`` draws: what tests compare
/// with what was sent.
public struct FrameCounterReader: Sendable {
    /// A decoded picture.
    public struct Frame: Sendable, Hashable {
        /// When it is shown.
        public let time: Duration
        /// Its number; nil when it has none that is readable.
        public let counter: Int?
        /// Whether the number is mirrored.
        public let isMirrored: Bool
        /// Whether decoding can start here.
        public let isKeyFrame: Bool
        /// Mean luma of eight columns of the lowest quarter, from left to right: 16 is black, 235 is white. The test
        /// picture has 40 on the left, and 24 more in each column.
        public let columns: [Int]
    }

    /// Decoded sound, about 20 ms of it.
    public struct Sound: Sendable, Hashable {
        /// When it is heard.
        public let time: Duration
        /// Root of the mean square, from 0 to 1.
        public let loudness: Float
    }

    /// What was decoded, in order.
    public struct Contents: Sendable {
        /// The pictures.
        public internal(set) var frames: [Frame] = []
        /// The sound.
        public internal(set) var sounds: [Sound] = []
        /// The numbers of the pictures that have one.
        public var counters: [Int] { frames.compactMap(\.counter) }
    }

    /// A file or a playlist.
    public let path: String

    /// A reader, which does nothing yet.
    ///
    /// - Parameter path: a file or a playlist.
    public init(_ path: String) { self.path = path }

    /// Decodes everything; blocks.
    ///
    /// - Returns: pictures and sound.
    /// - Throws: ``LiveMediaError/unreadable``.
    public func read() throws(LiveMediaError) -> Contents {
        var contents = Contents()
        let code = unsafe withUnsafeMutablePointer(to: &contents) { contents in
            unsafe clm_read_frames(path, takeFrame, takeSound, contents)
        }
        if code != .CLM_OK { throw LiveMediaError(code) }
        return contents
    }
}

/// Called by C on the thread of ``FrameCounterReader/read()``, whose contents the context points to.
private func takeFrame(_ context: UnsafeMutableRawPointer?, _ frame: UnsafePointer<clm_frame>) {
    let values = unsafe frame.pointee
    let columns = (0..<8).map { Int(values.columns >> (8 * UInt64($0)) & 0xFF) }
    let taken = FrameCounterReader.Frame(
        time: .microseconds(values.time), counter: values.has_counter ? Int(values.counter) : nil,
        isMirrored: values.is_mirrored, isKeyFrame: values.is_key, columns: columns)
    unsafe context?.assumingMemoryBound(to: FrameCounterReader.Contents.self).pointee.frames.append(taken)
}

/// The same for sound.
private func takeSound(_ context: UnsafeMutableRawPointer?, _ sound: UnsafePointer<clm_sound>) {
    let taken = unsafe FrameCounterReader.Sound(
        time: .microseconds(sound.pointee.time), loudness: sound.pointee.loudness)
    unsafe context?.assumingMemoryBound(to: FrameCounterReader.Contents.self).pointee.sounds.append(taken)
}
