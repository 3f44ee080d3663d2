import Foundation
import LectureCrypto
import LectureModel
import LectureTestSupport
import Testing

/// An independent reader and writer of the format, in another language and over another interface of its own, written
/// from the published description of the streaming AEAD and not from the code here.
private let script = """
    import struct, sys
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    def aead(key, salt, associated):
        return AESGCM(HKDF(hashes.SHA256(), 32, salt, associated).derive(key))

    def nonce(prefix, index, last):
        return prefix + struct.pack(">I", index) + (b"\\x01" if last else b"\\x00")

    def opened(data, key, associated, size):
        assert data[0] == 40
        salt, prefix = data[1:33], data[33:40]
        cipher = aead(key, salt, associated)
        pieces = [data[40:size]] + [data[i:i + size] for i in range(size, len(data), size)]
        last = len(pieces) - 1
        return b"".join(cipher.decrypt(nonce(prefix, i, i == last), p, b"") for i, p in enumerate(pieces))

    def sealed(text, key, associated, size, salt, prefix):
        cipher = aead(key, salt, associated)
        first = size - 40 - 16
        pieces = [text[:first]] + [text[i:i + size - 16] for i in range(first, len(text), size - 16)]
        last = len(pieces) - 1
        boxes = [cipher.encrypt(nonce(prefix, i, i == last), p, b"") for i, p in enumerate(pieces)]
        return bytes([40]) + salt + prefix + b"".join(boxes)

    mode, source, target, key, associated, size = sys.argv[1:7]
    key, associated, size = bytes.fromhex(key), associated.encode(), int(size)
    data = open(source, "rb").read()
    if mode == "open":
        result = opened(data, key, associated, size)
    else:
        result = sealed(data, key, associated, size, bytes(range(32)), bytes(range(100, 107)))
    open(target, "wb").write(result)
    """

/// Whether Python can be asked; Debian's package is python3-cryptography.
private let hasPython = FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/cryptography")

@Suite(.enabled(if: hasPython, "python3-cryptography is not installed"))
struct SealedFilePythonTests {
    private let directory: TemporaryDirectory
    private let key: SecretBytes
    private let content = "Vorlesung 1/ü"

    init() throws {
        directory = try TemporaryDirectory()
        key = try SecretBytes(copying: sample(32, seed: 41))
    }

    private func python(_ mode: String, _ segmentLength: Int) async throws -> Int32 {
        let associated = String(decoding: SealedFileHeader.associatedData(content: content), as: UTF8.self)
        let ending = try await ChildProcess.run(
            "/usr/bin/python3",
            [
                "-c", script, mode, directory.file("source"), directory.file("target"), hex(key.exposed()), associated,
                "\(segmentLength)",
            ])
        return ending.status
    }

    /// Small segments at every border, and the real size once.
    private static let lengths: [(Int, Int)] = [
        (0, 100), (1, 100), (44, 100), (45, 100), (128, 100), (129, 100), (1000, 100), (2_500_000, 1 << 20),
    ]

    @Test(arguments: lengths)
    func `Python opens what was sealed here`(length: Int, segmentLength: Int) async throws {
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
        #expect(try await python("open", segmentLength) == 0)
        #expect(try contents(of: directory.file("target")) == text)
        // And notices a change, so that it is known to look at all.
        file[file.count - 1] ^= 1
        try directory.write(file, to: "source")
        #expect(try await python("open", segmentLength) != 0)
    }

    @Test(arguments: lengths)
    func `What Python sealed opens here`(length: Int, segmentLength: Int) async throws {
        let text = sample(length, seed: 43)
        try directory.write(text, to: "source")
        #expect(try await python("seal", segmentLength) == 0)
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
