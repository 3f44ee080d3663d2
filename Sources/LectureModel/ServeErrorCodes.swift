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
    /// A branch server that lectures were to be fetched from is of no use.
    public static let peerUnusable = Self(
        -20321, "peer_unusable", "a branch server cannot be used, and lectures come from the internet instead",
        "Look whether it runs and is reached under this address, whether its certificate is trusted here ('--ca-file')"
            + ", and whether the token is one with the role peer ('lecturectl access list' there).",
        reason: "It does not answer, does not prove its name, refuses the token, or sends what is not what it has to "
            + "send.")
    /// The tokens for branch servers.
    public static let peerTokens = Self(
        -20322, "peer_tokens", "the file with the tokens for branch servers cannot be used",
        "Write the token into it that 'lecturectl access add NAME --role peer' has printed at the branch server, or a "
            + "line 'URL TOKEN' for each server.",
        reason: "Each server gets its own token and no other, so it must be clear which one that is.")
    /// All of the above.
    static let serving: [Self] = [.accessMissing, .addressExposed, .tlsIncomplete, .peerUnusable, .peerTokens]
}
