import LectureModel

/// Bytes that are at hand under the URLs of their sources, such as those of a bundle. Downloads take them in place of
/// their servers' answers; everything else, such as requests to licence servers, goes to the network as always.
package protocol NearbyBytes: Sendable {
    /// What is at hand for a URL.
    ///
    /// - Parameter url: as the library has normalised it.
    /// - Returns: nil where the network has to be asked.
    func answer(to url: String) -> NearbyAnswer?
}

/// What is at hand for a URL.
package enum NearbyAnswer: Sendable {
    /// A file.
    case file(NearbyFile)
    /// A gateway's answer.
    case description(NearbyFile)
    /// The source had the file, and it is not at hand: the lecture is complete without it.
    case missing
}

/// A file that is at hand, with what its server has said about it.
@safe package struct NearbyFile: Sendable {
    /// Reads from a place to the end, piece by piece.
    ///
    /// - Parameters:
    ///   - offset: the first byte.
    ///   - body: gets verified bytes in order; returns false to end.
    /// - Throws: ``LectureError`` when they cannot be read, or are not the right ones.
    package typealias Read =
        @Sendable (_ offset: UInt64, _ body: (UnsafeRawBufferPointer) -> Bool) throws(LectureError) -> Void

    /// Its length in bytes.
    package let count: UInt64
    /// The media type as answered.
    package let mediaType: String?
    /// The entity tag as answered.
    package let entityTag: String?
    /// The `Last-Modified` text as stored.
    package let lastModified: String?
    /// Reads it.
    package let read: Read

    /// Describes a file.
    package init(
        count: UInt64, mediaType: String?, entityTag: String?, lastModified: String?, read: @escaping Read
    ) {
        (self.count, self.mediaType, self.entityTag) = (count, mediaType, entityTag)
        self.lastModified = lastModified
        unsafe self.read = unsafe read
    }
}
