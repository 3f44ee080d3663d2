import Foundation
import LectureCrypto
import LectureModel
import LectureTestSupport

/// Certificates that the openssl command makes for a test, in a directory that is deleted with the object. Their
/// validity starts when the test runs; verification gets its time as a parameter.
final class Authority: Sendable {
    /// The extensions of a leaf.
    static let leaf = """
        basicConstraints = critical,CA:FALSE
        keyUsage = critical,digitalSignature
        extendedKeyUsage = \(CertificateVerifier.licencePurpose)
        subjectKeyIdentifier = hash
        authorityKeyIdentifier = keyid
        """
    /// The extensions of an issuer.
    static let issuer = """
        basicConstraints = critical,CA:TRUE
        keyUsage = critical,keyCertSign,cRLSign
        subjectKeyIdentifier = hash
        authorityKeyIdentifier = keyid
        """

    /// The command's error output.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let directory: TemporaryDirectory
    private let openssl: String

    /// Makes a root named `root`.
    init() async throws {
        directory = try TemporaryDirectory()
        openssl = try Places.command("openssl")
        try await key("root")
        directory.write(Self.issuer.replacing("authorityKeyIdentifier = keyid", with: ""), as: "root.ext")
        try await request("root")
        try await run([
            "x509", "-req", "-in", path("root.csr"), "-signkey", path("root.key"), "-days", "7300", "-extfile",
            path("root.ext"), "-out", path("root.pem"), "-sha256",
        ])
    }

    private func path(_ name: String) -> String { directory.file(name) }

    /// Runs the command.
    @discardableResult
    func run(_ arguments: [String]) async throws -> String {
        let ending = try await ChildProcess.run(openssl, arguments, directory: directory.path)
        guard ending.status == 0 else {
            throw Failure(description: "openssl \(arguments.joined(separator: " ")): \(ending.errorText)")
        }
        return ending.text
    }

    /// Makes a private key, on P-256 unless other options are given.
    func key(
        _ name: String, _ options: [String] = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
    ) async throws {
        try await run(["genpkey", "-out", path("\(name).key")] + options)
    }

    private func request(_ name: String) async throws {
        try await run(["req", "-new", "-key", path("\(name).key"), "-subj", "/CN=\(name)", "-out", path("\(name).csr")])
    }

    /// Issues a certificate for an existing key; empty extensions make one of version 1.
    func issue(
        _ name: String, by issuer: String = "root", _ extensions: String = Authority.leaf, serial: String = "4660",
        days: Int = 3650
    ) async throws {
        try await request(name)
        var arguments = [
            "x509", "-req", "-in", path("\(name).csr"), "-CA", path("\(issuer).pem"), "-CAkey", path("\(issuer).key"),
            "-set_serial", serial, "-days", "\(days)", "-out", path("\(name).pem"), "-sha256",
        ]
        if !extensions.isEmpty {
            directory.write(extensions, as: "\(name).ext")
            arguments += ["-extfile", path("\(name).ext")]
        }
        try await run(arguments)
    }

    /// Makes a key and a certificate for it.
    func add(
        _ name: String, by issuer: String = "root", _ extensions: String = Authority.leaf, serial: String = "4660"
    ) async throws {
        try await key(name)
        try await issue(name, by: issuer, extensions, serial: serial)
    }

    /// Makes a revocation list of an issuer, valid for so many days.
    func list(by issuer: String, revoking serials: [String] = [], days: Int = 30) async throws -> [UInt8] {
        // The format of the database: status, expiry, revocation, serial number, file, name.
        let rows = serials.map { "R\t400101000000Z\t200101000000Z\t\($0)\tunknown\t/CN=x\n" }.joined()
        directory.write(rows, as: "index.txt")
        directory.write("01\n", as: "number")
        directory.write(
            """
            [ca]
            default_ca = a
            [a]
            database = \(path("index.txt"))
            crlnumber = \(path("number"))
            default_md = sha256
            crl_extensions = e
            [e]
            authorityKeyIdentifier = keyid

            """, as: "ca.cnf")
        try await run([
            "ca", "-gencrl", "-config", path("ca.cnf"), "-cert", path("\(issuer).pem"), "-keyfile",
            path("\(issuer).key"), "-crldays", "\(days)", "-out", path("list.pem"),
        ])
        try await run(["crl", "-in", path("list.pem"), "-outform", "DER", "-out", path("list.der")])
        return try contents(of: path("list.der"))
    }

    /// A certificate in DER.
    func certificate(_ name: String) async throws -> [UInt8] {
        try await run(["x509", "-in", path("\(name).pem"), "-outform", "DER", "-out", path("\(name).der")])
        return try contents(of: path("\(name).der"))
    }

    /// Certificates in DER.
    func chain(_ names: [String]) async throws -> [[UInt8]] {
        var chain: [[UInt8]] = []
        for name in names { chain.append(try await certificate(name)) }
        return chain
    }

    /// The key of a leaf.
    func signer(_ name: String) async throws -> SigningKey {
        try await run([
            "pkcs8", "-topk8", "-nocrypt", "-in", path("\(name).key"), "-outform", "DER", "-out", path("\(name).p8"),
        ])
        return try SigningKey(privateKeyDER: contents(of: path("\(name).p8")))
    }

    /// A verifier with this root.
    func verifier(lists: [[UInt8]] = []) async throws -> CertificateVerifier {
        try CertificateVerifier(roots: [try await certificate("root")], revocationLists: lists)
    }
}

extension TemporaryDirectory {
    fileprivate func write(_ text: String, as name: String) {
        try? text.write(to: URL(filePath: file(name)), atomically: false, encoding: .utf8)
    }
}
