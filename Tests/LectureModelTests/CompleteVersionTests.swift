import LectureModel
import Testing

/// What a complete version is for a later request.
@Suite struct CompleteVersionTests {
    private static let (own, other): ([UInt8], [UInt8]) = ([1], [2])

    private static func version(isOutdated: Bool = false, sha256: [UInt8]? = nil) -> CompleteVersion {
        var media = ResourceRecord(
            id: ResourceID(1), version: VersionID(1), content: ContentID(1), role: .media)
        (media.total, media.sha256) = (100, sha256)
        var version = CompleteVersion(id: VersionID(1), media: media)
        (version.sourceIdentity, version.isOutdated) = (own, isOutdated)
        return version
    }

    private static func match(
        _ version: CompleteVersion, requested: [UInt8] = own, pending: [UInt8] = own, isGateway: Bool = false,
        check: SourceCheck = .list, _ change: (inout DownloadRequest) -> Void = { _ in }
    ) -> CompleteVersion.Match {
        var request = DownloadRequest(url: "http://127.0.0.1/a.mp4")
        change(&request)
        return version.match(request, source: (requested, pending), isGateway: isGateway, check: check)
    }

    @Test func `an outdated lecture of a gateway stays outdated, whichever token the link has`() {
        let outdated = Self.version(isOutdated: true)
        for requested in [Self.own, Self.other] {
            for pending in [Self.own, Self.other] {
                for check in [SourceCheck.list, .head, .never] {
                    let match = Self.match(
                        outdated, requested: requested, pending: pending, isGateway: true, check: check)
                    #expect(match == .other, "\(requested) \(pending) \(check)")
                }
            }
        }
    }

    @Test func `a link with a fresh token is the same source`() {
        #expect(Self.match(Self.version(), requested: Self.other, isGateway: true) == .same)
        #expect(Self.match(Self.version(), requested: Self.other, isGateway: true, check: .head) == .sourceUnknown)
        #expect(Self.match(Self.version(), requested: Self.other) == .sourceUnknown)
    }

    @Test func `a return to the version's own source takes back the request of another one`() {
        let outdated = Self.version(isOutdated: true)
        #expect(Self.match(outdated, pending: Self.other) == .same)
        // The version is outdated at its own source.
        #expect(Self.match(outdated) == .other)
        #expect(Self.match(outdated, requested: Self.other, pending: Self.other) == .other)
    }

    @Test func `a digest decides before everything else`() {
        let version = Self.version(isOutdated: true, sha256: [7])
        #expect(Self.match(version, requested: Self.other) { ($0.sha256, $0.size) = ([7], 5) } == .same)
        #expect(Self.match(version) { $0.sha256 = [8] } == .other)
        #expect(Self.match(Self.version()) { $0.sha256 = [7] } == .digestUnknown)
        #expect(Self.match(Self.version()) { $0.size = 101 } == .other)
        #expect(Self.match(Self.version(), check: .never) { $0.size = 101 } == .same)
    }
}
