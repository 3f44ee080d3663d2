import LectureModel
import Testing

@testable import LectureDownload

/// What a transfer requests, decided from values alone.
struct TransferPlanTests {
    private static let megabyte: UInt64 = 1 << 20
    private static let tag = "\"v1\""

    private static func opening(
        total: UInt64? = 10 * megabyte, first: Int = 0, end: Int? = 10,
        change: (inout ResourceRecord) -> Void = { _ in }
    ) -> OpeningTransfer {
        var record = ResourceRecord(id: ResourceID(1), version: VersionID(1), content: ContentID(1), role: .media)
        record.total = total
        record.entityTag = tag
        change(&record)
        let grid = RangeBook.grid(total: total, isSealed: false)
        return OpeningTransfer(record: record, grid: grid, assignment: RangeBook.Assignment(first: first, end: end))
    }

    private static func closed(_ start: UInt64, _ end: UInt64) -> RangeRequest? {
        ByteRange(start: start, end: end).map(RangeRequest.closed)
    }

    @Test func `the first request of all asks for the whole, and expects nothing`() {
        var opening = Self.opening(total: nil, end: nil) { $0.entityTag = nil }
        opening.isProbing = true
        opening.isFirstContact = true
        opening.space = FreeSpace(quota: 5, disk: nil)
        var asked = Expectation(role: .media, isFirstContact: true)
        asked.acceptsPlaylist = true
        asked.space = FreeSpace(quota: 5, disk: nil)
        #expect(opening.plan == TransferPlan(start: 0, border: nil, range: nil, ifRange: nil, expectation: asked))
        opening.acceptsAny = true
        asked.checksFirstBytes = false
        #expect(opening.plan.expectation == asked)
    }

    @Test func `a range has its end, its condition, and the validator it is checked against`() {
        let opening = Self.opening(first: 2, end: 4)
        let range = Self.closed(2 * Self.megabyte, 4 * Self.megabyte)
        var asked = Expectation(
            range: range, sentIfRange: true, total: 10 * Self.megabyte, validator: opening.record.validator)
        asked.acceptsPlaylist = true
        #expect(
            opening.plan
                == TransferPlan(
                    start: 2 * Self.megabyte, border: 4 * Self.megabyte, range: range, ifRange: Self.tag,
                    expectation: asked))
    }

    @Test func `the whole is requested without a range, and so without a condition`() {
        let plan = Self.opening().plan
        #expect(plan.start == 0 && plan.border == 10 * Self.megabyte && plan.range == nil && plan.ifRange == nil)
        #expect(!plan.expectation.sentIfRange && plan.expectation.validator?.etag == Self.tag)
    }

    @Test func `a chunk that was received in part is continued in its middle`() {
        var opening = Self.opening(first: 9)
        opening.resumesAt = 9 * Self.megabyte + 5
        #expect(opening.plan.range == Self.closed(9 * Self.megabyte + 5, 10 * Self.megabyte))
        var last = Self.opening(total: 9 * Self.megabyte + 10, first: 9)
        #expect(last.plan.border == 9 * Self.megabyte + 10, "the last chunk is short")
        last.resumesAt = 9 * Self.megabyte + 10
        #expect(last.plan.range == .from(9 * Self.megabyte + 10), "nothing is missing")
        var open = Self.opening(total: nil, end: nil)
        open.resumesAt = 7
        #expect(open.plan.border == nil && open.plan.range == .from(7))
    }

    @Test func `a validator is sent only to the server it came from, and only while it holds`() {
        var opening = Self.opening(first: 1)
        opening.ownsValidator = false
        #expect(opening.plan.ifRange == nil && opening.plan.expectation.validator == nil)
        opening.ownsValidator = true
        opening.validatorWasChanged = true
        #expect(opening.plan.ifRange == nil && !opening.plan.expectation.sentIfRange)
        #expect(opening.plan.expectation.validator?.etag == Self.tag)
        opening.isProbing = true
        #expect(opening.plan.expectation.validator == nil)
    }

    @Test func `what the user or the gateway names is expected`() {
        let plan = Self.opening(total: nil, end: nil) {
            ($0.expectedBytes, $0.expectedSHA256) = (7, [1])
        }.plan
        #expect(plan.expectation.total == 7 && plan.expectation.maximumBytes == 7 && plan.expectation.digestIsKnown)
        #expect(Self.opening { $0.expectedBytes = 7 }.plan.expectation.total == 10 * Self.megabyte)
    }

    @Test func `only text and optional files may be empty, and only media may be a playlist`() {
        let rows: [(role: ResourceRole, name: String, mayBeEmpty: Bool)] = [
            (.media, "", false), (.initialisation, "1.mp4", false), (.key, "2.key", false), (.segment, "3.ts", false),
            (.segment, "4.m4s", false), (.segment, "5.vtt", true), (.segment, "6.webvtt", true),
            (.segment, "7.ttml", true), (.playlist, "1.m3u8", true), (.subtitle, "ko", true), (.snapshot, "", true),
        ]
        for row in rows {
            var opening = Self.opening()
            (opening.record.role, opening.record.name) = (row.role, row.name)
            let asked = opening.plan.expectation
            #expect(asked.mayBeEmpty == row.mayBeEmpty, "\(row)")
            #expect(asked.acceptsPlaylist == (row.role == .media), "\(row)")
        }
    }
}
