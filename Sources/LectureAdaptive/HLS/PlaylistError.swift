/// Why a playlist cannot be used.
package struct PlaylistError: Error, Hashable, Sendable {
    /// Which kind of mistake.
    package enum Kind: Hashable, Sendable {
        /// The text does not begin with `#EXTM3U`; a page of HTML, for instance.
        case notAPlaylist
        /// A line breaks a rule whose violation would lose or corrupt media.
        case malformed
        /// The text exceeds a limit of the caller.
        case limit
        /// A value cannot be written into a playlist.
        case unwritable
    }

    /// Which kind of mistake.
    package let kind: Kind
    /// The number of the line, from 1; 0 when a value is written.
    package let line: Int
    /// What is wrong, in a sentence. Never a part of the text, which may have credentials.
    package let reason: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - kind: which kind of mistake.
    ///   - line: the number of the line, from 1; 0 when a value is written.
    ///   - reason: what is wrong, in a sentence.
    package init(_ kind: Kind, line: Int, _ reason: String) {
        self.kind = kind
        self.line = line
        self.reason = reason
    }
}
