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
        let texts = unsafe inputs.compactMap { text in unsafe strdup(text).map { unsafe UnsafePointer($0) } }
        defer { for index in unsafe texts.indices { unsafe free(UnsafeMutablePointer(mutating: texts[index])) } }
        guard unsafe texts.count == inputs.count else { throw Failure(error: .noResources, input: nil) }
        let code = unsafe texts.withUnsafeBufferPointer { texts in
            // A buffer without elements may have no address, and C counts them before it looks.
            guard let first = texts.baseAddress else { return clm_code.CLM_BAD_VALUE }
            return unsafe clm_join(first, Int32(clamping: texts.count), output, &joined)
        }
        guard code == .CLM_OK else {
            throw Failure(error: LiveMediaError(code), input: joined.fault < 0 ? nil : Int(joined.fault))
        }
        return Joined(frames: Int(joined.frames), duration: .milliseconds(joined.duration_ms))
    }
}
