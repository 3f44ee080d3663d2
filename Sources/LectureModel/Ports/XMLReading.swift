package import LectureFormats

/// Reads an XML document that a server has sent.
package protocol XMLReading: Sendable {
    /// Reads a document. Nothing else is opened: no file, no address, no entity.
    ///
    /// - Parameters:
    ///   - bytes: the whole document, UTF-8 or UTF-16.
    ///   - limits: how much it may be.
    /// - Returns: its outermost element.
    /// - Throws: `XMLError`.
    func element(of bytes: [UInt8], limits: XMLLimits) throws(XMLError) -> XMLElement
}
