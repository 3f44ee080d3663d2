import LectureModel
import Testing

@testable import LectureTransport

struct CurlLibraryTests {
    @Test(arguments: [
        ("liblecture-no-such-curl.so.4", "liblecture-no-such-curl.so.4"), ("libc.so.6", "curl_global_init"),
    ])
    func `a machine without libcurl gets an error that names what is missing`(name: String, missing: String) {
        let error = #expect(throws: LectureError.self) { try CurlLibrary(name) }
        #expect(error?.code == .transfer(2) && error?.cause.contains(missing) == true)
    }

    @Test func `the library of the machine has all functions`() throws {
        _ = try CurlLibrary.shared.get()
        #expect(CurlLibrary.whyMissing == nil)
    }
}
