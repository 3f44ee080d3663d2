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
    /// A segment that was opened for a part of it; allocated by the first one.
    private var text: UnsafeMutableRawBufferPointer?
    private var opened: Int?

    /// Creates a reader.
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
    }

    deinit { unsafe text?.deallocate() }

    /// The buffer for a segment.
    private var buffer: UnsafeMutableRawBufferPointer {
        let buffer = unsafe text ?? .allocate(byteCount: SealedFormat.segmentBytes, alignment: 4096)
        unsafe text = buffer
        return unsafe buffer
    }

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
        let wanted = try place(count, at: offset)
        for segment in layout.segments(covering: wanted) {
            let piece = layout.plaintextRange(ofSegment: segment).clamped(to: wanted)
            unsafe body(try part(piece, ofSegment: segment))
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LectureError) {
        let wanted = try place(buffer.count, at: offset)
        for segment in layout.segments(covering: wanted) {
            let place = layout.plaintextRange(ofSegment: segment)
            let piece = place.clamped(to: wanted)
            let end = piece.upperBound - wanted.lowerBound
            let target = unsafe UnsafeMutableRawBufferPointer(
                rebasing: buffer[(piece.lowerBound - wanted.lowerBound)..<end])
            if piece == place, damage == .isRefused {
                try unsafe open(segment, into: target)
            } else {
                try unsafe target.copyMemory(from: part(piece, ofSegment: segment))
            }
        }
    }

    /// Where bytes are that must exist.
    private func place(_ count: Int, at offset: UInt64) throws(LectureError) -> Range<Int> {
        guard let start = Int(exactly: offset), start <= layout.plaintextLength - count else {
            throw LectureError(.damaged, cause: "it ends before byte \(offset)")
        }
        return start..<(start + count)
    }

    /// A part of a segment, which is opened for it once.
    private func part(_ piece: Range<Int>, ofSegment segment: Int) throws(LectureError) -> UnsafeRawBufferPointer {
        if opened != segment { try openOrBlank(segment) }
        let start = layout.plaintextRange(ofSegment: segment).lowerBound
        let part = unsafe buffer[(piece.lowerBound - start)..<(piece.upperBound - start)]
        return unsafe UnsafeRawBufferPointer(rebasing: part)
    }

    private func openOrBlank(_ segment: Int) throws(LectureError) {
        do {
            try unsafe open(segment)
        } catch {
            guard error.code == .damaged, damage == .readsAsZeros else { throw error }
            unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0)
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
        let count = max(0, layout.ciphertextRange(ofSegment: segment).count - SealedFormat.tagBytes)
        let plain = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        try unsafe open(segment, into: plain)
        opened = segment
        unsafe body(UnsafeRawBufferPointer(plain))
    }

    /// Opens a segment to where its plaintext is wanted, regardless of ``Damage``.
    ///
    /// - Parameters:
    ///   - segment: its index.
    ///   - plain: as long as its plaintext.
    /// - Throws: as ``open(_:_:)``; then what is in `plain` must not be used.
    private func open(_ segment: Int, into plain: UnsafeMutableRawBufferPointer) throws(LectureError) {
        let place = layout.ciphertextRange(ofSegment: segment)
        guard place.count >= SealedFormat.tagBytes else {
            throw LectureError(.damaged, detail: "segment \(segment)", cause: "it is past the end")
        }
        var failure: LectureError?
        try unsafe file.read(place.count, at: UInt64(place.lowerBound)) { sealed in
            do throws(LectureError) {
                try unsafe opener.open(segment: segment, isLast: segment == last, sealed, into: plain)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}
