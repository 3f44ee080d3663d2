// The catalogue of codes. Numbers and names are frozen: they are stored, printed as JSON and relied on by scripts.

extension LectureError.Code {
    // MARK: The storage (numbers of the Kollus storage manager)

    /// A directory of the store could not be created.
    public static let createDirectory = Self(
        -8600, "create_directory", "a directory of the store cannot be made",
        "Check the path given with --store and who may write there.",
        reason: "The parent directory is missing, read-only or owned by another user.")
    /// A file could not be created.
    public static let createFile = Self(
        -8601, "create_file", "a file cannot be made", "Check who may write to the directory.",
        reason: "The directory is read-only or owned by another user, or a file of this name exists.")
    /// The store's database could not be opened.
    public static let openStore = Self(
        -8603, "open_store", "the store cannot be opened", "Check the path given with --store and its permissions.",
        reason: "The path is not a directory that can be read and written.")
    /// A statement of the store failed.
    public static let storeFailed = Self(
        -8624, "store_failed", "the store's database refused a change",
        "Run 'lecturectl store check'; if it finds nothing, report this as a bug.",
        reason: "SQLite refused a statement, which does not happen with an intact store.")
    /// A file could not be read.
    public static let readFile = Self(
        -8610, "read_file", "a file cannot be read", "Check the disk and the file.",
        reason: "The disk or the file system failed, or the file belongs to another user.")
    /// A file could not be written.
    public static let writeFile = Self(
        -8611, "write_file", "a file cannot be written",
        "Check the disk and its permissions, then run the command again.",
        reason: "The disk failed, was unmounted or became read-only.")
    /// An argument has no usable value.
    public static let parameter = Self(
        -8613, "parameter", "an argument has no usable value", "See --help.",
        reason: "The value is outside the range that the option or call accepts.")
    /// A lecture was used before it was loaded.
    public static let notLoaded = Self(
        -8614, "not_loaded", "the lecture is not loaded yet", "Call load, or run 'lecturectl precache' with its URL.",
        reason: "Its source has not been queried yet.")
    /// The transfer was cancelled.
    public static let cancelled = Self(
        -8615, "cancelled", "the download was cancelled",
        "Downloaded data is kept: 'lecturectl resume KEY' or 'lecturectl precache' continues from there.",
        reason: "A user cancelled it.")
    /// The server announced an impossible length.
    public static let badLength = Self(
        -8617, "bad_length", "the server announced an impossible length", "Report this to the server's operator.",
        reason: "The announced length is negative, not a number, or larger than any file.")
    /// A redirect without a usable target.
    public static let noLocation = Self(
        -8619, "no_location", "the server redirects without a target", "Report this to the server's operator.",
        reason: "The response is a redirect without a usable Location header.")
    /// No lecture has this key.
    public static let unknownContent = Self(
        -8621, "unknown_content", "no lecture has this key", "'lecturectl list' shows the keys.",
        reason: "It was never added, or it was removed.")
    /// No space on the disk.
    public static let storageFull = Self(
        -8623, "storage_full", "there is not enough space on the disk",
        "Free some space, then run 'lecturectl precache' again; downloaded data is kept.",
        reason: "The file and the reserve together need more space than is free.")
    /// Playing or reading an unfinished lecture.
    public static let notComplete = Self(
        -8629, "not_complete", "the lecture is not complete", "Run 'lecturectl precache' until it is.",
        reason: "Some of its data has not been downloaded and verified yet.")
    /// A second request for a running download.
    public static let alreadyDownloading = Self(
        -8631, "already_downloading", "the lecture is already being downloaded", "Wait for it.",
        reason: "It was requested twice.")
    /// The content descriptor is not readable.
    public static let descriptorUnreadable = Self(
        -8633, "descriptor_unreadable", "the gateway's description of the lecture is not readable",
        "Report this to the gateway's operator.",
        reason: "The response is not the JSON that a gateway should send.")
    /// A stored file is damaged.
    public static let damaged = Self(
        -8646, "damaged", "the stored file is damaged",
        "Run 'lecturectl verify --all --repair' to download the damaged parts again.",
        reason: "The data on the disk differs from what was written; disks fail like this.")
    /// The lecture's type may not be removed.
    public static let notRemovable = Self(
        -8648, "not_removable", "samples are kept unless you add --samples", "Add --samples.",
        reason: "Samples belong to the application.")
    /// The link does not permit a download.
    public static let notDownloadable = Self(
        -8650, "not_downloadable", "this link does not permit downloading", "Ask the provider for a download link.",
        reason: "The provider allows streaming only.")
    /// An intro, which is only downloaded with its lecture.
    public static let introNotDownloadable = Self(
        -8803, "intro_not_downloadable", "an intro cannot be downloaded by itself",
        "Ask the provider for the link of the lecture.",
        reason: "An intro is shown before a lecture and is not listed by itself.")
    /// An empty descriptor.
    public static let descriptorEmpty = Self(
        -8652, "descriptor_empty", "the gateway's description of the lecture is empty",
        "Report this to the gateway's operator.",
        reason: "The gateway sent an empty response.")
    /// The store is closing.
    public static let closing = Self(
        -8661, "closing", "the store is being closed", "Open it again.",
        reason: "The program is shutting down.")
    /// The lecture is already complete.
    public static let alreadyDownloaded = Self(
        -9000, "already_downloaded", "the lecture is already complete", "",
        reason: "All of its data is downloaded and verified.")

    // MARK: The store (our own numbers)

    /// The database belongs to another program.
    public static let storeForeign = Self(
        -20001, "store_foreign", "the database belongs to another program; nothing was changed",
        "Give another directory with --store.",
        reason: "Its application id is not LectureKit's.")
    /// The database was written by a newer version.
    public static let storeNewer = Self(
        -20002, "store_newer", "the store was written by a newer version of LectureKit; nothing was changed",
        "Use that version, or another --store.",
        reason: "Its schema version is newer than this program.")
    /// The database is damaged.
    public static let storeDamaged = Self(
        -20003, "store_damaged", "the store's database is damaged; nothing was changed",
        "Restore a copy made with 'lecturectl store backup', or move the file away and run 'lecturectl store rebuild'.",
        reason: "SQLite's integrity check finds pages that contradict each other.")
    /// The store is on a read-only file system.
    public static let storeReadOnly = Self(
        -20004, "store_read_only", "the store cannot be written; nothing was changed",
        "Mount it writable, or give another directory with --store.",
        reason: "The directory or its file system is read-only, or it belongs to another user.")
    /// A migration differs from the one that was applied.
    public static let migrationChanged = Self(
        -20005, "migration_changed",
        "the store was created by other migrations than this program's; nothing was changed",
        "Use the version that made it.",
        reason: "A migration differs from the one that was applied to this store.")
    /// Another process held the database for too long.
    public static let storeBusy = Self(
        -20006, "store_busy", "another process keeps the store busy", "Try again; 'lecturectl status' shows who.",
        reason: "It held the write lock for longer than ten seconds.")
    /// The file system does not support what durability needs.
    public static let storeUnsafe = Self(
        -20007, "store_unsafe", "the file system does not support what the store needs to survive a power cut",
        "Put the store on a local file system such as ext4 or XFS.",
        reason: "A setting that protects the store in a power failure did not take effect.")
    /// The media file of a complete lecture is gone, or shorter than it was.
    public static let mediaMissing = Self(
        -20008, "media_missing", "the lecture's media file is missing or was cut short",
        "Run 'lecturectl precache' to download it again.",
        reason: "The file was deleted, moved or truncated outside LectureKit.")
    /// OpenSSL failed: out of memory, or an installation without AES-GCM or SHA-256.
    public static let cryptography = Self(
        -20009, "cryptography", "the cryptographic library failed",
        "Check the machine's memory and its OpenSSL 3 (package libssl3).",
        reason: "There is no memory left, or the library lacks AES-GCM or SHA-256.")

    // MARK: Answers that are not the object

    /// The answer is something other than media.
    public static let notMedia = Self(
        -20010, "not_media", "the server sent something other than a media file",
        "Open the URL in a browser: it may lead to a sign-in or error page. If this is the lecture, add --accept-any.",
        reason: "Sign-in and error pages often come with status 200; the file does not start like media.")
    /// A range answer other than requested.
    public static let rangeMismatch = Self(
        -20011, "range_mismatch", "the server returned a different byte range than requested",
        "Report this to the server's operator.",
        reason: "Writing the response would put data in the wrong place.")
    /// The length changed during the download.
    public static let lengthChanged = Self(
        -20012, "length_changed", "the file's length changed on the server", "Run the command again.",
        reason: "The file was replaced on the server.")
    /// A content coding that was not requested.
    public static let codingRefused = Self(
        -20013, "coding_refused", "the server sends a content coding that was not requested",
        "Report this to the server's operator to serve media without Content-Encoding.",
        reason: "Byte positions in encoded data are not those of the file.")
    /// A multipart answer.
    public static let multipartRefused = Self(
        -20014, "multipart_refused", "the server answered one range with a multipart body",
        "Report this to the server's operator.",
        reason: "One range was requested; the response is made for several.")
    /// Two different lengths in one answer.
    public static let lengthConflict = Self(
        -20015, "length_conflict", "the server announced two different lengths",
        "Report this to the server's operator.",
        reason: "A proxy on the way probably rewrites headers.")
    /// More bytes than announced.
    public static let bodyTooLong = Self(
        -20016, "body_too_long", "the server sent more bytes than it announced",
        "Report this to the server's operator.",
        reason: "Data beyond the announced end belongs to something else.")
    /// Fewer bytes than announced.
    public static let bodyCut = Self(
        -20017, "body_cut", "the connection ended before all announced bytes arrived", "It is retried automatically.",
        reason: "The connection broke.")
    /// The file keeps changing.
    public static let versionUnstable = Self(
        -20018, "version_unstable", "the file on the server changes while it is downloaded",
        "Run the command again when the server has settled.",
        reason: "Each attempt received another version of the file.")
    /// The whole-file digest differs.
    public static let digestMismatch = Self(
        -20019, "digest_mismatch", "the bytes do not have the expected digest",
        "The file on the server is a different one, or the expected digest is wrong.",
        reason: "The whole file was downloaded, and its digest is not the expected one.")
    /// A playlist that is not fetched.
    public static let playlistUnsupported = Self(
        -20020, "playlist_unsupported", "this is a playlist or manifest that cannot be used here",
        "Give the URL of a media file, or of an HLS playlist or a DASH manifest to 'lecturectl precache'.",
        reason: "HLS and DASH are downloaded; other kinds are not, and only whole files are streamed.")
    // −20021 was "a licence is needed", in versions without licences; it is never reused.
    /// Larger than allowed.
    public static let tooLarge = Self(
        -20022, "too_large", "the file is larger than its description allows",
        "Report this to the provider, or raise the limit.",
        reason: "The announced length is above the limit.")
    /// A redirect that is not followed.
    public static let redirectRefused = Self(
        -20023, "redirect_refused", "the server redirects to a URL that may not be followed",
        "Only http and https are followed, and never from https to http.",
        reason: "The redirect leaves http and https, drops encryption, or carries credentials.")
    /// Too many redirects.
    public static let redirectLoop = Self(
        -20024, "redirect_loop", "the server redirects more than ten times", "Report this to the server's operator.",
        reason: "Each location redirects to another one.")
    /// The answer's header is too large.
    public static let headerTooLarge = Self(
        -20025, "header_too_large", "the header of the answer is too large", "Report this to the server's operator.",
        reason: "No file needs a response header of this size.")
    /// An answer without a rule.
    public static let unexpectedStatus = Self(
        -20026, "unexpected_status", "the server answered with a status that carries no file",
        "Report this to the server's operator.",
        reason: "Only statuses 200 and 206 carry a file.")
    /// The server cannot continue and the version cannot be proven.
    public static let mirrorDisagrees = Self(
        -20027, "mirror_disagrees", "a mirror serves other bytes and is no longer used",
        "Report this to the mirror's operator.",
        reason: "Its data, length or digest differs from what was verified.")
    /// An interrupted download that cannot be continued safely.
    public static let resumeUnsafe = Self(
        -20028, "resume_unsafe",
        "the download was interrupted, and the server gives no validator for the file, so it cannot be continued",
        "Give --sha256 or a course list with sha256, or --trust-length if the file never changes.",
        reason: "If the file has changed, resuming would join the halves of two versions.")

    // MARK: Input

    /// A URL with another scheme.
    public static let urlScheme = Self(
        -20030, "url_scheme", "only http and https URLs can be downloaded", "Check the URL's beginning.",
        reason: "Other schemes name local files or other protocols.")
    /// Not a URL.
    public static let urlInvalid = Self(
        -20031, "url_invalid", "this is not a usable URL", "A URL has the form https://host/path, below 8,192 bytes.",
        reason: "It has no scheme or host, is too long, or contains characters that must be percent-encoded.")
    /// A line of a course list that cannot be read.
    public static let courseLine = Self(
        -20032, "course_line", "this line of the course list cannot be read; the other lines are still used",
        "Correct the line and run the command again.",
        reason: "A member or cell is missing or has the wrong type.")
    /// A course list that cannot be read at all.
    public static let courseList = Self(
        -20033, "course_list", "the course list cannot be read", "It must be .jsonl, .csv or .txt in UTF-8.",
        reason: "Its first line is missing or it has another format.")
    /// A header that cannot be sent.
    public static let headerInvalid = Self(
        -20034, "header_invalid", "this is not a usable header", "Write it as 'Name: value', without line ends.",
        reason: "A line break inside a header would start another header.")
    /// A configuration that cannot be used.
    public static let configuration = Self(
        -20036, "configuration", "the configuration cannot be used", "Correct the file named by --config.",
        reason: "A setting is unknown or has the wrong type.")
    /// A secret file that others may read.
    public static let secretReadable = Self(
        -20037, "secret_readable", "a secret file may be read by others", "Run chmod 600 on it.",
        reason: "A secret that others can read is not a secret.")
    /// A file name that is refused.
    public static let nameRefused = Self(
        -20038, "name_refused", "a file name holds '/', NUL or another character that is refused",
        "Correct the name in the course list or the descriptor.",
        reason: "Such a name could point outside its directory.")
    /// A JSON text that cannot be read.
    public static let json = Self(
        -20039, "json", "this is not valid JSON with the expected fields", "Correct the text.",
        reason: "The text is not valid JSON (RFC 8259), or a member has the wrong type.")
    /// An output that cannot be written.
    public static let outputRefused = Self(
        -20040, "output_refused", "the finished file cannot be put there", "Check --output or --output-dir.",
        reason: "The directory cannot be written, the name is that of a directory or a device, or the lecture "
            + "is sealed.")

    /// Two lectures of one run would be put into the same file.
    public static let nameTaken = Self(
        -20071, "name_taken", "several lectures of this run have the same file name",
        "Run the command again with names that differ, for example --name '{course}/{number:02} {title}.{ext}'.",
        reason: "Two lectures would have been written to the same file.")
    /// More lectures have left a list than may be removed at once.
    public static let pruneRefused = Self(
        -20070, "prune_refused", "more lectures have left the list than may be removed; nothing was removed",
        "Check the list. If it is right, run the command again with a larger --max-delete.",
        reason: "A list that suddenly loses many lectures is usually an export mistake.")
    /// A `kollus:` link that is not about downloading.
    public static let linkFetchesNothing = Self(
        -20041, "link_fetches_nothing", "this kollus: link names nothing to download",
        "'lecturectl list --folder' shows what a list link means; 'kollus://download?url=…' downloads.",
        reason: "It asks to play a lecture or to show a list.")

    // MARK: Scheduling

    /// The quota is used up.
    public static let quota = Self(
        -20050, "quota", "the store's quota is used up", "Remove lectures, or raise storage.quota_bytes.",
        reason: "All lectures together take as much space as allowed.")
    /// The server asks to wait.
    public static let serverWait = Self(
        -20051, "server_wait", "the server asks to wait", "It is retried automatically when the wait is over.",
        reason: "The server is overloaded and said when to retry.")
    /// Outside the timetable.
    public static let schedule = Self(
        -20052, "schedule", "the timetable does not allow downloads now",
        "It continues automatically, or change --timetable.",
        reason: "The timetable says 'off' at this time.")
    /// The deadline has passed.
    public static let deadline = Self(
        -20053, "deadline", "the deadline passed before everything was complete", "Run the command again to continue.",
        reason: "The time given with --deadline has run out.")
    /// Another process has the item now.
    public static let leaseLost = Self(
        -20054, "lease_lost", "another process has taken this item over", "",
        reason: "Another process took the lecture over while this one did not respond.")
    /// A signal ended the run.
    public static let interrupted = Self(
        -20055, "interrupted", "the run was interrupted", "Run the command again to continue.",
        reason: "The process received a signal.")
    /// A state that must not happen.
    public static let bug = Self(
        -20099, "bug", "an internal rule was broken", "Report this as a bug.",
        reason: "The program reached a state that should not exist.")

    // MARK: Families

    /// A transfer that failed below HTTP.
    ///
    /// - Parameter curl: libcurl's result code, 1…99.
    /// - Returns: the code −8000 − `curl`.
    public static func transfer(_ curl: Int) -> Self {
        switch curl {
        case 5, 6:
            Self(-8000 - curl, "resolve", "the server's name cannot be resolved", "Check the URL and the network.")
        case 7: Self(-8007, "connect", "the server cannot be reached", "Check the URL, the port and the network.")
        case 18:
            Self(-8018, "partial", "the connection ended inside the answer", "It is retried automatically.")
        case 28:
            Self(
                -8028, "timeout", "the server stopped responding",
                "Check the network, or raise network.timeout_s.")
        case 35, 53, 58, 59, 60, 66, 77, 80, 83, 90, 91:
            Self(
                -8000 - curl, "tls", "a secure connection cannot be made",
                "Check the server's certificate, --ca-file and --client-cert; verification is never switched off.")
        case 52: Self(-8052, "empty_answer", "the server sent no answer", "Check that the port speaks HTTP.")
        case 55, 56: Self(-8000 - curl, "receive", "the connection broke", "It is retried automatically.")
        default: Self(-8000 - curl, "transfer_\(curl)", "the transfer failed", "Check the network and the server.")
        }
    }

    /// An HTTP status that ends the attempt.
    ///
    /// - Parameter status: the status, 300…599.
    /// - Returns: the code −8000 − `status`.
    public static func status(_ status: Int) -> Self {
        let remedy =
            switch status {
            case 401, 403, 407: "Check --header, or ask the provider for a new link."
            case 404, 410: "Check the URL; the file is not there."
            case 429, 503: "It is tried again when the server allows it."
            case 501, 505, 506, 508, 510, 511: "Report this to the server's operator."
            case 500...599:
                "Run the command again; downloaded data is kept. Report this to the server's operator if it stays."
            default: "Check the URL."
            }
        return Self(-8000 - status, "http_\(status)", "the server answered HTTP \(status)", remedy)
    }
}

extension LectureError.Code {
    /// Every code with a number of its own; the families ``transfer(_:)`` and ``status(_:)`` are additional.
    public static let all: [Self] =
        [
            .createDirectory, .createFile, .openStore, .storeFailed, .readFile, .writeFile, .parameter, .notLoaded,
            .cancelled,
            .badLength, .noLocation, .unknownContent, .storageFull, .notComplete, .alreadyDownloading,
            .descriptorUnreadable,
            .damaged, .notRemovable, .notDownloadable, .introNotDownloadable, .descriptorEmpty, .closing,
            .alreadyDownloaded,
            .storeForeign, .storeNewer, .storeDamaged, .storeReadOnly, .migrationChanged, .storeBusy, .storeUnsafe,
            .mediaMissing,
            .cryptography,
            .notMedia, .rangeMismatch, .lengthChanged, .codingRefused, .multipartRefused, .lengthConflict, .bodyTooLong,
            .bodyCut, .versionUnstable, .digestMismatch, .playlistUnsupported, .tooLarge,
            .redirectRefused, .redirectLoop, .headerTooLarge, .unexpectedStatus, .mirrorDisagrees, .resumeUnsafe,
            .urlScheme, .urlInvalid, .courseLine, .courseList, .headerInvalid, .configuration, .secretReadable,
            .nameRefused,
            .json, .outputRefused, .nameTaken, .pruneRefused, .linkFetchesNothing, .quota, .serverWait, .schedule,
            .deadline, .leaseLost,
            .interrupted, .bug,
            .answerUndecodable, .answerUnreadable, .answerInvalid, .answerEmpty, .grantRefused, .completionRefused,
            .playRefused, .sessionMismatch, .answerMissing,
            .licenceExpired, .countUsedUp, .licenceForceExpired, .clockUntrusted, .licenceDeleted, .playTimeUsedUp,
            .licenceCheckDue, .licenceMissing, .licenceUnverified, .licenceOtherDevice, .licenceNotYetValid,
            .storeCopied, .ledgerForged, .storeRolledBack, .anchorUnwritable, .sealedElsewhere, .licenceKeyMissing,
            .sealRequired,
            .deviceKeyRefused, .licenceFileRefused, .keyNotGranting, .trustNotConfigured, .rekeyRefused,
            .licenceOtherKey,
            .isSealed, .removalWaits,
            .deviceKeyInUse,
        ] + statistics + applications + access + outside + players + playCallbacks + bookmarks + adaptive + upkeep
        + webhooks + bundles + serving

    /// The code with this number, for rows read from a store; a newer program's number also gets a usable value.
    ///
    /// - Parameter number: a stored number.
    /// - Returns: the catalogue's entry, a member of a family, or an entry that only contains the number.
    public static func stored(_ number: Int) -> Self {
        if let known = all.first(where: { $0.number == number }) { return known }
        switch -number {
        case gatewayNumbers: return .gateway(-number)
        case 8001...8099: return .transfer(-number - 8000)
        case 8300...8599: return .status(-number - 8000)
        case 9001...9099: return .callbackTransfer(-number - 9000)
        case 9300...9599: return .callbackStatus(-number - 9000)
        case 10_001...10_099: return .playCallbackTransfer(-number - 10_000)
        case 10_300...10_599: return .playCallbackStatus(-number - 10_000)
        default:
            return Self(
                number, "code_\(-number)", "an error this version does not know",
                "See the version's notes.")
        }
    }
}
