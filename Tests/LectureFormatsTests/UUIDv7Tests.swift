import LectureFormats
import Testing

struct UUIDv7Tests {
    /// Returns its numbers one after another, then zeros.
    private func numbers(_ numbers: UInt64...) -> () -> UInt64 {
        var left = numbers[...]
        return { left.popFirst() ?? 0 }
    }

    @Test func `the example of RFC 9562 comes out`() {
        // Appendix A.6: unix_ts_ms 0x017F22E279B0, rand_a 0xCC3, rand_b 0x18C4DC0C0C07398F.
        let random = numbers(0xCC3 << 52, 0x18C4_DC0C_0C07_398F << 2)
        let time = Timestamp(milliseconds: 0x017F_22E2_79B0)
        #expect(UUIDv7.text(at: time, random: random) == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
    }

    @Test func `random bits leave version and variant alone`() {
        let random = numbers(.max, .max)
        let text = UUIDv7.text(at: Timestamp(milliseconds: 0), random: random)
        #expect(text == "00000000-0000-7fff-bfff-ffffffffffff")
    }

    @Test func `impossible times are clamped to 48 bits`() {
        #expect(UUIDv7.text(at: Timestamp(milliseconds: .min), random: numbers()).hasPrefix("00000000-0000-7000-8"))
        #expect(UUIDv7.text(at: Timestamp(milliseconds: .max), random: numbers()).hasPrefix("ffffffff-ffff-7000-8"))
    }

    @Test func `later ones sort behind earlier ones`() {
        let texts = stride(from: Int64(1), to: 1 << 47, by: 1 << 40).map {
            UUIDv7.text(at: Timestamp(milliseconds: $0), random: numbers(.max, .max))
        }
        #expect(texts == texts.sorted() && Set(texts).count == texts.count)
    }
}
