/// Seals the values of header fields that are stored with a request: they may be credentials.
package protocol FieldSealing: Sendable {
    /// Whether there is a key. Without one, sealing creates it.
    var hasKey: Bool { get }
    /// Seals a value.
    ///
    /// - Parameters:
    ///   - value: the field's value.
    ///   - name: the field's name, to which the sealed value is bound.
    /// - Returns: a text for which ``SealedField/isSealed(_:)`` is true.
    /// - Throws: ``LectureError`` when there is no key.
    func seal(_ value: String, name: String) throws(LectureError) -> String
    /// Opens a value.
    ///
    /// - Parameters:
    ///   - text: the result of ``seal(_:name:)``.
    ///   - name: the field's name.
    /// - Returns: the value.
    /// - Throws: ``LectureError`` with ``LectureError/Code/headersSealed`` when another device has sealed it.
    func open(_ text: String, name: String) throws(LectureError) -> String
}

/// How sealed values are distinguished from values that an earlier version stored in clear.
package enum SealedField {
    /// The prefix of a sealed value. No field may hold a control character (RFC 9110 section 5.5), so no clear value
    /// starts like this.
    package static let mark = "\u{1}"

    /// Whether a stored value is sealed.
    ///
    /// - Parameter value: the value.
    /// - Returns: whether it starts with the mark.
    package static func isSealed(_ value: String) -> Bool { value.utf8.first == 1 }
}
