package import LectureModel

/// The answer to "why?", in four sentences or fewer.
package struct Explanation: Hashable, Sendable {
    /// What is the case.
    package let what: String
    /// Why it is so.
    package let why: String
    /// What happens next without anybody doing anything.
    package let next: String
    /// What a person can do; empty when there is nothing to do.
    package let remedy: String
}

/// One explanation for every state, stop reason and error code; a test fails on one that is missing.
package enum Explanations {
    /// Explains a state.
    ///
    /// - Parameter state: the state of a content.
    /// - Returns: its explanation; a stopped or failed content has a reason or a code that says more.
    package static func explanation(of state: ItemState) -> Explanation {
        switch state {
        case .queued:
            Explanation(
                what: "It waits for its turn.",
                why: "Other lectures stand before it, or the server has as many "
                    + "connections as it takes.",
                next: "It starts as soon as there is room.",
                remedy: "Raise its priority with 'lecturectl reorder', or --jobs.")
        case .loading:
            Explanation(
                what: "The source is asked what it is.", why: "A link can lead to a file or to a description of one.",
                next: "The download starts with the answer.", remedy: "")
        case .downloading:
            Explanation(
                what: "Bytes are coming.", why: "Nothing is in the way.",
                next: "It goes on until every byte is proven.",
                remedy: "")
        case .verifying:
            Explanation(
                what: "Every byte is here and the file is checked.",
                why: "A file gets its name only when its digest is right.",
                next: "It becomes complete, or the damaged parts are fetched again.", remedy: "")
        case .completed:
            Explanation(
                what: "It is complete.", why: "Every byte is proven and on the disk.", next: "Nothing more happens.",
                remedy: "'lecturectl path' says where it is.")
        case .stopped:
            Explanation(
                what: "It is stopped.", why: "Something is in the way that may pass.",
                next: "That depends on the reason.", remedy: "'lecturectl resume' starts it again.")
        case .failed:
            Explanation(
                what: "It failed.", why: "Something is in the way that does not pass by itself.",
                next: "Nothing; what was fetched is kept.",
                remedy: "Remove the cause and run 'lecturectl precache' again.")
        case .removing:
            Explanation(
                what: "Its files are being deleted.", why: "It was removed.", next: "It leaves the list.", remedy: "")
        }
    }

    /// Explains a stop reason.
    ///
    /// - Parameter reason: why a content is stopped.
    /// - Returns: its explanation.
    package static func explanation(of reason: StopReason) -> Explanation {
        switch reason {
        case .user:
            Explanation(
                what: "It is stopped.", why: "It was paused or cancelled.", next: "Nothing; what was fetched is kept.",
                remedy: "Run 'lecturectl resume'.")
        case .network:
            Explanation(
                what: "It is stopped.", why: "The server or the network cannot be reached.",
                next: "It is tried again after a pause that grows to a minute.",
                remedy: "Check the network and the URL.")
        case .space:
            Explanation(
                what: "It is stopped.", why: "There is not enough room on the disk.",
                next: "It goes on by itself when there is room.", remedy: "Free some space, or remove lectures.")
        case .schedule:
            Explanation(
                what: "It is stopped.", why: "The timetable or a deadline does not allow it now.",
                next: "It goes on when the timetable allows it.", remedy: "Change --timetable or --deadline.")
        case .licenceRefused:
            Explanation(
                what: "It is stopped.", why: "Its licence was refused.",
                next: "Nothing, until there is another licence.",
                remedy: "Ask the provider.")
        case .serverWait:
            Explanation(
                what: "It is stopped.", why: "The server asks to wait.",
                next: "It is tried again when the time the server named has come.", remedy: "")
        case .dependency:
            Explanation(
                what: "It is stopped.", why: "Another process or another lecture has to finish first.",
                next: "It goes on by itself after that.", remedy: "'lecturectl status' shows who.")
        case .quota:
            Explanation(
                what: "It is stopped.", why: "The store's quota is used up.",
                next: "It goes on when lectures were removed.", remedy: "Remove lectures, or raise storage.quota_bytes."
            )
        }
    }

    /// Explains an error.
    ///
    /// - Parameter code: its code, from the catalogue or from one of its families.
    /// - Returns: its explanation; what and remedy are those of the catalogue.
    package static func explanation(of code: LectureError.Code) -> Explanation {
        let text = texts[code.number] ?? familyText(code) ?? unknown
        return Explanation(what: sentence(code.summary), why: text.why, next: text.next, remedy: code.remedy)
    }

    /// Whether a code has an explanation of its own or one of a family's.
    ///
    /// - Parameter code: the code.
    /// - Returns: false when the explanation can only repeat the catalogue.
    static func isMapped(_ code: LectureError.Code) -> Bool {
        texts[code.number] != nil || familyText(code) != nil
    }

    // MARK: Texts

    private typealias Text = (why: String, next: String)

    private static let unknown: Text = (
        "This version has no explanation for it.", "Nothing is known about what follows."
    )
    private static let stays = "Nothing, until the cause is gone and the command is run again."
    private static let unchanged = "Nothing was changed, and nothing happens by itself."
    private static let nextMirror = "Another mirror is used; without one it stays failed, and what is proven is kept."
    private static let nextMirrorOrWhole =
        "Another mirror is used, or the whole file is asked for; without either it stays failed."
    private static let again = "It is tried again by itself; what is proven is not fetched again."

    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + "."
    }

    /// Transfers and statuses are explained by the row that decides about them, so that the two cannot disagree.
    private static func familyText(_ code: LectureError.Code) -> Text? {
        if (9001...9099).contains(-code.number) || (9300...9599).contains(-code.number) {
            // The same numbers as of a server of media, asked by the same client.
            let twin = RetryTable.entry(code: .stored(code.number + 1000))
            return (twin.reason, "The licence server is asked again by itself; the stored licence stays as it is.")
        }
        if LectureError.Code.gatewayNumbers.contains(-code.number) {
            return ("The gateway answered with this number in place of the content.", stays)
        }
        guard (8001...8099).contains(-code.number) || (8300...8599).contains(-code.number) else { return nil }
        let entry = RetryTable.entry(code: code)
        let next =
            switch entry.decision {
            case .retry, .retryOverHTTP1: again
            case .renewLease:
                "The resolver is asked for a new URL; without one it stays failed. What is proven is kept."
            case .wait: "It is tried again when the server allows it."
            case .otherMirror: nextMirror
            case .final: stays
            }
        return (entry.reason, next)
    }

    private static let texts: [Int: Text] = Dictionary(
        (storageTexts + storeTexts + answerTexts + inputTexts + linkTexts + runTexts + licenceTexts + statisticsTexts
            + applicationTexts).map {
                ($0.0.number, ($0.1, $0.2))
            },
        uniquingKeysWith: { first, _ in first })

    typealias Row = (LectureError.Code, String, String)

    private static let storageTexts: [Row] = [
        (.createDirectory, "The directory above it is missing, read-only or not ours.", stays),
        (.createFile, "The directory is read-only or not ours, or a file of this name is there.", stays),
        (.openStore, "The path leads to no directory that may be read and written.", unchanged),
        (
            .storeFailed, "SQLite refused a statement, which a sound store never does.",
            "The change was taken back as a whole."
        ),
        (.readFile, "The disk, the cable or the file system failed, or the file is not ours.", stays),
        (
            .writeFile, "The disk failed, was unmounted or became read-only.",
            "It goes on by itself when the disk can be written."
        ),
        (.parameter, "The value is outside of what the option or the call takes.", unchanged),
        (.notLoaded, "Nobody asked its source yet what it is.", unchanged),
        (.cancelled, "Somebody cancelled it.", "Nothing; what was fetched is kept."),
        (.badLength, "The length is negative, no number, or larger than any file.", nextMirror),
        (.noLocation, "The answer is a redirect, and its Location is missing or unreadable.", nextMirror),
        (.unknownContent, "It was never added, or was removed.", unchanged),
        (
            .storageFull, "The file and the reserve together need more than is free.",
            "It goes on by itself when there is room."
        ),
        (.notComplete, "Some of its bytes are not proven yet.", "They are fetched when its turn comes."),
        (.alreadyDownloading, "It was asked for twice.", "The first request goes on."),
        (.descriptorUnreadable, "The answer is not the JSON that was agreed on.", stays),
        (
            .damaged, "Bytes on the disk are not those that were written; disks do that.",
            "Nothing is shown from the damaged parts."
        ),
        (.notRemovable, "Samples are kept, because they belong to the application.", unchanged),
        (.notDownloadable, "The provider permits playing it only.", stays),
        (.introNotDownloadable, "It is shown before a lecture and belongs to no one's list.", stays),
        (.descriptorEmpty, "The gateway answered without saying anything.", stays),
        (.closing, "The program is ending.", "What is proven stays."),
        (.alreadyDownloaded, "Every byte is proven already.", "Nothing is fetched again."),
    ]

    private static let storeTexts: [Row] = [
        (.storeForeign, "Its application id is not LectureKit's.", unchanged),
        (.storeNewer, "Its schema has a higher number than this version knows.", unchanged),
        (.storeDamaged, "SQLite's own check finds pages that contradict each other.", unchanged),
        (
            .storeReadOnly, "The directory or its file system is mounted read-only, or belongs to somebody else.",
            unchanged
        ),
        (.migrationChanged, "A migration was changed after it had been applied here.", unchanged),
        (.storeBusy, "It held the write lock for longer than the timeout.", "The change is tried again."),
        (.storeUnsafe, "A setting that survives power cuts was asked for and silently not given.", unchanged),
        (
            .cryptography, "There is no memory left, or the library lacks AES-GCM or SHA-256.",
            "Nothing is written that cannot be sealed and proven."
        ),
    ]

    private static let answerTexts: [Row] = [
        (
            .notMedia, "Networks with a sign-in page, and servers with error pages, answer so with status 200.",
            nextMirror
        ),
        (
            .rangeMismatch,
            "Content-Range does not name the range that was asked for; writing it would put bytes in the wrong place.",
            nextMirrorOrWhole
        ),
        (.lengthChanged, "The file was replaced.", "The new version is fetched beside the old one."),
        (.codingRefused, "Coded bytes have other positions than the file's.", nextMirror),
        (.multipartRefused, "One range was asked for, and the answer is made for several.", nextMirrorOrWhole),
        (.lengthConflict, "Something between here and the server rewrites headers.", nextMirror),
        (.bodyTooLong, "Bytes behind the announced end belong to something else.", nextMirror),
        (.bodyCut, "Connections break.", again),
        (.versionUnstable, "Each attempt met another version.", stays),
        (
            .digestMismatch, "All bytes came and are not the expected ones.",
            "A file that came in several answers is fetched anew once; then it stays failed."
        ),
        (.playlistUnsupported, "A playlist names many files; this version fetches one.", stays),
        (.tooLarge, "The announced length is above the limit.", stays),
        (
            .redirectRefused, "The redirect leaves http and https, gives up encryption, or carries credentials.",
            nextMirror
        ),
        (.redirectLoop, "Each place points to another one.", nextMirror),
        (.headerTooLarge, "No file needs a head of this size.", nextMirror),
        (.unexpectedStatus, "Only 200 and 206 carry a file.", nextMirror),
        (
            .mirrorDisagrees, "Its bytes, its length or its digest differ from those that are proven.",
            "The other mirrors go on."
        ),
    ]

    private static let inputTexts: [Row] = [
        (.urlScheme, "Other schemes lead to files of this machine or to other protocols.", unchanged),
        (
            .urlInvalid, "It has no scheme or host, is too long, or holds characters that must be percent-encoded.",
            unchanged
        ),
        (.courseLine, "A member or a cell is missing or not of its kind.", "The other lines go on."),
        (.courseList, "Without its first line, or in another format, no line has a meaning.", unchanged),
        (.headerInvalid, "A line end inside of a header would begin another one.", unchanged),
        (.configuration, "A member is unknown or not of its kind.", unchanged),
        (.secretReadable, "A secret that others may read is none.", unchanged),
        (.nameRefused, "Such a name could lead out of its directory.", unchanged),
        (.json, "The text breaks a rule of RFC 8259, or a member is not of its kind.", unchanged),
        (
            .outputRefused, "The place is taken, not writable, or the lecture is sealed.",
            "The lecture in the store is not touched."
        ),
    ]

    private static let linkTexts: [Row] = [
        (.linkFetchesNothing, "It asks to play something, or to show a list.", unchanged)
    ]

    private static let runTexts: [Row] = [
        (.quota, "All lectures together are as large as is permitted.", "It goes on when lectures were removed."),
        (.serverWait, "It has too much to do and named a time.", "It is tried again when the time has come."),
        (.schedule, "The present window says 'off'.", "It goes on when the next window begins."),
        (.deadline, "The time given with --deadline is over.", "Nothing; what is proven is kept."),
        (
            .leaseLost, "This process did not answer in time, or another one was started with the same store.",
            "The other process goes on with it."
        ),
        (.interrupted, "A signal came.", "Nothing; what is proven is kept."),
        (.bug, "The program met a state that its authors held for impossible.", "What is proven is kept."),
    ]
}
