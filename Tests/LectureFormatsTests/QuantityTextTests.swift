import LectureFormats
import Testing

/// Numbers with units in sentences; the bytes are tested where tables show them.
@Suite struct QuantityTextTests {
    @Test(
        arguments: [
            (-5, "0 seconds"), (0, "0 seconds"), (1, "1 second"), (2, "2 seconds"), (119, "119 seconds"),
            (120, "2 minutes"), (7199, "119 minutes"), (7200, "2 hours"), (172_799, "47 hours"), (172_800, "2 days"),
            (.max, "106751991167300 days"),
        ] as [(Int64, String)])
    func `a length of time has one unit, rounded down`(seconds: Int64, text: String) {
        #expect(QuantityText.text(seconds: seconds) == text)
    }

    @Test(
        arguments: [(-1, "0 B"), (999, "999 B"), (1000, "0.97 KiB"), (1 << 20, "1.00 MiB"), (.max, "7.99 EiB")]
            as [(Int64, String)])
    func `bytes have three digits`(bytes: Int64, text: String) {
        #expect(QuantityText.text(byteCount: bytes) == text)
    }
}
