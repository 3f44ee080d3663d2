import LectureEngine
import LectureModel

/// What a complete lecture is published from.
struct FinishedLecture {
    let id: ContentID
    let key: ContentKey
    /// Whether it is many files.
    let isAdaptive: Bool
    /// Its media: the path in the store, and whether that is sealed.
    let path: String
    let isSealed: Bool
    /// Whether that is soon copied.
    let isSmall: Bool

    /// Takes it from its rows; nil for another file than its finished media.
    init?(_ record: ItemRecord, _ media: ResourceRecord) {
        guard media.role == .media, media.state == .finalized else { return nil }
        (id, key, path) = (record.id, record.content.key, media.path)
        (isAdaptive, isSealed) = (record.content.type == .adaptiveDownload, media.seal != .plain)
        isSmall = media.total ?? .max <= FarServers.smallFile
    }
}

/// Files that belong to no item in work: those of removed lectures and replaced versions, orphans, and finished files
/// that are published outside the store.
struct FileWork: Sendable {
    var removals = Removals()
    var orphans = Orphans()
    /// Versions whose files are being deleted.
    private var deleting: Set<VersionID> = []
    /// Lectures that are being published, and to how many paths.
    private var publishing: [ContentID: Int] = [:]
    /// Complete lectures that the application asked to publish.
    var wanted: Set<ContentID> = []

    /// How many are in work.
    var activeCount: Int {
        removals.count + publishing.count + wanted.count + deleting.count + orphans.activeCount
    }

    /// Whether a stop has nothing to wait for.
    var isSettled: Bool { removals.count == 0 && deleting.isEmpty && publishing.isEmpty }

    /// Several steps could not be committed: what was begun is read from the store again.
    mutating func recover() {
        removals.collapse()
        (deleting, publishing, orphans) = ([], [:], Orphans())
    }

    // MARK: Deletion

    /// Removes a lecture that is not in work: claims it, and deletes its files after the commit.
    mutating func remove(_ id: ContentID, owner: OwnerID, _ step: inout Step<DownloadMachine>) throws {
        let index = step.store.index
        guard removals.mayBegin(id), let record = try index.owners.claim(content: id, owner: owner, now: step.now)
        else { return }
        removals.began(id, record.lease, record.content.key)
        try index.contents.setStatus(record.lease, ItemStatus(.removing), now: step.now)
        step.effects.append(.delete(try index.contents.paths(id), .content(id)))
    }

    /// Deletes the files of a version after the commit.
    mutating func delete(_ version: VersionID, _ paths: [String], _ step: inout Step<DownloadMachine>) {
        deleting.insert(version)
        step.effects.append(.delete(paths, .version(version)))
    }

    /// Deletes the files of versions that were replaced.
    mutating func deleteDiscarded(_ step: inout Step<DownloadMachine>) throws {
        for (version, paths) in try step.store.index.versions.discardedVersions() where !deleting.contains(version) {
            delete(version, paths, &step)
        }
    }

    /// Deletes files that no row refers to.
    mutating func clearOrphans(_ step: inout Step<DownloadMachine>) throws {
        if orphans.needsList() { step.effects.append(.list) }
        let index = step.store.index
        let paths = try orphans.takeSlice().filter { try index.isOrphan(path: $0) }
        guard !paths.isEmpty else { return }
        orphans.deletes()
        step.effects.append(.delete(paths, .orphans))
    }

    /// Files were deleted, or could not be.
    mutating func deletionEnded(
        _ purpose: DeletionPurpose, _ error: LectureError?, _ step: inout Step<DownloadMachine>
    ) throws {
        switch purpose {
        case .orphans: orphans.deleted()
        case .version(let version):
            deleting.remove(version)
            if error == nil { try step.store.index.versions.forgetVersion(version) }
        case .content(let content):
            guard let (lease, key) = removals.ended(content) else { return }
            do {
                if let error {
                    try step.store.index.owners.release(lease)
                    removals.failed(content, at: step.boot)
                    step.notices.append(.event(.trouble(error)))
                } else {
                    try step.store.index.contents.deleteContent(lease)
                    step.notices.append(.event(.removed(key)))
                }
            } catch let error as LectureError where error.code == .leaseLost {
                // Another program has taken over the removal.
                return
            }
        }
    }

    // MARK: Publication

    /// Publishes what the application asked for.
    mutating func publishWanted(_ step: inout Step<DownloadMachine>) throws {
        for content in wanted.sorted() { try publish(content, &step) }
        wanted = []
    }

    /// Publishes the finished file of a complete lecture to the user's output paths.
    mutating func publish(_ content: ContentID, _ step: inout Step<DownloadMachine>) throws {
        let index = step.store.index
        guard let record = try index.contents.item(content), let version = record.currentVersion,
            let lecture = try index.versions.resources(version).lazy.compactMap({ FinishedLecture(record, $0) }).first
        else { return }
        try publish(lecture, &step)
    }

    /// The same for a lecture whose rows are known.
    mutating func publish(_ lecture: FinishedLecture, _ step: inout Step<DownloadMachine>) throws {
        let index = step.store.index
        guard publishing[lecture.id] == nil else { return }
        let outputs = try index.outputs.pending(lecture.id)
        guard !outputs.isEmpty else { return }
        guard !lecture.isAdaptive else { return try refuseOutputs(outputs.map(\.path), of: lecture, &step) }
        publishing[lecture.id] = outputs.count
        let own = OutputRight.own(try index.outputs.written(lecture.key))
        for output in outputs {
            let order = OutputOrder(
                path: lecture.path, isSealed: lecture.isSealed, output: output.path,
                right: output.mayReplace ? .any : own)
            step.publish(Publication(content: lecture.id, order: order, isSmall: lecture.isSmall))
        }
    }

    /// An adaptive lecture is many files, none of which is the lecture.
    private func refuseOutputs(
        _ paths: [String], of lecture: FinishedLecture, _ step: inout Step<DownloadMachine>
    ) throws {
        for path in paths {
            try step.store.index.outputs.delete(lecture.id, path: path)
            let error = LectureError(.manyFiles, detail: lecture.key.text)
            step.notices.append(.event(.publishingFailed(key: lecture.key, path: path, error: error)))
        }
    }

    /// A file was published, or could not be.
    mutating func publishEnded(_ file: PublishedFile, _ step: inout Step<DownloadMachine>) throws {
        let (index, content, path) = (step.store.index, file.content, file.path)
        guard let left = publishing[content] else { return }
        publishing[content] = left > 1 ? left - 1 : nil
        guard let key = try index.contents.key(content) else { return }
        let event: LectureEvent
        switch file.outcome {
        case .success(let facts):
            try index.outputs.record(key, path: path, facts, now: step.now)
            event = .published(key: key, path: path)
        case .failure(let error): event = .publishingFailed(key: key, path: path, error: error)
        }
        // An unusable path is reported once. If it were kept, it would fail every later run.
        try index.outputs.delete(content, path: path)
        step.notices.append(.event(event))
    }

    /// A link turned out to lead to another lecture, which may be complete. The link's request applies to that one.
    mutating func settle(
        on other: ContentID, _ link: ItemRecord, _ media: ResourceRequest?, _ step: inout Step<DownloadMachine>
    ) throws {
        let index = step.store.index
        switch try index.requests.request(other, sha256: link.expectedSHA256, bytes: link.expectedBytes, now: step.now)
        {
        case .alreadyComplete:
            guard let version = try index.versions.completeVersion(other) else { return }
            if media?.describes(version.media) == false {
                // The gateway describes a newer version.
                try index.versions.supersede(other, version: version.id, by: .newerAtSource, now: step.now)
                step.context.outdated(other)
                return
            }
            // This link may have come with an output path.
            try publish(other, &step)
            let unknown = version.media.sha256 == nil ? media?.expectedSHA256 : nil
            step.notices.append(.alreadyComplete(other, unknownDigest: unknown))
        case .checking: step.notices.append(.alreadyComplete(other, unknownDigest: link.expectedSHA256))
        case .outdated: step.context.outdated(other)
        case .damaged: step.context.changed(other)
        case .added, .alreadyQueued, .resumed: break
        }
    }
}

extension Step<DownloadMachine> {
    /// Publishes a file after the commit, a small one with others of the step.
    mutating func publish(_ new: Publication) {
        let group = new.isSmall ? effects.lastIndex(where: \.takesSmallFiles) : nil
        if let group, case .publish(let files) = effects[group] {
            effects[group] = .publish(files + [new])
        } else {
            effects.append(.publish([new]))
        }
    }
}

extension DownloadEffect {
    /// Whether it publishes small files, and may publish one more.
    fileprivate var takesSmallFiles: Bool {
        guard case .publish(let files) = self, let first = files.first else { return false }
        return first.isSmall && files.count < Publication.most
    }
}
