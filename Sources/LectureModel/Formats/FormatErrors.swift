package import LectureFormats

// The formats report what is wrong with a text; here each kind of fault gets its code of the catalogue.

extension LectureError {
    /// The error of the catalogue for a text that is not of its format.
    ///
    /// - Parameter error: what is wrong with the text.
    package init(_ error: FormatError) {
        let code: Code =
            switch error.kind {
            case .json: .json
            case .url: .urlInvalid
            case .urlScheme: .urlScheme
            case .header: .headerInvalid
            case .headerReserved: .headerReserved
            }
        self.init(code, detail: error.detail)
    }

    /// Reads a text and turns what is wrong with it into an error of the catalogue.
    fileprivate static func reading<Value>(
        _ read: () throws(FormatError) -> Value
    ) throws(LectureError) -> Value {
        do throws(FormatError) { return try read() } catch { throw LectureError(error) }
    }
}

extension JSONScanner {
    /// Reads a text.
    ///
    /// - Parameters:
    ///   - bytes: the whole text.
    ///   - limits: its limits.
    /// - Returns: its value.
    /// - Throws: `LectureError(.json)`; the detail names the byte offset and what is wrong, never the text itself.
    package static func value(of bytes: [UInt8], limits: Limits = Limits()) throws(LectureError) -> JSONValue {
        try LectureError.reading { () throws(FormatError) in try scan(bytes, limits: limits) }
    }

    /// Reads a text.
    ///
    /// - Parameters:
    ///   - text: the whole text.
    ///   - limits: its limits.
    /// - Returns: its value.
    /// - Throws: `LectureError(.json)`.
    package static func value(of text: String, limits: Limits = Limits()) throws(LectureError) -> JSONValue {
        try value(of: Array(text.utf8), limits: limits)
    }
}

extension URLParts {
    /// Splits a URL.
    ///
    /// - Parameter url: an absolute URL with an authority.
    /// - Throws: `LectureError(.urlInvalid)` as ``LectureFormats/URLParts/init(parsing:)``.
    package init(_ url: String) throws(LectureError) {
        self = try LectureError.reading { () throws(FormatError) in try URLParts(parsing: url) }
    }
}

extension Origin {
    /// Reads the origin of a URL.
    ///
    /// - Parameter url: an absolute http or https URL.
    /// - Throws: `LectureError(.urlScheme)` for another scheme, `LectureError(.urlInvalid)` for anything else.
    package init(url: String) throws(LectureError) {
        self = try LectureError.reading { () throws(FormatError) in try Origin(parsing: url) }
    }

    /// Reads the origin of a URL that has been split.
    ///
    /// - Parameter parts: the parts of the URL.
    /// - Throws: as ``init(url:)``.
    package init(_ parts: URLParts) throws(LectureError) {
        self = try LectureError.reading { () throws(FormatError) in try Origin(of: parts) }
    }
}

extension HeaderField {
    /// Checks and reads a header to be sent.
    ///
    /// - Parameter line: `Name: value`, at most 8,192 bytes.
    /// - Throws: `LectureError(.headerInvalid)` or `LectureError(.headerReserved)`; the detail never repeats the value,
    ///   which may be a credential.
    package init(line: String) throws(LectureError) {
        self = try LectureError.reading { () throws(FormatError) in try HeaderField(parsing: line) }
    }

    /// Checks a header to be sent, passed as name and value.
    ///
    /// - Parameters:
    ///   - name: a token.
    ///   - value: the value; spaces and tabs around it are dropped.
    /// - Throws: `LectureError(.headerInvalid)` or `LectureError(.headerReserved)` as ``init(line:)``.
    package init(outgoing name: String, value: String) throws(LectureError) {
        self = try LectureError.reading { () throws(FormatError) in try HeaderField(checking: name, value: value) }
    }
}

extension UUIDv7 {
    /// Creates an identity.
    ///
    /// - Parameters:
    ///   - time: the creation time; clamped to 48 bits.
    ///   - random: 74 of its bits are taken from two numbers.
    /// - Returns: 36 characters, lower case.
    package static func text(at time: Timestamp, random: some RandomSource) -> String {
        text(at: time, random: random.next)
    }
}
