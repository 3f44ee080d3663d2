// The catalogue of codes. Numbers and names are frozen: they are stored, printed as JSON and relied on by scripts.

extension LectureError.Code {
    // MARK: The storage (numbers of the Kollus storage manager)

    /// A directory of the store could not be created.
    public static let createDirectory = Self(
        -8600, "create_directory", "a directory of the store cannot be made",
        "Check the path given with --store and who may write there.")
    /// A file could not be created.
    public static let createFile = Self(
        -8601, "create_file", "a file cannot be made", "Check who may write to the directory.")
    /// The store's database could not be opened.
    public static let openStore = Self(
        -8603, "open_store", "the store cannot be opened", "Check the path given with --store and its permissions.")
    /// A statement of the store failed.
    public static let storeFailed = Self(
        -8624, "store_failed", "the store's database refused a change",
        "Run 'lecturectl store check'; if it finds nothing, report this as a bug.")
    /// A file could not be read.
    public static let readFile = Self(-8610, "read_file", "a file cannot be read", "Check the disk and the file.")
    /// A file could not be written.
    public static let writeFile = Self(
        -8611, "write_file", "a file cannot be written",
        "Check the disk and its permissions, then run the command again.")
    /// An argument has no usable value.
    public static let parameter = Self(-8613, "parameter", "an argument has no usable value", "See --help.")
    /// A lecture was used before it was loaded.
    public static let notLoaded = Self(
        -8614, "not_loaded", "the lecture is not loaded yet", "Call load, or run 'lecturectl precache' with its URL.")
    /// The transfer was cancelled.
    public static let cancelled = Self(
        -8615, "cancelled", "the download was cancelled",
        "Downloaded data is kept: 'lecturectl resume KEY' or 'lecturectl precache' continues from there.")
    /// The server announced an impossible length.
    public static let badLength = Self(
        -8617, "bad_length", "the server announced an impossible length", "Report this to the server's operator.")
    /// A redirect without a usable target.
    public static let noLocation = Self(
        -8619, "no_location", "the server redirects without a target", "Report this to the server's operator.")
    /// No lecture has this key.
    public static let unknownContent = Self(
        -8621, "unknown_content", "no lecture has this key", "'lecturectl list' shows the keys.")
    /// No space on the disk.
    public static let storageFull = Self(
        -8623, "storage_full", "there is not enough space on the disk",
        "Free some space, then run 'lecturectl precache' again; downloaded data is kept.")
    /// Playing or reading an unfinished lecture.
    public static let notComplete = Self(
        -8629, "not_complete", "the lecture is not complete", "Run 'lecturectl precache' until it is.")
    /// A second request for a running download.
    public static let alreadyDownloading = Self(
        -8631, "already_downloading", "the lecture is already being downloaded", "Wait for it.")
    /// The content descriptor is not readable.
    public static let descriptorUnreadable = Self(
        -8633, "descriptor_unreadable", "the gateway's description of the lecture is not readable",
        "Report this to the gateway's operator.")
    /// A stored file is damaged.
    public static let damaged = Self(
        -8646, "damaged", "the stored file is damaged",
        "Run 'lecturectl verify --all --repair' to download the damaged parts again.")
    /// The lecture's type may not be removed.
    public static let notRemovable = Self(
        -8648, "not_removable", "samples are kept unless you add --samples", "Add --samples.")
    /// The link does not permit a download.
    public static let notDownloadable = Self(
        -8650, "not_downloadable", "this link does not permit downloading", "Ask the provider for a download link.")
    /// An intro, which is only downloaded with its lecture.
    public static let introNotDownloadable = Self(
        -8803, "intro_not_downloadable", "an intro cannot be downloaded by itself",
        "Ask the provider for the link of the lecture.")
    /// An empty descriptor.
    public static let descriptorEmpty = Self(
        -8652, "descriptor_empty", "the gateway's description of the lecture is empty",
        "Report this to the gateway's operator.")
    /// The store is closing.
    public static let closing = Self(-8661, "closing", "the store is being closed", "Open it again.")
    /// The lecture is already complete.
    public static let alreadyDownloaded = Self(-9000, "already_downloaded", "the lecture is already complete", "")

    // MARK: The store (our own numbers)

    /// The database belongs to another program.
    public static let storeForeign = Self(
        -20001, "store_foreign", "the database belongs to another program; nothing was changed",
        "Give another directory with --store.")
    /// The database was written by a newer version.
    public static let storeNewer = Self(
        -20002, "store_newer", "the store was written by a newer version of LectureKit; nothing was changed",
        "Use that version, or another --store.")
    /// The database is damaged.
    public static let storeDamaged = Self(
        -20003, "store_damaged", "the store's database is damaged; nothing was changed",
        "Restore a copy made with 'lecturectl store backup', or move the file away and run 'lecturectl store rebuild'.")
    /// The store is on a read-only file system.
    public static let storeReadOnly = Self(
        -20004, "store_read_only", "the store cannot be written; nothing was changed",
        "Mount it writable, or give another directory with --store.")
    /// A migration differs from the one that was applied.
    public static let migrationChanged = Self(
        -20005, "migration_changed",
        "the store was created by other migrations than this program's; nothing was changed",
        "Use the version that made it.")
    /// Another process held the database for too long.
    public static let storeBusy = Self(
        -20006, "store_busy", "another process keeps the store busy", "Try again; 'lecturectl status' shows who.")
    /// The file system does not support what durability needs.
    public static let storeUnsafe = Self(
        -20007, "store_unsafe", "the file system does not support what the store needs to survive a power cut",
        "Put the store on a local file system such as ext4 or XFS.")
    /// The media file of a complete lecture is gone, or shorter than it was.
    public static let mediaMissing = Self(
        -20008, "media_missing", "the lecture's media file is missing or was cut short",
        "Run 'lecturectl precache' to download it again.")
    /// OpenSSL failed: out of memory, or an installation without AES-GCM or SHA-256.
    public static let cryptography = Self(
        -20009, "cryptography", "the cryptographic library failed",
        "Check the machine's memory and its OpenSSL 3 (package libssl3).")

    // MARK: Answers that are not the object

    /// The answer is something other than media.
    public static let notMedia = Self(
        -20010, "not_media", "the server sent something other than a media file",
        "Open the URL in a browser: it may lead to a sign-in or error page. If this is the lecture, add --accept-any.")
    /// A range answer other than requested.
    public static let rangeMismatch = Self(
        -20011, "range_mismatch", "the server returned a different byte range than requested",
        "Report this to the server's operator.")
    /// The length changed during the download.
    public static let lengthChanged = Self(
        -20012, "length_changed", "the file's length changed on the server", "Run the command again.")
    /// A content coding that was not requested.
    public static let codingRefused = Self(
        -20013, "coding_refused", "the server sends a content coding that was not requested",
        "Report this to the server's operator to serve media without Content-Encoding.")
    /// A multipart answer.
    public static let multipartRefused = Self(
        -20014, "multipart_refused", "the server answered one range with a multipart body",
        "Report this to the server's operator.")
    /// Two different lengths in one answer.
    public static let lengthConflict = Self(
        -20015, "length_conflict", "the server announced two different lengths", "Report this to the server's operator."
    )
    /// More bytes than announced.
    public static let bodyTooLong = Self(
        -20016, "body_too_long", "the server sent more bytes than it announced", "Report this to the server's operator."
    )
    /// Fewer bytes than announced.
    public static let bodyCut = Self(
        -20017, "body_cut", "the connection ended before all announced bytes arrived", "It is retried automatically.")
    /// The file keeps changing.
    public static let versionUnstable = Self(
        -20018, "version_unstable", "the file on the server changes while it is downloaded",
        "Run the command again when the server has settled.")
    /// The whole-file digest differs.
    public static let digestMismatch = Self(
        -20019, "digest_mismatch", "the bytes do not have the expected digest",
        "The file on the server is a different one, or the expected digest is wrong.")
    /// A playlist, which this version does not fetch.
    public static let playlistUnsupported = Self(
        -20020, "playlist_unsupported",
        "this is a playlist or manifest (HLS, DASH), which this version does not download",
        "Give the URL of a media file.")
    // −20021 was "a licence is needed", in versions without licences; it is never reused.
    /// Larger than allowed.
    public static let tooLarge = Self(
        -20022, "too_large", "the file is larger than its description allows",
        "Report this to the provider, or raise the limit.")
    /// A redirect that is not followed.
    public static let redirectRefused = Self(
        -20023, "redirect_refused", "the server redirects to a URL that may not be followed",
        "Only http and https are followed, and never from https to http.")
    /// Too many redirects.
    public static let redirectLoop = Self(
        -20024, "redirect_loop", "the server redirects more than ten times", "Report this to the server's operator.")
    /// The answer's header is too large.
    public static let headerTooLarge = Self(
        -20025, "header_too_large", "the header of the answer is too large", "Report this to the server's operator.")
    /// An answer without a rule.
    public static let unexpectedStatus = Self(
        -20026, "unexpected_status", "the server answered with a status that carries no file",
        "Report this to the server's operator.")
    /// The server cannot continue and the version cannot be proven.
    public static let mirrorDisagrees = Self(
        -20027, "mirror_disagrees", "a mirror serves other bytes and is no longer used",
        "Report this to the mirror's operator.")
    /// An interrupted download that cannot be continued safely.
    public static let resumeUnsafe = Self(
        -20028, "resume_unsafe",
        "the download was interrupted, and the server gives no validator for the file, so it cannot be continued",
        "Give --sha256 or a course list with sha256, or --trust-length if the file never changes.")

    // MARK: Input

    /// A URL with another scheme.
    public static let urlScheme = Self(
        -20030, "url_scheme", "only http and https URLs can be downloaded", "Check the URL's beginning.")
    /// Not a URL.
    public static let urlInvalid = Self(
        -20031, "url_invalid", "this is not a usable URL", "A URL has the form https://host/path, below 8,192 bytes.")
    /// A line of a course list that cannot be read.
    public static let courseLine = Self(
        -20032, "course_line", "this line of the course list cannot be read; the other lines are still used",
        "Correct the line and run the command again.")
    /// A course list that cannot be read at all.
    public static let courseList = Self(
        -20033, "course_list", "the course list cannot be read", "It must be .jsonl, .csv or .txt in UTF-8.")
    /// A header that cannot be sent.
    public static let headerInvalid = Self(
        -20034, "header_invalid", "this is not a usable header", "Write it as 'Name: value', without line ends.")
    /// A configuration that cannot be used.
    public static let configuration = Self(
        -20036, "configuration", "the configuration cannot be used", "Correct the file named by --config.")
    /// A secret file that others may read.
    public static let secretReadable = Self(
        -20037, "secret_readable", "a secret file may be read by others", "Run chmod 600 on it.")
    /// A file name that is refused.
    public static let nameRefused = Self(
        -20038, "name_refused", "a file name holds '/', NUL or another character that is refused",
        "Correct the name in the course list or the descriptor.")
    /// A JSON text that cannot be read.
    public static let json = Self(
        -20039, "json", "this is not valid JSON with the expected fields", "Correct the text.")
    /// An output that cannot be written.
    public static let outputRefused = Self(
        -20040, "output_refused", "the finished file cannot be put there", "Check --output or --output-dir.")

    /// Two lectures of one run would be put into the same file.
    public static let nameTaken = Self(
        -20071, "name_taken", "several lectures of this run have the same file name",
        "Run the command again with names that differ, for example --name '{course}/{number:02} {title}.{ext}'.")
    /// More lectures have left a list than may be removed at once.
    public static let pruneRefused = Self(
        -20070, "prune_refused", "more lectures have left the list than may be removed; nothing was removed",
        "Check the list. If it is right, run the command again with a larger --max-delete.")
    /// A `kollus:` link that is not about downloading.
    public static let linkFetchesNothing = Self(
        -20041, "link_fetches_nothing", "this kollus: link names nothing to download",
        "'lecturectl list --folder' shows what a list link means; 'kollus://download?url=…' downloads.")

    // MARK: Scheduling

    /// The quota is used up.
    public static let quota = Self(
        -20050, "quota", "the store's quota is used up", "Remove lectures, or raise storage.quota_bytes.")
    /// The server asks to wait.
    public static let serverWait = Self(
        -20051, "server_wait", "the server asks to wait", "It is retried automatically when the wait is over.")
    /// Outside the timetable.
    public static let schedule = Self(
        -20052, "schedule", "the timetable does not allow downloads now",
        "It continues automatically, or change --timetable.")
    /// The deadline has passed.
    public static let deadline = Self(
        -20053, "deadline", "the deadline passed before everything was complete", "Run the command again to continue.")
    /// Another process has the item now.
    public static let leaseLost = Self(
        -20054, "lease_lost", "another process has taken this item over", "")
    /// A signal ended the run.
    public static let interrupted = Self(
        -20055, "interrupted", "the run was interrupted", "Run the command again to continue.")
    /// A state that must not happen.
    public static let bug = Self(-20099, "bug", "an internal rule was broken", "Report this as a bug.")

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
        ] + statistics + applications + access + outside

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
        default:
            return Self(
                number, "code_\(-number)", "an error this version does not know",
                "See the version's notes.")
        }
    }
}
