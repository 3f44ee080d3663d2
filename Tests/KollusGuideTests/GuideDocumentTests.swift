import Foundation
import LectureTestSupport
import Testing

/// The documents of the façade: their examples compile, and their lists are complete.
@Suite struct GuideDocumentTests {
    private static let catalogue = "Sources/KollusSDK/KollusSDK.docc"
    private static let chapters = [
        "Preparation", "Download", "ListManagement", "Renewal", "Deletion", "Events", "ErrorHandling", "Playback",
        "Bookmarks",
    ]

    @Test(arguments: ["KollusSDK"] + chapters)
    func `Every example of an article stands in the guide's program, line after line`(article: String) throws {
        let files = try DocumentExamples.program(in: "Examples/kollus-guide")
        let examples = try DocumentExamples.examples(in: "\(Self.catalogue)/\(article).md")
        #expect(!examples.isEmpty)
        for example in examples {
            let strays = files.map { DocumentExamples.stray(example, in: $0, isWhole: true) }
            #expect(strays.contains(nil), "not in the program: \(example.first ?? "")")
        }
    }

    @Test func `The example beside the storage's class is the one of the README`() throws {
        let files = try DocumentExamples.program(in: "Examples/kollus-guide")
        let file = try #require(files.first { $0.contains("class Lectures: NSObject, KollusStorageDelegate {") })
        let examples = try DocumentExamples.examples(in: "Sources/KollusSDK/KollusStorage.swift")
        #expect(!examples.isEmpty)
        for example in examples { #expect(DocumentExamples.stray(example, in: file, isWhole: false) == nil) }
        let readme = try DocumentExamples.examples(in: "README.md").filter {
            $0.contains { $0.hasPrefix("storage.applicationKey") }
        }
        #expect(readme.count == 1)
        for example in readme { #expect(DocumentExamples.stray(example, in: file, isWhole: true) == nil) }
    }

    @Test func `A line that is not in the program is found`() {
        let file = ["a", "b", "c", "a", "c"]
        #expect(DocumentExamples.stray(["a", "c"], in: file, isWhole: true) == nil)
        #expect(DocumentExamples.stray(["b", "a"], in: file, isWhole: true) == "a")
        #expect(DocumentExamples.stray(["b", "a"], in: file, isWhole: false) == nil)
        #expect(DocumentExamples.stray(["c", "b"], in: file, isWhole: false) == "b")
        #expect(DocumentExamples.stray([], in: file, isWhole: false) != nil)
    }

    @Test(arguments: ["\(catalogue)/Migration.md", "docs/kollus-sdk.md"])
    func `Every name of the iOS SDK is in the table of names`(document: String) throws {
        let text = try String(contentsOfFile: "\(Places.repository())/\(document)", encoding: .utf8)
        // The first column of the tables of names, taken from the headers of the iOS SDK, version 2.3.36.
        let listed = Set(text.split(separator: "\n").compactMap { $0.split(separator: "`").dropFirst().first })
        for name in Self.names { #expect(listed.contains(Substring(name)), "\(name) is not in \(document)") }
    }

    private static let names = """
        delegate applicationVersion applicationDeviceID applicationKey applicationBundleID keychainGroup
        applicationExpireDate storagePath storageSize cacheDataSize serverPort extraDrmParam appUserAgent deviceType
        setKollusPath: startStorage: startStorageWithFirst:error: startStorageWithCheck: startStorageWithNewPlayerID:
        loadContentURL:error: checkContentURL:error: downloadContent:error: downloadCancelContent:error:
        removeContent:error: removeCacheWithError: setNetworkTimeOut:retry: updateDownloadDRMInfo: setCacheSize:
        setBackgroundDownload: contents sendStoredLms kollusStorage:downloadContent:error:
        kollusStorage:request:json:error: kollusStorage:cur:count:error: kollusStorage:lmsData:resultJson:
        onSendCompleteStoredLms:failCount: company title course teacher snapshot thumbnail mediaContentKey synopsis
        descriptionURL naturalSize iosPlayerType contentType DRMCheckDate DRMExpireDate DRMExpireCountMax
        DRMExpireCount DRMTotalExpirePlayTime DRMExpirePlayTime DRMExpired DRMExpireRefreshPopup duration position
        contentIndex fileSize downloadSize downloadProgress downloaded downloadStopSize downloadedTime KollusBookmark
        KPSection SubTitleInfo Chapter ChapterDict KollusChat LogUtil UtilDelegate KollusCaption KollusPlayerType
        KollusContentType KollusPlayerContentMode KollusPlayerRepeatMode KollusBookmarkKind
        initWithContentURL: initWithMediaContentKey: initWithContentIndex: storage contentURL content DRMDelegate
        LMSDelegate bookmarkDelegate prepareToPlayWithMode:error: prepareToPlayWithError: playWithError: pauseWithError:
        stopWithError: isOpened setSkipPlay currentPlaybackTime currentPlaybackRate maxPlaybackRate repeatMode
        playSection isPreparedToPlay isPlaying isBuffering isSeeking playerType setNetworkTimeOut: setBufferingRatio:
        changeBandWidth: setDecoder: setPauseOnForeground: lmsOffDownloadContent frame scalingMode playerContentFrame
        scroll:error: scrollStopWithError: zoom:error: isScrolling isZoomedIn getVideoPosition getZoomValue
        setDisableZoomOut: isAudioOnly screenConnectEnabled bookmarks bookmarkModifyEnabled addBookmark:value:error:
        removeBookmark:error: nOfflineBookmarkUse nOfflineBookmarkDownload nOfflineBookmarkReadOnly setSubTitlePath:
        setSubTitleSubPath: listSubTitle listSubTitleSub chapterInfo strCaptionStyle isThumbnailEnable isThumbnailSync
        contentProviderKey contentProviderName intro nSecSkip seekable nSeekableEnd disablePlayRate muteOnStart
        nRepeatStartTime nRepeatEndTime nPlaybackLimitDuration strPlaybackLimitMessage forceNScreen ignoreZero isLive
        liveDuration kollusChat AIRateEnable setAIRate: audioBackgroundPlay disableBackgroundAudio debug customSkin
        fpsCertURL fpsDrmURL proxyPort streamInfoList strVideoWaterMark nextEpisodeShowTime nextEpisodeCallbackParams
        actionStatsUrl kollusPlayerView:prepareToPlayWithError: kollusPlayerView:play:error:
        kollusPlayerView:pause:error: kollusPlayerView:buffering:prepared:error: kollusPlayerView:stop:error:
        kollusPlayerView:position:error: kollusPlayerView:scroll:error: kollusPlayerView:zoom:error:
        kollusPlayerView:naturalSize: kollusPlayerView:playerContentMode:error:
        kollusPlayerView:playerContentFrame:error: kollusPlayerView:playbackRate:error: kollusPlayerView:repeat:error:
        kollusPlayerView:enabledOutput:error: kollusPlayerView:unknownError: kollusPlayerView:framerate:
        kollusPlayerView:lockedPlayer: kollusPlayerView:charset:caption: kollusPlayerView:charsetSub:captionSub:
        kollusPlayerView:thumbnail:error: kollusPlayerView:mck: kollusPlayerView:height: kollusPlayerView:bitrate:
        kollusPlayerView:request:json:error: kollusPlayerView:lmsData:resultJson: kollusPlayerView:lmsData:json:error:
        kollusPlayerView:bookmark:enabled:error:
        """.split { $0.isWhitespace }.map(String.init)
}
