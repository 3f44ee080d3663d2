import Foundation
import KollusSDK
import Testing

/// Lectures that an application's own tests make: by name, as `NSObject` does on iOS, and as subclasses.
@Suite struct MadeContentTests {
    /// A test double with its own properties.
    private final class Lesson: KollusContent, @unchecked Sendable {
        override var title: String! { "Limits" }
        override var downloaded: Bool { true }
    }

    /// A test double with its own keys, as on iOS.
    private final class Tagged: KollusContent, @unchecked Sendable {
        nonisolated(unsafe) var tags: [String: String] = [:]
        override func setValue(_ value: Any?, forUndefinedKey key: String) { tags[key] = value as? String }
        override func value(forUndefinedKey key: String) -> Any? { tags[key] }
    }

    @Test func `a KollusContent is created and its properties are set by name`() {
        let content = KollusContent()
        #expect(content.title == "" && content.fileSize == 0 && !content.downloaded && content.snapshot == nil)
        let date = Date(timeIntervalSince1970: 1_800_000_000)
        let values: [(String, Any)] = [
            ("company", "Academy"), ("title", "Limits"), ("course", "Analysis"), ("teacher", "Noether"),
            ("snapshot", "/a.jpg"), ("thumbnail", "/b.160x90x10.jpg"), ("mediaContentKey", "key"),
            ("synopsis", "about"), ("descriptionURL", "http://a/"), ("iosPlayerType", "hw"),
            ("drmCheckDate", date), ("DRMExpireDate", date), ("drmExpireCountMax", 5), ("drmExpireCount", 3),
            ("drmTotalExpirePlayTime", 60.0), ("drmExpirePlayTime", 30.5), ("DRMExpired", true),
            ("drmExpireRefreshPopup", true), ("duration", 90), ("position", 12.5), ("contentIndex", UInt(7)),
            ("fileSize", Int64(1000)), ("downloadSize", 400), ("downloadStopSize", NSNumber(value: 400)),
            ("downloadedTime", Int32(99)), ("contentType", KollusContentType.sample),
            ("naturalSize", CGSize(width: 16, height: 9)),
        ]
        for (name, value) in values { content.setValue(value, forKey: name) }
        #expect(content.company == "Academy" && content.title == "Limits" && content.course == "Analysis")
        #expect(content.teacher == "Noether" && content.snapshot == "/a.jpg" && content.synopsis == "about")
        #expect(content.thumbnail == "/b.160x90x10.jpg" && content.descriptionURL == "http://a/")
        #expect(content.mediaContentKey == "key" && content.iosPlayerType == "hw")
        #expect(content.drmCheckDate == date && content.drmExpireDate == date && content.DRMExpireDate == date)
        #expect(content.drmExpireCountMax == 5 && content.drmExpireCount == 3)
        #expect(content.drmTotalExpirePlayTime == 60 && content.drmExpirePlayTime == 30.5)
        #expect(content.drmExpired && content.drmExpireRefreshPopup && content.duration == 90)
        #expect(content.position == 12.5 && content.contentIndex == 7 && content.contentType == .sample)
        #expect(content.fileSize == 1000 && content.downloadSize == 400 && content.downloadStopSize == 400)
        #expect(content.downloadedTime == 99 && content.naturalSize == CGSize(width: 16, height: 9))
        #expect(content.downloadProgress == 40, "from the sizes")
        content.setValue(true, forKey: "downloaded")
        #expect(content.downloaded && content.downloadProgress == 100 && content.state == .completed)
        content.setValue(55, forKey: "downloadProgress")
        #expect(content.downloadProgress == 55)
        // And read by name, in both spellings.
        for (name, _) in values { #expect(content.value(forKey: name) != nil, "\(name)") }
        #expect(content.value(forKey: "title") as? String == "Limits")
        #expect(content.value(forKey: "fileSize") as? Int64 == 1000)
        #expect(content.value(forKey: "downloaded") as? Bool == true)
        #expect(content.value(forKey: "DRMExpired") as? Bool == true)
        content.setValue(nil, forKey: "title")
        #expect(content.title == nil && content.value(forKey: "title") == nil)
    }

    @Test func `KollusContents created by hand are equal by their key`() {
        let (one, two, none) = (KollusContent(), KollusContent(), KollusContent())
        #expect(one != two)
        one.setValue("key", forKey: "mediaContentKey")
        two.setValue("key", forKey: "mediaContentKey")
        #expect(one == two && one.hash == two.hash && one != none && none == none)
    }

    @Test func `subclasses of an application`() {
        let list = NSMutableArray(array: [Lesson(), Tagged()])
        let contents = list as? [KollusContent]
        #expect(contents?[0].title == "Limits" && contents?[0].downloadProgress == 100)
        let tagged = Tagged()
        tagged.setValue("exam", forKey: "tag")
        tagged.setValue("Series", forKey: "title")
        #expect(tagged.value(forKey: "tag") as? String == "exam" && tagged.title == "Series")
    }

    @Test func `bookmarks and the name of the chat`() {
        let bookmark = KollusBookmark()
        #expect(bookmark.position == 0 && bookmark.kind == .user && bookmark.value == nil && bookmark.title == nil)
        let date = Date(timeIntervalSince1970: 5)
        for (name, value) in [
            ("position", 61.5), ("time", date), ("title", "Proof"), ("value", "again"),
            ("kind", KollusBookmarkKind.index),
        ] as [(String, Any)] { bookmark.setValue(value, forKey: name) }
        #expect(bookmark.position == 61.5 && bookmark.time == date && bookmark.title == "Proof")
        #expect(bookmark.value == "again" && bookmark.kind == .index)
        #expect(bookmark.value(forKey: "position") as? Double == 61.5)
        #expect(bookmark.value(forKey: "kind") as? KollusBookmarkKind == .index)
        let index = KollusBookmark(position: 3, kind: .index, text: "Lemma")
        #expect(index.title == "Lemma" && index.value == nil && index.value(forKey: "title") as? String == "Lemma")
        #expect(type(of: KollusChat()) == KollusChat.self)
    }
}
