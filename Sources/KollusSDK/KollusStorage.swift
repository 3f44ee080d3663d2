public import Foundation
import LectureKit
import LectureModel

/// The storage of an application: loads, downloads, stores, renews and removes contents, and sends learning reports.
///
/// The names, types and meanings are those of the Kollus iOS SDK's `KollusStorage`; <doc:Migration> lists all of them
/// with every difference. Additions to the iOS SDK are under *Beside the iOS SDK*.
///
/// ```swift
/// let storage = KollusStorage()
/// storage.applicationKey = key
/// storage.applicationBundleID = "com.example.academy"
/// storage.applicationExpireDate = date
/// try storage.start()
/// storage.delegate = self
/// let mediaContentKey = try storage.loadContentURL(url)
/// try storage.downloadContent(mediaContentKey)
/// ```
///
/// Every method may be called on every thread, also from within the delegate's methods. Those that contact a server or
/// wait for the disk block their caller; each has an asynchronous variant.
///
/// ## Topics
/// ### Start and end
/// - ``start()``
/// - ``start(withFirst:)``
/// - ``startWithCheck()``
/// - ``startWithNewPlayerID()``
/// - ``close()``
/// ### Contents
/// - ``loadContentURL(_:)``
/// - ``checkContentURL(_:)``
/// - ``contents()``
/// - ``downloadContent(_:)``
/// - ``downloadCancelContent(_:)``
/// - ``removeContent(_:)``
/// ### Licences and reports
/// - ``updateDownloadDRMInfo(_:)``
/// - ``sendStoredLms()``
///
/// `@unchecked Sendable`: its property is constant and Sendable; the compiler does not check a class that is open.
open class KollusStorage: NSObject, @unchecked Sendable {
    /// The implementation.
    let core = StorageCore()

    /// Makes a storage that is not started.
    public override init() {
        super.init()
        core.deliverer.serve(self)
    }

    deinit { core.abandon() }

    // MARK: The application

    /// Receives events; held weakly. Events after a start wait for the first delegate.
    open var delegate: (any KollusStorageDelegate)! {
        get { core.deliverer.delegate }
        set { core.deliverer.delegate = newValue }
    }

    /// The version of the SDK.
    open var applicationVersion: String! { LectureKitVersion.number }

    /// The id of this player: the thumbprint of the device's key. Nil before a start. Licence servers see it as
    /// `player_id`.
    open var applicationDeviceID: String! { core.state.withLock { $0.running?.playerID } }

    /// The licence file that is issued for the application.
    open var applicationKey: String! {
        get { core[\.applicationKey] }
        set { core[\.applicationKey] = newValue }
    }

    /// The bundle id that the key is issued for. `Bundle.main.bundleIdentifier` is nil on Linux; if none is set here,
    /// it is ``KollusSettings/bundleIdentifier``, else the environment's `LECTURE_BUNDLE_ID`, else the
    /// `CFBundleIdentifier` of an `Info.plist` beside the program.
    open var applicationBundleID: String! {
        get {
            let values = core.state.withLock { $0.values }
            return ApplicationBundle.identifier(values, ProcessInfo.processInfo.environment)
        }
        set { core[\.bundleID] = newValue }
    }

    /// Applications that name the same group share a player id; those that name none share that of the account.
    open var keychainGroup: String! {
        get { core[\.keychainGroup] }
        set { core[\.keychainGroup] = newValue }
    }

    /// When the key ends, as it was issued. A midnight, here or UTC, means that day.
    open var applicationExpireDate: Date! {
        get { core[\.expireDate] }
        set { core[\.expireDate] = newValue }
    }

    /// The directory in use.
    open var storagePath: String! {
        let (running, chosen) = core.state.withLock { ($0.running?.path, $0.values.path) }
        return running ?? chosen ?? StoragePlace.path(ProcessInfo.processInfo.environment)
    }

    /// Bytes of contents on the disk; 0 before a start.
    open var storageSize: Int64 { (try? core.manager().contents.wait { try $0.mediaBytes() }) ?? 0 }

    /// Bytes of the streaming cache on the disk; 0 before a start.
    open var cacheDataSize: Int64 { (try? core.manager().streams.wait { try $0.cacheBytes() }) ?? 0 }

    /// The local port for hybrid applications: where ``webPlay(_:)`` serves web views; 0 for any free one. A server
    /// that was started keeps its port.
    open var serverPort: Int {
        get { core[\.serverPort] }
        set { core[\.serverPort] = newValue }
    }

    /// A text of the application that is sent to licence servers with every request, as the form field
    /// `extra_drm_param`. Nil sends none.
    open var extraDrmParam: String! {
        get { core[\.extraParameter] }
        set { core.setExtraParameter(newValue) }
    }

    /// The SDK's user agent.
    open var appUserAgent: String! { LectureKitVersion.userAgent }

    /// `kp-mobile`, unless ``KollusSettings/deviceType`` says otherwise.
    open var deviceType: String! { core[\.settings].deviceType }

    // MARK: Start

    /// Sets the directory. Only before a start; data in other directories stays there and is not visible.
    ///
    /// - Parameter path: absolute, or relative to the working directory; created at the start.
    /// - Returns: false after a start, for nil and an empty text, and for a path that is not a directory.
    @discardableResult
    open func setKollusPath(_ path: String!) -> Bool {
        guard let path, !path.isEmpty, !path.utf8.contains(0) else { return false }
        let values = try? URL(filePath: path).resourceValues(forKeys: [.isDirectoryKey])
        if values?.isDirectory == false { return false }
        return core.state.withLock { state in
            guard state.running == nil, !state.isClosed else { return false }
            state.values.path = path
            return true
        }
    }

    /// Checks key, bundle id and date, and opens the storage. No network is needed. A second call does nothing.
    ///
    /// - Throws: ``KollusError``: −2107, −2106, −2103, −2105, −2104; −8603 and others of the storage; −8661 after
    ///   ``close()``.
    open func start() throws { try core.start(.plain) }

    /// As ``start()``; the application says whether this is its first run.
    ///
    /// - Parameter first: true creates a player id if there is none; false requires an existing one.
    /// - Throws: as ``start()``, and −20110 when the player id was not found.
    open func start(withFirst first: Bool) throws { try core.start(.first(first)) }

    /// As ``start()``; the first run of a storage creates the player id, later ones look for it three times.
    ///
    /// - Throws: as ``start(withFirst:)``.
    open func startWithCheck() throws { try core.start(.check) }

    /// As ``start()``, with a new player id. Contents bound to the old one cannot be played until that is restored.
    ///
    /// - Throws: as ``start()``.
    open func startWithNewPlayerID() throws { try core.start(.new) }

    // MARK: Contents

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Queries a source and registers it, without downloading it. Waits for the network.
    ///
    /// - Parameter URL: a gateway link, a media file, or `kollus://download` with one of them.
    /// - Returns: the media content key; the same for the same content.
    /// - Throws: ``KollusError``: −8613, −8637, −80xx, −84xx, −86xx; −8645 without a network if it is not complete.
    open func loadContentURL(_ URL: String!) throws -> String {
        let (core, text) = (core, URL)
        return try waiting { try await core.load(text) }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Returns the content of a URL. Contacts no server and registers nothing.
    ///
    /// - Parameter URL: as for ``loadContentURL(_:)``.
    /// - Returns: the media content key.
    /// - Throws: ``KollusError``: −8621 when it is not registered, −8613, −8637.
    open func checkContentURL(_ URL: String!) throws -> String {
        let (core, text) = (core, URL)
        return try waiting { try await core.check(text) }
    }

    /// Starts the download of a loaded content, or continues where it stopped. The delegate receives one event for the
    /// start, progress, and exactly one final event; also when another process, such as a background worker, downloads
    /// it.
    ///
    /// - Parameter mediaContentKey: from ``loadContentURL(_:)``.
    /// - Throws: ``KollusError``: −8613, −8614 when it is not loaded, −8631 while this storage is downloading it, −9000
    ///   when it is complete.
    open func downloadContent(_ mediaContentKey: String!) throws { try core.download(mediaContentKey) }

    /// Ends a transfer and keeps the downloaded data (``KollusContent/downloadStopSize``); waits until that is on the
    /// disk. The delegate receives −8615, unless ``KollusSettings/cancelledDownload`` is silent. A transfer that is not
    /// running is not changed.
    ///
    /// - Parameter mediaContentKey: the content.
    /// - Throws: ``KollusError``: −8613, −8621.
    open func downloadCancelContent(_ mediaContentKey: String!) throws {
        let (core, text) = (core, mediaContentKey)
        try waiting { try await core.cancel(text) }
    }

    /// Deletes a content and its files, after its transfer has ended. Deleting an unknown content is not an error. No
    /// event of it is started after the call.
    ///
    /// - Parameter mediaContentKey: the content.
    /// - Throws: ``KollusError``: −8613, −8648 for a sample.
    open func removeContent(_ mediaContentKey: String!) throws {
        let (core, text) = (core, mediaContentKey)
        try waiting { try await core.remove(text, includingSample: false) }
    }

    /// All known contents: complete, unfinished, failed, samples; as ``KollusContent``. Nil before a start.
    open func contents() -> NSMutableArray! {
        guard let contents = try? core.contents() else { return nil }
        return NSMutableArray(array: contents)
    }

    // MARK: The streaming cache

    /// Clears the streaming cache, except for active streams.
    ///
    /// - Throws: ``KollusError`` of the storage.
    open func removeCache() throws {
        let manager = try core.manager()
        try waiting { try await manager.streams.clearCache() }
    }

    /// Limits the streaming cache.
    ///
    /// - Parameter cacheSizeMB: in MiB; 0 keeps a stream's bytes only until it ends. A negative number changes nothing.
    open func setCacheSize(_ cacheSizeMB: Int) {
        guard cacheSizeMB >= 0 else { return LogUtil.utilLog("setCacheSize: MiB from 0") }
        core[\.cacheMegabytes] = cacheSizeMB
        if core.state.withLock({ $0.running != nil }) { core.setCacheLimit(cacheSizeMB) }
    }

    // MARK: Settings

    /// Sets the timeout and the retries of requests. The vendor recommends 30 and 3.
    ///
    /// - Parameters:
    ///   - timeOut: seconds without a byte, from 1.
    ///   - retryCount: attempts after the first, from 0.
    open func setNetworkTimeOut(_ timeOut: Int, retry retryCount: Int) { core.setPatience(timeOut, retryCount) }

    /// Whether a separate process continues unfinished downloads after this one has ended, however it ends.
    ///
    /// - Parameter bBackground: false by default.
    open func setBackgroundDownload(_ bBackground: Bool) { core.setBackground(bBackground) }

    // MARK: Licences and reports

    /// Renews licences, ten per request. The delegate receives an event for each content and each request.
    ///
    /// - Parameter bAll: true renews all that a server granted, false those that have ended (or will within
    ///   ``KollusSettings/renewalWindow``).
    open func updateDownloadDRMInfo(_ bAll: Bool) { core.beginRenewal(all: bAll) }

    /// Sends the stored learning reports. The delegate receives an event for each, and one at the end.
    open func sendStoredLms() { core.beginSending() }
}
