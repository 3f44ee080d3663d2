import Foundation
import LectureModel
import LecturePlayer
import Testing

@testable import KollusSDK

/// The requests of an application, as a value.
struct PlayerRequestsTests {
    /// Runs the requests as a player would: each that is sent changes the state.
    private func run(_ asked: [PlayerRequests.Request], isPlaying: Bool) -> [String] {
        var (requests, plays, log) = (PlayerRequests(), isPlaying, [String]())
        for request in asked { requests.add(request) }
        while let step = requests.next(isPlaying: plays) {
            switch step {
            case .answer(let request): log.append("answer \(request)")
            case .send(let request):
                log.append("send \(request)")
                #expect(requests.next(isPlaying: plays) == nil, "one at a time")
                plays = request == .play
                log.append("\(requests.changed(isPlaying: plays))")
            }
        }
        #expect(requests.isEmpty)
        return log
    }

    @Test func `each request has one result, sent or not`() {
        #expect(run([.play], isPlaying: false) == ["send play", "true"])
        #expect(run([.play], isPlaying: true) == ["answer play"])
        #expect(run([.pause], isPlaying: false) == ["answer pause"])
        #expect(
            run([.play, .play, .pause, .pause, .play], isPlaying: false)
                == ["send play", "true", "answer play", "send pause", "true", "answer pause", "send play", "true"])
    }

    @Test func `a change that no request waits for is no result`() {
        var requests = PlayerRequests()
        #expect(requests.changed(isPlaying: true) == false)
        requests.add(.pause)
        // Not sent yet.
        #expect(requests.changed(isPlaying: false) == false)
        #expect(requests.next(isPlaying: true) == .send(.pause))
        #expect(requests.changed(isPlaying: true) == false)
        #expect(requests.changed(isPlaying: false) == true)
        #expect(requests.isEmpty)
    }

    @Test func `at the end all requests are returned once`() {
        var requests = PlayerRequests()
        for request in [PlayerRequests.Request.play, .pause, .play] { requests.add(request) }
        #expect(requests.next(isPlaying: false) == .send(.play))
        #expect(requests.removeAll() == [.play, .pause, .play])
        #expect(requests.removeAll().isEmpty)
        #expect(requests.next(isPlaying: false) == nil)
    }
}

/// Jumps, as a value.
struct PlayerSeeksTests {
    @Test func `one jump at a time, and only the newest waits`() {
        var seeks = PlayerSeeks()
        #expect(seeks.target == nil)
        #expect(seeks.next() == nil)
        seeks.add(5)
        #expect(seeks.target == 5)
        #expect(seeks.next() == 5)
        #expect(seeks.target == 5)
        seeks.add(7)
        seeks.add(9)
        #expect(seeks.next() == nil, "the first is being made")
        #expect(seeks.target == 9)
        #expect(seeks.began() == false, "the engine begins what was requested")
        #expect(seeks.arrived() == true)
        #expect(seeks.next() == 9)
        let isOver = seeks.arrived()
        #expect(isOver && seeks.target == nil)
        #expect(seeks.arrived() == false, "nothing was being made")
    }

    @Test func `a jump of the window has no target, and the application's waits for it`() {
        var seeks = PlayerSeeks()
        let isOther = seeks.began()
        #expect(isOther && seeks.target == nil)
        #expect(seeks.began() == false)
        seeks.add(3)
        #expect(seeks.target == 3)
        #expect(seeks.next() == nil)
        #expect(seeks.arrived() == true)
        #expect(seeks.next() == 3)
    }
}

/// Where the picture is, as a value.
struct PlayerPictureTests {
    private func picture(_ mode: KollusPlayerContentMode, frame: CGSize = CGSize(width: 400, height: 400))
        -> PlayerPicture
    {
        var picture = PlayerPicture()
        picture.frame = CGRect(origin: CGPoint(x: 7, y: 7), size: frame)
        picture.naturalSize = CGSize(width: 200, height: 100)
        picture.mode = mode
        return picture
    }

    @Test(arguments: [
        (KollusPlayerContentMode.scaleAspectFit, CGRect(x: 0, y: 100, width: 400, height: 200)),
        (.scaleAspectFill, CGRect(x: -200, y: 0, width: 800, height: 400)),
        (.scaleCenter, CGRect(x: 100, y: 150, width: 200, height: 100)),
        (.scaleFill, CGRect(x: 0, y: 0, width: 400, height: 400)),
    ])
    func `each mode has its place`(mode: KollusPlayerContentMode, place: CGRect) {
        #expect(picture(mode).place == place)
    }

    @Test func `a picture in its own size fits a smaller frame, and without sizes there is no place`() {
        #expect(
            picture(.scaleCenter, frame: CGSize(width: 100, height: 100)).place
                == CGRect(x: 0, y: 25, width: 100, height: 50))
        #expect(PlayerPicture().place == .zero)
        var unknown = picture(.scaleFill)
        unknown.naturalSize = .zero
        #expect(unknown.place == .zero)
    }

    @Test func `what is magnified is moved as far as there is picture`() {
        var picture = picture(.scaleAspectFit)
        picture.move(by: CGPoint(x: 50, y: 50))
        #expect(picture.shift == .zero)
        picture.multiply(by: 2)
        #expect(picture.place == CGRect(x: -200, y: 0, width: 800, height: 400))
        picture.move(by: CGPoint(x: 500, y: 10))
        #expect(picture.shift == CGPoint(x: 200, y: 0))
        #expect(picture.options["video-pan-x"] == "0.25" && picture.options["video-zoom"] == "1.0")
        picture.multiply(by: 0.75)
        #expect(picture.shift == CGPoint(x: 100, y: 0), "within the smaller picture")
        picture.multiply(by: 0.25)
        #expect(picture.zoom == 0.375 && picture.shift == .zero)
        picture.setSmallest(1)
        #expect(picture.zoom == 1)
        picture.multiply(by: 1000)
        #expect(picture.zoom == 8)
    }

    @Test func `each mode has its options`() {
        let options = [KollusPlayerContentMode.scaleAspectFit, .scaleAspectFill, .scaleCenter, .scaleFill].map { mode in
            ["keepaspect", "panscan", "video-unscaled"].map { picture(mode).options[$0] ?? "" }
        }
        #expect(
            options == [["yes", "0", "no"], ["yes", "1", "no"], ["yes", "0", "downscale-big"], ["no", "0", "no"]])
    }
}

/// What a preparation takes from an application's settings.
struct PlayerPlanTests {
    private func plan(_ change: (inout PlayerSettings) -> Void, start: TimeInterval? = nil) throws -> PlayerPlan {
        var settings = PlayerSettings()
        settings.surface = .none
        change(&settings)
        return PlayerPlan(
            settings, .lecture(try ContentKey("film")), start: start,
            frame: CGRect(x: 1, y: 2, width: 320, height: 240))
    }

    private func section(_ start: Int, _ end: Int) -> KPSection {
        let section = KPSection()
        (section.startTime, section.endTime) = (start, end)
        return section
    }

    @Test func `a section is a part that has a length, and the play begins there`() throws {
        let part = try plan { $0.section = section(2, 5) }
        #expect(part.section == .seconds(2) ..< .seconds(5) && part.start == .seconds(2))
        #expect(part.options.section == .seconds(2) ..< .seconds(5))
        #expect(try plan({ $0.section = section(2, 5) }, start: 3.5).start == .milliseconds(3500))
        #expect(try plan { $0.section = section(5, 5) }.section == nil)
        #expect(try plan { $0.section = section(5, 0) }.start == .zero)
        #expect(try plan { $0.section = section(-4, 3) }.section == .zero ..< .seconds(3))
    }

    @Test func `reports are off only for downloaded contents`() throws {
        #expect(try plan { _ in }.options.reports)
        #expect(try !plan { $0.isWithoutReports = true }.options.reports)
        var settings = PlayerSettings()
        settings.isWithoutReports = true
        #expect(PlayerPlan(settings, .stream("http://a/b"), start: nil, frame: .zero).options.reports)
    }

    @Test func `the surface, the decoder and further options reach the engine`() throws {
        let window = try plan {
            ($0.surface, $0.usesHardware, $0.patience, $0.user) = (.window, true, 3, "kim")
            $0.engineOptions = ["ao": "null", "panscan": "0.5"]
        }
        let options = window.engine(title: "Limits", picture: PlayerPicture(), repeats: true)
        #expect(options.surface == .window(title: "Limits", isFullscreen: false))
        #expect(options.more["geometry"] == "320x240+1+2" && options.more["hwdec"] == "auto-safe")
        #expect(options.more["ao"] == "null" && options.more["panscan"] == "0.5", "the application's own is last")
        #expect(options.more["loop-file"] == "inf")
        #expect(window.options.patience == .seconds(3) && window.options.user == "kim")
        let embedded = try plan { $0.surface = .x11(42) }.engine(title: "", picture: PlayerPicture(), repeats: false)
        #expect(embedded.surface == .x11(42) && embedded.more["geometry"] == nil && embedded.more["hwdec"] == nil)
        let sound = try plan { $0.usesHardware = false }.engine(title: "", picture: PlayerPicture(), repeats: false)
        #expect(sound.surface == .none && sound.more["hwdec"] == "no")
    }

    @Test func `a position is never before the start or beyond any lecture`() {
        #expect(Duration(position: -3) == .zero && Duration(position: 1.25) == .milliseconds(1250))
        #expect(Duration(position: 1e300) == .seconds(1_000_000_000))
    }
}

/// Which of a storage's events are about the content of a player.
struct PlayerEventTests {
    @Test func `a report counts unless it names another content`() {
        #expect(PlayerReports.isAbout("a", #"{"content_info":{"media_content_key":"a"}}"#))
        #expect(!PlayerReports.isAbout("a", #"{"content_info":{"media_content_key":"b"}}"#))
        for other in ["PT=5&K=b", "{}", #"{"content_info":[]}"#, ""] { #expect(PlayerReports.isAbout("a", other)) }
    }

    @Test func `an exchange is about all of its items`() {
        func exchange(_ items: String, _ answer: String?) -> KollusExchange {
            KollusExchange(server: "http://a", items: items, answer: answer, error: nil)
        }
        let two = exchange(#"[{"kind":3,"media_content_key":"a"},{"media_content_key":"b"}]"#, nil)
        #expect(two.keys == ["a", "b"] && exchange("none", nil).keys.isEmpty)
        let (request, none) = two.dictionaries
        #expect(request["kind"] as? Int == 3 && (request["items"] as? [Any])?.count == 2 && none == nil)
        #expect(request["server"] as? String == "http://a")
        for data in [#"[{"result":1}]"#, #"{"result":1}"#] {
            let (_, json) = exchange("[]", #"{"data":\#(data)}"#).dictionaries
            #expect(json?["result"] as? Int == 1, "one answer, as an array or an object")
        }
        let (_, many) = exchange("[]", #"{"data":[{"result":1},{"result":0}]}"#).dictionaries
        #expect(many?["result"] == nil && (many?["data"] as? [Any])?.count == 2)
    }
}

/// A player that was not prepared, and what an application may set.
@Suite(.timeLimit(.minutes(1)))
struct PlayerViewTests {
    private func number(_ body: () throws -> Void) -> Int? {
        do { try body() } catch { return (error as NSError).code }
        return nil
    }

    @Test func `what cannot begin is refused with its number`() throws {
        let view = KollusPlayerView()
        #expect(number { try view.prepareToPlay(withMode: .PlayerTypeKollus) } == -2108)
        let storage = KollusStorage()
        view.storage = storage
        #expect(number { try view.prepareToPlay() } == -8614)
        #expect(number { try view.play() } == -2101)
        #expect(number { try view.pause() } == -2101)
        #expect(number { try view.stop() } == -2101)
        #expect(number { try view.scroll(.zero) } == -2101)
        #expect(number { try view.scrollStop() } == -2101)
        #expect(number { try view.zoom(UIPinchGestureRecognizer(scale: 2)) } == -2101)
        #expect(number { try view.addBookmark(1, value: "a") } == -2101)
        #expect(number { try view.removeBookmark(1) } == -2101)
        #expect(number { try view.addBookmark(.nan, value: "a") } == -8613)
        #expect(number { try view.addBookmark(1, value: nil) } == -8613)
        storage.close()
        #expect(number { try view.prepareToPlay() } == -8661)
    }

    @Test func `the storage is not kept alive`() {
        let view = KollusPlayerView(mediaContentKey: "film")
        do {
            let storage = KollusStorage()
            view?.storage = storage
            #expect(view?.storage === storage)
        }
        #expect(view?.storage == nil)
        #expect(number { try view?.prepareToPlay() } == -2108)
    }

    @Test func `every way to make one sets what it plays`() throws {
        let stream = try #require(KollusPlayerView(contentURL: "http://a/b"))
        #expect(stream.contentURL == "http://a/b" && stream.mediaContentKey == nil)
        let kept = try #require(KollusPlayerView(mediaContentKey: "film"))
        #expect(kept.mediaContentKey == "film" && kept.contentURL == nil && kept.content == nil)
        #expect(try #require(KollusPlayerView(contentIndex: 7)).contentIndex == 7)
        let frame = CGRect(x: 1, y: 2, width: 3, height: 4)
        #expect(KollusPlayerView(frame: frame).frame == frame && KollusPlayerView().contentIndex == 0)
    }

    @Test func `values are kept, limited, and of both spellings`() {
        let view = KollusPlayerView()
        view.currentPlaybackRate = 99
        #expect(view.currentPlaybackRate == 10)
        view.currentPlaybackRate = 0
        #expect(view.currentPlaybackRate == 0.5)
        view.currentPlaybackRate = .nan
        #expect(view.currentPlaybackRate == 0.5)
        view.currentPlaybackTime = -4
        #expect(view.currentPlaybackTime == 0)
        view.currentPlaybackTime = 12.5
        #expect(view.currentPlaybackTime == 12.5)
        view.currentPlaybackTime = .infinity
        #expect(view.currentPlaybackTime == 12.5)
        view.setAIRate(true)
        #expect(view.AIRateEnable && view.aiRateEnable)
        view.AIRateEnable = false
        #expect(!view.aiRateEnable)
        (view.proxyPort, view.customSkin, view.debug) = (8388, "{}", true)
        (view.fpsCertURL, view.fpsDrmURL, view.audioBackgroundPlay) = ("c", "d", true)
        let chat = KollusChat()
        view.kollusChat = chat
        #expect(view.proxyPort == 8388 && view.customSkin == "{}" && view.debug && view.kollusChat === chat)
        #expect(view.fpsCertURL == "c" && view.fpsDrmURL == "d" && view.audioBackgroundPlay)
        let section = KPSection()
        (section.startTime, section.endTime) = (3, 9)
        view.playSection = section
        #expect(view.playSection === section && view.nRepeatStartTime == 3 && view.nRepeatEndTime == 9)
        view.extraDrmParam = "a=b"
        (view.lmsOffDownloadContent, view.user, view.engineOptions) = (true, "kim", ["ao": "null"])
        #expect(view.extraDrmParam == "a=b" && view.lmsOffDownloadContent && view.user == "kim")
        #expect(view.engineOptions == ["ao": "null"] && view.playerType == .PlayerTypeKollus)
        view.bookmarks = [KollusBookmark()]
        #expect(view.bookmarks.count == 1)
    }

    /// Counts the calls on its queue.
    private final class Counter: NSObject, KollusPlayerDelegate, Sendable {
        let calls = Guarded<[String]>([])
        func kollusPlayerView(_ view: KollusPlayerView!, repeat: Bool, error: (any Error)!) {
            calls.withLock { $0.append("repeat \(`repeat`)") }
        }
        func kollusPlayerView(_ view: KollusPlayerView!, playerContentFrame frame: CGRect, error: (any Error)!) {
            calls.withLock { $0.append("frame \(Int(frame.width))") }
        }
    }

    @Test func `the application chooses the queue, and delegates are not kept alive`() {
        let (view, queue, counter) = (KollusPlayerView(), DispatchQueue(label: "player.tests"), Counter())
        (view.delegateQueue, view.delegate) = (queue, counter)
        queue.suspend()
        view.repeatMode = .one
        view.playerContentFrame = CGRect(x: 0, y: 0, width: 5, height: 5)
        #expect(counter.calls.withLock { $0 } == [])
        queue.resume()
        queue.sync {}
        #expect(counter.calls.withLock { $0 } == ["repeat true", "frame 5"])
        do { view.delegate = Counter() }
        #expect(view.delegate == nil)
    }

    @Test func `what has no meaning here says so`() {
        let view = KollusPlayerView()
        #expect(!view.isLive && view.liveDuration == 0 && view.liveSeekableDuration == 0 && !view.intro)
        #expect(view.seekable && view.nSeekableEnd == -1 && !view.disablePlayRate && view.maxPlaybackRate == 10)
        #expect(!view.setSkipPlay() && view.streamInfoList.count == 0 && view.nextEpisodeCallbackParams.count == 0)
        #expect(view.listSubTitle.count == 0 && view.listSubTitleSub.count == 0 && view.chapterInfo.count == 0)
        #expect(!view.isOpened() && !view.isPreparedToPlay && !view.isPlaying && !view.isAudioOnly)
        #expect(!view.isBuffering && !view.isSeeking && view.naturalSize == .zero && view.bookmarks == nil)
        #expect(view.getVideoPosition() == .zero && view.getZoomValue() == 1 && !view.isZoomedIn)
        #expect(view.nOfflineBookmarkUse == 0 && view.nOfflineBookmarkDownload == 0 && !view.bookmarkModifyEnabled)
        #expect(view.nOfflineBookmarkReadOnly == 0 && !view.isThumbnailEnable && view.strVideoWaterMark == "")
        var path = Array("/nowhere.srt".utf8CString)
        let isShown = unsafe [
            view.setSubTitlePath(&path), view.setSubTitleSubPath(&path), view.setSubTitlePath(nil),
        ]
        #expect(isShown == [false, false, false])
    }
}
