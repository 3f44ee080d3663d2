import LectureDownload

/// Swift Testing has a type of this name as well.
typealias Expectation = LectureDownload.Expectation
