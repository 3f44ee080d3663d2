import LectureArchive
import Testing

struct CompressionTests {
    @Test(arguments: [("a.csv.gz", Compression.gzip), ("a.jsonl.zst", .zstd), ("a.csv", nil), ("gz", nil), ("", nil)])
    func `a name says how its file is compressed`(path: String, compression: Compression?) {
        #expect(Compression(path: path) == compression)
    }
}
