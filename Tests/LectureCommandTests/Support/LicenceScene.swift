import Foundation
import LectureCrypto
import LectureModel
import LectureProgramSupport
import LectureTestSupport

/// Keys, certificates and tokens for the built program, made when the test runs.
final class LicenceScene: Sendable {
    static let now: Int64 = Int64(Date().timeIntervalSince1970) + 3600
    static let device = String(repeating: "A", count: 43)

    let home: TemporaryDirectory
    let secret: SigningKey

    init() throws {
        home = try TemporaryDirectory()
        let bytes = (0..<32).map { UInt8($0 * 7) }
        secret = SigningKey(secret: try SecretBytes(copying: bytes))
        try write(bytes, "hs.key")
    }

    func write(_ bytes: [UInt8], _ name: String) throws {
        try home.write(bytes, to: "trust/\(name)")
    }

    /// Claims that fit ``context``, plus the given members.
    static func claims(_ changes: [String: String] = [:]) -> [UInt8] {
        var members = [
            "iss": #""academy""#, "aud": #"["player"]"#, "sub": #""kim""#, "iat": "\(now - 60)", "exp": "\(now + 60)",
            "jti": #""t1""#, "mck": #""algebra""#, "cnf": #"{"jkt":"\#(device)"}"#, "serial": "3",
            "policy": #"{"expiration_count":2}"#,
        ]
        for (name, value) in changes { members[name] = value.isEmpty ? nil : value }
        return Array("{\(members.map { "\"\($0)\":\($1)" }.sorted().joined(separator: ","))}".utf8)
    }

    static func context(_ changes: [String: String] = [:]) -> String {
        var members = [
            "now": "\(now)", "device": #""\#(device)""#, "content": #""algebra""#, "user": #""kim""#,
            "aud": #""player""#, "iss": #""academy""#, "used_count": "0", "serial_floor": "3", "seen_jti": "[]",
        ]
        for (name, value) in changes { members[name] = value.isEmpty ? nil : value }
        return "{\(members.map { "\"\($0)\":\($1)" }.sorted().joined(separator: ","))}"
    }

    static func line(
        _ token: [UInt8], _ trust: String = "hs", id: String = "1", with changes: [String: String] = [:]
    ) -> String {
        let token = String(decoding: token, as: UTF8.self)
        return #"{"id":\#(id),"token":"\#(token)","trust":"\#(trust)","ctx":\#(context(changes))}"#
    }

    /// An answer of the batch.
    struct Answer: Decodable, Equatable {
        let verdict: String
        let reasons: [String]
    }

    /// Runs the batch over bytes.
    func batch(_ input: [UInt8]) async throws -> ChildProcess.Ending {
        let path = home.file("input-\(UUID().uuidString)")
        try Data(input).write(to: URL(filePath: path))
        let script = #""$0" licence verify --batch --trust-dir trust < "$1""#
        return try await ChildProcess.run(
            "/bin/bash", ["-c", script, BuiltProgram.url.path, path], environment: ["HOME": home.path],
            directory: home.path)
    }

    /// The answers to some lines.
    func answers(_ lines: [String]) async throws -> [Answer] {
        let ending = try await batch(Array(lines.map { "\($0)\n" }.joined().utf8))
        return try ending.text.split(separator: "\n").map {
            try JSONDecoder().decode(Answer.self, from: Data($0.utf8))
        }
    }

    /// Runs the program in the home.
    func run(_ words: String...) async throws -> ChildProcess.Ending {
        try await ChildProcess.run(
            BuiltProgram.url.path, words,
            environment: [
                "HOME": home.path, "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "LECTURE_DEVICE": "",
                "LECTURE_CONFIG": "",
            ], directory: home.path)
    }

    // MARK: Certificates

    /// Makes a root, and leaves: one for licences, one for another purpose, one that is revoked, one of another root.
    /// `trust/roots.pem` is the root's; its list of revocations is beside the directory as `crl.pem`.
    func makeCertificates() async throws {
        let leaf =
            "basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\n"
            + "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\nextendedKeyUsage="
        let script = """
            mkroot() {
              openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $1.key -out $1.pem \\
                -days 100 -subj /CN=$1 -addext keyUsage=critical,keyCertSign,cRLSign \\
                -addext basicConstraints=critical,CA:TRUE
            }
            mkleaf() {
              openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $1.key -out $1.csr \\
                -subj /CN=$1
              printf '\(leaf.replacing("\n", with: "\\n"))%s\\n' $4 > $1.ext
              openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -set_serial $3 -days 30 -extfile $1.ext -out $1.pem
              openssl x509 -in $1.pem -outform DER -out $1.der
              openssl pkcs8 -topk8 -nocrypt -in $1.key -outform DER -out $1.p8
            }
            mkroot root; mkroot outside
            mkleaf good root 100 \(CertificateVerifier.licencePurpose)
            mkleaf other root 101 1.2.3.4.5
            mkleaf revoked root 4660 \(CertificateVerifier.licencePurpose)
            mkleaf foreign outside 102 \(CertificateVerifier.licencePurpose)
            printf 'R\\t400101000000Z\\t200101000000Z\\t1234\\tunknown\\t/CN=x\\n' > index.txt
            printf '01\\n' > number
            printf '[ca]\\ndefault_ca=a\\n[a]\\ndatabase=index.txt\\ncrlnumber=number\\ndefault_md=sha256\\n' > ca.cnf
            printf 'crl_extensions=e\\n[e]\\nauthorityKeyIdentifier=keyid\\n' >> ca.cnf
            openssl ca -gencrl -config ca.cnf -cert root.pem -keyfile root.key -crldays 30 -out crl.pem
            cp root.pem trust/roots.pem
            """
        let ending = try await ChildProcess.run("/bin/bash", ["-euc", script], directory: home.path)
        if ending.status != 0 { throw Failure(description: ending.errorText) }
    }

    struct Failure: Error, CustomStringConvertible { let description: String }

    /// A token signed by a leaf, with its certificate.
    func certified(_ name: String, _ payload: [UInt8] = claims()) throws -> [UInt8] {
        func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: home.file(name)))) }
        return try SigningKey(privateKeyDER: bytes("\(name).p8")).sign(
            payload, certificates: [try bytes("\(name).der")])
    }
}
