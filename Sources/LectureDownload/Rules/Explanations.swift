package import LectureModel

/// Why an error happens: one sentence for every code; a test fails if one is missing. The catalogue of codes says what
/// happened and what to do; what happens next depends on the store and on the processes that use it.
package enum Explanations {
    /// The reason behind an error.
    ///
    /// - Parameter code: from the catalogue or from one of its families.
    /// - Returns: a sentence.
    package static func reason(of code: LectureError.Code) -> String {
        texts[code.number] ?? familyText(code) ?? "This version has no explanation for it."
    }

    /// Whether a code has a reason of its own or one of a family's.
    ///
    /// - Parameter code: the code.
    /// - Returns: false for a number that only a newer version knows.
    static func isMapped(_ code: LectureError.Code) -> Bool {
        texts[code.number] != nil || familyText(code) != nil
    }

    // MARK: Texts

    /// Transfers and statuses take their text from the row that decides about retries, so that the two cannot disagree.
    private static func familyText(_ code: LectureError.Code) -> String? {
        if (9001...9099).contains(-code.number) || (9300...9599).contains(-code.number) {
            // The numbers of a media server; the same client sends these requests.
            return RetryTable.entry(code: .stored(code.number + 1000)).reason
        }
        if LectureError.Code.gatewayNumbers.contains(-code.number) {
            return "The gateway returned this number instead of the lecture."
        }
        guard (8001...8099).contains(-code.number) || (8300...8599).contains(-code.number) else { return nil }
        return RetryTable.entry(code: code).reason
    }

    private static let texts: [Int: String] = Dictionary(
        (storageTexts + storeTexts + answerTexts + inputTexts + linkTexts + runTexts + licenceTexts + statisticsTexts
            + applicationTexts).map { ($0.0.number, $0.1) },
        uniquingKeysWith: { first, _ in first })

    typealias Row = (LectureError.Code, String)

    private static let storageTexts: [Row] = [
        (.createDirectory, "The parent directory is missing, read-only or owned by another user."),
        (.createFile, "The directory is read-only or owned by another user, or a file of this name exists."),
        (.openStore, "The path is not a directory that can be read and written."),
        (.storeFailed, "SQLite refused a statement, which does not happen with an intact store."),
        (.readFile, "The disk or the file system failed, or the file belongs to another user."),
        (.writeFile, "The disk failed, was unmounted or became read-only."),
        (.parameter, "The value is outside the range that the option or call accepts."),
        (.notLoaded, "Its source has not been queried yet."),
        (.cancelled, "A user cancelled it."),
        (.badLength, "The announced length is negative, not a number, or larger than any file."),
        (.noLocation, "The response is a redirect without a usable Location header."),
        (.unknownContent, "It was never added, or it was removed."),
        (.storageFull, "The file and the reserve together need more space than is free."),
        (.notComplete, "Some of its data has not been downloaded and verified yet."),
        (.alreadyDownloading, "It was requested twice."),
        (.descriptorUnreadable, "The response is not the JSON that a gateway should send."),
        (.damaged, "The data on the disk differs from what was written; disks fail like this."),
        (.notRemovable, "Samples belong to the application."),
        (.notDownloadable, "The provider allows streaming only."),
        (.introNotDownloadable, "An intro is shown before a lecture and is not listed by itself."),
        (.descriptorEmpty, "The gateway sent an empty response."),
        (.closing, "The program is shutting down."),
        (.alreadyDownloaded, "All of its data is downloaded and verified."),
    ]

    private static let storeTexts: [Row] = [
        (.storeForeign, "Its application id is not LectureKit's."),
        (.storeNewer, "Its schema version is newer than this program."),
        (.storeDamaged, "SQLite's integrity check finds pages that contradict each other."),
        (.storeReadOnly, "The directory or its file system is read-only, or it belongs to another user."),
        (.migrationChanged, "A migration differs from the one that was applied to this store."),
        (.storeBusy, "It held the write lock for longer than ten seconds."),
        (.storeOwner, "The owner could not read files that another user creates."),
        (.storeExposed, "Users who may write there can exchange the store's files and database."),
        (.storeMissing, "Nothing was downloaded to this directory yet, or it is another user's or a mistyped one."),
        (.headersSealed, "They were sealed with another device's key, or the key was lost."),
        (.sourceUnknown, "It was made from its file, which is all that 'lecturectl store rebuild' had."),
        (.storeUnsafe, "A setting that protects the store in a power failure did not take effect."),
        (.mediaMissing, "The file was deleted, moved or truncated outside LectureKit."),
        (.cryptography, "There is no memory left, or the library lacks AES-GCM or SHA-256."),
    ]

    private static let answerTexts: [Row] = [
        (.notMedia, "Sign-in and error pages often come with status 200; the file does not start like media."),
        (.rangeMismatch, "Writing the response would put data in the wrong place."),
        (.lengthChanged, "The file was replaced on the server."),
        (.codingRefused, "Byte positions in encoded data are not those of the file."),
        (.multipartRefused, "One range was requested; the response is made for several."),
        (.lengthConflict, "A proxy on the way probably rewrites headers."),
        (.bodyTooLong, "Data beyond the announced end belongs to something else."),
        (.bodyCut, "The connection broke."),
        (.versionUnstable, "Each attempt received another version of the file."),
        (.digestMismatch, "The whole file was downloaded, and its digest is not the expected one."),
        (.playlistUnsupported, "A playlist names many files; this version downloads single files."),
        (.tooLarge, "The announced length is above the limit."),
        (.redirectRefused, "The redirect leaves http and https, drops encryption, or carries credentials."),
        (.redirectLoop, "Each location redirects to another one."),
        (.headerTooLarge, "No file needs a response header of this size."),
        (.unexpectedStatus, "Only statuses 200 and 206 carry a file."),
        (.resumeUnsafe, "If the file has changed, resuming would join the halves of two versions."),
        (.mirrorDisagrees, "Its data, length or digest differs from what was verified."),
    ]

    private static let inputTexts: [Row] = [
        (.urlScheme, "Other schemes name local files or other protocols."),
        (.urlInvalid, "It has no scheme or host, is too long, or contains characters that must be percent-encoded."),
        (.courseLine, "A member or cell is missing or has the wrong type."),
        (.courseList, "Its first line is missing or it has another format."),
        (.headerInvalid, "A line break inside a header would start another header."),
        (.headerReserved, "Another value would ask for something else than the file."),
        (.configuration, "A setting is unknown or has the wrong type."),
        (.secretReadable, "A secret that others can read is not a secret."),
        (.nameTaken, "Two lectures would have been written to the same file."),
        (.pruneRefused, "A list that suddenly loses many lectures is usually an export mistake."),
        (.nameRefused, "Such a name could point outside its directory."),
        (.json, "The text is not valid JSON (RFC 8259), or a member has the wrong type."),
        (
            .outputRefused,
            "The directory cannot be written, the name is that of a directory or a device, or the lecture is sealed."
        ),
        (.outputExists, "LectureKit only replaces files that it has written for the same lecture."),
    ]

    private static let linkTexts: [Row] = [
        (.linkFetchesNothing, "It asks to play a lecture or to show a list.")
    ]

    private static let runTexts: [Row] = [
        (.quota, "All lectures together take as much space as allowed."),
        (.serverWait, "The server is overloaded and said when to retry."),
        (.schedule, "The timetable says 'off' at this time."),
        (.deadline, "The time given with --deadline has run out."),
        (.leaseLost, "Another process took the lecture over while this one did not respond."),
        (.interrupted, "The process received a signal."),
        (.bug, "The program reached a state that should not exist."),
    ]
}
