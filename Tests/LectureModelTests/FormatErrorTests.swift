import LectureFormats
import LectureModel
import Testing

/// What the formats refuse, as errors of the catalogue.
@Suite struct FormatErrorTests {
    @Test(
        "Each kind of fault has its code, and the detail stays",
        arguments: [
            (.json, .json), (.url, .urlInvalid), (.urlScheme, .urlScheme), (.header, .headerInvalid),
            (.headerReserved, .headerReserved),
        ] as [(FormatError.Kind, LectureError.Code)])
    func codes(kind: FormatError.Kind, code: LectureError.Code) {
        let error = LectureError(FormatError(kind, "what is wrong"))
        #expect(error.code == code)
        #expect(error.detail == "what is wrong")
        #expect(error.cause.isEmpty)
    }

    @Test func `No two kinds share a code`() {
        let codes = FormatError.Kind.allCases.map { LectureError(FormatError($0, "")).code }
        #expect(Set(codes).count == FormatError.Kind.allCases.count)
    }

    @Test func `What is read is the same as what the format reads`() throws {
        let url = "https://example.org:8080/a?b"
        #expect(try JSONScanner.value(of: "[1]") == JSONScanner.scan("[1]"))
        #expect(try URLParts(url) == URLParts(parsing: url))
        #expect(try Origin(url: url) == Origin(parsing: url))
        #expect(try Origin(URLParts(url)) == Origin(parsing: url))
        #expect(try HeaderField(line: "X: y") == HeaderField(parsing: "X: y"))
        #expect(try HeaderField(outgoing: "X", value: " y ") == HeaderField(name: "X", value: "y"))
    }

    @Test func `A refusal has the code of its format and says where the fault is`() {
        let json = #expect(throws: LectureError(.json)) { try JSONScanner.value(of: Array("[1 2]".utf8)) }
        #expect(json?.detail == "byte 3: no ',' and no end")
        #expect(throws: LectureError(.json)) { try JSONScanner.value(of: "[[]]", limits: .init(depth: 1)) }
        #expect(throws: LectureError(.urlInvalid)) { try URLParts("http:x") }
        #expect(throws: LectureError(.urlInvalid)) { try Origin(url: "http://a:0/") }
        #expect(throws: LectureError(.urlScheme)) { try Origin(url: "ftp://a/") }
        #expect(throws: LectureError(.urlScheme)) { try Origin(URLParts("ftp://a/")) }
        #expect(throws: LectureError(.headerInvalid)) { try HeaderField(line: "no colon") }
        #expect(throws: LectureError(.headerInvalid)) { try HeaderField(outgoing: "a b", value: "c") }
        let reserved = #expect(throws: LectureError(.headerReserved)) { try HeaderField(line: "Host: a") }
        #expect(reserved?.detail == "Host")
    }
}
