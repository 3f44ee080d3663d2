import LectureDownload
import LectureModel
import Testing

/// When a resource only waits for the disk.
struct ReceivedTests {
    private let chunk: UInt64 = 1 << 20

    @Test
    func `a resource is received when its last chunk was handed over, and not before`() {
        var book = RangeBook(total: chunk * 2 + 5, grid: ChunkGrid(length: chunk), committed: [0])
        #expect(!book.isReceived)
        #expect(book.begin(TransferID(1))?.first == 1)
        #expect(!book.isReceived)
        book.ended(TransferID(1), position: chunk * 2)
        #expect(!book.isReceived)
        #expect(book.begin(TransferID(2))?.first == 2)
        book.ended(TransferID(2), position: chunk * 2 + 5)
        #expect(book.isReceived)
        #expect(!book.isWhole)
        book.commit([1, 2])
        #expect(book.isReceived && book.isWhole)
    }

    @Test
    func `a resource of unknown length is not received before its end is known`() {
        var book = RangeBook(total: nil, grid: ChunkGrid(length: chunk), committed: [])
        _ = book.begin(TransferID(1))
        book.ended(TransferID(1), position: chunk)
        #expect(!book.isReceived)
        book.learn(total: chunk)
        #expect(book.isReceived)
    }
}
