import LectureModel

/// The plaintext of a sealed file. Opens a segment once for consecutive reads. Used by one thread at a time.
@safe final class SealedReader: ByteSource {
    /// How a segment that does not open is handled.
    enum Damage {
        /// It is an error: other bytes must never pass for the sealed ones.
        case isRefused
        /// It reads as zeros: the digest of the whole file will not match, and the chunks' proofs then show where the
        /// damage is.
        case readsAsZeros
    }

    /// Where the segments are.
    private(set) var layout: SealedLayout
    /// Which segment is the last one of the file; nil while that is not sealed.
    private(set) var last: Int?
    private let file: ReadableFile
    private let opener: any SegmentOpening
    private let damage: Damage
    private let text: UnsafeMutableRawBufferPointer
    private var opened: Int?

    /// Allocates the buffer for a segment.
    ///
    /// - Parameters:
    ///   - file: the ciphertext.
    ///   - opener: opens its segments.
    ///   - layout: where they are.
    ///   - last: which one is the last.
    ///   - damage: how one that does not open is handled.
    init(_ file: ReadableFile, opener: any SegmentOpening, layout: SealedLayout, last: Int?, damage: Damage) {
        self.file = file
        self.opener = opener
        self.layout = layout
        self.last = last
        self.damage = damage
        unsafe text = .allocate(byteCount: SealedFormat.segmentBytes, alignment: 4096)
    }

    deinit { unsafe text.deallocate() }

    /// Reads the header of a file and makes its opener.
    ///
    /// - Parameters:
    ///   - file: the ciphertext.
    ///   - cipher: the lecture's.
    /// - Returns: the header and what opens under it.
    /// - Throws: ``LectureError`` with ``LectureError/Code/damaged`` when there is none.
    static func header(
        of file: ReadableFile, _ cipher: any ContentCipher
    ) throws(LectureError) -> (bytes: [UInt8], opener: any SegmentOpening) {
        var header: [UInt8] = []
        try unsafe file.read(SealedFormat.headerBytes, at: 0) { unsafe header.append(contentsOf: $0) }
        return (header, try cipher.opener(header: header))
    }

    /// Drops the opened segment, since a segment was sealed; the end may have become known.
    ///
    /// - Parameters:
    ///   - layout: where the segments are.
    ///   - last: which one is the last.
    func forget(layout: SealedLayout, last: Int?) {
        self.layout = layout
        self.last = last
        opened = nil
    }

    func read(_ count: Int, at offset: UInt64, _ body: (UnsafeRawBufferPointer) -> Void) throws(LectureError) {
        guard let start = Int(exactly: offset), start <= layout.plaintextLength - count else {
            throw LectureError(.damaged, cause: "it ends before byte \(offset)")
        }
        let wanted = start..<(start + count)
        for segment in layout.segments(covering: wanted) {
            let place = layout.plaintextRange(ofSegment: segment)
            let piece = place.clamped(to: wanted)
            if opened != segment { try openOrBlank(segment) }
            let part = unsafe text[(piece.lowerBound - place.lowerBound)..<(piece.upperBound - place.lowerBound)]
            unsafe body(UnsafeRawBufferPointer(rebasing: part))
        }
    }

    private func openOrBlank(_ segment: Int) throws(LectureError) {
        do {
            try unsafe open(segment)
        } catch {
            guard error.code == .damaged, damage == .readsAsZeros else { throw error }
            unsafe text.initializeMemory(as: UInt8.self, repeating: 0)
        }
    }

    /// Opens a segment, regardless of ``Damage``.
    ///
    /// - Parameters:
    ///   - segment: its index.
    ///   - body: gets the plaintext; must not store the pointer.
    /// - Throws: ``LectureError`` with ``LectureError/Code/damaged`` when it does not open, or
    ///   ``LectureError/Code/readFile``.
    func open(_ segment: Int, _ body: (UnsafeRawBufferPointer) -> Void = { _ in }) throws(LectureError) {
        opened = nil
        let place = layout.ciphertextRange(ofSegment: segment)
        guard place.count >= SealedFormat.tagBytes else {
            throw LectureError(.damaged, detail: "segment \(segment)", cause: "it is past the end")
        }
        let plain = unsafe UnsafeMutableRawBufferPointer(rebasing: text[..<(place.count - SealedFormat.tagBytes)])
        var failure: LectureError?
        try unsafe file.read(place.count, at: UInt64(place.lowerBound)) { sealed in
            do throws(LectureError) {
                try unsafe opener.open(segment: segment, isLast: segment == last, sealed, into: plain)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        opened = segment
        unsafe body(UnsafeRawBufferPointer(plain))
    }
}
