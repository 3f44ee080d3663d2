import COpenSSL

/// OpenSSL in this process.
package enum OpenSSLProcess {
    private static let isPrepared = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// Keeps OpenSSL usable until the process is gone. To be called before anything else of it; once is enough.
    ///
    /// At `exit` OpenSSL frees what all of its functions use (OPENSSL_init_crypto(3), `OPENSSL_INIT_NO_ATEXIT`), while
    /// another thread may still decrypt what was read ahead: a program that had already said why it ends then ended by
    /// a signal. The system frees the memory of a process anyway.
    package static func prepare() { _ = isPrepared }
}
