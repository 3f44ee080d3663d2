package import LectureModel

/// Seals the segments of one file, in any order, each once.
///
/// The nonce invariant: no nonce ever seals two plaintexts under one key. Under one header the nonce follows from the
/// index, so the sealer refuses an index it has sealed before, even for the same bytes, and an end that contradicts
/// what was sealed. It cannot know what another process sealed under the same header: a caller that continues a file
/// passes that (`sealedBefore`), and if the plaintext may have changed, a new header and a new file are required.
package final class SegmentSealer: Sendable {
    private struct State {
        var sealed: Set<Int> = []
        var highest = -1
        var last: Int?
    }

    private let header: SealedFileHeader
    private let key: SecretBytes
    private let cipher: AESGCM
    private let capacities: (first: Int, other: Int)
    private let state: Guarded<State>

    /// Derives the key of a file.
    ///
    /// - Parameters:
    ///   - contentKey: 32 bytes.
    ///   - header: of this file.
    ///   - associatedData: the data bound to the file; at most 1,024 bytes.
    ///   - sealedBefore: indices of segments that are sealed in the file already.
    ///   - segmentLength: of a segment of ciphertext in bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` or ``LectureError/Code/cryptography``.
    package init(
        contentKey: SecretBytes, header: SealedFileHeader, associatedData: [UInt8], sealedBefore: Set<Int> = [],
        segmentLength: Int = SealedLayout.standardSegmentLength
    ) throws(LectureError) {
        guard SealedLayout(plaintextLength: 0, segmentLength: segmentLength) != nil else {
            throw LectureError(.parameter, detail: "length of a segment")
        }
        self.header = header
        key = try header.segmentKey(contentKey, associatedData)
        cipher = try AESGCM()
        let other = segmentLength - AESGCM.tagLength
        capacities = (other - SealedFileHeader.length, other)
        state = Guarded(State(sealed: sealedBefore, highest: sealedBefore.max() ?? -1))
    }

    /// Seals a segment.
    ///
    /// - Parameters:
    ///   - segment: its index.
    ///   - isLast: whether the file ends with it.
    ///   - plaintext: the segment's whole text; only the last one may be shorter than its space, and only the first one
    ///     empty.
    ///   - ciphertext: receives the segment, 16 bytes more than the plaintext. May begin where it does.
    /// - Throws: ``LectureError`` with ``LectureError/Code/bug`` for an index that was sealed before or contradicts the
    ///   end, ``LectureError/Code/parameter`` for a wrong length, or ``LectureError/Code/cryptography``.
    package func seal(
        segment: Int, isLast: Bool, _ plaintext: UnsafeRawBufferPointer, into ciphertext: UnsafeMutableRawBufferPointer
    ) throws(LectureError) {
        let capacity = segment == 0 ? capacities.first : capacities.other
        let least = isLast ? (segment == 0 ? 0 : 1) : capacity
        guard let index = UInt32(exactly: segment), (least...capacity).contains(plaintext.count),
            ciphertext.count == plaintext.count + AESGCM.tagLength
        else { throw LectureError(.parameter, detail: "segment \(segment)", cause: "a length is wrong") }
        // Before encrypting: a failure below wastes an index, a repetition would compromise the key.
        try state.withLock { state throws(LectureError) in try Self.claim(segment, isLast, &state) }
        try unsafe cipher.seal(
            plaintext, into: ciphertext, key: key, nonce: header.nonce(segment: index, isLast: isLast))
    }

    /// Seals a segment in arrays.
    ///
    /// - Parameters:
    ///   - segment: its index.
    ///   - isLast: whether the file ends with it.
    ///   - plaintext: the segment's whole text.
    /// - Returns: the segment.
    /// - Throws: ``LectureError`` as the other form.
    package func seal(segment: Int, isLast: Bool, _ plaintext: [UInt8]) throws(LectureError) -> [UInt8] {
        var ciphertext = [UInt8](repeating: 0, count: plaintext.count + AESGCM.tagLength)
        var failure: LectureError?
        unsafe plaintext.withUnsafeBytes { text in
            unsafe ciphertext.withUnsafeMutableBytes { buffer in
                do throws(LectureError) {
                    try unsafe seal(segment: segment, isLast: isLast, text, into: buffer)
                } catch { failure = error }
            }
        }
        if let failure { throw failure }
        return ciphertext
    }

    private static func claim(_ segment: Int, _ isLast: Bool, _ state: inout State) throws(LectureError) {
        let contradicts =
            isLast ? state.last != nil || state.highest > segment : state.last.map { segment > $0 } ?? false
        guard !contradicts, state.sealed.insert(segment).inserted else {
            throw LectureError(.bug, detail: "segment \(segment)", cause: "it would be sealed twice or after the end")
        }
        state.highest = max(state.highest, segment)
        if isLast { state.last = segment }
    }
}
