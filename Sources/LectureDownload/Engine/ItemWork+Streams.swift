import LectureEngine
import LectureModel

/// The files of an adaptive lecture in memory.
extension ItemWork {
    /// The playlists, in the order of their positions: that of the source is the first.
    var playlists: [ResourceWork] {
        resources.filter { $0.record.role == .media || $0.record.role == .playlist }
            .sorted { $0.record.position < $1.record.position }
    }

    /// What is kept of its streams.
    func selection(_ settings: DownloadSettings) -> StreamSelection {
        record.selection.isDefault ? settings.selection : record.selection
    }

    /// The position after those in memory.
    var nextPosition: Int { (resources.map(\.record.position).max() ?? -1) + 1 }

    /// Takes files of its version from their rows.
    mutating func take(
        _ records: [ResourceRecord], _ shared: inout SharedWork, _ step: Step<DownloadMachine>
    ) throws {
        for record in records {
            var file = try ResourceWork(restoring: record, under: lease, step)
            if record.role == .media || record.role == .playlist {
                file.base = try step.store.index.adaptive.base(record.id)
            }
            resources.append(file)
            shared.parts[file.token] = LivingPart(item: id, resource: record.id, file: file.part)
        }
    }

    /// The files of its streams are in the store. Those that were missing are tried again.
    mutating func openStreams(_ version: VersionID, _ step: Step<DownloadMachine>) throws {
        let rows = step.store.index.adaptive
        try rows.retryMissing(lease, version)
        let (all, finished, first) = try rows.totals(version)
        stream.backlog = Backlog(all: all, finished: finished, first: first)
    }
}
