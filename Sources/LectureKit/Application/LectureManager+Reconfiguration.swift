import LectureDownload
public import LectureModel

/// Other settings for a manager that stays open.
extension LectureManager {
    /// Works with other settings from now on. Downloads that run continue; a run of reports that is under way ends and
    /// continues with the new settings.
    ///
    /// What can change: lectures at once, connections of a file, rates, the timetable, attempts and the timeout, the
    /// quota and the reserve, the selection of streams, which media are accepted, all about reports and webhooks.
    ///
    /// - Parameter new: the settings.
    /// - Returns: the settings that differ and apply only to another manager, by their names in the configuration file.
    /// - Throws: ``LectureError`` with `parameter` or `configuration` for a value that cannot be used; then nothing has
    ///   changed.
    public func reconfigure(_ new: LectureConfiguration) async throws(LectureError) -> [String] {
        var settings = try LectureError.only { try new.downloadSettings() }
        _ = try LectureError.only { try new.statistics.settings(bootID: "", rate: Guarded(nil)) }
        let old = configuration
        var used = new
        let kept = used.keepWhatIsFixed(of: old)
        core.state.configuration = used
        if let service = core.state.service {
            settings.hearsOthers = service.engine.settings.hearsOthers
            (settings.connectionsPerHost, settings.exceedsPerHost) = (old.connectionsPerHost, old.chosenPerHost == nil)
            service.engine.configure(settings)
        }
        core.licensing.service?.usePatience(configuration)
        await reports.stopSending()
        core.state.delivery?.start()
        core.webhooksChanged()
        return kept
    }
}

extension LectureConfiguration {
    /// Takes from another configuration what a manager cannot change while it is open.
    ///
    /// - Parameter other: the configuration in use.
    /// - Returns: what differs, by the names in the configuration file.
    fileprivate mutating func keepWhatIsFixed(of other: Self) -> [String] {
        var names: [String] = []
        func keep<Value: Equatable>(_ name: String, _ path: WritableKeyPath<Self, Value>) {
            if self[keyPath: path] != other[keyPath: path] { names.append(name) }
            self[keyPath: path] = other[keyPath: path]
        }
        keep("store", \.storeDirectory)
        keep("network.per_host", \.chosenPerHost)
        keep("network.ca_file", \.caFile)
        keep("network.proxy", \.proxy)
        keep("network.credentials_file", \.credentialsFile)
        keep("network.netrc_file", \.netrcFile)
        keep("network.client_cert", \.clientCertificateFile)
        keep("network.client_key", \.clientKeyFile)
        keep("storage.seal", \.seal)
        keep("storage.device_dir", \.deviceDirectory)
        keep("storage.group", \.sharedGroup)
        keep("drm", \.rights)
        keep("application", \.application)
        (isLongRunning, resolver, observer) = (other.isLongRunning, other.resolver, other.observer)
        (programName, spendsSpaceReserve, inspector) = (other.programName, other.spendsSpaceReserve, other.inspector)
        statistics.delivery = other.statistics.delivery
        return names
    }
}
