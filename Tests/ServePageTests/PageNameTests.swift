import LectureKit
import LectureModel
import Testing

@testable import LectureServe

/// What the page calls the states, reasons and kinds of the store. Each has a name of its own, in every language.
struct PageNameTests {
    @Test(arguments: [
        (ItemState.queued, "Queued", "대기 중", "待機中"), (.loading, "Preparing", "준비 중", "準備中"),
        (.downloading, "Downloading", "다운로드 중", "ダウンロード中"), (.verifying, "Checking", "확인 중", "確認中"),
        (.completed, "Complete", "완료", "完了"), (.stopped, "Stopped", "중지됨", "停止"),
        (.failed, "Failed", "실패", "失敗"), (.removing, "Being removed", "삭제 중", "削除中"),
    ])
    func `a state has a name`(state: ItemState, english: String, korean: String, japanese: String) {
        #expect(Self.texts(state.pageText) == [english, korean, japanese])
        #expect(Self.areDistinct(ItemState.allCases.map(\.pageText)))
    }

    @Test(arguments: [
        (StopReason.user, "Paused by a person"), (.network, "The network or the server cannot be reached"),
        (.space, "There is not enough free space"), (.schedule, "The timetable does not allow downloads now"),
        (.licenceRefused, "The licence was refused"), (.serverWait, "The server asked to wait"),
        (.dependency, "Something else has to finish first"), (.quota, "The quota is used up"),
    ])
    func `a stop has a reason`(reason: StopReason, english: String) {
        #expect(reason.pageText.text(.english) == english)
        #expect(Self.areDistinct(StopReason.allCases.map(\.pageText)))
    }

    @Test(arguments: [
        (ContentType.streaming, "Stream"), (.downloading, "File"), (.sample, "Sample"),
        (.adaptiveStreaming, "Adaptive stream"), (.adaptiveDownload, "Adaptive"),
    ])
    func `a type has a name`(type: ContentType, english: String) {
        #expect(type.pageText.text(.english) == english)
        #expect(Self.areDistinct(ContentType.allCases.map(\.pageText)))
    }

    @Test(arguments: [
        (ContentSort.added, "Order of arrival"), (.title, "Title"), (.downloaded, "Latest complete first"),
        (.size, "Largest first"), (.priority, "Priority"), (.expiry, "Licence end"), (.folder, "Folder"),
    ])
    func `an order has a name`(sort: ContentSort, english: String) {
        #expect(sort.pageText.text(.english) == english)
        #expect(Self.areDistinct(ContentSort.allCases.map(\.pageText)))
    }

    @Test(arguments: [
        (LicenceReason.deleted, "The licence server ordered its removal"),
        (.forceExpired, "The licence server ended the licence"), (.mediaIncomplete, "The lecture is not complete"),
        (.missing, "There is no licence"), (.unverified, "The licence cannot be verified"),
        (.otherDevice, "The licence belongs to another device"),
        (.storeCopied, "The store was written by another device"),
        (.ledgerForged, "The record of licences was changed"), (.storeRolledBack, "The store is an older copy"),
        (.otherKey, "It was granted under another key"), (.clockUntrusted, "The clock cannot be trusted"),
        (.checkDue, "The licence server has to be asked first"), (.notYetValid, "The licence starts later"),
        (.expired, "The licence has ended"), (.countUsedUp, "All plays are used"),
        (.playTimeUsedUp, "All play time is used"),
        (.anchorUnwritable, "The device's directory cannot be written"),
    ])
    func `a licence that does not permit a play has a reason`(reason: LicenceReason, english: String) {
        #expect(reason.pageText.text(.english) == english)
        #expect(Self.areDistinct(LicenceReason.allCases.map(\.pageText)))
    }

    @Test(arguments: [
        (ReportState.pending, "Waiting"), (.leased, "Being sent"), (.delivered, "Delivered"), (.dead, "Refused"),
        (.superseded, "Superseded"), (.expired, "Expired"),
    ])
    func `a report has a state`(state: ReportState, english: String) {
        #expect(state.pageText.text(.english) == english)
        #expect(Self.areDistinct(ReportState.allCases.map(\.pageText)))
    }

    @Test(arguments: [
        (PageNote.paused, "The download is paused."), (.resumed, "The download continues."),
        (.cancelled, "The download is cancelled. What was received is kept."),
        (.renewing, "Licences are being renewed."), (.priority, "The priority is changed."),
        (.removed, "The lecture is being removed."), (.retried, "Refused reports are sent again."),
        (.failed, "That was not possible: {0}"),
    ])
    func `a button says what it did`(note: PageNote, english: String) {
        #expect(note.text.text(.english) == english)
        #expect(Self.areDistinct(PageNote.allCases.map(\.text)))
    }

    private static func texts(_ text: PageText) -> [String] { PageLanguage.allCases.map { text.text($0) } }

    private static func areDistinct(_ texts: [PageText]) -> Bool {
        PageLanguage.allCases.allSatisfy { language in Set(texts.map { $0.text(language) }).count == texts.count }
    }
}
