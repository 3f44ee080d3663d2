package import LectureModel

extension AESGCM {
    /// Encrypts a secret into an array.
    ///
    /// - Returns: the ciphertext and behind it the tag.
    func seal(
        _ plaintext: SecretBytes, key: SecretBytes, nonce: [UInt8], associated: [UInt8] = []
    ) throws(LectureError) -> [UInt8] {
        try unsafe plaintext.withBytes { text throws(LectureError) in
            try unsafe seal(text, key: key, nonce: nonce, associated: associated)
        }
    }

    /// Encrypts and authenticates into an array.
    ///
    /// - Parameters:
    ///   - plaintext: what is hidden.
    ///   - key: 32 bytes.
    ///   - nonce: 12 bytes, never used before with this key.
    ///   - associated: what is authenticated but not hidden.
    /// - Returns: the ciphertext and behind it the tag.
    /// - Throws: ``LectureError`` as the other form.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer, key: SecretBytes, nonce: [UInt8], associated: [UInt8] = []
    ) throws(LectureError) -> [UInt8] {
        var box = [UInt8](repeating: 0, count: plaintext.count + Self.tagLength)
        // A typed error does not pass through the standard library's closures, so it is carried by hand.
        var failure: LectureError?
        unsafe box.withUnsafeMutableBytes { room in
            do throws(LectureError) {
                try unsafe seal(plaintext, into: room, key: key, nonce: nonce, associated: associated)
            } catch { failure = error }
        }
        if let failure { throw failure }
        return box
    }

    /// Decrypts an array, and tells whether what came out is genuine.
    ///
    /// - Parameters:
    ///   - box: the ciphertext and behind it the tag.
    ///   - plaintext: gets the text; 16 bytes shorter than `box`.
    ///   - key: 32 bytes.
    ///   - nonce: 12 bytes.
    ///   - associated: what was authenticated but not hidden.
    /// - Returns: whether the tag is right.
    /// - Throws: ``LectureError`` as the other form.
    package func open(
        _ box: [UInt8], into plaintext: UnsafeMutableRawBufferPointer, key: SecretBytes, nonce: [UInt8],
        associated: [UInt8] = []
    ) throws(LectureError) -> Bool {
        var result: Result<Bool, LectureError> = .success(false)
        unsafe box.withUnsafeBytes { bytes in
            do throws(LectureError) {
                result = .success(
                    try unsafe open(bytes, into: plaintext, key: key, nonce: nonce, associated: associated))
            } catch { result = .failure(error) }
        }
        return try result.get()
    }
}
