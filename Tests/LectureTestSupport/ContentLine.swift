package import LectureModel

extension Content {
    /// Passes what a line of a list shows of a lecture to a body.
    package func withLine<Result>(_ body: (borrowing ContentLine) throws -> Result) rethrows -> Result {
        var line = ContentLine()
        line.setTexts(key: { $0 += Array(key.text.utf8) }, title: { $0 += Array(title.utf8) })
        (line.type, line.state, line.stopReason, line.error) = (type, state, stopReason, error)
        line.priority = priority
        (line.totalBytes, line.committedBytes) = (totalBytes, committedBytes)
        (line.totalChunks, line.committedChunks) = (totalChunks, committedChunks)
        line.isOutdated = isOutdated
        return try body(line)
    }
}

extension ContentLine {
    /// All that it shows, to be compared.
    package var shown: String {
        """
        \(key.text)|\(String(decoding: texts[titleRange], as: UTF8.self))|\(type)|\(state)|\
        \(String(describing: stopReason))|\(String(describing: error))|\(priority)|\(String(describing: totalBytes))|\
        \(committedBytes)|\(totalChunks)|\(committedChunks)|\(isOutdated)|\(String(describing: committedPercent))
        """
    }
}
