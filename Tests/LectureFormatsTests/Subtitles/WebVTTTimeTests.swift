import Testing

@testable import LectureFormats

@Suite struct WebVTTTimeTests {
    @Test(
        arguments: [
            (0, "00:00:00.000"), (1, "00:00:00.001"), (62_500, "00:01:02.500"), (3_599_999, "00:59:59.999"),
            (359_999_999, "99:59:59.999"), (360_000_000, "100:00:00.000"), (-1, "00:00:00.000"),
        ] as [(Int64, String)])
    func `a time has hours, and milliseconds of three digits`(milliseconds: Int64, text: String) {
        #expect(WebVTTTime.text(milliseconds) == text)
    }

    @Test func `units of UTF-16 are read in both orders, without half of one`() {
        let bytes: [UInt8] = [0xAC, 0x00, 0x00, 0x41, 0xD8]
        #expect(UTF16Units.read(bytes[...], lowFirst: false) == [0xAC00, 0x41])
        #expect(UTF16Units.read(bytes[...], lowFirst: true) == [0x00AC, 0x4100])
        #expect(UTF16Units.read(bytes[1...], lowFirst: false) == [0, 0x41D8])
        #expect(UTF16Units.read([], lowFirst: true).isEmpty && UTF16Units.read([1], lowFirst: true).isEmpty)
    }
}
