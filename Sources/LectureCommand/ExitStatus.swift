package import LectureModel

/// The exit status. The numbers are a contract with scripts; those between 64 and 78 are from sysexits(3).
package enum ExitStatus: Sendable, Equatable {
    /// Done.
    case done
    /// Finished, but some items failed.
    case someFailed
    /// The command line is invalid.
    case usage
    /// Damaged or refused input.
    case data
    /// A server could not be reached.
    case unavailable
    /// A bug.
    case software
    /// Something cannot be created.
    case cannotCreate
    /// An input or output error.
    case inputOutput
    /// Unfinished; try again later.
    case tryAgain
    /// The disk is full: ``tryAgain``, unless the number is another one. See ``fullDiskStatus(in:)``.
    case fullDisk(Int32 = 75)
    /// Not permitted.
    case noPermission
    /// The configuration cannot be used.
    case configuration
    /// Ended by a signal.
    case signal(Int32)

    /// The process's exit status as a number.
    package var code: Int32 {
        switch self {
        case .done: 0
        case .someFailed: 1
        case .usage: 64
        case .data: 65
        case .unavailable: 69
        case .software: 70
        case .cannotCreate: 73
        case .inputOutput: 74
        case .tryAgain: 75
        case .fullDisk(let number): number
        case .noPermission: 77
        case .configuration: 78
        case .signal(let number): 128 + number
        }
    }

    /// The meaning of each status, for the manual page.
    package static let meanings: [(code: String, meaning: String)] = [
        ("0", "done"),
        ("1", "finished, but some items failed; each is reported"),
        ("64", "the command line is invalid"),
        ("65", "damaged or refused input"),
        ("69", "a server could not be reached"),
        ("70", "a bug"),
        ("73", "something cannot be created"),
        ("74", "an input or output error"),
        ("75", "unfinished; try again later"),
        ("77", "not permitted"),
        ("78", "the configuration cannot be used"),
        ("128+n", "ended by signal n"),
    ]

    /// The number of the status for a full disk. A script tries again later, as for everything unfinished; a service
    /// that does so hides what only a person can change.
    ///
    /// - Parameter environment: `LECTURE_FULL_STATUS`, from 1 to 125: shells use the numbers above.
    /// - Returns: 75 when the variable is not set or empty.
    /// - Throws: ``UsageError`` for another value.
    package static func fullDiskStatus(in environment: [String: String]) throws(UsageError) -> Int32 {
        guard let text = environment["LECTURE_FULL_STATUS"], !text.isEmpty else { return Self.tryAgain.code }
        guard let number = Int32(text), (1...125).contains(number) else {
            throw UsageError(
                "LECTURE_FULL_STATUS must be a whole number from 1 to 125, and not \(UsageError.quoted(text)).")
        }
        return number
    }

    /// The status for an error that ends a command.
    ///
    /// - Parameter code: the error's code.
    /// - Returns: the status; a code without its own rule is a server's fault when it belongs to the families of
    ///   transfers and HTTP statuses, else a bug.
    package static func status(for code: LectureError.Code) -> Self {
        switch code {
        case .unknownContent, .unknownCourse, .webhookUnknown, .webhookRefused, .webhookRemoved, .reportRefused,
            .learnerLeft, .bookmarkMissing, .bookmarkOfTeacher:
            return .someFailed
        case .parameter, .notLoaded, .urlScheme, .urlInvalid, .headerInvalid, .headerReserved, .notRemovable,
            .linkFetchesNothing, .bookmarkInvalid, .manyFiles, .bundleRecipient:
            return .usage
        case .badLength, .descriptorUnreadable, .damaged, .descriptorEmpty, .storeForeign, .storeNewer, .storeDamaged,
            .migrationChanged, .notMedia, .rangeMismatch, .lengthChanged, .codingRefused, .multipartRefused,
            .lengthConflict, .bodyTooLong, .versionUnstable, .digestMismatch, .playlistUnsupported, .tooLarge,
            .headerTooLarge, .unexpectedStatus, .mirrorDisagrees, .mediaMissing, .courseLine, .courseList, .nameRefused,
            .json, .pruneRefused, .retentionRefused, .bundleUnsuitable, .bundleNewer, .mediaUnsupported,
            .bookmarkAnswer, .playlistDamaged, .variantUnavailable, .streamKey, .segmentsMissing, .captureGaps,
            .captureFull, .bundleRefused, .bundleDamaged, .bundleSignature:
            return .data
        case .noLocation, .redirectRefused, .redirectLoop, .displayMissing, .duplicateCheckFailed, .peerUnusable:
            return .unavailable
        case .createDirectory, .createFile, .outputRefused, .outputExists, .nameTaken, .deviceKeyInUse,
            .anchorUnwritable, .loopbackFailed:
            return .cannotCreate
        case .openStore, .storeMissing, .readFile, .writeFile, .storeReadOnly, .storeUnsafe, .playerFailed,
            .exportFailed:
            return .inputOutput
        case .storageFull:
            return .fullDisk()
        case .cancelled, .notComplete, .alreadyDownloading, .closing, .storeBusy, .bodyCut, .quota,
            .serverWait, .schedule, .deadline, .leaseLost, .interrupted, .reportTargetWaits, .reportTargetMissing,
            .reportAnswerUnexpected, .reportsUnderWay, .workerFailed, .removalWaits, .resumeUnsafe, .streamLive,
            .captureStalled, .notInTime:
            return .tryAgain
        case .notDownloadable, .introNotDownloadable, .grantRefused, .completionRefused, .playRefused, .licenceExpired,
            .playNotPermitted, .playPermissionExpired, .playPermissionRefused, .playPermissionUsedUp, .duplicatePlay,
            .virtualMachine, .countUsedUp, .licenceForceExpired, .clockUntrusted, .licenceDeleted, .playTimeUsedUp,
            .licenceCheckDue, .licenceMissing, .licenceUnverified, .licenceOtherDevice, .licenceOtherKey,
            .licenceNotYetValid, .storeCopied, .ledgerForged, .storeRolledBack, .storeOwner, .storeExposed,
            .headersSealed, .sealedElsewhere, .sealRequired, .isSealed, .reportTargetRefuses, .webhookGone,
            .bookmarksNotPermitted, .bookmarksReadOnly, .playLimitReached, .playerNotPermitted, .streamProtected,
            .bundleUntrusted, .bundleNotForDevice, .applicationOtherBundle, .applicationExpired,
            .applicationDateDiffers, .applicationKeyRefused:
            return .noPermission
        case .answerUndecodable, .answerUnreadable, .answerInvalid, .answerEmpty, .sessionMismatch, .answerMissing,
            .playAnswerUndecodable, .playAnswerUnreadable, .playAnswerEmpty,
            .sourceUnknown, .licenceFileRefused, .keyNotGranting, .trustNotConfigured, .rekeyRefused, .reportInvalid,
            .reportConflict, .reportLine, .exportIncomplete:
            return .data
        case .configuration, .secretReadable, .licenceKeyMissing, .deviceKeyRefused, .applicationIncomplete,
            .workerMissing, .playerMissing, .bookmarkServerMissing, .loopbackMissing, .playerProgramMissing,
            .exporterMissing, .manifestReaderMissing, .retentionUnseen, .webhookSecret,
            .accessMissing, .addressExposed, .tlsIncomplete, .peerTokens:
            return .configuration
        case .alreadyDownloaded:
            return .done
        case .storeFailed, .bug, .cryptography:
            return .software
        default:
            return family(of: code)
        }
    }

    /// −8001…−8099 are libcurl's results, −8300…−8599 HTTP statuses, and the same from −9001 and −10001 on;
    /// −4001…−4101 are a gateway's numbers.
    private static func family(of code: LectureError.Code) -> Self {
        switch -code.number {
        // The gateway does not have the lecture; its other numbers refuse the user or the link.
        case 4011...4015: .unavailable
        case LectureError.Code.gatewayNumbers: .noPermission
        case 8401, 8403, 8407: .noPermission
        case 9401, 9403, 9407: .noPermission
        case 10_401, 10_403, 10_407: .noPermission
        case 8001...8099, 8300...8599, 9001...9099, 9300...9599, 10_001...10_099, 10_300...10_599: .unavailable
        default: .software
        }
    }
}
