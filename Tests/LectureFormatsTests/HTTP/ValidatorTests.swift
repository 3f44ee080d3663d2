import LectureFormats
import Testing

@Suite struct ValidatorTests {
    static let now = Timestamp(milliseconds: 784_111_777_000)
    static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let old = "Sun, 06 Nov 1994 08:48:37 GMT"
    static let fresh = "Sun, 06 Nov 1994 08:48:38 GMT"

    private func validator(_ fields: HeaderFields, total: UInt64? = 10) -> Validator {
        Validator(ResponseHead(status: 200, fields: fields, receivedAt: Self.now), total: total)
    }

    @Test func `A strong entity tag is what If-Range carries`() {
        let strong = validator(["ETag": "\"a\"", "Last-Modified": Self.old, "Date": Self.date])
        #expect(strong.ifRangeValue == "\"a\"")
        #expect(strong.isStrong)
    }

    @Test func `Beside a weak tag no date is sent (RFC 9110 section 13.1.5)`() {
        let weak = validator(["ETag": "W/\"a\"", "Last-Modified": Self.old, "Date": Self.date])
        #expect(weak.ifRangeValue == nil)
        #expect(!weak.isStrong)
    }

    @Test func `A date is strong only when it is a minute older than the answer (section 8.8.2.2)`() {
        #expect(validator(["Last-Modified": Self.old, "Date": Self.date]).ifRangeValue == Self.old)
        #expect(validator(["Last-Modified": Self.fresh, "Date": Self.date]).ifRangeValue == nil)
        #expect(validator(["Last-Modified": Self.old]).ifRangeValue == nil)
        #expect(validator(["Last-Modified": "yesterday", "Date": Self.date]).lastModified == nil)
    }

    @Test func `A malformed tag counts as missing, and the date takes its place`() {
        let value = validator(["ETag": "abc", "Last-Modified": Self.old, "Date": Self.date])
        #expect(value.etag == nil)
        #expect(value.ifRangeValue == Self.old)
    }

    @Test(
        "Two validators are the same, different, or inconclusive",
        arguments: [
            // Tags decide.
            (["ETag": "\"a\""], ["ETag": "\"a\""], .same),
            (["ETag": "\"a\""], ["ETag": "\"b\""], .different),
            (["ETag": "\"a\"", "Last-Modified": old], ["ETag": "\"a\"", "Last-Modified": fresh], .same),
            (["ETag": "\"a\"", "Last-Modified": old], ["ETag": "\"b\"", "Last-Modified": old], .different),
            // Weak ones can disprove, and never prove.
            (["ETag": "W/\"a\""], ["ETag": "W/\"a\""], .unknown),
            (["ETag": "W/\"a\""], ["ETag": "\"a\""], .unknown),
            (["ETag": "W/\"a\""], ["ETag": "W/\"b\""], .different),
            (["ETag": "W/\"a\"", "Last-Modified": old], ["ETag": "W/\"a\"", "Last-Modified": fresh], .different),
            (["ETag": "W/\"a\"", "Last-Modified": old], ["ETag": "W/\"a\"", "Last-Modified": old], .unknown),
            // Dates.
            (["Last-Modified": old], ["Last-Modified": old], .same),
            (["Last-Modified": old], ["Last-Modified": fresh], .different),
            (["Last-Modified": fresh], ["Last-Modified": fresh], .unknown),
            // Nothing to compare.
            ([:], [:], .unknown), (["ETag": "\"a\""], [:], .unknown),
            (["ETag": "\"a\""], ["Last-Modified": old], .unknown),
        ] as [(HeaderFields, HeaderFields, Validator.Agreement)])
    func compares(left: HeaderFields, right: HeaderFields, agreement: Validator.Agreement) {
        let clock = HeaderField(name: "Date", value: Self.date)
        let (mine, theirs) = (
            validator(HeaderFields(left.elements + [clock])), validator(HeaderFields(right.elements + [clock]))
        )
        #expect(mine.agrees(with: theirs) == agreement)
        #expect(theirs.agrees(with: mine) == agreement)
    }

    @Test func `Another length is another version, an unknown one says nothing`() {
        let mine = validator(["ETag": "\"a\""], total: 10)
        #expect(mine.agrees(with: validator(["ETag": "\"a\""], total: 11)) == .different)
        #expect(mine.agrees(with: validator(["ETag": "\"a\""], total: nil)) == .same)
    }

    @Test func `Stored columns yield the same validator`() {
        for fields in [["ETag": "W/\"a\""], ["Last-Modified": Self.fresh, "Date": Self.date], ["ETag": "\"a\""]]
            as [HeaderFields]
        {
            let value = validator(fields)
            #expect(Validator(etag: value.etag, lastModified: value.lastModified, total: value.total) == value)
        }
        #expect(validator(["Last-Modified": Self.fresh, "Date": Self.date]).lastModified == "W/\(Self.fresh)")
    }
}
