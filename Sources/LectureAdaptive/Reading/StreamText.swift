package import LectureFormats
package import LectureModel

/// The text of a playlist or manifest, as far as it is read without knowing where it came from.
package enum StreamText: Sendable, Equatable {
    /// An HLS playlist, or what claims to be one.
    case playlist([UInt8])
    /// The outermost element of an XML document: a DASH manifest, or what claims to be one.
    case manifest(XMLElement)

    /// Reads bytes. A playlist begins with `#`, whatever its media type says, and XML with `<`.
    ///
    /// - Parameters:
    ///   - bytes: the whole text.
    ///   - xml: reads XML documents.
    /// - Throws: ``LectureError`` with `playlistDamaged` for what is no well-formed XML or exceeds its limits, with
    ///   `manifestReaderMissing` without libxml2.
    package init(_ bytes: [UInt8], xml: any XMLReading) throws(LectureError) {
        guard Self.isXML(bytes) else {
            self = .playlist(bytes)
            return
        }
        do throws(XMLError) { self = .manifest(try xml.element(of: bytes, limits: XMLLimits())) } catch {
            throw LectureError(error)
        }
    }

    /// Whether the first character that is neither blank nor a byte order mark is `<`, in UTF-8 or UTF-16.
    private static func isXML(_ bytes: [UInt8]) -> Bool {
        let ignored: Set<UInt8> = [0x09, 0x0A, 0x0D, 0x20, 0xEF, 0xBB, 0xBF, 0xFE, 0xFF, 0x00]
        return bytes.first { !ignored.contains($0) } == UInt8(ascii: "<")
    }
}

extension LectureError {
    /// Why a manifest is no XML document.
    init(_ error: XMLError) {
        switch error.kind {
        case .libraryMissing: self.init(.manifestReaderMissing, cause: error.detail)
        case .limit, .documentType, .encoding, .malformed: self.init(.playlistDamaged, cause: error.detail)
        }
    }

    /// Why a manifest is not followed.
    init(_ error: DASHError) {
        let code: Code =
            switch error.kind {
            case .live: .streamLive
            case .protected: .streamProtected
            case .remoteElement, .unsupported: .playlistUnsupported
            case .nothingFits: .variantUnavailable
            case .notManifest, .invalid, .url, .limit, .index: .playlistDamaged
            }
        self.init(code, cause: error.detail)
    }
}
