import LectureModel
import Testing

@testable import LectureTransport

struct HeaderCollectorTests {
    /// Feeds lines and returns the last step.
    private func feed(_ lines: [String], to collector: inout HeaderCollector) -> HeaderCollector.Step {
        var step = HeaderCollector.Step.more
        for line in lines {
            step = unsafe Array((line + "\r\n").utf8).withUnsafeBytes { unsafe collector.take($0) }
        }
        return step
    }

    @Test
    func `a head is delivered at its empty line`() {
        var collector = HeaderCollector(maximumBytes: 1000)
        #expect(feed(["HTTP/1.1 200 OK", "A: b"], to: &collector) == .more)
        #expect(!collector.isDone)
        #expect(feed([""], to: &collector) == .head(status: 200, fields: ["A": "b"]))
        #expect(collector.isDone)
    }

    @Test(arguments: ["HTTP/2 206 ", "HTTP/1.0 206", "HTTP/1.1 206 Partial Content"])
    func `the status is read from every form of the status line`(line: String) {
        var collector = HeaderCollector(maximumBytes: 1000)
        #expect(feed([line, ""], to: &collector) == .head(status: 206, fields: [:]))
    }

    @Test(arguments: ["HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 abc", "HTTP/1.1 -20"])
    func `a status line without a status makes no final head`(line: String) {
        var collector = HeaderCollector(maximumBytes: 1000)
        #expect(feed([line, "A: b", ""], to: &collector) == .more)
        #expect(!collector.isDone)
    }

    @Test
    func `fields of an informational head do not reach the final one`() {
        var collector = HeaderCollector(maximumBytes: 1000)
        let lines = ["HTTP/1.1 103 Early Hints", "Link: x", "", "HTTP/1.1 200 OK", "A: b", ""]
        #expect(feed(lines, to: &collector) == .head(status: 200, fields: ["A": "b"]))
    }

    @Test
    func `a value that starts or ends with a fold has no blank there`() {
        var collector = HeaderCollector(maximumBytes: 1000)
        let lines = ["HTTP/1.1 200 OK", "Content-Length:", " 5", "A: b", "  ", "\tc", ""]
        #expect(feed(lines, to: &collector) == .head(status: 200, fields: ["Content-Length": "5", "A": "b c"]))
    }

    @Test
    func `a folded line without a field, and a line without a colon, are dropped`() {
        var collector = HeaderCollector(maximumBytes: 1000)
        let lines = ["HTTP/1.1 200 OK", " folded", "no colon", "A: b", ""]
        #expect(feed(lines, to: &collector) == .head(status: 200, fields: ["A": "b"]))
    }

    @Test
    func `all lines count towards the limit`() {
        var collector = HeaderCollector(maximumBytes: 30)
        #expect(feed(["HTTP/1.1 100 C", ""], to: &collector) == .more)
        #expect(feed(["HTTP/1.1 200 OK"], to: &collector) == .tooLarge)
    }

    @Test
    func `trailers are counted and dropped`() {
        var collector = HeaderCollector(maximumBytes: 40)
        _ = feed(["HTTP/1.1 200 OK", ""], to: &collector)
        #expect(feed(["X: y", ""], to: &collector) == .more)
        #expect(feed(["X: 0123456789012345678901234567890"], to: &collector) == .tooLarge)
    }

    @Test
    func `bytes that are not UTF-8 are replaced`() {
        var collector = HeaderCollector(maximumBytes: 1000)
        _ = feed(["HTTP/1.1 200 OK"], to: &collector)
        let line = Array("A: ".utf8) + [0xFF, 0x0D, 0x0A]
        _ = unsafe line.withUnsafeBytes { unsafe collector.take($0) }
        #expect(feed([""], to: &collector) == .head(status: 200, fields: ["A": "\u{FFFD}"]))
    }
}
