/// Where the segments of one sealed file are: pure arithmetic between plaintext and ciphertext. The drawing is in
/// docs/sealed-file.md.
package struct SealedLayout: Hashable, Sendable {
    /// The length of a segment of ciphertext in bytes, its tag included; the first one's includes the file's header.
    package static let standardSegmentLength = SealedFormat.segmentBytes
    /// How many segments a file may have: their index has 32 bits.
    package static let segmentLimit = 1 << 32
    /// The layout of a file whose length is not known yet: longer than any, so that only the last segment of the real
    /// one may end elsewhere.
    package static let endless = SealedLayout(
        segmentLength: standardSegmentLength,
        plaintextLength: segmentLimit * SealedFormat.plaintextBytes - SealedFormat.headerBytes,
        segmentCount: segmentLimit)

    /// The length of a segment of ciphertext in bytes.
    package let segmentLength: Int
    /// The length of the plaintext in bytes.
    package let plaintextLength: Int
    /// How many segments there are, at least one.
    package let segmentCount: Int

    /// The plaintext length of the first segment, in bytes.
    private var firstCapacity: Int { segmentLength - SealedFormat.headerBytes - SealedFormat.tagBytes }
    /// The plaintext length of every other segment.
    private var capacity: Int { segmentLength - SealedFormat.tagBytes }

    /// The layout of a file for a plaintext; nil for a negative length, too many segments, or segments without space.
    ///
    /// - Parameters:
    ///   - plaintextLength: in bytes.
    ///   - segmentLength: of a segment of ciphertext in bytes; another one than the standard's only in tests.
    package init?(plaintextLength: Int, segmentLength: Int = standardSegmentLength) {
        guard plaintextLength >= 0, Self.isPossible(segmentLength) else { return nil }
        self.segmentLength = segmentLength
        self.plaintextLength = plaintextLength
        let first = segmentLength - SealedFormat.headerBytes - SealedFormat.tagBytes
        let rest = max(0, plaintextLength - first)
        let capacity = segmentLength - SealedFormat.tagBytes
        segmentCount = 1 + rest / capacity + (rest.isMultiple(of: capacity) ? 0 : 1)
        if segmentCount > Self.segmentLimit { return nil }
    }

    /// The layout of an existing file; nil when no sealed file has this length.
    ///
    /// - Parameters:
    ///   - ciphertextLength: of the whole file in bytes.
    ///   - segmentLength: of a segment of ciphertext in bytes.
    package init?(ciphertextLength: Int, segmentLength: Int = standardSegmentLength) {
        guard ciphertextLength > 0, Self.isPossible(segmentLength) else { return nil }
        let count = (ciphertextLength - 1) / segmentLength + 1
        let overhead = SealedFormat.headerBytes + count * SealedFormat.tagBytes
        self.init(plaintextLength: ciphertextLength - overhead, segmentLength: segmentLength)
        // A last segment with nothing in it, or only a piece of a tag.
        if self.ciphertextLength != ciphertextLength || segmentCount != count { return nil }
    }

    private init(segmentLength: Int, plaintextLength: Int, segmentCount: Int) {
        self.segmentLength = segmentLength
        self.plaintextLength = plaintextLength
        self.segmentCount = segmentCount
    }

    private static func isPossible(_ segmentLength: Int) -> Bool {
        segmentLength > SealedFormat.headerBytes + SealedFormat.tagBytes && segmentLength <= 1 << 30
    }

    /// The length of the whole file in bytes.
    package var ciphertextLength: Int {
        SealedFormat.headerBytes + plaintextLength + segmentCount * SealedFormat.tagBytes
    }

    /// The index of the last segment.
    package var lastSegment: Int { segmentCount - 1 }

    /// The plaintext range of a segment.
    ///
    /// - Parameter segment: an index.
    /// - Returns: offsets in the plaintext; empty for an index that is out of range, and for an empty plaintext.
    package func plaintextRange(ofSegment segment: Int) -> Range<Int> {
        guard (0..<segmentCount).contains(segment) else { return plaintextLength..<plaintextLength }
        let start = segment == 0 ? 0 : firstCapacity + (segment - 1) * capacity
        let end = firstCapacity + segment * capacity
        return start..<min(end, plaintextLength)
    }

    /// The file range of a segment, with its tag and without the file's header.
    ///
    /// - Parameter segment: an index.
    /// - Returns: offsets in the file; empty for an index that is out of range.
    package func ciphertextRange(ofSegment segment: Int) -> Range<Int> {
        guard (0..<segmentCount).contains(segment) else { return ciphertextLength..<ciphertextLength }
        let start = segment == 0 ? SealedFormat.headerBytes : segment * segmentLength
        return start..<min((segment + 1) * segmentLength, ciphertextLength)
    }

    /// The segments that hold a range of the plaintext.
    ///
    /// - Parameter range: offsets in the plaintext; offsets outside it are left out.
    /// - Returns: indices; empty for an empty range.
    package func segments(covering range: Range<Int>) -> Range<Int> {
        let range = range.clamped(to: 0..<plaintextLength)
        guard let last = range.last else { return 0..<0 }
        return segment(at: range.lowerBound)..<(segment(at: last) + 1)
    }

    /// The segment that holds a byte of the plaintext.
    ///
    /// - Parameter offset: in the plaintext.
    /// - Returns: its index; past the last segment for a byte past the end.
    package func segment(at offset: Int) -> Int {
        offset < firstCapacity ? 0 : 1 + (offset - firstCapacity) / capacity
    }
}
