import LectureDownload
import LectureFormats
import LectureModel
import Testing

/// What gateway links name.
@Suite struct LinkNameTests {
    private func name(_ url: String) throws -> String? { ContentKeys.name(inLink: try URLParts(url)) }

    /// A token whose payload is a text; its signature is invalid.
    private func token(_ payload: String) -> String {
        "e30.\(Base64URL.text(Array(payload.utf8))).AAAA"
    }

    @Test(arguments: [
        ("https://v.kr.kollus.com/i/abc-1", "abc-1"), ("http://h/a/b/i/%EC%88%98?jwt=x.y.z", "수"),
        ("http://h/i/abc-1-custom", "abc-1-custom"), ("http://h/i/s", "s"),
        ("http://h/i/", nil), ("http://h/i", nil), ("http://h/i/%zz", nil), ("http://h/x/abc", nil),
        ("http://h/si", nil), ("http://h/si?x=1", nil), ("http://h/si?jwt=", nil), ("http://h/si?jwt=a.b", nil),
        ("http://h/si?jwt=e30.!.AAAA", nil), ("http://h/si?jwt=e30.bm8.AAAA", nil),
    ])
    func `a path names its last part`(url: String, due: String?) throws {
        #expect(try name(url) == due)
    }

    @Test(arguments: [
        (#"{"mc":[{"mckey":"a"}]}"#, "a"), (#"{"mc":[{"mckey":"i","intr":true},{"mckey":"a"}]}"#, "a"),
        (#"{"mc":[{"mckey":"a"},{"mckey":"b"}]}"#, "b"), (#"{"mc":[{"mckey":"a"},{"mckey":"i","intr":1}]}"#, "a"),
        (#"{"mc":[{"mckey":"a-custom","intr":false}]}"#, "a-custom"),
        (#"{"mc":[{"mckey":"i","intr":true}]}"#, nil), (#"{"mc":[]}"#, nil), (#"{"mc":{"mckey":"a"}}"#, nil),
        (#"{"mc":[{"mckey":7}]}"#, nil), (#"{"mckey":"a"}"#, nil), ("[]", nil), ("{", nil),
    ])
    func `a token names its last item that is not an intro`(payload: String, due: String?) throws {
        for place in ["s", "si", "a/si"] {
            #expect(try name("http://h/\(place)?t=1&jwt=\(token(payload))&autoplay") == due)
        }
        #expect(try name("http://h/other?jwt=\(token(payload))") == nil, "no gateway link")
    }
}
