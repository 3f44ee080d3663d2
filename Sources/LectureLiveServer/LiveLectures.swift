import LectureCrypto
import LectureFiles
import LectureFormats
import LectureHTTP
import LectureLive
import LectureModel

/// Serves archived lectures below signed links, and grants their licences. Part of ``LiveService``, on its actor.
final class LiveLectures {
    private let store: LiveStore
    private let options: LiveOptions
    private let keys: LiveKeys
    private let archives: LiveArchives
    private let links: LectureLinks
    /// How many answers are being read from sealed files.
    private let readers = Guarded(0)

    init(_ store: LiveStore, _ options: LiveOptions, _ keys: LiveKeys, _ archives: LiveArchives, base: String) {
        (self.store, self.options, self.keys, self.archives) = (store, options, keys, archives)
        links = LectureLinks(key: store.linkKey, base: base, lifetime: options.linkLifetime)
    }

    /// The link of a member to the lecture of a room; nil where there is none, and for one who is banned.
    func url(_ room: StoredRoom, _ archive: StoredArchive, for member: LiveMember) throws -> String? {
        guard try !store.isBanned(room.id, member.id) else { return nil }
        return try links.url(
            uuid: room.uuid, member: member.id, archivedAt: archive.archivedAt, now: options.now())
    }

    /// Answers a request below `/lectures/`.
    ///
    /// - Parameters:
    ///   - segments: of the path, after `lectures`.
    ///   - head: the request.
    ///   - body: its body.
    /// - Returns: the answer.
    /// - Throws: ``LiveRefusal``, and errors of the store.
    func answer(_ segments: ArraySlice<String>, _ head: HTTPRequestHead, _ body: [UInt8]) throws -> HTTPAnswer {
        if Array(segments) == ["callback"] {
            guard head.method == "POST" else { throw LiveRefusal.method }
            return try grant(head, body)
        }
        guard segments.count == 5, let file = segments.last, ["si", "media.mp4", "chat.vtt"].contains(file) else {
            throw LiveRefusal.noPath
        }
        guard head.method == "GET" || head.method == "HEAD" else { throw LiveRefusal.method }
        guard let claim = try links.claim(segments.dropLast(), now: options.now()),
            let member = try store.member(id: claim.member), let room = try store.room(uuid: claim.uuid),
            try !store.isBanned(room.id, member.id), let archive = try store.archives.archive(of: room.id)
        else { throw LiveRefusal.lectureLink }
        switch file {
        case "si": return try descriptor(room, archive, member, claim)
        case "media.mp4": return try media(archive, head)
        default: return text(try chat(room), "text/vtt; charset=utf-8")
        }
    }

    private func text(_ text: String, _ type: String) -> HTTPAnswer {
        let fields = [("Content-Type", type), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")]
        return HTTPAnswer(200, fields, body: .bytes(Array(text.utf8)))
    }

    // MARK: Files

    private static func tag(_ archive: StoredArchive) -> EntityTag { .strong(Hexadecimal.text(archive.sha256)) }

    private func descriptor(
        _ room: StoredRoom, _ archive: StoredArchive, _ member: LiveMember, _ claim: LectureLinks.Claim
    ) throws -> HTTPAnswer {
        var descriptor = LectureDescriptor(
            key: VideoRoom.contentKey(room.uuid), mediaURL: try links.url(claim, file: "media.mp4"),
            byteCount: archive.byteCount, sha256: archive.sha256, tag: Self.tag(archive).headerValue,
            userID: member.userID, callbackURL: "\(links.base)/lectures/callback")
        (descriptor.title, descriptor.synopsis) = (room.title, room.description)
        descriptor.teacher = try store.member(id: room.ownerID)?.userName ?? ""
        (descriptor.duration, descriptor.size) = (archive.duration, (archive.width, archive.height))
        if try store.archives.hasChat(room.id) { descriptor.chatURL = try links.url(claim, file: "chat.vtt") }
        descriptor.lmsURL = options.archives.lmsURL
        return text(descriptor.text, LectureDescriptor.type)
    }

    private func media(_ archive: StoredArchive, _ head: HTTPRequestHead) throws -> HTTPAnswer {
        let tag = Self.tag(archive)
        let total = Int64(archive.byteCount)
        var fields = [
            ("Content-Type", "video/mp4"), ("Accept-Ranges", "bytes"), ("ETag", tag.headerValue),
            ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
        ]
        let (status, range): (Int, Range<Int64>)
        switch WantedBytes(head, byteCount: total, tag: tag) {
        case .whole: (status, range) = (200, 0..<total)
        case .part(let part):
            (status, range) = (206, part)
            fields.append(("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(total)"))
        case .unsatisfiable:
            return HTTPAnswer(416, [("Content-Range", "bytes */\(total)"), ("ETag", tag.headerValue)])
        }
        if head.method == "HEAD" { return HTTPAnswer(status, fields, body: .head(byteCount: Int64(range.count))) }
        guard let place = ReaderPlace(readers, most: options.archives.mostReaders) else { throw LiveRefusal.busy }
        let bytes = Int(range.lowerBound)..<Int(range.upperBound)
        let source = ArchiveSource(try archives.media(archive), bytes, place, options.log)
        return HTTPAnswer(status, fields, body: .source(source, byteCount: Int64(range.count)))
    }

    /// The messages of people in a room as subtitles of its lecture.
    private func chat(_ room: StoredRoom) throws -> String {
        let timeline = try store.archives.timeline(of: room.id)
        var (entries, last) = ([ChatLog.Entry](), Int64(0))
        while true {
            let page = try store.messages(room.id, beyond: last, limit: 500)
            for message in page where message.origin != .system && !message.isHidden && !message.text.isEmpty {
                entries.append(
                    ChatLog.Entry(
                        id: UInt64(message.number), position: timeline.position(of: message.sentAt),
                        sentAt: message.sentAt, origin: message.origin, userID: message.userID,
                        userName: message.userName, customType: message.customType, text: message.text))
            }
            guard page.count == 500, let number = page.last?.number else { break }
            last = number
        }
        return ChatLog(entries: entries).webVTT
    }

    // MARK: Licences

    private func grant(_ head: HTTPRequestHead, _ body: [UInt8]) throws -> HTTPAnswer {
        let request = try LicenceCallback(type: head.value("content-type"), body)
        let payload = try request.payload(
            now: options.now(), lifetime: options.archives.licenceLifetime, standing)
        let token = try keys.licence.sign(Array(payload.utf8), type: "JWT")
        var fields = [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")]
        if let userKey = options.archives.userKey { fields.append(("X-KOLLUS-USERKEY", userKey)) }
        return HTTPAnswer(200, fields, body: .bytes(token))
    }

    private func standing(_ item: LicenceCallback.Item) throws -> LicenceCallback.Standing {
        let prefix = VideoRoom.contentKey("")
        guard item.key.hasPrefix(prefix) else { return .noLecture }
        let uuid = String(item.key.dropFirst(prefix.count))
        if try store.archives.isDeletedArchive(uuid) { return .deleted }
        guard let room = try store.room(uuid: uuid), try store.archives.archive(of: room.id) != nil else {
            return .noLecture
        }
        guard let member = try store.member(userID: item.userID) else { return .noMember }
        return try store.isBanned(room.id, member.id) ? .banned : .permitted
    }
}

/// A place among the answers that are read from sealed files; each has a segment of 1 MiB in memory twice.
final class ReaderPlace: Sendable {
    private let count: Guarded<Int>

    /// Takes a place; nil when all are taken.
    init?(_ count: Guarded<Int>, most: Int) {
        let isFree = count.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
        guard isFree else { return nil }
        self.count = count
    }

    deinit { count.withLock { $0 -= 1 } }
}

/// Decrypts a range of an archive as it is sent, a segment at a time.
///
/// `@unchecked Sendable`: the media and the position are used by one thread at a time: who has just made it, then the
/// server's.
final class ArchiveSource: HTTPBodySource, @unchecked Sendable {
    private let media: SealedMedia
    private let place: ReaderPlace
    private let log: LiveLog
    private var rest: Range<Int>

    init(_ media: SealedMedia, _ range: Range<Int>, _ place: ReaderPlace, _ log: LiveLog) {
        (self.media, rest, self.place, self.log) = (media, range, place, log)
    }

    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> HTTPFill {
        guard !rest.isEmpty else { return .end }
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, rest.count)])
        do throws(LectureError) {
            let count = try unsafe media.read(part, at: rest.lowerBound)
            rest = rest.lowerBound + count..<rest.upperBound
            return .bytes(count)
        } catch {
            log.failure("archive_unreadable", error)
            return .failed
        }
    }

    func over() {}
}
