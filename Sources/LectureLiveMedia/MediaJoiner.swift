internal import CLectureMedia
import Glibc

/// Joins recordings and HLS sessions into one MP4, without encoding.
public enum MediaJoiner {
    /// What joining has made.
    public struct Joined: Sendable, Hashable {
        /// Its pictures.
        public let frames: Int
        /// Its length.
        public let duration: Duration
        /// The width of its picture, in pixels.
        public let width: Int
        /// The height of its picture, in pixels.
        public let height: Int
        /// What each input has given, in order; empty where only the file was wanted.
        public let inputs: [Input]
    }

    /// What an input has given.
    public struct Input: Sendable, Hashable {
        /// Its pictures.
        public let frames: Int
        /// How much was left out before its first key frame.
        public let skipped: Duration
        /// By how much it makes the output longer.
        public let duration: Duration
    }

    /// Why joining has failed.
    public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// What is wrong.
        public let error: LiveMediaError
        /// The input at fault, from 0; nil when it is none.
        public let input: Int?
        /// A sentence for people.
        public var description: String { error.description }
    }

    /// Writes the inputs one after another. Each begins at its first key frame and at the end of the one before it.
    ///
    /// The file is written beside its place, synced and renamed, so under its name there is never half of it. This call
    /// blocks, for about a second for each hour of media.
    ///
    /// - Parameters:
    ///   - inputs: files (FLV, MP4) and HLS playlists, of the same picture size and encoding.
    ///   - output: the path of the MP4; what is there is replaced.
    /// - Returns: what was written.
    /// - Throws: ``Failure``; nothing is left of the output then.
    @discardableResult
    public static func join(_ inputs: [String], into output: String) throws(Failure) -> Joined {
        var joined = clm_joined()
        let code = try unsafe withTexts(inputs) { texts, count in
            unsafe clm_join(texts, count, output, &joined)
        }
        return try result(code, joined, [])
    }

    /// The same into an open file, for instance one without a name. It is not synced, and what is written when joining
    /// fails is left in it.
    ///
    /// - Parameters:
    ///   - inputs: files (FLV, MP4) and HLS playlists, of the same picture size and encoding.
    ///   - descriptor: of a regular file that is open for reading and writing; it is emptied first.
    /// - Returns: what was written, and what each input has given.
    /// - Throws: ``Failure``.
    public static func join(_ inputs: [String], descriptor: Int32) throws(Failure) -> Joined {
        var joined = clm_joined()
        var parts = [clm_joined_input](repeating: clm_joined_input(), count: max(1, inputs.count))
        let code = try unsafe withTexts(inputs) { texts, count in
            unsafe clm_join_descriptor(texts, count, descriptor, &joined, &parts)
        }
        return try result(code, joined, Array(parts.prefix(inputs.count)))
    }

    private static func withTexts(
        _ inputs: [String], _ body: (UnsafePointer<UnsafePointer<CChar>>, Int32) -> clm_code
    ) throws(Failure) -> clm_code {
        let texts = unsafe inputs.compactMap { text in unsafe strdup(text).map { unsafe UnsafePointer($0) } }
        defer { for index in unsafe texts.indices { unsafe free(UnsafeMutablePointer(mutating: texts[index])) } }
        guard unsafe texts.count == inputs.count else { throw Failure(error: .noResources, input: nil) }
        return unsafe texts.withUnsafeBufferPointer { texts in
            // A buffer without elements may have no address, and C counts them before it looks.
            guard let first = texts.baseAddress else { return clm_code.CLM_BAD_VALUE }
            return unsafe body(first, Int32(clamping: texts.count))
        }
    }

    private static func result(
        _ code: clm_code, _ joined: clm_joined, _ inputs: [clm_joined_input]
    ) throws(Failure) -> Joined {
        guard code == .CLM_OK else {
            throw Failure(error: LiveMediaError(code), input: joined.fault < 0 ? nil : Int(joined.fault))
        }
        let parts = inputs.map { input in
            Input(
                frames: Int(input.frames), skipped: .milliseconds(input.skipped_ms),
                duration: .milliseconds(input.duration_ms))
        }
        return Joined(
            frames: Int(joined.frames), duration: .milliseconds(joined.duration_ms), width: Int(joined.width),
            height: Int(joined.height), inputs: parts)
    }
}
