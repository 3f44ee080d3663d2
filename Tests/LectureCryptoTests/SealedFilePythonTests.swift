import Foundation
import LectureCrypto
import LectureModel
import LectureTestSupport
import Testing

@Suite(.enabled(if: SealedPython.isPossible, "python3-cryptography is not installed"))
struct SealedFilePythonTests {
    private let directory: TemporaryDirectory
    private let key: SecretBytes
    private let content = "Vorlesung 1/ü"

    init() throws {
        directory = try TemporaryDirectory()
        key = try SecretBytes(copying: sample(32, seed: 41))
    }

    private func python(_ mode: SealedPython.Mode, _ segmentLength: Int) async throws -> Int32 {
        try await SealedPython.run(
            mode, directory.file("source"), directory.file("target"), key: hex(key.exposed()),
            associated: String(decoding: SealedFileHeader.associatedData(content: content), as: UTF8.self),
            segmentLength: segmentLength)
    }

    /// Small segments at every boundary, and the real size once.
    private static let lengths: [(Int, Int)] = [
        (0, 100), (1, 100), (44, 100), (45, 100), (128, 100), (129, 100), (1000, 100), (2_500_000, 1 << 20),
    ]

    @Test(arguments: lengths)
    func `Python opens files sealed here`(length: Int, segmentLength: Int) async throws {
        let text = sample(length, seed: 42)
        let layout = try #require(SealedLayout(plaintextLength: length, segmentLength: segmentLength))
        let header = try SealedFileHeader.random()
        let sealer = try SegmentSealer(
            contentKey: key, header: header, associatedData: SealedFileHeader.associatedData(content: content),
            segmentLength: segmentLength)
        var file = header.bytes
        for segment in 0..<layout.segmentCount {
            let piece = Array(text[layout.plaintextRange(ofSegment: segment)])
            file += try sealer.seal(segment: segment, isLast: segment == layout.lastSegment, piece)
        }
        #expect(file.count == layout.ciphertextLength)
        try directory.write(file, to: "source")
        #expect(try await python(.open, segmentLength) == 0)
        #expect(try contents(of: directory.file("target")) == text)
        // It also notices a change, which shows that it verifies at all.
        file[file.count - 1] ^= 1
        try directory.write(file, to: "source")
        #expect(try await python(.open, segmentLength) != 0)
    }

    @Test(arguments: lengths)
    func `Files sealed by Python open here`(length: Int, segmentLength: Int) async throws {
        let text = sample(length, seed: 43)
        try directory.write(text, to: "source")
        #expect(try await python(.seal, segmentLength) == 0)
        let file = try contents(of: directory.file("target"))
        let opener = try SegmentOpener(
            contentKey: key, header: try SealedFileHeader(Array(file.prefix(40))),
            associatedData: SealedFileHeader.associatedData(content: content), ciphertextLength: file.count,
            segmentLength: segmentLength)
        var opened: [UInt8] = []
        for segment in 0..<opener.layout.segmentCount {
            opened += try opener.open(segment: segment, Array(file[opener.layout.ciphertextRange(ofSegment: segment)]))
        }
        #expect(opened == text)
    }
}
