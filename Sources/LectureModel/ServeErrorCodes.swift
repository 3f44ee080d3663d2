// The catalogue's codes for the server of a store. Numbers and names are frozen.

extension LectureError.Code {
    /// No file says who may use the server.
    public static let accessMissing = Self(
        -20318, "access_missing", "no file says who may use the server",
        "Run 'lecturectl access add NAME --role operator', and keep the token that it prints.",
        reason: "Everything that the server shows and does needs a token.")
    /// Tokens would cross a network as they are.
    public static let addressExposed = Self(
        -20319, "address_exposed", "other machines reach this address, and tokens would be sent to it as they are",
        "Give '--tls-cert' and '--tls-key', or '--behind-proxy' if a proxy ends TLS, or listen on 127.0.0.1.",
        reason: "Without TLS, anyone in between can read a token and use it.")
    /// Half of what TLS needs.
    public static let tlsIncomplete = Self(
        -20320, "tls_incomplete", "TLS needs a certificate and its key", "Give both '--tls-cert' and '--tls-key'.",
        reason: "A certificate is of no use without the key that belongs to it.")
    /// All of the above.
    static let serving: [Self] = [.accessMissing, .addressExposed, .tlsIncomplete]
}
