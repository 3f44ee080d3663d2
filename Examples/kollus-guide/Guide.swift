import Dispatch
import Foundation
import KollusSDK

/// A chapter as a program: starts on the main queue, and reports once whether it did what it promises.
protocol GuideChapter: AnyObject {
    func begin(_ words: [String], end: @escaping (Bool) -> Void)
}

/// The values that a provider has issued, from the environment.
struct Issued {
    let key: String?
    let bundleID: String?
    let expires: String?

    init(_ environment: [String: String]) {
        key = environment["KOLLUS_KEY"]
        bundleID = environment["KOLLUS_BUNDLE_ID"]
        expires = environment["KOLLUS_EXPIRES"]
    }
}

/// `kollus-guide CHAPTER …`: the chapters of the vendor's guide, run against the server and key that the environment
/// names. The exit status shows whether a chapter did what it promises.
@main
enum Guide {
    static let usage = """
        usage: kollus-guide preparation
               kollus-guide download [--cancel-at PERCENT] URL...
               kollus-guide list [completed|in-progress|recent|folders]
               kollus-guide renewal [--all]
               kollus-guide deletion KEY...|--all|--cache
               kollus-guide events [URL...]
               kollus-guide errors URL
               kollus-guide play KEY [--jump SECONDS] [--speed N] [--section A-B] [--silent]
               kollus-guide bookmarks KEY [--add SECONDS TEXT | --remove SECONDS]
               kollus-guide short URL
        KOLLUS_KEY, KOLLUS_BUNDLE_ID and KOLLUS_EXPIRES (yyyy/MM/dd) are issued by the provider; the key is
        verified with the directory LECTURE_TRUST. LECTURE_STORE, LECTURE_CONFIG and LECTURE_DEVICE as for lecturectl.
        """
    /// Keeps the chapter alive while it waits for events.
    nonisolated(unsafe) static var chapter: AnyObject?
    /// The longest that a chapter may take, in seconds.
    static let patience = 300.0

    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        guard let name = words.first else { leave(64, usage) }
        // Each line at once, also into a pipe.
        setvbuf(stdout, nil, _IOLBF, 0)
        DispatchQueue.main.async { begin(name, Array(words.dropFirst())) }
        // A lecture may be longer.
        if name != "play" {
            DispatchQueue.main.asyncAfter(deadline: .now() + patience) { leave(75, "no end after \(patience) seconds") }
        }
        // An iOS application has a running main queue; a command-line program runs it itself.
        dispatchMain()
    }

    static func begin(_ name: String, _ words: [String]) {
        let issued = Issued(ProcessInfo.processInfo.environment)
        do {
            if name == "short" {
                guard words.count == 1 else { leave(64, usage) }
                let lectures = Lectures()
                chapter = lectures
                return try lectures.begin(words[0], issued) { finish(lectures.storage, $0) }
            }
            let preparation = Preparation()
            let storage = preparation.storage
            guard let found = find(name, words, preparation) else { leave(64, usage) }
            try preparation.prepare(key: issued.key, bundleID: issued.bundleID, expires: issued.expires)
            chapter = found
            found.begin(words) { finish(storage, $0) }
        } catch let error as NSError {
            leave(1, "error \(error.code): \(error.localizedDescription)")
        }
    }

    static func find(_ name: String, _ words: [String], _ preparation: Preparation) -> GuideChapter? {
        let storage = preparation.storage
        switch name {
        case "preparation": return preparation
        case "download" where !words.isEmpty: return Downloads(storage: storage)
        case "list": return ContentList(storage: storage)
        case "renewal": return Renewals(storage: storage)
        case "deletion" where !words.isEmpty: return Deletion(storage: storage)
        case "events": return EventLog(storage: storage)
        case "errors" where words.count == 1: return ErrorHandling(storage: storage)
        case "play" where !words.isEmpty: return Playback(storage: storage)
        case "bookmarks" where !words.isEmpty: return Bookmarks(storage: storage)
        default: return nil
        }
    }

    /// The end that iOS leaves to the system: running work is ended cleanly.
    static func finish(_ storage: KollusStorage, _ isDone: Bool) {
        storage.close()
        exit(isDone ? 0 : 1)
    }

    static func leave(_ status: Int32, _ sentence: String) -> Never {
        print(sentence)
        exit(status)
    }
}
