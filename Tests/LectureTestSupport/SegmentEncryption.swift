/// What the `openssl` program makes of a segment: AES-128 in CBC mode, with padding (RFC 8216 section 4.3.2.4).
package enum SegmentEncryption {
    /// Encrypts.
    ///
    /// - Parameters:
    ///   - clear: the bytes.
    ///   - key: 16 bytes.
    ///   - vector: 16 bytes; that of the media sequence number 0 without another one.
    /// - Returns: whole blocks.
    /// - Throws: ``ChildProcess/Failure`` when the program fails.
    package static func encrypted(
        _ clear: [UInt8], key: [UInt8], vector: [UInt8] = [UInt8](repeating: 0, count: 16)
    ) throws -> [UInt8] {
        func digits(_ bytes: [UInt8]) -> String {
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        let words = ["enc", "-aes-128-cbc", "-K", digits(key), "-iv", digits(vector)]
        let ending = try ChildProcess.runBlocking(try Places.command("openssl"), words, input: clear)
        guard ending.status == 0 else { throw ChildProcess.Failure(description: ending.errorText) }
        return Array(ending.output)
    }
}
