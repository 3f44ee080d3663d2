/// What is wrong with a text that is not of the expected format.
///
/// The formats do not know the catalogue of errors: `LectureModel` turns each kind into the error with its number.
package struct FormatError: Error, Hashable, Sendable {
    /// Which rule the text violates.
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// It is no JSON text (RFC 8259), or it exceeds a limit.
        case json
        /// It is no usable absolute URL.
        case url
        /// The scheme of the URL is not http or https.
        case urlScheme
        /// It is no header field that may be sent.
        case header
        /// It is a header field that only the transfer itself may set.
        case headerReserved
    }

    /// Which rule the text violates.
    package let kind: Kind
    /// What is wrong, and where. Never a value from the text, which may be a credential.
    package let detail: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - kind: which rule the text violates.
    ///   - detail: what is wrong, and where.
    package init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }
}
