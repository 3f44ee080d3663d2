import Foundation
import LectureModel
import Testing

@testable import KollusSDK

/// Errors as applications catch them.
struct KollusErrorTests {
    private func fail(_ error: any Error) throws { throw error }

    @Test
    func `an application's catch patterns all work`() throws {
        // The compiler considers this catch exhaustive, so an error that is no NSError would end the program here.
        do { try fail(KollusError(.ERROR_STORAGE_FULL)) } catch let error as NSError {
            #expect(error.code == -8623)
            #expect(error.domain == "KollusErrorDomain")
        }
        do { try fail(KollusError(.ERROR_NOT_LOAD)) } catch let error as KollusError {
            #expect(error.kind == .ERROR_NOT_LOAD)
        }
        do { try fail(KollusError(.ERROR_NOT_LOAD)) } catch let error where (error as NSError).code == -8614 {
            #expect(!error.localizedDescription.isEmpty)
        }
        let kept: (any Error)? = KollusError(.ERROR_CANCEL_DOWNLOAD)
        #expect((kept as NSError?)?.code == -8615)
        let result = Result<Int, any Error>.failure(KollusError(.ERROR_CANCEL_DOWNLOAD))
        guard case .failure(let error as NSError) = result else { throw KollusError(.ERROR_NOT_LOAD) }
        #expect(error.code == -8615)
    }

    @Test
    func `every error of the library keeps its number and has a message for applications`() {
        for code in LectureError.Code.all {
            let error = KollusError(LectureError(code))
            #expect(error.code == code.number)
            #expect(error.localizedDescription.hasSuffix("."))
            // Only for the code of a missing program.
            #expect(error.localizedDescription.contains("lecturectl") == (code == .workerMissing), "\(code.name)")
            #expect(!error.localizedDescription.contains(" --"), "\(code.name)")
        }
        #expect(KollusError(LectureError(.status(404))).code == -8404)
        #expect(KollusError(LectureError(.transfer(7))).kind == nil)
    }

    @Test
    func `a server's own message replaces ours, but only where a server may supply one`() {
        let refused = KollusError(LectureError(.grantRefused, cause: "The course is over."))
        #expect(refused.localizedDescription == "The course is over.")
        #expect(refused.code == -8655)
        let silent = KollusError(LectureError(.grantRefused))
        #expect(silent.localizedDescription == KollusError.Code.ERROR_ABNORMAL_DRM_INFO.sentence)
        let ours = KollusError(LectureError(.storageFull, cause: "write: errno 28"))
        #expect(ours.localizedDescription == KollusError.Code.ERROR_STORAGE_FULL.sentence)
    }

    @Test
    func `userInfo has the message and its subject, and nothing else`() {
        let plain = KollusError(.ERROR_PARAM_VALUE)
        #expect(Array(plain.userInfo.keys) == [NSLocalizedDescriptionKey])
        #expect(plain.detail.isEmpty)
        let about = KollusError(LectureError(.unknownContent, detail: "lecture-1", cause: "row 7 of secrets"))
        #expect(about.userInfo[KollusError.detailKey] as? String == "lecture-1")
        #expect(about.detail == "lecture-1")
        #expect(about.userInfo.count == 2)
        #expect(!"\(about.userInfo) \(about)".contains("secrets"))
    }

    @Test
    func `a foreign error reveals nothing of itself`() {
        struct Leak: Error, CustomStringConvertible { let description = "token eyJhbGciOi" }
        let error = KollusError.of(Leak())
        #expect(error.code == LectureError.Code.bug.number)
        #expect(!"\(error) \(error.userInfo) \(error.localizedDescription)".contains("eyJ"))
        let own = KollusError(.ERROR_NOT_LOAD, detail: "start")
        #expect(KollusError.of(own) === own)
        #expect(KollusError(wrapping: own) == own)
    }

    @Test
    func `errors are not read back from archives`() throws {
        let coder = NSKeyedUnarchiver(
            forReadingWith: try NSKeyedArchiver.archivedData(
                withRootObject: "text" as NSString, requiringSecureCoding: true))
        #expect(KollusError(coder: coder) == nil)
    }
}
