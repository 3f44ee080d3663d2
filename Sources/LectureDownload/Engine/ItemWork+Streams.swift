import LectureModel

/// The files of an adaptive lecture in memory.
extension ItemWork {
    /// What is kept of its streams.
    func selection(_ settings: DownloadSettings) -> StreamSelection {
        record.selection.isDefault ? settings.selection : record.selection
    }
}
