import LectureModel
import Testing

@testable import LectureTransport

struct FailureDetailTests {
    @Test
    func `URL, path, query and credentials are taken out and the host stays`() {
        let url = "https://user:word@media.test:8443/course/1?token=abc"
        let words = "GET \(url) failed: /course/1?token=abc at media.test as user:word"
        let text = FailureDetail.redacted(words, url: url)
        #expect(text == "GET ... failed: ... at media.test as ...")
    }

    @Test
    func `a user whose name is part of the placeholder is removed once`() {
        #expect(FailureDetail.redacted("a..b", url: "http://..@a.test/") == "a...b")
        #expect(FailureDetail.redacted("....", url: "http://..@a.test/") == "......")
        #expect(FailureDetail.redacted("words", url: "") == "words")
    }

    @Test
    func `a URL without a path removes nothing else`() {
        #expect(
            FailureDetail.redacted("Could not resolve host: a.test", url: "http://a.test/")
                == "Could not resolve host: a.test")
        #expect(FailureDetail.redacted("and/or", url: "http://a.test/") == "and/or")
    }

    @Test
    func `a detail is one short line of printable ASCII`() {
        let text = FailureDetail.redacted("a\nb\u{1B}[31m ü " + String(repeating: "x", count: 500), url: "http://a/b")
        #expect(text.hasPrefix("a?b?[31m ?? x"))
        #expect(text.utf8.count == 200)
    }

    @Test
    func `only a certificate outside its validity mentions the clock`() {
        let now = Timestamp(milliseconds: 0)
        for words in ["certificate is not yet valid", "certificate has expired"] {
            #expect(
                FailureDetail.withClock(words, now: now)
                    == words + "; this machine's clock says Thu, 01 Jan 1970 00:00:00 GMT")
        }
        #expect(FailureDetail.withClock("self-signed certificate", now: now) == "self-signed certificate")
    }
}
