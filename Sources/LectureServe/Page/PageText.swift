/// The texts of the page. Each has all three languages; `{0}` and `{1}` stand for figures and names.
enum PageText: String, Sendable, CaseIterable {
    case site, skip, navigation, overview, lectures, licences, reports, disk, language, choose, signIn, signOut,
        signInHelp, token, wrongToken, classroom, connected, lost, foundAgain, storeStatus, inProgress,
        nothingInProgress, stuck, nothingStuck, showAll, spaceUsed, spaceFree, spaceReserve, spaceQuota, noLimit,
        unknown, spaceShort, spaceOf, forLMS, reportsOpen, reportsDead, nextEnds, noEnds, licencesUnreadable,
        programs, noPrograms, program, process, since, worksOn, stateQueued, stateLoading, stateDownloading,
        stateVerifying, stateCompleted, stateStopped, stateFailed, stateRemoving, stopUser, stopNetwork, stopSpace,
        stopSchedule, stopLicence, stopServer, stopDependency, stopQuota, typeStreaming, typeDownloading, typeSample,
        typeAdaptiveStreaming, typeAdaptiveDownload, search, state, course, type, licence, any, expiring, oneDay, days,
        sort,
        sortAdded, sortTitle, sortDownloaded, sortSize, sortPriority, sortExpiry, sortFolder, apply, reset,
        noLectures, oneLecture, lecturesCount, next, previous, first, pagesLabel, title, size, actions, pause, resume,
        retry,
        cancel, renew, renewDay, up, down, remove, removeTitle, removeHelp, keep, back, details, why, whatNext,
        remedy, key, source, teacher, folder, length, added, completedAt, priority, digest, resumePoint, versions,
        versionCurrent, versionOld, versionNone, subtitles, noSubtitles, attempts, noAttempts, time, server, answer,
        received, decision, took, licenceNone, licencePlayable, licenceRefused, licenceEnds, licenceNoEnd, playsLeft,
        playTimeLeft, lastFailure, reasonDeleted, reasonForceExpired, reasonMediaIncomplete, reasonMissing,
        reasonUnverified, reasonOtherDevice, reasonStoreCopied, reasonLedgerForged, reasonRolledBack, reasonOtherKey,
        reasonClock, reasonCheckDue, reasonNotYet, reasonExpired, reasonCount, reasonPlayTime, reasonAnchor,
        reportState, targets, noTargets, target, failures, waitsUntil, suspended, lastAnswer, retryDead,
        reportPending, reportLeased, reportDelivered, reportDead, reportSuperseded, reportExpired, deadLetters,
        resultPaused, resultResumed, resultCancelled, resultRenewing, resultPriority, resultRemoved,
        resultRetried,
        resultNoneToRenew, classroomList, classroomEmpty, play, playFrom, fromStart, chapters, bookmarks, notPossible,
        withCode, backToLecture, refusedLecture, refusedPlay, refusedPlays, refusedReads, refusedRange,
        refusedProgress, refusedLink, subtitlesEncoding, subtitlesForm, subtitlesLong, day, oneLicence, licencesCount,
        overdue, backToCalendar,
        resultFailed, notFound, failed, progressOf, speed, timeLeft, endsOn

    /// The text in a language.
    ///
    /// - Parameters:
    ///   - language: the language.
    ///   - values: stand for `{0}`, `{1}`.
    /// - Returns: the text.
    func text(_ language: PageLanguage, _ values: [String] = []) -> String {
        let texts = Self.table[self] ?? []
        guard let place = PageLanguage.allCases.firstIndex(of: language), texts.indices.contains(place) else {
            return ""
        }
        // In one pass, so that a value with braces stays as it is.
        let parts = texts[place].split(separator: "{", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(String(parts[0])) { text, part in
            guard let end = part.firstIndex(of: "}"), let number = Int(part[..<end]), values.indices.contains(number)
            else { return text + "{" + part }
            return text + values[number] + part[part.index(after: end)...]
        }
    }
}
