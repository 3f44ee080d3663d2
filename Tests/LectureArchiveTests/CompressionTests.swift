import LectureArchive
import Testing

struct CompressionTests {
    @Test(arguments: [("a.csv.gz", Compression.gzip), ("a.jsonl.zst", .zstd), ("a.csv", nil), ("gz", nil), ("", nil)])
    func `the file name determines the compression`(path: String, compression: Compression?) {
        #expect(Compression(path: path) == compression)
    }
}
