import LectureModel

// Header fields of requests may be credentials: they are stored sealed.

extension SQLiteDownloadIndex {
    /// The stored form of header fields. Values that an earlier version has stored in clear are sealed as well.
    ///
    /// - Parameter headers: in clear or sealed, each.
    /// - Returns: JSON text.
    /// - Throws: ``LectureError`` when there is no key to seal them with.
    func stored(_ headers: [String: String]) throws -> String {
        guard let fieldSeal else { return try JSONText.encode(headers) }
        var sealed: [String: String] = [:]
        for (name, value) in headers {
            sealed[name] = SealedField.isSealed(value) ? value : try fieldSeal.seal(value, name: name)
        }
        return try JSONText.encode(sealed)
    }

    /// Opens the header fields of a content. What cannot be opened stays sealed: it is nobody's business but that of
    /// whoever is about to send it.
    ///
    /// - Parameter record: as it is stored.
    /// - Returns: the same with fields in clear.
    func opened(_ record: ItemRecord) -> ItemRecord {
        guard let fieldSeal, !record.headers.isEmpty else { return record }
        var record = record
        for (name, value) in record.headers where SealedField.isSealed(value) {
            if let clear = try? fieldSeal.open(value, name: name) { record.headers[name] = clear }
        }
        return record
    }
}
