// Written as applications for iOS are, which unwrap by force.
// swift-format-ignore-file: NeverForceUnwrap

import Foundation
import KollusSDK

/// The chapter on playing: prepare, play, jump, and the end.
///
/// The delegate's methods are declared as the headers are imported: everything may be nil.
class Playback: NSObject, KollusPlayerDelegate {
    let storage: KollusStorage
    var playerView: KollusPlayerView!
    /// Called once, with whether it was played to its end.
    var onEnd: ((Bool) -> Void)?
    /// Where to jump to with the first picture, in seconds.
    var jump: TimeInterval?
    /// The speed.
    var rate: Float = 1
    /// The only part to play.
    var section: KPSection?
    /// Whether no sound is heard.
    var isSilent = false

    init(storage: KollusStorage) { self.storage = storage }

    /// Prepares a downloaded content. On iOS the view is then added to another one; here it opens its own window.
    func open(_ mediaContentKey: String) throws {
        playerView = KollusPlayerView(mediaContentKey: mediaContentKey)
        playerView.storage = storage
        playerView.delegate = self
        playerView.scalingMode = .scaleAspectFit
        playerView.repeatMode = .none
        playerView.currentPlaybackRate = rate
        playerView.playSection = section
        // What Linux has and iOS does not: the sound's output.
        if isSilent { playerView.engineOptions["ao"] = "null" }
        try playerView.prepareToPlay(withMode: .PlayerTypeKollus)
    }

    /// The result of the preparation: an application shows its controls, or why it cannot play.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, prepareToPlayWithError error: Error!) {
        if error != nil { return fail(error as NSError) }
        print("prepared: \(kollusPlayerView.content.title!)")
        if let jump { kollusPlayerView.currentPlaybackTime = jump }
        do { try kollusPlayerView.play() } catch { fail(error as NSError) }
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, play userInteraction: Bool, error: Error!) {
        print("plays at \(Int(kollusPlayerView.currentPlaybackTime.rounded())) s")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, pause userInteraction: Bool, error: Error!) {
        print("paused")
    }

    /// Twice for each jump: a slider follows the first, and the picture is there with the second.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, position: TimeInterval, error: Error!) {
        print("\(kollusPlayerView.isSeeking ? "jumps to" : "is at") \(Int(position.rounded())) s")
    }

    /// With `userInteraction` false and no error it was played to its end, or its window was closed.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, stop userInteraction: Bool, error: Error!) {
        if error != nil { return fail(error as NSError) }
        print(userInteraction ? "stopped" : "over")
        onEnd?(true)
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, buffering: Bool, prepared: Bool, error: Error!) {}

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, naturalSize: CGSize) {
        print("picture \(Int(naturalSize.width)) x \(Int(naturalSize.height))")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, unknownError error: Error!) {
        print("not stored: \(error.localizedDescription)")
    }

    private func fail(_ error: NSError) {
        print("error \(error.code): \(error.localizedDescription)")
        onEnd?(false)
    }
}

/// `kollus-guide play KEY [--jump S] [--speed N] [--section A-B] [--silent]`: promises that it is played to its end.
extension Playback: GuideChapter {
    func begin(_ words: [String], end: @escaping (Bool) -> Void) {
        onEnd = end
        var (key, rest) = (words[0], words.dropFirst())
        while let word = rest.popFirst() {
            switch word {
            case "--silent": isSilent = true
            case "--jump": jump = rest.popFirst().flatMap(TimeInterval.init)
            case "--speed": rate = rest.popFirst().flatMap(Float.init) ?? 1
            case "--section":
                let ends = rest.popFirst()?.split(separator: "-").compactMap { Int($0) } ?? []
                let part = KPSection()
                (part.startTime, part.endTime) = (ends.first ?? 0, ends.last ?? 0)
                section = part
            default: key = word
            }
        }
        do { try open(key) } catch { fail(error as NSError) }
    }
}
