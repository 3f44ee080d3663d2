import LectureEngine
import LectureModel

/// The files of an adaptive lecture in memory.
extension ItemWork {
    /// What is kept of its streams.
    func selection(_ settings: DownloadSettings) -> StreamSelection {
        record.selection.isDefault ? settings.selection : record.selection
    }

    /// Takes files of its version from their rows.
    mutating func take(
        _ records: [ResourceRecord], _ shared: inout SharedWork, _ step: Step<DownloadMachine>
    ) throws {
        for record in records {
            var file = try ResourceWork(restoring: record, under: lease, step)
            if record.role.namesFiles {
                file.base = try step.store.index.adaptive.base(record.id)
            }
            resources.append(file)
            shared.parts[file.token] = LivingPart(item: id, resource: record.id, file: file.part)
        }
    }
}
