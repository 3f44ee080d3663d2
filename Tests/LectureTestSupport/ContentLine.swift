package import LectureModel

extension Content {
    /// What is read of a lecture for a line of a list.
    package var line: Content {
        var line = Content(
            key: key, sourceURL: "", title: title, state: state, added: Timestamp(milliseconds: 0))
        (line.type, line.stopReason, line.error) = (type, stopReason, error)
        line.priority = priority
        (line.totalBytes, line.committedBytes) = (totalBytes, committedBytes)
        (line.totalChunks, line.committedChunks) = (totalChunks, committedChunks)
        (line.isPlayable, line.isOutdated) = (isPlayable, isOutdated)
        return line
    }
}
