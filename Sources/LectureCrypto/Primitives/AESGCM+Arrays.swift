package import LectureModel

extension AESGCM {
    /// Encrypts a secret into an array.
    ///
    /// - Returns: the ciphertext and then the tag.
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
    ///   - plaintext: the text to encrypt.
    ///   - key: 32 bytes.
    ///   - nonce: 12 bytes, never used before with this key.
    ///   - associated: data that is authenticated but not encrypted.
    /// - Returns: the ciphertext and then the tag.
    /// - Throws: ``LectureError`` as the other form.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer, key: SecretBytes, nonce: [UInt8], associated: [UInt8] = []
    ) throws(LectureError) -> [UInt8] {
        var box = [UInt8](repeating: 0, count: plaintext.count + Self.tagLength)
        // The standard library's closures do not pass on typed errors, so this is done by hand.
        var failure: LectureError?
        unsafe box.withUnsafeMutableBytes { buffer in
            do throws(LectureError) {
                try unsafe seal(plaintext, into: buffer, key: key, nonce: nonce, associated: associated)
            } catch { failure = error }
        }
        if let failure { throw failure }
        return box
    }

    /// Decrypts an array, and returns whether the text is authentic.
    ///
    /// - Parameters:
    ///   - box: the ciphertext and then the tag.
    ///   - plaintext: receives the text; 16 bytes shorter than `box`.
    ///   - key: 32 bytes.
    ///   - nonce: 12 bytes.
    ///   - associated: data that was authenticated but not encrypted.
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

    /// Encrypts and authenticates an array, as the form for a buffer does.
    func seal(
        _ plaintext: [UInt8], key: SecretBytes, nonce: [UInt8], associated: [UInt8]
    ) throws(LectureError) -> [UInt8] {
        var result: Result<[UInt8], LectureError> = .success([])
        unsafe plaintext.withUnsafeBytes { text in
            do throws(LectureError) {
                result = .success(try unsafe seal(text, key: key, nonce: nonce, associated: associated))
            } catch { result = .failure(error) }
        }
        return try result.get()
    }

    /// Decrypts an array into another.
    ///
    /// - Returns: the text; nil when the tag is not right, or the box is shorter than one.
    func open(
        _ box: [UInt8], key: SecretBytes, nonce: [UInt8], associated: [UInt8]
    ) throws(LectureError) -> [UInt8]? {
        guard box.count >= Self.tagLength else { return nil }
        var text = [UInt8](repeating: 0, count: box.count - Self.tagLength)
        var result: Result<Bool, LectureError> = .success(false)
        unsafe text.withUnsafeMutableBytes { place in
            do throws(LectureError) {
                result = .success(
                    try unsafe open(box, into: place, key: key, nonce: nonce, associated: associated))
            } catch { result = .failure(error) }
        }
        return try result.get() ? text : nil
    }
}
