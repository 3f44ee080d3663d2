import LectureCrypto
import LectureFormats
import LectureModel
import Testing

/// A time at which nothing in the tests has expired.
let today = Timestamp(milliseconds: 1_790_000_000_000)

/// The value of a JSON text.
func json(_ text: String) throws -> JSONValue { try JSONScanner.value(of: text) }

/// Judges a token.
func judge(
    _ token: [UInt8], _ keys: [VerificationKey], types: Set<String> = [],
    algorithms: Set<SignatureAlgorithm> = SignatureAlgorithm.licence
) throws -> VerificationVerdict {
    try TokenVerifier.verify(token, keys: KeyPolicy(keys: keys, algorithms: algorithms, types: types), at: today)
}

/// Judges a token that is written as text.
func judge(_ token: String, _ keys: [VerificationKey]) throws -> VerificationVerdict {
    try judge(Array(token.utf8), keys)
}

/// A signing key for every supported algorithm, with its verification key.
func keyPairs() throws -> [(signing: SigningKey, verifying: VerificationKey)] {
    let keys = [
        SigningKey(secret: try SecretBytes(copying: sample(32, seed: 3))), try SigningKey.generateES256(),
        try SigningKey.generateEdDSA(),
    ]
    return try keys.map { ($0, try $0.verificationKey()) }
}

/// A published example: a key and a token that it signed.
struct Example: Sendable, CustomTestStringConvertible {
    let name: String
    let jwk: String
    let token: String

    var testDescription: String { name }

    private static let payload = """
        eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ
        """
    static let hs256 = Example(
        name: "RFC 7515 A.1",
        jwk: """
            {"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}
            """,
        token: "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(payload).dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    static let rs256 = Example(
        name: "RFC 7515 A.2",
        jwk: """
            {"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-\
            4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf\
            63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5I\
            hlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"}
            """,
        token: """
            eyJhbGciOiJSUzI1NiJ9.\(payload).cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AA\
            uHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6x\
            BArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phC\
            nvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw
            """)
    static let es256 = Example(
        name: "RFC 7515 A.3",
        jwk: """
            {"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}
            """,
        token: """
            eyJhbGciOiJFUzI1NiJ9.\(payload).DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApm\
            WQxfKTUJqPP3-Kg6NU1Q
            """)
    static let edDSA = Example(
        name: "RFC 8037 A.4",
        jwk: #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
        token: """
            eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQ\
            R6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg
            """)
    /// RFC 7515 A.5, under no key.
    static let unsigned = "eyJhbGciOiJub25lIn0.\(payload)."
    static let all = [hs256, rs256, es256, edDSA]

    func key() throws -> VerificationKey { try JWK.verificationKey(json(jwk)) }
}
