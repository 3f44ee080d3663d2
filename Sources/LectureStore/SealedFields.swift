import LectureFormats
import LectureModel

// Header fields of requests may be credentials: they are stored sealed.

extension ContentRows {
    /// The stored form of header fields. Values that an earlier version stored in clear are sealed as well.
    ///
    /// - Parameter headers: in clear or sealed, each.
    /// - Returns: JSON text.
    /// - Throws: ``LectureError`` when there is no key to seal them with.
    func stored(_ headers: [String: String]) throws -> String {
        guard let fieldSeal = store.fieldSeal else { return try JSONText.encode(headers) }
        // The store's own device has a key, and another one would seal what that device cannot open.
        if !headers.isEmpty, !fieldSeal.hasKey, try store.knowsDevice() { throw LectureError(.storeCopied) }
        var sealed: [String: String] = [:]
        for (name, value) in headers {
            sealed[name] = SealedField.isSealed(value) ? value : try fieldSeal.seal(value, name: name)
        }
        return try JSONText.encode(sealed)
    }

    /// Opens the header fields of a lecture. What cannot be opened stays sealed: only the code that sends it has to
    /// handle that.
    ///
    /// - Parameter record: as stored.
    /// - Returns: the same with fields in clear.
    func opened(_ record: ItemRecord) -> ItemRecord {
        guard let fieldSeal = store.fieldSeal, !record.headers.isEmpty else { return record }
        var record = record
        for (name, value) in record.headers where SealedField.isSealed(value) {
            if let clear = try? fieldSeal.open(value, name: name) { record.headers[name] = clear }
        }
        return record
    }
}
