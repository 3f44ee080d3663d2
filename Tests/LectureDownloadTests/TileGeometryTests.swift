import LectureDownload
import Testing

@Suite struct TileGeometryTests {
    @Test(arguments: [
        ("http://a/thumb-160x90x10.jpg", "160x90x10"), ("http://a/x/160x90x10?sig=1x2x3", "160x90x10"),
        ("http://a/lecture_1x2_160x90x10_v2.jpg", "160x90x10"), ("http://a/160x90.jpg", ""), ("http://a/", ""),
        ("http://a/123456x90x10.jpg", ""), ("http://a/12x34x", ""), ("http://a/160X90X10.jpg", ""), ("no url", ""),
        ("http://a/1x2x3x4.jpg", "1x2x3"),
    ])
    func `the name of a sheet contains its geometry`(url: String, shape: String) {
        #expect(TileGeometry.text(inURL: url) == shape)
        #expect(shape.isEmpty || TileGeometry.isShape(shape))
    }

    @Test(arguments: ["", "160x90", "160x90x10/..", "../1x2x3", "1x2x3\0", "1x2x3 ", "a1x2x3", "1x2x123456"])
    func `a file name contains nothing else`(text: String) { #expect(!TileGeometry.isShape(text)) }
}
