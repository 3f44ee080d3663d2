import COpenSSL
package import LectureModel

/// Single blocks of AES-128 in CBC mode by OpenSSL 3.
package struct OpenSSLBlocks: BlockDecrypting {
    /// Decrypts; nothing is kept.
    package init() {}

    /// Decrypts blocks that have one key, and clears the key.
    package func decrypted(
        _ blocks: [ChainedBlock], clearing key: inout [UInt8]
    ) throws(LectureError) -> [[UInt8]] {
        defer { unsafe key.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) } }
        guard key.count == ChainedBlock.length else { throw LectureError(.streamKey) }
        let secret = try SecretBytes(copying: key)
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw OpenSSLFailure.drain("EVP_CIPHER_CTX_new") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var clear: [[UInt8]] = []
        clear.reserveCapacity(blocks.count)
        for block in blocks {
            guard block.bytes.count == ChainedBlock.length, block.previous.count == ChainedBlock.length else {
                throw LectureError(.parameter, detail: "a block of AES-128")
            }
            var text = [UInt8](repeating: 0, count: 2 * ChainedBlock.length)
            var written: Int32 = 0
            let isDone = unsafe secret.withOctets { key in
                unsafe EVP_DecryptInit_ex(context, EVP_aes_128_cbc(), nil, key, block.previous) == 1
                    && EVP_CIPHER_CTX_set_padding(context, 0) == 1
                    && EVP_DecryptUpdate(context, &text, &written, block.bytes, Int32(ChainedBlock.length)) == 1
            }
            guard isDone, Int(written) == ChainedBlock.length else { throw OpenSSLFailure.drain("AES-128-CBC") }
            clear.append(Array(text.prefix(ChainedBlock.length)))
        }
        return clear
    }
}
