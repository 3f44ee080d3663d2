import LectureModel
import Testing

@testable import LectureDownload

/// What follows from failures of the disk and from wrong bytes, decided from values alone.
struct DiskRulingTests {
    @Test func `a disk that fails stops the item for half a minute`() {
        for code in [LectureError.Code.storageFull, .writeFile, .damaged] {
            #expect(DiskFailure(LectureError(code)).ruling == .stop(LectureError(code), .seconds(30)))
        }
    }

    @Test func `what waiting cannot repair fails the item`() {
        for code in [LectureError.Code.bug, .cryptography] {
            #expect(DiskFailure(LectureError(code)).ruling == .failItem(LectureError(code)))
        }
    }

    @Test func `a part file that is gone costs its chunks`() {
        var failure = DiskFailure(LectureError(.damaged))
        failure.hasCommitted = true
        #expect(failure.ruling == .fetchAgain)
        failure.error = LectureError(.writeFile)
        #expect(failure.ruling == .stop(LectureError(.writeFile), .seconds(30)))
    }

    @Test func `while the item is ending its part file is closed, whatever failed`() {
        for code in [LectureError.Code.bug, .damaged, .writeFile] {
            var failure = DiskFailure(LectureError(code))
            (failure.isEnding, failure.hasCommitted) = (true, true)
            #expect(failure.ruling == .close)
        }
    }

    @Test func `a wrong whole is fetched again once, if that may help`() {
        var wrong = WrongWhole()
        #expect(wrong.ruling == .failItem)
        wrong.mayBeBetterNextTime = true
        #expect(wrong.ruling == .fetchAgain)
        wrong.wasRestarted = true
        #expect(wrong.ruling == .failItem)
    }

    @Test func `a wrong whole of several servers is fetched without those that may be wrong`() {
        var wrong = WrongWhole()
        wrong.wasRestarted = true
        for suspects in [[], [URLLeaseID(2), URLLeaseID(3)]] {
            wrong.suspects = suspects
            #expect(wrong.ruling == .fetchWithout(suspects))
        }
        wrong.isOptional = true
        #expect(wrong.ruling == .failResource)
    }
}
