import Foundation

/// An independent reader and writer of the format, in another language and with another interface, written from the
/// published description of the streaming AEAD and not from the code here.
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

/// The independent reader and writer, run by Python.
public enum SealedPython {
    /// Whether Python has the module; Debian's package is python3-cryptography.
    public static let isPossible = FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/cryptography")

    /// The operation on a file.
    public enum Mode: String, Sendable {
        /// Opens the sealed source into the plain target.
        case open
        /// Seals the plain source into the sealed target.
        case seal
    }

    /// Runs it.
    ///
    /// - Parameters:
    ///   - mode: the operation.
    ///   - source: a path.
    ///   - target: a path.
    ///   - key: the content key, hexadecimal.
    ///   - associated: the associated data.
    ///   - segmentLength: of a segment of ciphertext in bytes.
    /// - Returns: the exit status; 0 when everything was genuine.
    /// - Throws: what starting a process throws.
    public static func run(
        _ mode: Mode, _ source: String, _ target: String, key: String, associated: String, segmentLength: Int = 1 << 20
    ) async throws -> Int32 {
        try await ChildProcess.run(
            "/usr/bin/python3", ["-c", script, mode.rawValue, source, target, key, associated, "\(segmentLength)"]
        ).status
    }
}
