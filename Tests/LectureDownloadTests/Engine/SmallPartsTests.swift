import LectureModel
import Testing

@testable import LectureDownload

struct SmallPartsTests {
    @Test func `a speed is a mean over some seconds and falls when nothing comes`() {
        var meter = SpeedMeter()
        meter.record(bytes: 0, at: BootInstant(nanoseconds: 0))
        for second in 1...20 {
            meter.record(bytes: Int64(second) * 1000, at: BootInstant(nanoseconds: Int64(second) * 1_000_000_000))
        }
        #expect(abs(meter.bytesPerSecond - 1000) < 1)
        for second in 21...40 {
            meter.record(bytes: 20_000, at: BootInstant(nanoseconds: Int64(second) * 1_000_000_000))
        }
        #expect(meter.bytesPerSecond < 10)
        meter.record(bytes: 0, at: BootInstant(nanoseconds: 41_000_000_000))
        #expect(meter.bytesPerSecond >= 0)
    }

    @Test func `two readings at one moment do not make a speed`() {
        var meter = SpeedMeter()
        meter.record(bytes: 0, at: BootInstant(nanoseconds: 0))
        meter.record(bytes: 1 << 30, at: BootInstant(nanoseconds: 1))
        #expect(meter.bytesPerSecond == 0)
    }

    @Test(arguments: [
        (1, "video/mp4", "media/0000/1.mp4"), (1023, "audio/mpeg", "media/0000/1023.mp3"),
        (1024, "text/x-../../etc/passwd", "media/0001/1024.media"), (70_000_000, "", "media/10b07/70000000.media"),
        (7, "application/x-sami", "media/0000/7.smi"), (7, "application/smil+xml", "media/0000/7.smi"),
    ])
    func `a path is made from the row number and a list of extensions`(id: Int64, type: String, path: String) {
        var record = ResourceRecord(
            id: ResourceID(id), version: VersionID(1), content: ContentID(1), role: .media)
        record.mediaType = type
        record.name = "../../etc/passwd"
        #expect(MediaPath.path(record) == path)
    }

    @Test func `a thumbnail sheet has the name that players expect`() {
        var record = ResourceRecord(
            id: ResourceID(19), version: VersionID(1), content: ContentID(1), role: .thumbnail)
        (record.mediaType, record.name) = ("image/jpeg", "160x90x10")
        #expect(MediaPath.path(record) == "media/0000/19.160x90x10.jpg")
        record.name = "../x"
        #expect(MediaPath.path(record) == "media/0000/19.jpg")
    }
}
