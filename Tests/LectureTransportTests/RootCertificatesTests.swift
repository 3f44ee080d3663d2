import LectureModel
import LectureTestSupport
import Testing

@testable import LectureTransport

struct RootCertificatesTests {
    private let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"

    @Test
    func `without extra roots the bundle alone is named, so that libcurl keeps it parsed`() throws {
        let roots = try RootCertificates(caFile: nil)
        let options = roots.options(system: .init(bundle: "/b.pem", directory: "/certs"))
        #expect(options == RootCertificates.Options(blob: nil, bundle: "/b.pem", directory: nil))
    }

    @Test
    func `without a bundle the directory is named`() throws {
        let roots = try RootCertificates(caFile: nil)
        let options = roots.options(system: .init(directory: "/certs"))
        #expect(options == RootCertificates.Options(blob: nil, bundle: nil, directory: "/certs"))
    }

    @Test
    func `extra roots leave the system's hashed directory in place`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(pem, to: "extra.pem")
        try directory.write(pem, to: "certs/9d66eef0.0")
        let options = try RootCertificates(caFile: file)
            .options(system: .init(bundle: "/b.pem", directory: directory.file("certs")))
        #expect(options.blob == Array(pem.utf8))
        #expect(options.bundle == nil)
        #expect(options.directory == directory.file("certs"))
    }

    @Test
    func `where the directory holds no hashed root, the bundle is read in front of the extra ones`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(pem, to: "extra.pem")
        let bundle = try directory.write("system\n" + pem, to: "bundle.pem")
        try directory.write(pem, to: "certs/readable-name.pem")
        let options = try RootCertificates(caFile: file)
            .options(system: .init(bundle: bundle, directory: directory.file("certs")))
        #expect(options.blob == Array("system\n\(pem)\n\(pem)".utf8))
        #expect(options.directory == nil)
    }

    @Test
    func `a file that is missing or holds no certificate is refused at once`() throws {
        let directory = try TemporaryDirectory()
        let empty = try directory.write("no certificate", to: "empty.pem")
        for path in [empty, directory.file("missing.pem"), directory.path] {
            #expect(throws: LectureError(.configuration)) { try RootCertificates(caFile: path) }
        }
    }
}
