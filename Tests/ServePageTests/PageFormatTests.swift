import LectureFormats
import LectureHTTP
import LectureModel
import Testing

@testable import LectureServe

/// Figures, times and lengths in three languages, and which language a browser gets.
struct PageFormatTests {
    private static func format(_ language: PageLanguage) -> PageFormat { PageFormat(language: language) }

    @Test(arguments: [
        ("2026-01-01", "1 Jan 2026", "2026년 1월 1일", "2026年1月1日"),
        ("2026-02-28", "28 Feb 2026", "2026년 2월 28일", "2026年2月28日"),
        ("2024-02-29", "29 Feb 2024", "2024년 2월 29일", "2024年2月29日"),
        ("2026-03-09", "9 Mar 2026", "2026년 3월 9일", "2026年3月9日"),
        ("2026-04-10", "10 Apr 2026", "2026년 4월 10일", "2026年4月10日"),
        ("2026-05-31", "31 May 2026", "2026년 5월 31일", "2026年5月31日"),
        ("2026-06-30", "30 Jun 2026", "2026년 6월 30일", "2026年6月30日"),
        ("2026-07-04", "4 Jul 2026", "2026년 7월 4일", "2026年7月4日"),
        ("2026-08-15", "15 Aug 2026", "2026년 8월 15일", "2026年8月15日"),
        ("2026-09-30", "30 Sep 2026", "2026년 9월 30일", "2026年9月30日"),
        ("2026-10-03", "3 Oct 2026", "2026년 10월 3일", "2026年10月3日"),
        ("2026-11-28", "28 Nov 2026", "2026년 11월 28일", "2026年11月28日"),
        ("1999-12-31", "31 Dec 1999", "1999년 12월 31일", "1999年12月31日"),
    ])
    func `a day is written as each language does`(
        day: String, english: String, korean: String, japanese: String
    ) throws {
        let time = try #require(MomentText.day(day))
        #expect(PageLanguage.allCases.map { Self.format($0).day(time) } == [english, korean, japanese])
        // The last millisecond is the same day.
        let end = time + .milliseconds(86_399_999)
        #expect(PageLanguage.allCases.map { Self.format($0).day(end) } == [english, korean, japanese])
    }

    @Test(arguments: [
        (0, "0 s", "0초", "0秒"), (1, "1 s", "1초", "1秒"), (59, "59 s", "59초", "59秒"),
        (60, "1 min", "1분", "1分"), (61, "1 min 1 s", "1분 1초", "1分 1秒"),
        (3599, "59 min 59 s", "59분 59초", "59分 59秒"), (3600, "1 h", "1시간", "1時間"),
        (3601, "1 h 1 s", "1시간 1초", "1時間 1秒"), (5400, "1 h 30 min", "1시간 30분", "1時間 30分"),
        (86_399, "23 h 59 min", "23시간 59분", "23時間 59分"), (86_400, "1 d", "1일", "1日"),
        (90_061, "1 d 1 h", "1일 1시간", "1日 1時間"), (864_000, "10 d", "10일", "10日"),
        (-5, "0 s", "0초", "0秒"),
    ])
    func `a length of time has its two largest units`(
        seconds: Int64, english: String, korean: String, japanese: String
    ) {
        let texts = PageLanguage.allCases.map { Self.format($0).duration(.seconds(seconds)) }
        #expect(texts == [english, korean, japanese])
    }

    @Test(arguments: [
        (0, "0 B"), (1, "1 B"), (999, "999 B"), (1000, "1.0 kB"), (1049, "1.0 kB"), (1050, "1.1 kB"),
        (9_949, "9.9 kB"), (99_949, "99.9 kB"), (99_951, "100 kB"), (999_499, "999 kB"), (999_500, "1.0 MB"),
        (1_500_000, "1.5 MB"), (16_777_216, "16.8 MB"), (734_003_200, "734 MB"), (1_000_000_000, "1.0 GB"),
        (4_294_967_296, "4.3 GB"), (1_000_000_000_000, "1.0 TB"), (2_000_000_000_000_000, "2.0 PB"),
        (Int64.max, "9223 PB"), (-1, "0 B"), (Int64.min, "0 B"),
    ])
    func `a size has a decimal unit, in every language alike`(bytes: Int64, text: String) {
        for language in PageLanguage.allCases {
            #expect(Self.format(language).size(bytes) == text.replacing(" ", with: "\u{A0}"))
        }
    }

    @Test(arguments: [
        (0, "0"), (7, "7"), (999, "999"), (1000, "1,000"), (12_345, "12,345"), (100_000, "100,000"),
        (1_234_567, "1,234,567"), (-1, "-1"), (-1000, "-1,000"), (Int.max, "9,223,372,036,854,775,807"),
        (Int.min, "-9,223,372,036,854,775,808"),
    ])
    func `a number has groups of three digits`(number: Int, text: String) {
        for language in PageLanguage.allCases { #expect(Self.format(language).number(number) == text) }
    }

    @Test(arguments: [
        (PageLanguage.english, "28 Nov 2026, 05:06 UTC"), (.korean, "2026년 11월 28일 05:06 UTC"),
        (.japanese, "2026年11月28日 05:06 UTC"),
    ])
    func `a moment is for people and for programs`(language: PageLanguage, text: String) {
        let markup = Self.format(language).moment(Timestamp(milliseconds: 1_795_842_367_891)).markup
        #expect(markup == "<time datetime=\"2026-11-28T05:06:07.891Z\">\(text)</time>")
    }

    @Test(arguments: [
        ("en", PageLanguage.english), ("en-GB,en;q=0.9", .english), ("ko-KR", .korean), ("KO", .korean),
        ("ja", .japanese), ("JA-jp;q=1.0", .japanese), ("fr,de", .english), ("fr, ja;q=0.1", .japanese),
        ("ko;q=0.5, ja;q=0.6", .japanese), ("ko;q=0.6, ja;q=0.6", .korean), ("ja;q=0, ko;q=0.1", .korean),
        ("*", .english), ("q=1", .english), ("ja;q=x, ko;q=0.1", .korean), ("ja;q=-1", .english),
        ("ko;level=1;q=0.2, en;q=0.1", .korean), ("jav", .english), ("kok-IN", .english),
        ("zh, ko;q=0.5", .korean), ("ko;Q=0", .english), ("ko;Q=0, ja;Q=0.1", .japanese), ("KO;Q=1,EN;q=0.9", .korean),
        ("ko ; q = 0.3,\tja\t;\tq=0.4", .japanese), ("ko;q=inf, en", .english), ("ko;q=nan, ja;q=0.1", .japanese),
        ("ko;q=5, en;q=0.9", .english), ("ko;q=1.001, ja;q=0.2", .japanese), ("ko;q=1.000, en", .english),
        ("ko;q=0.0001, ja;q=0.001", .japanese), ("ko;q=+1, en", .english), ("ko;q=1e0, ja;q=0.5", .japanese),
        ("ko;q=, ja;q=0.5", .japanese), ("ko;q=1., en;q=0.5", .korean), ("en;q=0, *;q=0.5", .korean),
        ("en;q=0, ko;q=0, *", .japanese), ("en;q=0, ko;q=0, ja;q=0", .english), ("*;q=0.9, ja", .japanese),
        ("*;q=0", .english), ("ko;q=0, ko-KR;q=0.7, en;q=0.5", .korean), ("", .english), (",,;q=1,", .english),
        ("ko;q=0.5;q=0.1, ja;q=0.4", .korean), ("ko-", .korean),
    ])
    func `a browser gets the language that it prefers`(accepted: String, language: PageLanguage) {
        let fields = [HTTPField(name: "accept-language", value: accepted)]
        #expect(PageLanguage(HTTPRequestHead(method: "GET", path: "/", fields: fields)) == language)
    }

    @Test func `a browser's list of languages is read as far as twenty`() {
        func language(_ count: Int) -> PageLanguage {
            let list = (Array(repeating: "fr", count: count) + ["ko"]).joined(separator: ",")
            return PageLanguage(
                HTTPRequestHead(method: "GET", path: "/", fields: [HTTPField(name: "Accept-Language", value: list)]))
        }
        #expect(language(19) == .korean)
        #expect(language(20) == .english)
    }

    @Test(arguments: [
        ("language=ko", PageLanguage.korean), ("language=ja", .japanese), ("language=en", .english),
        ("a=1; language=ko; b=2", .korean), ("language=ko; language=ja", .korean), ("language=KO", .japanese),
        ("language=", .japanese), ("language", .japanese), ("xlanguage=ko", .japanese), ("language=ko ", .japanese),
    ])
    func `a choice is read from its cookie, else the browser decides`(cookie: String, language: PageLanguage) {
        let fields = [HTTPField(name: "Cookie", value: cookie), HTTPField(name: "Accept-Language", value: "ja")]
        #expect(PageLanguage(HTTPRequestHead(method: "GET", path: "/", fields: fields)) == language)
    }

    @Test func `each language is named in itself`() {
        #expect(PageLanguage.allCases.map(\.name) == ["English", "한국어", "日本語"])
        #expect(PageLanguage.allCases.map(\.rawValue) == ["en", "ko", "ja"])
    }
}
