import COpenSSL
import LectureModel

/// Turns OpenSSL's error queue into a value.
enum OpenSSLFailure {
    /// Empties this thread's error queue and returns its oldest entry, which names the cause; later entries only say
    /// which functions passed it on. Call it in the synchronous function that saw the failure: the queue belongs to the
    /// thread.
    ///
    /// - Parameter step: what was tried, for the error's detail.
    /// - Returns: an error with the code ``LectureError/Code/cryptography``.
    static func drain(_ step: String) -> LectureError {
        let oldest = ERR_get_error()
        ERR_clear_error()
        guard oldest != 0 else { return LectureError(.cryptography, detail: step) }
        var text = [CChar](repeating: 0, count: 256)
        unsafe ERR_error_string_n(oldest, &text, text.count)
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return LectureError(.cryptography, detail: step, cause: String(decoding: bytes, as: UTF8.self))
    }
}
