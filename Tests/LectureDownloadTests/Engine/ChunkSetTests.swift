import LectureDownload
import LectureTestSupport
import Testing

struct ChunkSetTests {
    @Test(arguments: 1...20)
    func `it behaves like a Set of Swift under any operations`(seed: Int) {
        var randomness = SeededGenerator(seed: UInt64(seed))
        var set = ChunkSet()
        var model: Set<Int> = []
        for _ in 0..<400 {
            let number = Int.random(in: 0...300, using: &randomness)
            if Bool.random(using: &randomness) {
                #expect(set.insert(number) == model.insert(number).inserted)
            } else {
                #expect(set.remove(number) == (model.remove(number) != nil))
            }
            #expect(set.count == model.count)
            let probe = Int.random(in: 0...600, using: &randomness)
            #expect(set.contains(probe) == model.contains(probe))
        }
        #expect((0...300).filter(set.contains) == model.sorted())
        #expect(ChunkSet(model).count == model.count)
    }
}
