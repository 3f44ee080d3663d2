import LectureFiles
import LectureHTTP
import LectureKit
import LectureModel
import LectureServedMedia

/// What the classroom shows of the store.
extension Classroom {
    /// Lectures on one page.
    static let pageLength = 50

    /// The list: of all complete lectures by title, of a course, or with a part of their title; for a person with a
    /// link, their lecture.
    func list(_ request: SiteRequest) async throws -> HTTPAnswer {
        guard let person = request.person else { throw SiteRefusal.notSignedIn }
        let (page, query) = (Self.page(request), ClassroomQuery(request.head))
        let run: LectureRun
        if let only = person.lecture {
            let found = try await manager.contents.find(try ContentKey(only))
            run = LectureRun(shown: found.map { [$0] } ?? [], hasBefore: false, hasAfter: false)
        } else {
            run = try await LectureRun.page(
                query.filter, sort: .title, after: query.after, before: query.before, limit: Self.pageLength, manager)
        }
        // A list without its licences is still a list.
        let licences = (try? await manager.licences.statuses(of: run.shown)) ?? [:]
        return page.list(run, licences, query)
    }

    /// The page of one lecture. Nothing is played, and nothing counted, before its viewer says so.
    func watch(_ segment: String, _ request: SiteRequest) async throws -> HTTPAnswer {
        let (key, person) = try permitted(segment, request)
        guard let details = try await manager.contents.details(of: key), details.content.state == .completed else {
            throw ClassroomRefusal.unknownLecture
        }
        let subtitles = WatchedSubtitles(try await manager.contents.subtitles(of: key))
        let media = try request.head.parameter("play").map { try plays.find($0, of: person).path }
        let at =
            if let named = request.head.parameter("at").flatMap(Int64.init) { named } else {
                try await resumePoint(of: details, person)
            }
        return Self.page(request).watch(
            ClassroomPage.Watched(
                details: details, outline: try await manager.contents.outline(of: key), subtitles: subtitles,
                media: media, at: max(0, min(at, Int64(ViewingReport.longest))),
                formToken: request.formToken ?? ""))
    }

    /// Where a person resumes, in seconds: who has watched to the end begins again.
    private func resumePoint(of details: ContentDetails, _ person: SitePerson) async throws -> Int64 {
        let point = try await ViewerPlaces.point(of: details.content.key, viewer: person.name, in: manager.contents)
        if let duration = details.content.duration, point + .seconds(1) >= duration { return 0 }
        return point.milliseconds / 1000
    }

    /// Subtitles as WebVTT: one track of a file.
    func subtitle(_ segment: String, _ number: Int?, _ track: Int?, _ request: SiteRequest) async throws -> HTTPAnswer {
        let (key, _) = try permitted(segment, request)
        let kept = try await manager.contents.subtitles(of: key)
        guard let number, kept.indices.contains(number) else { throw ClassroomRefusal.unknownLecture }
        let tracks: [WebSubtitles.Track]
        do throws(WebSubtitles.Refusal) { tracks = try WebSubtitles.tracks(kept[number].bytes) } catch {
            throw ClassroomRefusal.subtitles(error)
        }
        guard let track, tracks.indices.contains(track) else { throw ClassroomRefusal.unknownLecture }
        return HTTPAnswer(200, [("Content-Type", "text/vtt; charset=utf-8")], body: .bytes(tracks[track].text))
    }

    /// The still picture.
    func poster(_ segment: String, _ request: SiteRequest) async throws -> HTTPAnswer {
        let (key, _) = try permitted(segment, request)
        // One that cannot be read is none: a page without its picture is still a page.
        guard let path = try await manager.contents.details(of: key)?.snapshotPath,
            let bytes = try? SecretFile.open(path, limit: 8 << 20, .open).bytes(),
            let type = PictureKind.type(of: bytes)
        else { throw ClassroomRefusal.unknownLecture }
        return HTTPAnswer(200, [("Content-Type", type)], body: .bytes(bytes))
    }
}

/// The media type of a picture, from its first bytes.
enum PictureKind {
    /// Recognises a picture.
    ///
    /// - Parameter bytes: the first bytes.
    /// - Returns: nil for what no browser shows.
    static func type(of bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return "image/png" }
        if bytes.starts(with: "GIF8".utf8) { return "image/gif" }
        let isWebP = bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).starts(with: "WEBP".utf8)
        return isWebP ? "image/webp" : nil
    }
}
