import LectureModel

@testable import LectureCrypto

/// Opens the segments of one sealed file, in any order.
///
/// A segment that opens is authentic, in its position, and of this file. Only the last segment proves that nothing is
/// missing after it, because its nonce marks it as the last: a reader that relies on the length opens that one first.
final class SegmentOpener: Sendable {
    /// The positions of the segments.
    let layout: SealedLayout
    private let opener: PlaceOpener

    /// Derives the key of a file.
    ///
    /// - Parameters:
    ///   - contentKey: 32 bytes.
    ///   - header: the parsed first 40 bytes of the file.
    ///   - associatedData: the data bound to the file.
    ///   - ciphertextLength: of the whole file in bytes.
    ///   - segmentLength: of a segment of ciphertext in bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/damaged`` when no sealed file has this length,
    ///   ``LectureError/Code/parameter``, or ``LectureError/Code/cryptography``.
    init(
        contentKey: SecretBytes, header: SealedFileHeader, associatedData: [UInt8], ciphertextLength: Int,
        segmentLength: Int = SealedLayout.standardSegmentLength
    ) throws(LectureError) {
        guard let layout = SealedLayout(ciphertextLength: ciphertextLength, segmentLength: segmentLength) else {
            throw LectureError(.damaged, detail: "sealed file", cause: "its length is impossible for a sealed file")
        }
        self.layout = layout
        opener = try PlaceOpener(contentKey: contentKey, header: header, associatedData: associatedData)
    }

    /// Opens a segment.
    ///
    /// - Parameters:
    ///   - segment: its index.
    ///   - ciphertext: the whole segment with its tag.
    ///   - plaintext: receives the segment's text, 16 bytes less; cleared when the segment is refused.
    /// - Throws: ``LectureError`` with ``LectureError/Code/damaged`` when the segment is not the whole, unchanged one
    ///   for this position, or ``LectureError/Code/cryptography``.
    func open(
        segment: Int, _ ciphertext: UnsafeRawBufferPointer, into plaintext: UnsafeMutableRawBufferPointer
    ) throws(LectureError) {
        guard !layout.ciphertextRange(ofSegment: segment).isEmpty,
            ciphertext.count == layout.ciphertextRange(ofSegment: segment).count
        else {
            throw LectureError(.damaged, detail: "segment \(segment)", cause: "its length is wrong for this file")
        }
        try unsafe opener.open(segment: segment, isLast: segment == layout.lastSegment, ciphertext, into: plaintext)
    }

    /// Opens a segment in arrays.
    ///
    /// - Parameters:
    ///   - segment: its index.
    ///   - ciphertext: the whole segment with its tag.
    /// - Returns: the segment's text.
    /// - Throws: ``LectureError`` as the other form.
    func open(segment: Int, _ ciphertext: [UInt8]) throws(LectureError) -> [UInt8] {
        var plaintext = [UInt8](repeating: 0, count: max(0, ciphertext.count - AESGCM.tagLength))
        var failure: LectureError?
        unsafe ciphertext.withUnsafeBytes { box in
            unsafe plaintext.withUnsafeMutableBytes { buffer in
                do throws(LectureError) {
                    try unsafe open(segment: segment, box, into: buffer)
                } catch { failure = error }
            }
        }
        if let failure { throw failure }
        return plaintext
    }
}
