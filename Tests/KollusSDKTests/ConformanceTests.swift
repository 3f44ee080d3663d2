import Foundation
import LectureTestSupport
import Testing

/// The compiler's diagnostics for classes as applications declare them, in both language modes.
@Suite(.timeLimit(.minutes(3)))
struct ConformanceTests {
    /// The expected diagnostics of a source.
    enum Outcome: Sendable {
        case clean
        case warning
        case error
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let declaration: String
        var options: [String] = []
        let swift5: Outcome
        let swift6: Outcome
        var testDescription: String { name }
    }

    private static let method = """
            func kollusStorage(_ storage: KollusStorage, downloadContent content: KollusContent, error: Error?) {
                title = content.title
            }
        """

    private static func type(_ attribute: String, _ conformance: String) -> String {
        """
        import Foundation
        import KollusSDK
        \(attribute) final class Screen: NSObject, \(conformance) {
            var title: String = ""
            let storage = KollusStorage()
            func show() { storage.delegate = self }
        \(method)
        }
        """
    }

    static let cases = [
        Case(name: "plain", declaration: type("", "KollusStorageDelegate"), swift5: .clean, swift6: .clean),
        Case(
            name: "isolated conformance", declaration: type("@MainActor", "@MainActor KollusStorageDelegate"),
            swift5: .clean, swift6: .clean),
        Case(
            name: "preconcurrency conformance",
            declaration: type("@MainActor", "@preconcurrency KollusStorageDelegate"), swift5: .clean, swift6: .clean),
        Case(
            name: "main actor without a word", declaration: type("@MainActor", "KollusStorageDelegate"),
            swift5: .warning, swift6: .error),
        Case(
            name: "main actor without a word, inferred", declaration: type("@MainActor", "KollusStorageDelegate"),
            options: ["-enable-upcoming-feature", "InferIsolatedConformances"], swift5: .clean, swift6: .clean),
        Case(
            name: "main actor by default", declaration: type("", "KollusStorageDelegate"),
            options: ["-default-isolation", "MainActor"], swift5: .clean, swift6: .clean),
        Case(
            name: "@objc", declaration: type("@objc", "KollusStorageDelegate"), swift5: .error, swift6: .error),
        Case(
            name: "a wrong optional",
            declaration: type("", "KollusStorageDelegate")
                .replacingOccurrences(of: "storage: KollusStorage,", with: "storage: KollusStorage?,"),
            swift5: .clean, swift6: .clean),
        Case(
            name: "calls as applications write them",
            declaration: """
                import Foundation
                import KollusSDK
                func list(_ storage: KollusStorage) -> [KollusContent] {
                    do { try storage.start() } catch let error as NSError { print(error.code) }
                    let key: String! = try? storage.loadContentURL(nil)
                    if key != nil { _ = try? storage.checkContentURL(key) }
                    let contents = storage.contents() as! [KollusContent]
                    for content in contents where content.DRMExpired || content.drmExpireDate == nil {
                        print(content.title!, content.contentType == .adaptiveDownload, content.downloadedTime + 1)
                    }
                    Task.detached { try storage.removeCache() }
                    return contents
                }
                """, swift5: .clean, swift6: .clean),
        Case(
            name: "a name that the SDK has not",
            declaration: "import KollusSDK\nfunc stop(_ storage: KollusStorage) { storage.stopStorage() }",
            swift5: .error, swift6: .error),
    ]

    private static func screen(_ attribute: String, _ conformance: String, _ view: String = "KollusPlayerView!")
        -> String
    {
        """
        import Foundation
        import KollusSDK
        \(attribute) final class Screen: NSObject, \(conformance) {
            var place: TimeInterval = 0
            let playerView = KollusPlayerView()
            func show() { playerView.delegate = self }
            func kollusPlayerView(_ playerView: \(view), position: TimeInterval, error: Error!) { place = position }
        }
        """
    }

    static let players = [
        Case(name: "plain", declaration: screen("", "KollusPlayerDelegate"), swift5: .clean, swift6: .clean),
        Case(
            name: "isolated conformance", declaration: screen("@MainActor", "@MainActor KollusPlayerDelegate"),
            swift5: .clean, swift6: .clean),
        Case(
            name: "preconcurrency conformance",
            declaration: screen("@MainActor", "@preconcurrency KollusPlayerDelegate"), swift5: .clean, swift6: .clean),
        Case(
            name: "main actor without a word", declaration: screen("@MainActor", "KollusPlayerDelegate"),
            swift5: .warning, swift6: .error),
        Case(
            name: "calls as applications write them",
            declaration: """
                import Foundation
                import KollusSDK
                func play(_ storage: KollusStorage, _ key: String!) throws {
                    let playerView: KollusPlayerView! = KollusPlayerView(mediaContentKey: key)
                    playerView.storage = storage
                    playerView.currentPlaybackTime += 10
                    playerView.currentPlaybackRate = 1.5
                    playerView.scalingMode = .scaleAspectFill
                    playerView.repeatMode = .one
                    let section = KPSection()
                    (section.startTime, section.endTime) = (0, 60)
                    playerView.playSection = section
                    try playerView.prepareToPlay(withMode: .PlayerTypeKollus)
                    if !playerView.isPlaying { try playerView.play() } else { try playerView.pause() }
                    try? playerView.addBookmark(playerView.currentPlaybackTime, value: "here")
                    for bookmark in playerView.bookmarks as! [KollusBookmark] where bookmark.kind == .user {
                        try? playerView.removeBookmark(bookmark.position)
                    }
                    for info in playerView.listSubTitle { print((info as! SubTitleInfo).strName ?? "") }
                    print(playerView.DRMDelegate == nil, playerView.lmsDelegate == nil, playerView.content.title!)
                    Task.detached { try playerView.stop() }
                }
                """, swift5: .clean, swift6: .clean),
        Case(
            name: "a mode that the SDK has not",
            declaration: "import KollusSDK\nfunc repeatAll(_ view: KollusPlayerView) { view.repeatMode = .all }",
            swift5: .error, swift6: .error),
    ]

    @Test(arguments: cases + players, [5, 6])
    func `classes of applications`(sample: Case, mode: Int) async throws {
        let verdict = try await BuiltModules.check(sample.declaration, mode: mode, sample.options)
        switch mode == 5 ? sample.swift5 : sample.swift6 {
        case .clean:
            #expect(verdict.isAccepted, "\(verdict.text)")
            #expect(!verdict.warns, "\(verdict.text)")
        case .warning:
            #expect(verdict.isAccepted, "\(verdict.text)")
            #expect(verdict.warns, "\(verdict.text)")
        case .error: #expect(!verdict.isAccepted)
        }
    }

    @Test
    func `the module can be imported under its other name`() async throws {
        let source = Self.type("", "KollusStorageDelegate").replacingOccurrences(
            of: "import KollusSDK", with: "import KollusSDKBinary")
        for mode in [5, 6] {
            let verdict = try await BuiltModules.check(source, mode: mode)
            #expect(verdict.isAccepted, "\(verdict.text)")
            #expect(!verdict.warns, "\(verdict.text)")
        }
    }
}
