extension HostileCase {
    /// TLS and certificates.
    static let securities: [HostileCase] =
        soundSecurity + badCertificates + badCryptography + handshakes + securedBodies + crossings

    /// A case on one listener under TLS.
    static func secure(
        _ name: String, _ summary: String, _ due: Due, blind: Due? = nil, _ security: Security = Security(),
        play: @escaping @Sendable (Visit) -> Reply = { .answer($0.honest()) }
    ) -> HostileCase {
        HostileCase(name, .security, summary, due: due, blind: blind, play: play)
            .with { $0.edges = [.secure(security)] }
    }

    /// A case about a certificate that must not be trusted: not even a request may go out.
    private static func untrusted(
        _ name: String, _ summary: String, _ certificate: Security.Certificate, _ due: Due = .refusal
    ) -> HostileCase {
        let it = secure(name, summary, due, Security { $0.certificate = certificate })
        return due == .refusal ? it.promising(.requests(atMost: 0)) : it
    }

    private static let soundSecurity: [HostileCase] = [
        secure(
            "tls", "An honest origin under TLS 1.3, with a certificate by the authority that is trusted.", .rightBytes
        )
        .promising(.requests(atMost: 6), .resumed(wasting: 0)),
        secure(
            "tls-1.2", "An honest origin that knows TLS 1.2 only and has an RSA key.", .rightBytes,
            Security {
                $0.certificate = .rsa2048
                $0.priorities = "NORMAL:-VERS-ALL:+VERS-TLS1.2"
            }),
        secure(
            "tls-chain", "The certificate comes with that of the authority between it and the root.", .rightBytes,
            Security { $0.certificate = .goodChain }),
        secure(
            "tls-chain-with-strangers",
            "Twenty certificates that belong to nothing come along (RFC 8446 section 4.4.2).",
            .rightBytes,
            Security {
                $0.certificate = .goodChain
                $0.unrelated = 20
            }),
        secure(
            "tls-chain-of-thousands", "Two thousand certificates that belong to nothing come along.", .rightOrRefusal,
            Security {
                $0.certificate = .goodChain
                $0.unrelated = 2000
            }),
        secure(
            "tls-client-certificate-asked", "The server asks for a certificate of the client and does without.",
            .rightBytes, Security { $0.asksForCertificate = true }),
        secure(
            "tls-client-certificate-wanted", "The server wants a certificate of the client, who has none.", .refusal,
            Security { $0.wantsCertificate = true }
        ).promising(.requests(atMost: 0)),
        secure(
            "tls-session-resumed", "FIN after 2 MB of the first body; the session ticket is taken.", .rightBytes,
            Security { $0.tickets = .taken }, play: cutOnce
        ).promising(.resumed()),
        secure(
            "tls-session-forgotten", "FIN after 2 MB of the first body; the session ticket is not taken.", .rightBytes,
            Security { $0.tickets = .refused }, play: cutOnce
        ).promising(.resumed()),
        secure(
            "tls-certificate-rotated", "After a cut at 2 MB another good certificate is shown.", .rightBytes,
            Security { $0.later = [Security { $0.certificate = .goodChain }] }, play: cutOnce
        ).promising(.resumed()),
    ]

    private static let badCertificates: [HostileCase] = [
        untrusted("self-signed", "The certificate is signed by itself.", .selfSigned),
        untrusted("unknown-authority", "The certificate is by an untrusted authority.", .unknownAuthority),
        untrusted(
            "namesake-authority", "The certificate is by an authority of the trusted one's name with another key.",
            .namesakeAuthority),
        untrusted(
            "lacks-intermediate",
            "The certificate of the authority between does not come along (RFC 8446 section 4.4.2).",
            .lacksIntermediate),
        untrusted(
            "expired-intermediate", "The authority between the certificate and the root has expired.",
            .expiredIntermediate),
        untrusted(
            "signed-by-server",
            "The owner of a server's certificate has signed another one (RFC 5280 section 4.2.1.9).",
            .signedByServer),
        untrusted(
            "outside-constraints", "The authority between may only speak for example.org (RFC 5280 section 4.2.1.10).",
            .outsideConstraints),
        untrusted("expired-certificate", "The certificate has expired an hour ago.", .expired),
        untrusted("early-certificate", "The certificate will be valid tomorrow.", .early),
        untrusted("other-host", "The certificate is for lectures.example.org.", .otherHost),
        untrusted("star-host", "The certificate is for the name *, which is no name of a host.", .starHost),
        untrusted(
            "partial-star", "The certificate is for local*, l*t and *host (RFC 9525 section 6.3).", .partialStar),
        untrusted(
            "zero-in-host", "The certificate is for our name, a zero byte and .example.org (CVE-2009-2408).",
            .zeroInHost),
        untrusted("address-only", "The certificate is for 127.0.0.1 and not for localhost.", .addressOnly),
        untrusted(
            "common-name-only", "The name stands in the subject only, which RFC 9525 section 2 has done away with.",
            .commonNameOnly, .rightOrRefusal),
        secure(
            "certificate-turns-bad",
            "After a cut at 2 MB the certificate is by an untrusted authority.", .refusal,
            Security { $0.later = [Security { $0.certificate = .unknownAuthority }] }, play: cutOnce
        ).promising(.requests(atMost: 1)),
        secure(
            "certificate-bad-at-first", "The first connection shows an expired certificate, the later ones a good one.",
            .rightOrRefusal,
            Security {
                $0.certificate = .expired
                $0.later = [Security()]
            }),
    ]

    private static let badCryptography: [HostileCase] = [
        untrusted("sha1-signature", "The certificate is signed with SHA-1.", .sha1),
        untrusted("md5-signature", "The certificate is signed with MD5 (RFC 6151).", .md5),
        untrusted("rsa-1024", "The certificate's key has 1024 bits (RFC 9325 section 4.5).", .rsa1024),
        old("tls-1.0-only", "The server knows TLS 1.0 only (RFC 8996).", "-VERS-ALL:+VERS-TLS1.0"),
        old("tls-1.1-only", "The server knows TLS 1.1 only (RFC 8996).", "-VERS-ALL:+VERS-TLS1.1"),
        old(
            "null-cipher-only", "The server knows no encryption but NULL (RFC 9325 section 4.1).",
            "-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+NULL:+RSA"),
        old(
            "rc4-only", "The server knows no cipher but RC4 (RFC 7465).",
            "-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+ARCFOUR-128:+RSA"),
        old(
            "3des-only", "The server knows no cipher but 3DES.",
            "-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+3DES-CBC:+RSA", .rightOrRefusal),
        old(
            "rsa-key-exchange-only", "The server knows no key exchange but RSA, without forward secrecy.",
            "-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+RSA", .rightOrRefusal),
    ]

    private static func old(
        _ name: String, _ summary: String, _ priorities: String, _ due: Due = .refusal
    ) -> HostileCase {
        let security = Security {
            $0.certificate = .rsa2048
            $0.priorities = "NORMAL:\(priorities):+MAC-ALL:+SIGN-ALL:+SIGN-RSA-SHA1:%COMPAT"
        }
        let it = secure(name, summary, due, security)
        return due == .refusal ? it.promising(.requests(atMost: 0)) : it
    }

    private static let handshakes: [HostileCase] = [
        greeting("handshake-cut-once", "FIN instead of the first ServerHello.", .cut, .rightBytes),
        greeting("handshake-cut", "FIN instead of every ServerHello.", .cut, .refusal, always: true),
        greeting("handshake-silent-once", "No ServerHello on the first connection, for ever.", .silence, .rightBytes),
        greeting(
            "handshake-internal-error-once", "The alert internal_error instead of the first ServerHello.", .alert(80),
            .rightBytes),
        greeting(
            "unrecognized-name", "The alert unrecognized_name instead of every ServerHello (RFC 6066 section 3).",
            .alert(112), .refusal, always: true),
        greeting(
            "plain-http-on-https", "Every ClientHello is answered by a page in clear.",
            .bytes("HTTP/1.1 400 Bad Request\r\nContent-Length: 5\r\n\r\nOops\n"), .refusal, always: true),
        greeting(
            "plain-media-on-https", "Every ClientHello is answered by media in clear.",
            .bytes("HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 5\r\n\r\nmedia"), .refusal,
            always: true),
    ]

    private static func greeting(
        _ name: String, _ summary: String, _ greeting: Security.Greeting, _ due: Due, always: Bool = false
    ) -> HostileCase {
        let it = secure(
            name, summary, due,
            Security {
                $0.greeting = greeting
                if !always { $0.later = [Security()] }
            })
        return due == .refusal ? it.promising(.requests(atMost: 0), .handshakes(atMost: 20)) : it
    }

    /// Cuts the first body at 2 MB.
    static let cutOnce: @Sendable (Visit) -> Reply = { visit in
        .answer(visit.honest().with { if visit.isFirst("body") { $0.ending = .cut(after: 2_000_000) } })
    }
}
