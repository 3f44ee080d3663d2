import LectureKit
import Testing

@testable import KollusSDK

/// Where an application's lectures are: where the command has them.
@Suite struct StoragePlaceTests {
    @Test(arguments: [
        (["LECTURE_STORE": "/e", "STATE_DIRECTORY": "/s", "XDG_DATA_HOME": "/x"], "/e"),
        (["LECTURE_STORE": "", "STATE_DIRECTORY": "/s:/t", "XDG_DATA_HOME": "/x"], "/s/store"),
        (["STATE_DIRECTORY": "s", "XDG_DATA_HOME": "/x"], "/x/lecturekit"),
    ])
    func `the store comes from the variable, the service, and then the user`(
        environment: [String: String], expected: String
    ) {
        #expect(StoragePlace.path(environment) == expected)
    }
}
