import Foundation
import LectureKit
import LectureModel
import Testing

@testable import KollusSDK

/// A list row, built from the store's data.
struct KollusContentTests {
    private func details(
        _ state: ItemState = .completed, _ change: (inout ContentDetails) -> Void = { _ in }
    ) throws -> ContentDetails {
        let content = Content(
            key: try ContentKey("lecture-1"), sourceURL: "http://127.0.0.1/lecture-1", title: "Limits", state: state,
            added: Timestamp(milliseconds: 1_000))
        var details = ContentDetails(content: content, number: 7)
        change(&details)
        return details
    }

    private func licence(
        _ reasons: [LicenceReason] = [], _ change: (inout LicencePolicy) -> Void
    ) throws -> LicenceStatus {
        var policy = LicencePolicy()
        change(&policy)
        var entry = LicenceEntry(key: try ContentKey("lecture-1"), source: LicenceSource())
        var record = LicenceRecord(form: .callback, policy: policy, isVerified: true)
        (record.countUsed, record.playTimeUsed) = (2, .seconds(20))
        entry.record = record
        (entry.granted, entry.checked) = (Timestamp(milliseconds: 5_000), Timestamp(milliseconds: 9_000))
        return LicenceStatus(entry, reasons: reasons)
    }

    @Test
    func `every member has the value of the store`() throws {
        let content = KollusContent(
            try details {
                ($0.content.course, $0.content.teacher, $0.content.folder) = ("Analysis", "E. Noether", "a/b")
                ($0.content.type, $0.content.totalBytes) = (.adaptiveDownload, 1000)
                ($0.content.committedBytes, $0.content.duration) = (1000, .milliseconds(1500))
                $0.content.completed = Timestamp(milliseconds: 1_700_000_000_999)
                ($0.company, $0.synopsis, $0.descriptionURL) = ("Academy", "About limits", "https://example.com/1")
                ($0.width, $0.height, $0.resumePoint) = (1920, 1080, .milliseconds(2500))
                ($0.snapshotPath, $0.thumbnailPath) = ("/a/s.jpg", "/a/160x90x10.jpg")
            })
        #expect(content.title == "Limits")
        #expect(content.course == "Analysis")
        #expect(content.teacher == "E. Noether")
        #expect(content.folder == "a/b")
        #expect(content.company == "Academy")
        #expect(content.synopsis == "About limits")
        #expect(content.descriptionURL == "https://example.com/1")
        #expect(content.naturalSize == CGSize(width: 1920, height: 1080))
        #expect(content.snapshot == "/a/s.jpg")
        #expect(content.thumbnail == "/a/160x90x10.jpg")
        #expect(content.mediaContentKey == "lecture-1")
        #expect(content.contentType == .adaptiveDownload)
        #expect(content.iosPlayerType == "native")
        #expect(content.duration == 1.5)
        #expect(content.position == 2.5)
        #expect(content.contentIndex == 7)
        #expect(content.fileSize == 1000)
        #expect(content.downloadSize == 1000)
        #expect(content.downloadProgress == 100)
        #expect(content.downloaded)
        #expect(content.downloadedTime == 1_700_000_000)
        #expect(content.downloadedDate?.timeIntervalSince1970 == 1_700_000_000.999)
        #expect(content.registeredDate?.timeIntervalSince1970 == 1)
        #expect(content.isPlayableOffline)
        #expect(content.description == "lecture-1 100 %")
    }

    @Test
    func `an empty KollusContent has empty texts, no dates and no licence`() {
        let content = KollusContent()
        #expect(content.title == "")
        #expect(content.mediaContentKey == "")
        #expect(content.snapshot == nil)
        #expect(content.drmExpireDate == nil)
        #expect(content.downloadedDate == nil)
        #expect(content.contentType == .downloading)
        #expect(content.state == .registered)
        #expect(!content.downloaded)
        #expect(content.downloadProgress == 0)
        #expect(!content.needsLicence)
        #expect(content != KollusContent(), "two empty objects are not the same lecture")
        #expect(content == content)
    }

    @Test(arguments: [
        (0, 1000, 0), (1, 1000, 0), (9, 1000, 0), (10, 1000, 1), (995, 1000, 99), (1000, 1000, 99), (5, 0, 0),
    ])
    func `progress is 100 only when it is downloaded`(came: Int64, size: Int64, percent: UInt) throws {
        let content = KollusContent(
            try details(.downloading) { ($0.content.totalBytes, $0.content.committedBytes) = (size, came) })
        #expect(content.downloadProgress == percent)
        #expect(!content.downloaded)
    }

    @Test
    func `received bytes count before they are verified, and never fewer than verified ones`() throws {
        let row = try details(.downloading) { ($0.content.totalBytes, $0.content.committedBytes) = (1000, 400) }
        #expect(KollusContent(row, receivedBytes: 700).downloadSize == 700)
        #expect(KollusContent(row, receivedBytes: 700).downloadProgress == 70)
        #expect(KollusContent(row, receivedBytes: 100).downloadSize == 400)
        #expect(KollusContent(row).downloadStopSize == 0, "it runs")
        for state in [ItemState.stopped, .failed] {
            let stopped = KollusContent(
                try details(state) { ($0.content.totalBytes, $0.content.committedBytes) = (1000, 400) })
            #expect(stopped.downloadStopSize == 400)
        }
    }

    @Test
    func `times beyond 2038 are clamped where the SDK has 32 bits`() throws {
        let content = KollusContent(
            try details { $0.content.completed = Timestamp(milliseconds: 4_000_000_000_000) })
        #expect(content.downloadedTime == .max)
        #expect(content.downloadedDate?.timeIntervalSince1970 == 4_000_000_000)
    }

    @Test
    func `the bounds of a licence and what remains of them`() throws {
        let status = try licence {
            ($0.expiresAt, $0.countLimit) = (Timestamp(milliseconds: 50_000), 5)
            ($0.playTimeLimit, $0.asksBeforeRenewal) = (.seconds(60), true)
        }
        let content = KollusContent(try details { $0.licence = status })
        #expect(content.drmExpireDate == Date(timeIntervalSince1970: 50))
        #expect(content.DRMExpireDate == content.drmExpireDate)
        #expect(content.drmCheckDate == Date(timeIntervalSince1970: 9))
        #expect(content.drmExpireCountMax == 5)
        #expect(content.drmExpireCount == 3)
        #expect(content.drmUsedCount == 2)
        #expect(content.drmRemainingCount == 3)
        #expect(content.drmTotalExpirePlayTime == 60)
        #expect(content.drmExpirePlayTime == 40)
        #expect(content.drmExpireRefreshPopup)
        #expect(!content.drmExpired)
        #expect(content.DRMExpireCount == 3)
        #expect(content.DRMExpireCountMax == 5)
        #expect(content.DRMTotalExpirePlayTime == 60)
        #expect(content.DRMExpirePlayTime == 40)
        #expect(content.DRMExpireRefreshPopup)
        #expect(content.DRMCheckDate == content.drmCheckDate)
        #expect(content.needsLicence)
        let boundless = KollusContent(try details { $0.licence = try? licence { _ in } })
        #expect(boundless.drmExpireDate == nil)
        #expect(boundless.drmExpireCountMax == 0)
        #expect(boundless.drmExpireCount == 0)
        #expect(boundless.drmRemainingCount == nil)
    }

    @Test(arguments: LicenceReason.allCases)
    func `an ended licence is expired, one that waits for something is not`(reason: LicenceReason) throws {
        let status = try licence([reason]) { _ in }
        let content = KollusContent(try details { $0.licence = status })
        let ends: [LicenceReason] = [.deleted, .forceExpired, .expired, .countUsedUp, .playTimeUsedUp]
        #expect(content.drmExpired == ends.contains(reason))
        #expect(content.DRMExpired == content.drmExpired)
        #expect(!content.isPlayableOffline)
        #expect(content.refusal?.code == reason.code.number)
    }

    @Test(arguments: [
        (ItemState.queued, nil, KollusContent.State.waiting), (.loading, nil, .downloading),
        (.downloading, nil, .downloading), (.verifying, nil, .downloading), (.completed, nil, .completed),
        (.failed, nil, .failed), (.stopped, StopReason.network, .stopped), (.stopped, .space, .stopped),
        (.stopped, .serverWait, .waiting), (.stopped, .schedule, .waiting), (.stopped, .user, .paused),
    ])
    func `states have one name each`(state: ItemState, reason: StopReason?, name: KollusContent.State) throws {
        let content = KollusContent(try details(state) { $0.content.stopReason = reason })
        #expect(content.state == name)
    }

    @Test
    func `a cancelled lecture without a byte counts as never requested`() throws {
        func content(_ proven: Int64) throws -> KollusContent {
            KollusContent(
                try details(.stopped) {
                    ($0.content.stopReason, $0.content.error) = (.user, LectureError(.cancelled))
                    $0.content.committedBytes = proven
                })
        }
        #expect(try content(0).state == .registered)
        #expect(try content(1).state == .paused)
        let ending = KollusContent(try details(.downloading) { $0.content.committedBytes = 1 }, isEnding: true)
        #expect(ending.state == .paused, "a download that is being stopped is paused for the application")
        #expect(ending.downloadStopSize == 1)
    }

    @Test
    func `snapshots of one lecture are equal, whatever they show`() throws {
        let one = KollusContent(try details(.downloading))
        let two = KollusContent(try details(.completed))
        let other = KollusContent(
            ContentDetails(
                content: Content(
                    key: try ContentKey("other"), sourceURL: "", title: "", state: .completed,
                    added: Timestamp(milliseconds: 0)), number: 8))
        #expect(one == two)
        #expect(one.hash == two.hash)
        #expect(one != other)
        #expect(NSMutableArray(array: [one, other]).index(of: two) == 0)
        #expect(one != NSObject())
    }

    @Test
    func `the last error is shown, a cancellation is not`() throws {
        let failed = KollusContent(try details(.failed) { $0.content.error = LectureError(.status(404)) })
        #expect(failed.error?.code == -8404)
        let cancelled = KollusContent(try details(.stopped) { $0.content.error = LectureError(.cancelled) })
        #expect(cancelled.error == nil)
        let remembered = KollusContent(try details(.stopped), lastError: KollusError(.ERROR_STORAGE_FULL))
        #expect(remembered.error?.kind == .ERROR_STORAGE_FULL)
    }
}
