import LectureModel

extension ItemState {
    /// Its name on the page.
    var pageText: PageText {
        switch self {
        case .queued: .stateQueued
        case .loading: .stateLoading
        case .downloading: .stateDownloading
        case .verifying: .stateVerifying
        case .completed: .stateCompleted
        case .stopped: .stateStopped
        case .failed: .stateFailed
        case .removing: .stateRemoving
        }
    }
}

extension StopReason {
    /// Its name on the page.
    var pageText: PageText {
        switch self {
        case .user: .stopUser
        case .network: .stopNetwork
        case .space: .stopSpace
        case .schedule: .stopSchedule
        case .licenceRefused: .stopLicence
        case .serverWait: .stopServer
        case .dependency: .stopDependency
        case .quota: .stopQuota
        }
    }
}

extension ContentType {
    /// Its name on the page.
    var pageText: PageText {
        switch self {
        case .streaming: .typeStreaming
        case .downloading: .typeDownloading
        case .sample: .typeSample
        case .adaptiveStreaming: .typeAdaptiveStreaming
        case .adaptiveDownload: .typeAdaptiveDownload
        }
    }
}

extension ContentSort {
    /// Its name on the page.
    var pageText: PageText {
        switch self {
        case .added: .sortAdded
        case .title: .sortTitle
        case .downloaded: .sortDownloaded
        case .size: .sortSize
        case .priority: .sortPriority
        case .expiry: .sortExpiry
        case .folder: .sortFolder
        }
    }
}

extension LicenceReason {
    /// Its name on the page.
    var pageText: PageText {
        switch self {
        case .deleted: .reasonDeleted
        case .forceExpired: .reasonForceExpired
        case .mediaIncomplete: .reasonMediaIncomplete
        case .missing: .reasonMissing
        case .unverified: .reasonUnverified
        case .otherDevice: .reasonOtherDevice
        case .storeCopied: .reasonStoreCopied
        case .ledgerForged: .reasonLedgerForged
        case .storeRolledBack: .reasonRolledBack
        case .otherKey: .reasonOtherKey
        case .clockUntrusted: .reasonClock
        case .checkDue: .reasonCheckDue
        case .notYetValid: .reasonNotYet
        case .expired: .reasonExpired
        case .countUsedUp: .reasonCount
        case .playTimeUsedUp: .reasonPlayTime
        case .anchorUnwritable: .reasonAnchor
        }
    }
}

extension ReportState {
    /// Its name on the page.
    var pageText: PageText {
        switch self {
        case .pending: .reportPending
        case .leased: .reportLeased
        case .delivered: .reportDelivered
        case .dead: .reportDead
        case .superseded: .reportSuperseded
        case .expired: .reportExpired
        }
    }
}
