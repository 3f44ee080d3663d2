package import LectureModel
import LectureStore

/// Where each of many viewers resumes, and what a server that they watch on has to report.
package enum ViewerPlaces {
    /// Where a viewer resumes.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - viewer: the name of the person, as in reports.
    ///   - contents: of the store.
    /// - Returns: their own point; ``ContentDetails/resumePoint`` for a person who has none. Zero for a lecture that is
    ///   not in the store.
    /// - Throws: ``LectureError`` when the store cannot be read.
    package static func point(
        of key: ContentKey, viewer: String, in contents: isolated LectureManager.Contents
    ) throws(LectureError) -> Duration {
        try LectureError.only { try ViewerResumePoints(contents.queries).point(of: key, viewer: viewer) }
    }

    /// Stores where a viewer resumes. ``ContentDetails/resumePoint`` stays as it is. It is deleted together with the
    /// lecture, and when the learner is erased.
    ///
    /// - Parameters:
    ///   - point: from the start, stored in whole milliseconds; negative counts as zero.
    ///   - key: the lecture.
    ///   - viewer: the name of the person, as in reports.
    ///   - contents: of the store.
    /// - Throws: ``LectureError``: `parameter` for an empty name, `unknownContent`, a store's code.
    package static func set(
        _ point: Duration, of key: ContentKey, viewer: String, in contents: isolated LectureManager.Contents
    ) throws(LectureError) {
        guard !viewer.isEmpty else { throw LectureError(.parameter, detail: "an empty name of a viewer") }
        try LectureError.only { try contents.keepResumePoint(key, point, viewer: viewer) }
    }

    /// Starts recording what one of many viewers watches of a lecture: where they resume is stored as theirs, and not
    /// as that of the lecture.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - viewer: the learner.
    ///   - duration: the length of the lecture; nil takes the gateway's value.
    ///   - reports: of the store.
    /// - Returns: the recorder.
    /// - Throws: ``LectureError``: `parameter` for an empty name, `unknownContent`, a store's code.
    package static func record(
        _ key: ContentKey, viewer: String, duration: Duration? = nil, in reports: isolated LectureManager.Reports
    ) throws(LectureError) -> PlayRecorder {
        guard !viewer.isEmpty else { throw LectureError(.parameter, detail: "an empty name of a viewer") }
        return try LectureError.only { try reports.recorder(of: key, viewer, duration, 100, nil, isViewers: true) }
    }

    /// Reports to those who listen to the events of a store what could not be stored of a viewer's.
    ///
    /// - Parameters:
    ///   - error: what was in the way.
    ///   - manager: of the store.
    package static func report(_ error: LectureError, to manager: LectureManager) { manager.hub.send(.trouble(error)) }
}
