import LectureKit
import Testing

@testable import LectureKit
@testable import LecturePlayer

/// What a gateway permits a player, and how the player keeps to it.
struct PlaybackRulesTests {
    private static func rules(_ text: String) -> PlaybackRules {
        ContentOutline(descriptor: #"{"playback":\#(text)}"#).playback
    }

    @Test func `a descriptor's rules are read`() {
        let rules = Self.rules(
            """
            {"seekable":false,"seekable_end":90,"disable_playrate":true,"disable_nscreen":true,"force_nscreen":true,
             "ignore_zero":true,"play_section":{"start_time":10,"end_time":70.5},
             "repeat_section":{"start_time":20,"end_time":30},"limit":{"duration":60,"message":"A preview."},
             "next_episode":{"show_time":50,"callback_url":"https://next.example/","callback_params":{"a":"1","b":2},
             "show_button":true},"intro":{"url":"https://intro.example/a.mp4","skip_after":5}}
            """)
        var expected = PlaybackRules()
        (expected.seeking, expected.hasFixedRate, expected.resumes) = (.upTo(.seconds(90)), true, false)
        (expected.resumesWithoutAsking, expected.ignoresZero) = (true, true)
        expected.section = .seconds(10) ..< .milliseconds(70_500)
        expected.repeated = .seconds(20) ..< .seconds(30)
        expected.limit = .init(duration: .seconds(60), message: "A preview.")
        expected.nextEpisode = .init(
            showTime: .seconds(50), callbackURL: "https://next.example/", parameters: ["a": "1"], showsButton: true)
        expected.intro = .init(url: "https://intro.example/a.mp4", skippableAfter: .seconds(5))
        #expect(rules == expected)
    }

    @Test(arguments: [
        "null", "[]", "7", "{}", #"{"seekable":"no","disable_playrate":1}"#, #"{"play_section":{"start_time":9}}"#,
        #"{"play_section":{"start_time":9,"end_time":9}}"#, #"{"play_section":{"start_time":-9,"end_time":9}}"#,
        #"{"repeat_section":{"start_time":1,"end_time":1e300}}"#, #"{"limit":{"duration":0}}"#,
        #"{"limit":{"duration":"60"}}"#, #"{"next_episode":{"show_time":5}}"#, #"{"intro":{"skip_after":5}}"#,
        #"{"intro":{"url":"file:///etc/passwd"}}"#,
    ])
    func `what no player can follow permits everything`(text: String) {
        #expect(Self.rules(text) == PlaybackRules())
    }

    @Test func `without an end of seeking nothing may be skipped`() {
        #expect(Self.rules(#"{"seekable":false}"#).seeking == .none)
        #expect(Self.rules(#"{"seekable":false,"seekable_end":-1}"#).seeking == .none)
        #expect(Self.rules(#"{"seekable":true,"seekable_end":90}"#).seeking == .free)
    }

    @Test func `terms are the rules and the options together`() {
        var (rules, options) = (PlaybackRules(), PlayerOptions())
        rules.section = .seconds(10) ..< .seconds(60)
        #expect(PlayTerms(rules, options, resumePoint: .seconds(20)).start == .seconds(20))
        options.section = .seconds(30) ..< .seconds(90)
        #expect(PlayTerms(rules, options, resumePoint: .zero).section == .seconds(30) ..< .seconds(60))
        // What the application wants is nowhere in what is permitted.
        options.section = .seconds(70) ..< .seconds(90)
        #expect(PlayTerms(rules, options, resumePoint: .zero).section == rules.section)
        (rules.seeking, options.start) = (.none, .seconds(50))
        #expect(PlayTerms(rules, options, resumePoint: .seconds(20)).start == .seconds(20))
        (rules.seeking, rules.resumes) = (.upTo(.seconds(40)), false)
        #expect(PlayTerms(rules, options, resumePoint: .seconds(20)).start == .zero)
        options.start = .seconds(40)
        #expect(PlayTerms(rules, options, resumePoint: .seconds(20)).start == .seconds(40))
    }

    @Test func `a learner cannot jump where seeking is not permitted, with requests or with keys`() {
        var session = MachineSession()
        session.plays(PlayTerms(seeking: .upTo(.seconds(60))))
        session.plays(from: 0, to: 10)
        #expect(session.take(.seek(.seconds(61))) == [])
        #expect(session.take(.seek(.seconds(60))) == [.seek(.seconds(60))])
        session.take(.engine(.seeking))
        #expect(session.take(.engine(.ready(.seconds(60)))).last == .report)
        session.plays(from: 60, to: 70)
        // A key in the window.
        session.take(.engine(.seeking))
        #expect(session.take(.engine(.ready(.seconds(300)))) == [.seek(.seconds(70))])
        #expect(session.machine.state == .playing(.seeking))
        session.take(.engine(.seeking))
        #expect(session.take(.engine(.ready(.milliseconds(69_980)))).last == .report)
        #expect(session.machine.state == .playing(.steady))
        session.take(.stop)
        #expect(session.played == .seconds(20))
    }

    @Test func `a part that is repeated may be jumped back to`() {
        var session = MachineSession()
        session.take(.repeats(.seconds(5) ..< .seconds(10)))
        session.take(.play)
        let effects = session.take(.permitted(PlayTerms(seeking: .none, repeated: .seconds(1) ..< .seconds(2))))
        #expect(effects == [.setRepeat(.seconds(5) ..< .seconds(10)), .load(from: .zero)])
        session.take(.engine(.ready(.zero)))
        session.take(.counted(period: nil))
        session.take(.engine(.paused(false)))
        session.plays(from: 0, to: 10)
        session.take(.engine(.seeking))
        #expect(session.take(.engine(.ready(.seconds(5)))).last == .report)
        session.plays(from: 5, to: 8)
        #expect(session.take(.repeats(nil)) == [.setRepeat(nil)])
        session.take(.stop)
        #expect(session.played == .seconds(13))
    }

    @Test func `a fixed speed stays`() {
        var session = MachineSession()
        session.take(.rate(2))
        session.take(.play)
        #expect(session.take(.permitted(PlayTerms(hasFixedRate: true))) == [.load(from: .zero)])
        session.take(.engine(.ready(.zero)))
        session.take(.counted(period: nil))
        session.take(.engine(.paused(false)))
        #expect(session.take(.rate(2)) == [])
        #expect(session.take(.engine(.rate(1.5))) == [.setRate(1)])
    }

    @Test func `no more than the limit is played, with the provider's words`() {
        var session = MachineSession()
        session.plays(PlayTerms(most: .init(duration: .seconds(20), message: "A preview.")))
        session.plays(from: 0, to: 15)
        session.take(.seek(.zero))
        session.take(.engine(.seeking))
        session.take(.engine(.ready(.zero)))
        for second in 1...5 {
            session.take(.engine(.position(.seconds(second))), after: .seconds(1))
            session.take(.tick)
        }
        guard case .stopped(.failed(let error)) = session.machine.state else {
            Issue.record("\(session.machine.state)")
            return
        }
        #expect(error.code == .playLimitReached && error.message.contains("A preview."))
        #expect(session.effects.last == .close && session.played == .seconds(20))
    }

    @Test func `a position beyond the end starts over, once`() {
        var session = MachineSession()
        session.take(.play)
        session.take(.permitted(PlayTerms(start: .seconds(500))))
        #expect(session.take(.engine(.duration(.zero))) == [])
        #expect(session.take(.engine(.duration(.seconds(500)))) == [.load(from: .zero)])
        #expect(session.take(.engine(.duration(.seconds(500)))) == [])
        #expect(session.take(.engine(.ready(.zero))) == [.count])
        // A section that begins behind the end has nothing to play.
        var other = MachineSession()
        other.take(.play)
        other.take(.permitted(PlayTerms(section: .seconds(600) ..< .seconds(700))))
        #expect(other.take(.engine(.duration(.seconds(500)))) == [])
    }

    @Test(arguments: [VideoEvent.ended, .failed(LectureError(.mediaUnsupported))])
    func `where the engine finds nothing at the position, it starts over, once`(nothing: VideoEvent) {
        var session = MachineSession()
        session.take(.play)
        session.take(.permitted(PlayTerms(start: .seconds(500))))
        #expect(session.take(.engine(nothing)) == [.load(from: .zero)])
        #expect(session.take(.engine(nothing)) == [.close] && session.machine.state.isOver)
        // Damage at the position is no reason to play something else.
        var other = MachineSession()
        other.take(.play)
        other.take(.permitted(PlayTerms(start: .seconds(500))))
        #expect(other.take(.engine(.failed(LectureError(.damaged)))) == [.close])
        #expect(other.machine.state == .stopped(.failed(LectureError(.damaged))))
    }

    // MARK: Intros

    private static let intro = PlayTerms(
        start: .seconds(40), intro: .init(url: "https://intro.example/", skippableAfter: .seconds(5)))

    @Test func `an intro plays first, and nothing of it counts`() {
        var session = MachineSession()
        session.take(.rate(2))
        session.take(.play)
        #expect(session.take(.permitted(Self.intro)) == [.loadIntro])
        #expect(session.machine.introIsSkippable == false)
        #expect(session.take(.engine(.ready(.zero))) == [.setPaused(false)])
        #expect(session.machine.state == .prepared)
        session.take(.engine(.paused(false)))
        #expect(session.machine.state == .playing(.steady))
        session.plays(from: 0, to: 8)
        #expect(session.take(.engine(.ended)) == [.setPaused(true), .setRate(2), .load(from: .seconds(40))])
        #expect(session.machine.state == .playing(.buffering))
        #expect(session.machine.introIsSkippable == nil)
        #expect(session.take(.engine(.ready(.seconds(40)))) == [.count])
        #expect(session.take(.counted(period: nil)) == [.setPaused(false), .report])
        session.take(.engine(.paused(false)))
        session.take(.engine(.position(.seconds(50))), after: .seconds(5))
        session.take(.stop)
        #expect(session.played == .seconds(10))
    }

    @Test func `an intro is skipped when it may be, and not jumped over before`() {
        var session = MachineSession()
        session.take(.play)
        session.take(.permitted(Self.intro))
        session.take(.engine(.ready(.zero)))
        session.take(.engine(.paused(false)))
        session.plays(from: 0, to: 3)
        #expect(session.take(.skip) == [] && session.take(.seek(.seconds(9))) == [])
        session.take(.engine(.seeking))
        session.take(.engine(.position(.seconds(7))))
        #expect(session.take(.engine(.ready(.seconds(7)))) == [.seek(.seconds(3))])
        #expect(session.take(.engine(.ready(.seconds(3)))) == [])
        session.plays(from: 3, to: 5)
        #expect(session.machine.introIsSkippable == true)
        #expect(session.take(.engine(.skip)) == [.setPaused(true), .load(from: .seconds(40))])
    }

    @Test func `an intro that is not open yet is not skipped`() {
        var terms = Self.intro
        terms.intro?.skippableAfter = .zero
        var session = MachineSession()
        session.take(.play)
        session.take(.permitted(terms))
        // Its server may be slow; what it sends would take the lecture's place.
        #expect(session.take(.skip) == [] && session.machine.introIsSkippable == false)
        session.take(.engine(.ready(.zero)))
        #expect(session.machine.introIsSkippable == true)
        #expect(session.take(.skip).last == .load(from: .seconds(40)))
    }

    @Test func `an intro without a time cannot be skipped, and a pause in it is kept`() {
        var terms = Self.intro
        terms.intro?.skippableAfter = nil
        var session = MachineSession()
        session.take(.play)
        session.take(.permitted(terms))
        session.take(.engine(.ready(.zero)))
        session.take(.engine(.paused(false)))
        session.plays(from: 0, to: 30)
        #expect(session.take(.skip) == [])
        #expect(session.take(.pause) == [.setPaused(true)])
        session.take(.engine(.paused(true)))
        #expect(session.machine.state == .paused(.steady))
        session.take(.engine(.ended))
        session.take(.engine(.ready(.seconds(40))))
        #expect(session.machine.state == .paused(.steady))
        #expect(session.take(.play) == [.count])
    }

    @Test func `an intro that cannot be played is passed over with a warning`() {
        var session = MachineSession()
        session.take(.prepare)
        session.take(.permitted(Self.intro))
        let error = LectureError(.mediaUnsupported)
        #expect(
            session.take(.engine(.failed(error))) == [.warn(error), .setPaused(true), .load(from: .seconds(40))])
        session.take(.engine(.ready(.seconds(40))))
        // It was only prepared.
        #expect(session.take(.play) == [.count])
    }

    @Test(arguments: [
        ("/a/thumb-160x90x10.jpg", 160, 90, 10), ("/a/v2/sheet_320x180x100_x.png", 320, 180, 100),
    ])
    func `a sheet of thumbnails has its numbers in its name`(path: String, width: Int, height: Int, count: Int) throws {
        let sheet = try #require(ThumbnailSheet(path: path))
        #expect((sheet.width, sheet.height, sheet.count) == (width, height, count))
        #expect(sheet.index(at: .zero, of: .seconds(600)) == 0)
        #expect(sheet.index(at: .seconds(599), of: .seconds(600)) == count - 1)
        #expect(sheet.index(at: .seconds(900), of: .seconds(600)) == count - 1)
        #expect(sheet.index(at: .seconds(5), of: .zero) == 0)
        #expect(sheet.origin(of: 7, fileWidth: width * 5) == (2 * width, height))
    }

    @Test(arguments: [
        "/a/b.jpg", "/160x90x10/b.jpg", "/a/160x90.jpg", "/a/0x90x10.jpg", "/a/1x2x99999999999999999999.jpg",
    ])
    func `other pictures are no sheets`(path: String) { #expect(ThumbnailSheet(path: path) == nil) }
}
