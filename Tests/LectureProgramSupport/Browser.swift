package import Foundation
import Glibc
import LectureTestSupport

/// Debian's Chromium without a window, with its driver.
///
/// Every command returns when it has been carried out. What happens in the page afterwards is waited for with
/// ``wait(for:limit:)``. The browser and all its processes end with the last reference at the latest.
package final class Browser: Sendable {
    /// How a browser is started.
    package struct Options: Sendable {
        /// Whether pages may run scripts.
        package var hasScript = true
        /// Whether the system has a dark appearance.
        package var isDark = false
        /// The languages that are asked for (`Accept-Language`), the preferred one first.
        package var languages = "en"
        /// The inner width of the window in CSS pixels.
        package var width = 1280
        /// The inner height of the window in CSS pixels.
        package var height = 900

        /// Creates the default options.
        package init() {}
    }

    private let driver: ChildProcess
    private let session: WebDriver
    private let directory: TemporaryDirectory

    /// Starts a browser.
    ///
    /// - Parameter options: how.
    /// - Returns: a browser with an empty page.
    /// - Throws: ``ChildProcess/Failure`` when Chromium or its driver is missing or does not start.
    package static func start(_ options: Options = Options()) async throws -> Browser {
        var last: any Error = ChildProcess.Failure(description: "chromedriver was never started")
        // Between reserving a free port and listening on it another program may take it.
        for _ in 0..<3 {
            do { return try await attempt(options) } catch { last = error }
        }
        throw last
    }

    private static func attempt(_ options: Options) async throws -> Browser {
        let directory = try TemporaryDirectory()
        let port = try Places.freePort()
        let driver = try ChildProcess(
            Places.command("chromedriver"), ["--port=\(port)"],
            // Chromium writes below the home directory, whatever its profile is.
            environment: ["HOME": directory.path, "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": ""],
            directory: directory.path)
        try await driver.wait(for: .output) { $0.range(of: Data("started successfully".utf8)) != nil }
        let service = WebDriver(url: "http://127.0.0.1:\(port)")
        do {
            let capabilities = try Self.capabilities(options, directory)
            let answer = try await service.send("POST", "/session", ["capabilities": ["alwaysMatch": capabilities]])
            guard let id = (answer as? [String: Any])?["sessionId"] as? String else {
                throw ChildProcess.Failure(description: "no session: \(answer)")
            }
            let browser = Browser(driver, WebDriver(url: "\(service.url)/session/\(id)"), directory)
            try await browser.resize(width: options.width, height: options.height)
            if options.isDark { try await browser.setDark(true) }
            return browser
        } catch {
            ProcessTree.kill(below: driver.identifier)
            throw error
        }
    }

    private init(_ driver: ChildProcess, _ session: WebDriver, _ directory: TemporaryDirectory) {
        (self.driver, self.session, self.directory) = (driver, session, directory)
    }

    deinit { ProcessTree.kill(below: driver.identifier) }

    private static func capabilities(_ options: Options, _ directory: TemporaryDirectory) throws -> [String: Any] {
        let arguments = [
            "--headless=new", "--user-data-dir=\(directory.file("profile"))",
            // As root, and in containers, there is no sandbox and hardly any shared memory.
            "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
            "--no-first-run", "--no-default-browser-check", "--disable-extensions", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--metrics-recording-only", "--hide-scrollbars",
            "--autoplay-policy=no-user-gesture-required", "--mute-audio", "--force-device-scale-factor=1",
            "--window-size=\(options.width),\(options.height)", "--no-proxy-server",
        ]
        var preferences: [String: Any] = ["intl.accept_languages": options.languages]
        if !options.hasScript { preferences["profile.managed_default_content_settings.javascript"] = 2 }
        let chrome: [String: Any] = [
            "binary": try Places.command("chromium"), "prefs": preferences,
            "args": arguments,
        ]
        return [
            "browserName": "chrome", "goog:chromeOptions": chrome, "timeouts": ["script": 60_000, "pageLoad": 60_000],
        ]
    }

    /// Ends the browser, and waits until its processes are gone.
    package func stop() async {
        _ = try? await session.send("DELETE", "", limit: 20)
        ProcessTree.kill(below: driver.identifier)
        _ = await driver.terminate()
    }

    // MARK: Pages

    /// Opens a page, and waits until it is loaded.
    ///
    /// - Parameter url: its address.
    /// - Throws: the driver's error.
    package func open(_ url: String) async throws { try await session.send("POST", "/url", ["url": url]) }

    /// Loads the page again.
    ///
    /// - Throws: the driver's error.
    package func reload() async throws { try await session.send("POST", "/refresh") }

    /// Goes to the page before, as the browser's button does.
    ///
    /// - Throws: the driver's error.
    package func back() async throws { try await session.send("POST", "/back") }

    /// The address of the page.
    package var url: String {
        get async throws { try await session.send("GET", "/url") as? String ?? "" }
    }

    /// The title of the page.
    package var title: String {
        get async throws { try await session.send("GET", "/title") as? String ?? "" }
    }

    /// Sets the inner size of the window, below the width of a real window too.
    ///
    /// - Parameters:
    ///   - width: in CSS pixels.
    ///   - height: in CSS pixels.
    /// - Throws: the driver's error.
    package func resize(width: Int, height: Int) async throws {
        try await command(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false])
    }

    /// Shows pages as a system with a light or dark appearance does.
    ///
    /// - Parameter isDark: which.
    /// - Throws: the driver's error.
    package func setDark(_ isDark: Bool) async throws {
        let feature = ["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]
        try await command("Emulation.setEmulatedMedia", ["features": [feature]])
    }

    /// Carries out a command of Chromium's own protocol.
    ///
    /// - Parameters:
    ///   - name: for instance `Network.setCookie`.
    ///   - parameters: a JSON object.
    /// - Returns: the result.
    /// - Throws: the driver's error.
    @discardableResult
    package func command(_ name: String, _ parameters: [String: Any] = [:]) async throws -> Any {
        try await session.send("POST", "/goog/cdp/execute", ["cmd": name, "params": parameters])
    }

    /// A picture of what the window shows.
    ///
    /// - Parameter path: where the PNG is written; nil for nowhere.
    /// - Returns: the PNG.
    /// - Throws: the driver's error; the system's when it cannot be written.
    @discardableResult
    package func screenshot(to path: String? = nil) async throws -> Data {
        let text = try await session.send("GET", "/screenshot") as? String ?? ""
        let data = Data(base64Encoded: text) ?? Data()
        if let path { try data.write(to: URL(filePath: path)) }
        return data
    }

    // MARK: Elements

    /// Clicks an element, which must be visible.
    ///
    /// - Parameter selector: a CSS selector; its first element.
    /// - Throws: the driver's error, when there is none for instance.
    package func click(_ selector: String) async throws {
        try await session.send("POST", "/element/\(try await element(selector))/click")
    }

    /// Types into an element.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - selector: a CSS selector; its first element.
    ///   - isReplacing: whether what is there is deleted first.
    /// - Throws: the driver's error.
    package func type(_ text: String, into selector: String, isReplacing: Bool = true) async throws {
        let element = try await element(selector)
        if isReplacing { try await session.send("POST", "/element/\(element)/clear") }
        try await session.send("POST", "/element/\(element)/value", ["text": text])
    }

    /// Presses keys one after another, wherever the focus is.
    ///
    /// - Parameter keys: characters; the driver's own ones for keys without any, such as ``Key/tab``.
    /// - Throws: the driver's error.
    package func press(_ keys: String) async throws {
        let actions = keys.flatMap { key in
            [["type": "keyDown", "value": String(key)], ["type": "keyUp", "value": String(key)]]
        }
        try await session.send(
            "POST", "/actions", ["actions": [["type": "key", "id": "keys", "actions": actions] as [String: Any]]])
    }

    /// Keys without a character (W3C WebDriver, section 17.4.2).
    package enum Key {
        /// To the next element.
        package static let tab = "\u{E004}"
        /// Return.
        package static let enter = "\u{E007}"
        /// Escape.
        package static let escape = "\u{E00C}"
    }

    /// The visible text of an element.
    ///
    /// - Parameter selector: a CSS selector; its first element.
    /// - Returns: the text.
    /// - Throws: the driver's error, when there is none for instance.
    package func text(_ selector: String) async throws -> String {
        try await session.send("GET", "/element/\(try await element(selector))/text") as? String ?? ""
    }

    /// How many elements there are.
    ///
    /// - Parameter selector: a CSS selector.
    /// - Returns: their number.
    /// - Throws: the driver's error.
    package func count(_ selector: String) async throws -> Int {
        let found = try await session.send("POST", "/elements", ["using": "css selector", "value": selector])
        return (found as? [Any])?.count ?? 0
    }

    private func element(_ selector: String) async throws -> String {
        let found = try await session.send("POST", "/element", ["using": "css selector", "value": selector])
        // The specification's name for a reference to an element.
        let id = (found as? [String: String])?["element-6066-11e4-a52e-4f735466cecf"]
        guard let id else { throw WebDriver.Failure(code: "no such element", description: selector) }
        return id
    }

    // MARK: Scripts

    /// Runs a script in the page, whatever the page's own policy is.
    ///
    /// - Parameters:
    ///   - script: the body of a function; `arguments` has the arguments.
    ///   - arguments: JSON values.
    /// - Returns: what it returns: a JSON value.
    /// - Throws: the driver's error, when the script fails for instance.
    @discardableResult
    package func script(_ script: String, _ arguments: [Any] = []) async throws -> Any {
        try await session.send("POST", "/execute/sync", ["script": script, "args": arguments])
    }

    /// Runs a script that answers later.
    ///
    /// - Parameters:
    ///   - script: the body of a function; the last one of `arguments` is a function that takes the result.
    ///   - arguments: JSON values.
    /// - Returns: the result: a JSON value.
    /// - Throws: the driver's error.
    @discardableResult
    package func scriptLater(_ script: String, _ arguments: [Any] = []) async throws -> Any {
        try await session.send("POST", "/execute/async", ["script": script, "args": arguments])
    }

    /// Waits until something is true in the page: at once, after a change of the document, or after an event of its
    /// media. It goes on over the loading of another page.
    ///
    /// - Parameters:
    ///   - condition: an expression of JavaScript, such as `document.querySelector('progress').value == 100`. One that
    ///     throws is not true.
    ///   - limit: seconds.
    /// - Throws: ``ChildProcess/Failure`` when it does not become true; the driver's error.
    package func wait(for condition: String, limit: Double = 40) async throws {
        let end = ContinuousClock.now + .seconds(limit)
        while true {
            let left = max(.zero, end - .now)
            let milliseconds = min(30_000, left.components.seconds * 1000 + 500)
            do {
                let isTrue = try await scriptLater(Self.waiting(for: condition), [milliseconds]) as? Bool
                if isTrue == true { return }
            } catch let failure as WebDriver.Failure where Self.isOfNavigation(failure) {
                // The page was left while the script waited in it: it begins again in the next one.
            }
            if end <= .now {
                let page = try await script("return location.pathname + '\\n' + document.body.innerText.slice(0, 1500)")
                throw ChildProcess.Failure(description: "not true within \(limit) s: \(condition)\nof \(page)")
            }
        }
    }

    private static func isOfNavigation(_ failure: WebDriver.Failure) -> Bool {
        failure.code == "javascript error" && failure.description.contains("unloaded")
            || failure.code == "no such window" || failure.code == "script timeout"
            || failure.description.contains("aborted by navigation")
            || failure.description.contains("Execution context was destroyed")
            || failure.description.contains("Cannot find context")
    }

    private static func waiting(for condition: String) -> String {
        """
        const [limit, done] = arguments
        const isTrue = () => { try { return Boolean(\(condition)) } catch { return false } }
        if (isTrue()) { done(true); return }
        const media = ['timeupdate', 'playing', 'pause', 'seeked', 'ended', 'error', 'loadedmetadata', 'loadeddata']
        const others = ['focusin', 'input', 'scroll', 'readystatechange']
        const observer = new MutationObserver(() => check())
        const finish = (result) => {
            observer.disconnect()
            clearTimeout(timer)
            for (const name of [...media, ...others]) document.removeEventListener(name, check, true)
            done(result)
        }
        const check = () => { if (isTrue()) finish(true) }
        const timer = setTimeout(() => finish(isTrue()), limit)
        for (const name of [...media, ...others]) document.addEventListener(name, check, true)
        observer.observe(document, {subtree: true, childList: true, attributes: true, characterData: true})
        """
    }
}
